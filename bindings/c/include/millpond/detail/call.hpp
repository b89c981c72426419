// Between the C ABI and values of C++.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "../result.hpp"
#include "../uuid.hpp"

namespace millpond::detail {

/// Ends what a handle names. Handles are numbers to the library, which refuses one that is not alive.
template <auto Free>
struct freeing {
    template <class Handle>
    void operator()(Handle *handle) const noexcept {
        (void)Free(handle);
    }
};
template <class Handle, auto Free>
using owned = std::unique_ptr<Handle, freeing<Free>>;

[[nodiscard]] inline result<void> done(int code) {
    if (code == 0) return {};
    return last_error(code);
}

/// Runs a call whose last argument is where the handle that it makes is written, and makes a `T` of the handle.
template <class T, class Handle, class Call>
[[nodiscard]] result<T> made(Call &&call) {
    Handle *handle = nullptr;
    if (const int code = call(&handle); code != 0) return last_error(code);
    return T(handle);
}

/// Runs a call that fills a struct, and makes a `T` of it.
template <class T, class Struct, class Call>
[[nodiscard]] result<T> filled(Call &&call) {
    Struct raw{};
    if (const int code = call(&raw); code != 0) return last_error(code);
    return T(raw);
}

/// Sets a number of a struct, whichever type it has there.
template <class Field, class Number>
void set(Field &field, Number number) noexcept {
    field = static_cast<Field>(number);
}

[[nodiscard]] inline millpond_uuid raw(const uuid &id) noexcept {
    millpond_uuid made{};
    std::memcpy(made.bytes, id.data(), uuid::size);
    return made;
}
[[nodiscard]] inline uuid cooked(const millpond_uuid &id) noexcept { return uuid::from_bytes(id.bytes); }

/// Text in an array of a struct.
template <std::size_t N>
[[nodiscard]] std::string text(const char (&array)[N]) {
    return {array, strnlen(array, N)};
}

/// Milliseconds, rounded up so that a wait is never shorter than it was asked to be. `std::chrono::…::max()` waits for ever.
template <class Rep, class Period>
[[nodiscard]] constexpr std::uint64_t milliseconds(std::chrono::duration<Rep, Period> time) noexcept {
    using namespace std::chrono;
    if (time == duration<Rep, Period>::max()) return MILLPOND_WAIT_FOREVER;
    if (time <= duration<Rep, Period>::zero()) return 0;
    if (time > duration_cast<duration<Rep, Period>>(hours(24 * 365 * 100))) return MILLPOND_WAIT_FOREVER;
    return static_cast<std::uint64_t>(ceil<std::chrono::milliseconds>(time).count());
}

/// A text that the library made, taken over.
[[nodiscard]] inline std::string taken(millpond_text *text) {
    const owned<millpond_text, millpond_text_free> kept(text);
    const char *data = millpond_text_data(text);
    return data == nullptr ? std::string() : std::string(data, millpond_text_length(text));
}

}  // namespace millpond::detail

namespace millpond {

/// Any time, kept in milliseconds as the pond does. `forever` waits without an end.
class wait_time {
public:
    constexpr wait_time() noexcept = default;
    template <class Rep, class Period>
    constexpr wait_time(std::chrono::duration<Rep, Period> time) noexcept : ms_(detail::milliseconds(time)) {}
    [[nodiscard]] constexpr std::uint64_t ms() const noexcept { return ms_; }

private:
    std::uint64_t ms_ = 0;
};

inline constexpr std::chrono::milliseconds forever = std::chrono::milliseconds::max();

}  // namespace millpond
