// Memory that grows and shrinks under the limit of a group: addresses that stay, with pages that come and go.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <unordered_map>
#include <utility>

#include "detail/visit.hpp"
#include "pond.hpp"

namespace millpond {

/// What a cache is asked for when pages are wanted back beyond the idle ones.
struct pressure {
    std::uint64_t bytes = 0;
    /// The same in blocks, each of which is in every segment.
    std::uint64_t blocks = 0;
    /// For how long it helps.
    std::chrono::milliseconds within{0};
    /// For whom, and why.
    std::string reason;
};

/// What a program answers: it has uncommitted what it can, it will do so soon, or there is nothing.
enum class offer : std::uint32_t { nothing = MILLPOND_OFFER_NOTHING, now = MILLPOND_OFFER_NOW, soon = MILLPOND_OFFER_SOON };

/// Runs in a thread of the library's, one at a time. Must throw nothing; what it throws counts as `offer::nothing`.
using pressure_handler = std::function<offer(const pressure &)>;

namespace detail {

/// Handlers by number: one that is taken away while it runs stays until it has returned.
class handlers {
public:
    [[nodiscard]] static handlers &all() {
        // Never destroyed: the library's thread may ask while the process ends.
        static auto &only = *new handlers();
        return only;
    }
    [[nodiscard]] std::uintptr_t add(pressure_handler handler) {
        const std::lock_guard<std::mutex> guard(lock_);
        known_.emplace(++last_, std::make_shared<const pressure_handler>(std::move(handler)));
        return last_;
    }
    void remove(std::uintptr_t number) noexcept {
        const std::lock_guard<std::mutex> guard(lock_);
        known_.erase(number);
    }
    [[nodiscard]] std::shared_ptr<const pressure_handler> find(std::uintptr_t number) {
        const std::lock_guard<std::mutex> guard(lock_);
        const auto found = known_.find(number);
        return found == known_.end() ? nullptr : found->second;
    }

private:
    std::mutex lock_;
    std::unordered_map<std::uintptr_t, std::shared_ptr<const pressure_handler>> known_;
    std::uintptr_t last_ = 0;
};

/// The place of a handler, given up with its end.
class handler_place {
public:
    handler_place() noexcept = default;
    explicit handler_place(pressure_handler handler) : number_(handlers::all().add(std::move(handler))) {}
    handler_place(handler_place &&other) noexcept : number_(std::exchange(other.number_, 0)) {}
    handler_place &operator=(handler_place &&other) noexcept { return std::swap(number_, other.number_), *this; }
    ~handler_place() {
        if (number_ != 0) handlers::all().remove(number_);
    }
    [[nodiscard]] void *address() const noexcept { return reinterpret_cast<void *>(number_); }

private:
    std::uintptr_t number_ = 0;
};

}  // namespace detail

/// What a cache is to be like.
class cache_spec {
public:
    /// So many bytes of addresses, whose blocks are its pages.
    [[nodiscard]] static cache_spec of_bytes(std::uint64_t bytes) {
        cache_spec made;
        made.raw_.bytes = bytes;
        return made;
    }
    /// So many blocks, each of so many bytes in every segment.
    [[nodiscard]] static cache_spec of_blocks(std::uint64_t blocks, std::uint64_t block_bytes) {
        cache_spec made;
        made.raw_.blocks = blocks;
        made.raw_.block_bytes = block_bytes;
        return made;
    }
    /// Equal parts, for example keys and values of each layer: a block is in each of them.
    cache_spec &segments(std::uint64_t count) { return raw_.segments = count, *this; }
    /// Of a page: 2, 16 or 64 MiB; 2 by default.
    cache_spec &granule(std::uint64_t bytes) { return raw_.granule_bytes = bytes, *this; }
    cache_spec &largest_handle(std::uint64_t bytes) { return raw_.largest_handle_bytes = bytes, *this; }
    /// What other caches of the group leave this one.
    cache_spec &min(std::uint64_t bytes) { return raw_.min_bytes = bytes, *this; }
    cache_spec &weight(std::uint32_t weight) { return raw_.weight = weight, *this; }
    /// How long a commit waits for others to give way; a second by default.
    cache_spec &wait(wait_time time) { return raw_.wait_ms = time.ms() == 0 ? MILLPOND_NO_WAIT : time.ms(), *this; }
    /// With fewer bytes idle than `low`, pages are made ahead until `high` are.
    cache_spec &ahead(std::uint64_t low, std::uint64_t high) {
        return raw_.ahead_low_bytes = low, raw_.ahead_high_bytes = high, *this;
    }
    /// One page, which costs a granule of the budget, is under everything that is not committed.
    cache_spec &null_page(bool wanted = true) { return raw_.null_page = wanted ? 1 : 0, *this; }
    cache_spec &gpu(const uuid &id) { return raw_.gpu = detail::raw(id), *this; }
    [[nodiscard]] const millpond_cache_spec &raw() const noexcept { return raw_; }

private:
    cache_spec() = default;
    millpond_cache_spec raw_{};
};

/// A cache at one moment. What is held is committed, prepared, wasted, idle or quarantined.
struct cache_info {
    uuid id, gpu;
    std::uintptr_t address = 0;
    std::uint64_t reserved_bytes = 0, committed_bytes = 0, prepared_bytes = 0, wasted_bytes = 0, idle_bytes = 0,
                  quarantined_bytes = 0, held_bytes = 0;
    std::uint64_t blocks = 0, committed_blocks = 0, block_bytes = 0, segments = 0, segment_bytes = 0, granule_bytes = 0;

