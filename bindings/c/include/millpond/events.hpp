// What happens in a pond.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detail/visit.hpp"
#include "pond.hpp"

namespace millpond {

/// The numbers are those of the protocol; a newer pond may have more.
enum class event_kind : std::uint32_t {
    tensor_created = 1,
    tensor_published = 2,
    tensor_deleted = 3,
    tensor_freed = 4,
    client_connected = 5,
    client_silent = 6,
    client_gone = 7,
    recovered = 8,
    draining = 9,
    keeper_replaced = 10,
    /// Events are missing before this one: the subscriber was slow, or came late.
    gap = 11,
    mover_started = 12,
    mover_stopped = 13,
    mover_lost = 14,
    limit_reached = 15,
    upgrading = 16,
    collected = 17,
    version_staged = 18,
    version_ready = 19,
    model_swapped = 20,
    version_draining = 21,
    version_gone = 22,
    group_set = 23,
    group_over = 24,
    group_lying = 25,
    group_stuck = 26,
    group_gone = 27,
    renamed = 28,
    start_failed = 29,
    cache_opened = 30,
    cache_closed = 31,
    cache_pressed = 32,
    cache_gave = 33,
    cache_got = 34,
    cache_ended = 35,
    host_started = 36,
    host_stopped = 37,
    host_lost = 38,
    tensor_adopted = 39,
    tensor_orphaned = 40,
    hold_ended = 41,
};

namespace detail {
inline constexpr std::string_view event_names[] = {
    "unknown", "tensor_created", "tensor_published", "tensor_deleted", "tensor_freed", "client_connected",
    "client_silent", "client_gone", "recovered", "draining", "keeper_replaced", "gap", "mover_started",
    "mover_stopped", "mover_lost", "limit_reached", "upgrading", "collected", "version_staged", "version_ready",
    "model_swapped", "version_draining", "version_gone", "group_set", "group_over", "group_lying", "group_stuck",
    "group_gone", "renamed", "start_failed", "cache_opened", "cache_closed", "cache_pressed", "cache_gave",
    "cache_got", "cache_ended", "host_started", "host_stopped", "host_lost", "tensor_adopted", "tensor_orphaned",
    "hold_ended",
};
inline constexpr std::size_t event_count = sizeof event_names / sizeof event_names[0];
}  // namespace detail

/// The stable name, such as `tensor_published`; `unknown` for one of a newer pond.
[[nodiscard]] constexpr std::string_view name(event_kind kind) noexcept {
    const auto at = static_cast<std::size_t>(kind);
    return detail::event_names[at < detail::event_count ? at : 0];
}
inline std::ostream &operator<<(std::ostream &out, event_kind kind) { return out << name(kind); }

struct event {
    /// Rises from one event to the next, also across daemons.
    std::uint64_t sequence = 0;
    std::uint64_t unix_ms = 0;
    event_kind kind{};
    /// The tensor or the version; nil where it is about neither.
    uuid target;
    /// Its name, or the group's; empty where there is none.
    std::string name;
    /// A user id, where one is said.
    std::optional<std::uint32_t> user;
    /// More, for people.
    std::string text;

    event() = default;
    explicit event(const millpond_event &raw)
        : sequence(raw.sequence), unix_ms(raw.unix_ms), kind(static_cast<event_kind>(raw.kind)), target(detail::cooked(raw.target)),
          name(detail::text(raw.name)), text(detail::text(raw.text)) {
        if (raw.user != UINT32_MAX) user = raw.user;
    }
};

/// A subscription with a connection of its own, which survives restarts of the daemon. Move-only; one thread at a time waits.
class events {
public:
    explicit events(millpond_events *handle) noexcept : handle_(handle) {}

    /// The next event; nothing if none came within that time.
    [[nodiscard]] std::optional<event> next(wait_time timeout = forever) { return try_next(timeout).value(); }
    [[nodiscard]] result<std::optional<event>> try_next(wait_time timeout = forever) {
        millpond_event raw{};
        const int code = millpond_events_next(handle_.get(), timeout.ms(), &raw);
        if (code == 0) return std::optional<event>(event(raw));
        if (static_cast<errc>(code) == errc::timeout) return std::optional<event>();
        return detail::last_error(code);
    }
    /// All that the pond has kept from the number on that was asked for, without waiting for more.
    [[nodiscard]] std::vector<event> kept() { return try_kept().value(); }
    [[nodiscard]] result<std::vector<event>> try_kept() {
        std::vector<event> found;
        const auto keep = [&](const millpond_event *raw) { return found.emplace_back(*raw), true; };
        detail::guarded<decltype(keep)> guard(keep);
        const int code = millpond_events_kept(
            handle_.get(),
            [](const millpond_event *raw, void *data) -> std::uint32_t { return static_cast<decltype(guard) *>(data)->goes_on(raw) ? 0 : 1; },
            guard.address());
        guard.finish();
        if (code != 0) return detail::last_error(code);
        return found;
    }

    /// `for (const auto &event : pond.events())` waits for each, for ever.
    class iterator {
    public:
        using value_type = event;
        using reference = const event &;
        using pointer = const event *;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;

        iterator() = default;
        explicit iterator(events *from) : from_(from), now_(*from->next()) {}
        [[nodiscard]] reference operator*() const noexcept { return now_; }
        [[nodiscard]] pointer operator->() const noexcept { return &now_; }
        iterator &operator++() { return now_ = *from_->next(), *this; }
        void operator++(int) { ++*this; }
        [[nodiscard]] bool operator==(const iterator &other) const noexcept { return from_ == other.from_; }
        [[nodiscard]] bool operator!=(const iterator &other) const noexcept { return from_ != other.from_; }

    private:
        events *from_ = nullptr;
        event now_;
    };
    [[nodiscard]] iterator begin() { return iterator(this); }
    [[nodiscard]] iterator end() const noexcept { return {}; }

private:
    detail::owned<millpond_events, millpond_events_free> handle_;
};

inline events pond::events(std::uint64_t from) const { return try_events(from).value(); }
inline result<events> pond::try_events(std::uint64_t from) const {
    return detail::made<millpond::events, millpond_events>([&](auto *out) { return millpond_events_subscribe(handle_.get(), from, out); });
}

}  // namespace millpond
