// Groups: programs that share a limit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "detail/call.hpp"
#include "pond.hpp"

namespace millpond {

/// What a group may hold of a GPU.
class limit {
public:
    [[nodiscard]] static limit bytes(std::uint64_t bytes) noexcept { return {MILLPOND_LIMIT_BYTES, 0, bytes}; }
    /// A part of the card, from 0 to 1.
    [[nodiscard]] static limit share(double part) noexcept {
        return {MILLPOND_LIMIT_PERMILLE, part <= 0 ? 0u : part >= 1 ? 1000u : static_cast<std::uint32_t>(part * 1000 + 0.5), 0};
    }
    [[nodiscard]] static limit unlimited() noexcept { return {MILLPOND_LIMIT_UNLIMITED, 0, 0}; }
    [[nodiscard]] const millpond_limit &raw() const noexcept { return raw_; }

private:
    limit(std::uint32_t kind, std::uint32_t permille, std::uint64_t bytes) noexcept {
        detail::set(raw_.kind, kind);
        raw_.permille = permille;
        raw_.bytes = bytes;
    }
    millpond_limit raw_{};
};

/// A change of a group; what is not set stays as it is.
class group_change {
public:
    /// It may be a new one.
    group_change &create(bool wanted = true) { return raw_.create = wanted, *this; }
    /// On this GPU alone; on all of them by default.
    group_change &gpu(const uuid &id) { return raw_.gpu = detail::raw(id), *this; }
    group_change &limit(const millpond::limit &most) { return raw_.limit = most.raw(), *this; }
    /// What others leave it.
    group_change &min(std::uint64_t bytes) { return raw_.min_bytes = bytes, raw_.has_min = 1, *this; }
    group_change &weight(std::uint32_t weight) { return raw_.weight = weight, *this; }
    [[nodiscard]] const millpond_group_change &raw() const noexcept { return raw_; }

private:
    millpond_group_change raw_{};
};

inline void pond::set_group(const std::string &name, const group_change &change) const { try_set_group(name, change).value(); }
inline result<void> pond::try_set_group(const std::string &name, const group_change &change) const {
    return detail::done(millpond_group_set(handle_.get(), name.c_str(), &change.raw()));
}

}  // namespace millpond