    cache_info() = default;
    explicit cache_info(const millpond_cache_info &raw)
        : id(detail::cooked(raw.id)), gpu(detail::cooked(raw.gpu)), address(reinterpret_cast<std::uintptr_t>(raw.data)),
          reserved_bytes(raw.reserved_bytes), committed_bytes(raw.committed_bytes), prepared_bytes(raw.prepared_bytes),
          wasted_bytes(raw.wasted_bytes), idle_bytes(raw.idle_bytes), quarantined_bytes(raw.quarantined_bytes),
          held_bytes(raw.held_bytes), blocks(raw.blocks), committed_blocks(raw.committed_blocks), block_bytes(raw.block_bytes),
          segments(raw.segments), segment_bytes(raw.segment_bytes), granule_bytes(raw.granule_bytes) {}
};

/// The answer to a new cap.
struct cap_change {
    /// What the cache still holds above the cap: it goes back when no block uses it.
    std::uint64_t above_bytes = 0;
    /// The revision in force.
    std::uint64_t revision = 0;
    /// Another cap is in force, and nothing has changed.
    bool is_stale = false;
};

/// Blocks whose commit cannot fail: for ranks that commit all together or not at all. Its end without a commit gives them up.
class prepared {
public:
    explicit prepared(millpond_prepared *handle) noexcept : handle_(handle) {}
    void commit() { try_commit().value(); }
    [[nodiscard]] result<void> try_commit() { return detail::done(millpond_prepared_commit(handle_.release())); }

private:
    detail::owned<millpond_prepared, millpond_prepared_free> handle_;
};

/// Addresses of this process that never move. What is not committed must not be touched by a kernel. Move-only; its end gives all back.
class cache {
public:
    explicit cache(millpond_cache *handle) noexcept : handle_(handle) {}
    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
    /// Gives everything back. Work that uses it must be done.
    void reset() noexcept { handle_.reset(); }

    [[nodiscard]] cache_info info() const { return try_info().value(); }
    [[nodiscard]] result<cache_info> try_info() const {
        return detail::filled<cache_info, millpond_cache_info>([&](auto *out) { return millpond_cache_get_info(handle_.get(), out); });
    }
    /// The first address.
    [[nodiscard]] void *data() const { return reinterpret_cast<void *>(info().address); }
    /// Where a block of a segment begins; null for one that does not exist.
    [[nodiscard]] void *data(std::uint64_t segment, std::uint64_t block) const noexcept {
        return millpond_cache_address(handle_.get(), segment, block);
    }

