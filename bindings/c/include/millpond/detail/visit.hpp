// Callbacks of C++ behind those of C, over which no exception may go.
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include "call.hpp"

namespace millpond::detail {

/// A callable with the place where its exception waits until the C call is over.
template <class Visit>
class guarded {
public:
    explicit guarded(Visit &visit) : visit_(visit) {}
    guarded(const guarded &) = delete;
    guarded &operator=(const guarded &) = delete;

    [[nodiscard]] void *address() noexcept { return this; }

    /// Whether it goes on; after an exception it does not.
    template <class... Arguments>
    [[nodiscard]] bool goes_on(Arguments &&...arguments) noexcept {
#if MILLPOND_HAS_EXCEPTIONS
        try {
            return visit_(std::forward<Arguments>(arguments)...);
        } catch (...) {
            thrown_ = std::current_exception();
            return false;
        }
#else
        return visit_(std::forward<Arguments>(arguments)...);
#endif
    }

    /// Throws what the callable has thrown.
    void finish() const {
#if MILLPOND_HAS_EXCEPTIONS
        if (thrown_) std::rethrow_exception(thrown_);
#endif
    }

private:
    Visit &visit_;
    std::exception_ptr thrown_;
};

}  // namespace millpond::detail

namespace millpond {

/// Is told how far something is, in the calling thread; false ends it with `errc::cancelled`. What it throws comes out of the call, also
/// out of one with `try_` in front.
using progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

namespace detail {
/// Runs a call that takes a progress, a pointer for it, and more.
template <class Call>
[[nodiscard]] result<void> told(const progress &told, Call &&call) {
    if (!told) return done(call(nullptr, nullptr));
    guarded<const progress> guard(told);
    const int code = call(
        [](std::uint64_t so_far, std::uint64_t total, void *data) -> std::uint32_t {
            return static_cast<guarded<const progress> *>(data)->goes_on(so_far, total) ? 0 : 1;
        },
        guard.address());
    guard.finish();
    return done(code);
}
}  // namespace detail
}  // namespace millpond
