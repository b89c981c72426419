// Ends calls of other threads that wait.
#pragma once

#include "detail/call.hpp"

namespace millpond {

/// Calls of a thread that is in `scope()` end with `errc::cancelled`, within about a tenth of a second, once another thread has called
/// `set()`. There is no way back: make another one.
class cancel {
public:
    cancel() : cancel(try_make().value()) {}
    [[nodiscard]] static result<cancel> try_make() {
        return detail::made<cancel, millpond_cancel>([](auto *out) { return millpond_cancel_new(out); });
    }
    explicit cancel(millpond_cancel *handle) noexcept : handle_(handle) {}

    void set() const noexcept { (void)millpond_cancel_set(handle_.get()); }

    /// For the thread that makes it, until its end. Scopes do not nest.
    class [[nodiscard]] in_scope {
    public:
        in_scope(const in_scope &) = delete;
        in_scope &operator=(const in_scope &) = delete;
        ~in_scope() { (void)millpond_cancel_use(nullptr); }

    private:
        friend class cancel;
        explicit in_scope(const millpond_cancel *which) { detail::done(millpond_cancel_use(which)).value(); }
    };
    [[nodiscard]] in_scope scope() const { return in_scope(handle_.get()); }

private:
    detail::owned<millpond_cancel, millpond_cancel_free> handle_;
};

}  // namespace millpond