    /// Makes the first blocks of each segment usable. `errc::gpu_full` where they never fit, or not now.
    void commit(std::uint64_t blocks) const { try_commit(blocks).value(); }
    [[nodiscard]] result<void> try_commit(std::uint64_t blocks) const { return detail::done(millpond_cache_commit(handle_.get(), blocks)); }
    /// Makes `count` blocks usable from `first` on that are not committed yet.
    void commit_range(std::uint64_t first, std::uint64_t count) const { try_commit_range(first, count).value(); }
    [[nodiscard]] result<void> try_commit_range(std::uint64_t first, std::uint64_t count) const {
        return detail::done(millpond_cache_commit_range(handle_.get(), first, count));
    }
    [[nodiscard]] prepared prepare(std::uint64_t first, std::uint64_t count) const { return try_prepare(first, count).value(); }
    [[nodiscard]] result<prepared> try_prepare(std::uint64_t first, std::uint64_t count) const {
        return detail::made<prepared, millpond_prepared>([&](auto *out) { return millpond_cache_prepare(handle_.get(), first, count, out); });
    }
    /// Ends the use of blocks. Before a page of them is unmapped the whole device is waited for.
    void uncommit(std::uint64_t first, std::uint64_t count) const { try_uncommit(first, count).value(); }
    [[nodiscard]] result<void> try_uncommit(std::uint64_t first, std::uint64_t count) const {
        return detail::done(millpond_cache_uncommit(handle_.get(), first, count));
    }
    /// The same, but what the stream has queued so far is waited for.
    void uncommit_after(std::uint64_t first, std::uint64_t count, void *stream) const { try_uncommit_after(first, count, stream).value(); }
    [[nodiscard]] result<void> try_uncommit_after(std::uint64_t first, std::uint64_t count, void *stream) const {
        return detail::done(millpond_cache_uncommit_after(handle_.get(), first, count, stream));
    }
    /// Ends the use of blocks with the step that is being prepared, which `step` ends.
    void uncommit_at_step(std::uint64_t first, std::uint64_t count) const { try_uncommit_at_step(first, count).value(); }
    [[nodiscard]] result<void> try_uncommit_at_step(std::uint64_t first, std::uint64_t count) const {
        return detail::done(millpond_cache_uncommit_at_step(handle_.get(), first, count));
    }
    /// All work of a step is submitted, to that stream.
    void step(void *stream) const { try_step(stream).value(); }
    [[nodiscard]] result<void> try_step(void *stream) const { return detail::done(millpond_cache_step(handle_.get(), stream)); }
    /// The same without a stream: the whole device is waited for before a page is unmapped.
    void step() const { try_step().value(); }
    [[nodiscard]] result<void> try_step() const { return detail::done(millpond_cache_step_now(handle_.get())); }
    /// Gives idle pages back to the group, at least so many bytes if there are; answers how many.
    std::uint64_t trim(std::uint64_t bytes = UINT64_MAX) const { return try_trim(bytes).value(); }
    [[nodiscard]] result<std::uint64_t> try_trim(std::uint64_t bytes = UINT64_MAX) const {
        std::uint64_t given = 0;
        if (const int code = millpond_cache_trim(handle_.get(), bytes, &given); code != 0) return detail::last_error(code);
        return given;
    }
    /// Sets what the cache may hold of the group's budget; `UINT64_MAX` is no cap. Revisions begin with 1 and grow.
    cap_change set_cap(std::uint64_t bytes, std::uint64_t revision) const { return try_set_cap(bytes, revision).value(); }
    [[nodiscard]] result<cap_change> try_set_cap(std::uint64_t bytes, std::uint64_t revision) const {
        cap_change change;
        const int code = millpond_cache_set_cap(handle_.get(), bytes, revision, &change.above_bytes, &change.revision);
        if (code != 0) return detail::last_error(code);
        change.is_stale = change.revision != revision;
        return change;
    }
    /// Asks `handler` when pages are wanted back beyond the idle ones.
    void on_pressure(pressure_handler handler) { try_on_pressure(std::move(handler)).value(); }
    [[nodiscard]] result<void> try_on_pressure(pressure_handler handler) {
        detail::handler_place place(std::move(handler));
        const int code = millpond_cache_on_pressure(handle_.get(), answer, place.address());
        if (code != 0) return detail::last_error(code);
        handler_ = std::move(place);
        return {};
    }

private:
    static millpond_offer answer(const millpond_pressure *ask, void *number) noexcept {
        const auto handler = detail::handlers::all().find(reinterpret_cast<std::uintptr_t>(number));
        if (!handler || !*handler) return MILLPOND_OFFER_NOTHING;
        pressure told;
        offer given = offer::nothing;
        const auto run = [&](const millpond_pressure &raw) {
            told = {raw.bytes, raw.blocks, std::chrono::milliseconds(raw.wait_ms), raw.reason};
            given = (*handler)(told);
            return true;
        };
        detail::guarded<decltype(run)> guard(run);
        (void)guard.goes_on(*ask);
        return static_cast<millpond_offer>(given);
    }

    detail::handler_place handler_;
    detail::owned<millpond_cache, millpond_cache_free> handle_;
};

/// The caches of one group in this process.
class elastic {
public:
    explicit elastic(millpond_elastic *handle) noexcept : handle_(handle) {}

    [[nodiscard]] cache reserve(const std::string &name, const cache_spec &wanted) const { return try_reserve(name, wanted).value(); }
    [[nodiscard]] result<cache> try_reserve(const std::string &name, const cache_spec &wanted) const {
        return detail::made<cache, millpond_cache>(
            [&](auto *out) { return millpond_cache_reserve(handle_.get(), name.c_str(), &wanted.raw(), out); });
    }
    [[nodiscard]] std::string group() const { return try_group().value(); }
    [[nodiscard]] result<std::string> try_group() const {
        millpond_text *text = nullptr;
        if (const int code = millpond_elastic_group(handle_.get(), nullptr, &text); code != 0) return detail::last_error(code);
        return detail::taken(text);
    }
    [[nodiscard]] millpond_elastic *handle() const noexcept { return handle_.get(); }

private:
    detail::owned<millpond_elastic, millpond_elastic_free> handle_;
};

inline millpond::elastic pond::elastic(const std::string &group) const { return try_elastic(group).value(); }
inline result<millpond::elastic> pond::try_elastic(const std::string &group) const {
    return detail::made<millpond::elastic, millpond_elastic>([&](auto *out) { return millpond_elastic_open(handle_.get(), group.c_str(), out); });
}

}  // namespace millpond
