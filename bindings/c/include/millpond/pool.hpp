// Blocks of device memory in the order of streams, on the budget of a group.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "detail/call.hpp"
#include "elastic.hpp"
#include "pond.hpp"

namespace millpond {

/// A pool at one moment.
struct pool_info {
    uuid gpu;
    /// In blocks that are in use; what was asked for; in gaps and freed blocks that other streams have not passed; all of it.
    std::uint64_t in_use_bytes = 0, asked_bytes = 0, free_bytes = 0, held_bytes = 0;
    std::uint64_t peak_in_use_bytes = 0, peak_held_bytes = 0, largest_gap_bytes = 0;
    /// In use, handed out so far, and requests that found no memory.
    std::uint64_t blocks = 0, allocations = 0, refused = 0;

    pool_info() = default;
    explicit pool_info(const millpond_pool_info &raw)
        : gpu(detail::cooked(raw.gpu)), in_use_bytes(raw.in_use_bytes), asked_bytes(raw.asked_bytes), free_bytes(raw.free_bytes),
          held_bytes(raw.held_bytes), peak_in_use_bytes(raw.peak_in_use_bytes), peak_held_bytes(raw.peak_held_bytes),
          largest_gap_bytes(raw.largest_gap_bytes), blocks(raw.blocks), allocations(raw.allocations), refused(raw.refused) {}
};

/// Blocks are handed out again as soon as the order of streams allows it, without a message to the pond. Move-only; its end frees every
/// block, so work that uses them must have been submitted.
class pool {
public:
    /// On the account of this program: of its own group where it runs in one, and else of a group without a limit.
    pool(const pond &from, const uuid &gpu) : pool(opened(from, gpu).value()) {}
    explicit pool(millpond_pool *handle) noexcept : handle_(handle) {}
    [[nodiscard]] static result<pool> try_open(const pond &from, const uuid &gpu) { return opened(from, gpu); }
    /// On the budget of a group.
    [[nodiscard]] static pool in(const elastic &group, const std::string &name, const uuid &gpu) { return try_in(group, name, gpu).value(); }
    [[nodiscard]] static result<pool> try_in(const elastic &group, const std::string &name, const uuid &gpu) {
        millpond_pool_spec spec{};
        spec.name = name.c_str();
        spec.gpu = detail::raw(gpu);
        return detail::made<pool, millpond_pool>([&](auto *out) { return millpond_pool_reserve(group.handle(), &spec, out); });
    }

    /// A block that work of the stream may use from now on. Its address is a multiple of 512, its contents are anything.
    [[nodiscard]] void *allocate(std::uint64_t bytes, void *stream) const { return try_allocate(bytes, stream).value(); }
    [[nodiscard]] result<void *> try_allocate(std::uint64_t bytes, void *stream) const {
        void *at = nullptr;
        if (const int code = millpond_pool_alloc(handle_.get(), bytes, stream, &at); code != 0) return detail::last_error(code);
        return at;
    }
    /// Later work of the stream may use its memory at once, work of others when that is done.
    void free(void *at, void *stream) const { try_free(at, stream).value(); }
    [[nodiscard]] result<void> try_free(void *at, void *stream) const {
        return detail::done(millpond_pool_free_block(handle_.get(), at, stream));
    }
    /// Work of that stream uses the block too.
    void record_stream(void *at, void *stream) const { try_record_stream(at, stream).value(); }
    [[nodiscard]] result<void> try_record_stream(void *at, void *stream) const {
        return detail::done(millpond_pool_record_stream(handle_.get(), at, stream));
    }
    /// Gives memory that no block uses back to the group; with `wait`, the device is waited for where that helps. Answers how much.
    std::uint64_t trim(std::uint64_t bytes = UINT64_MAX, bool wait = false) const { return try_trim(bytes, wait).value(); }
    [[nodiscard]] result<std::uint64_t> try_trim(std::uint64_t bytes = UINT64_MAX, bool wait = false) const {
        std::uint64_t given = 0;
        if (const int code = millpond_pool_trim(handle_.get(), bytes, wait ? 1 : 0, &given); code != 0) return detail::last_error(code);
        return given;
    }
    [[nodiscard]] pool_info info() const { return try_info().value(); }
    [[nodiscard]] result<pool_info> try_info() const {
        return detail::filled<pool_info, millpond_pool_info>([&](auto *out) { return millpond_pool_get_info(handle_.get(), 0, out); });
    }
    /// Draws all blocks and gaps into an SVG file, or writes them as JSON where the path ends in `.json`.
    void snapshot(const std::string &path) const { try_snapshot(path).value(); }
    [[nodiscard]] result<void> try_snapshot(const std::string &path) const {
        return detail::done(millpond_pool_snapshot(handle_.get(), path.c_str()));
    }

    [[nodiscard]] millpond_pool *handle() const noexcept { return handle_.get(); }

private:
    [[nodiscard]] static result<pool> opened(const pond &from, const uuid &gpu) {
        const auto raw = detail::raw(gpu);
        return detail::made<pool, millpond_pool>([&](auto *out) { return millpond_pool_open(from.handle(), &raw, out); });
    }

    detail::owned<millpond_pool, millpond_pool_free> handle_;
};

}  // namespace millpond
