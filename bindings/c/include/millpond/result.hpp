// What a call that throws nothing answers: a value, or why there is none.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "error.hpp"

namespace millpond {

/// As C++23's `std::expected<T, error>`. `value()` throws the error where there is no value; `operator*` must only be used
/// where there is one.
template <class T>
class [[nodiscard]] result {
public:
    using value_type = T;

    result(const T &value) : either_(std::in_place_index<0>, value) {}
    // A reference, and not a value: without P1825, `return local;` moves only into a parameter of this form (nvcc 13.0).
    result(T &&value) : either_(std::in_place_index<0>, std::move(value)) {}
    result(class error why) noexcept : either_(std::in_place_index<1>, std::move(why)) {}

    [[nodiscard]] bool has_value() const noexcept { return either_.index() == 0; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

    [[nodiscard]] T &value() & { return check(), *std::get_if<0>(&either_); }
    [[nodiscard]] const T &value() const & { return check(), *std::get_if<0>(&either_); }
    [[nodiscard]] T value() && { return check(), std::move(*std::get_if<0>(&either_)); }

    [[nodiscard]] T &operator*() & noexcept { return *std::get_if<0>(&either_); }
    [[nodiscard]] const T &operator*() const & noexcept { return *std::get_if<0>(&either_); }
    [[nodiscard]] T operator*() && noexcept { return std::move(*std::get_if<0>(&either_)); }
    [[nodiscard]] T *operator->() noexcept { return std::get_if<0>(&either_); }
    [[nodiscard]] const T *operator->() const noexcept { return std::get_if<0>(&either_); }

    /// Only where there is no value.
    [[nodiscard]] const class error &error() const noexcept { return *std::get_if<1>(&either_); }
    /// `errc::ok` where there is a value.
    [[nodiscard]] errc code() const noexcept { return has_value() ? errc::ok : error().code(); }

    template <class U>
    [[nodiscard]] T value_or(U &&other) && {
        return has_value() ? std::move(*std::get_if<0>(&either_)) : static_cast<T>(std::forward<U>(other));
    }

private:
    void check() const {
        if (!has_value()) detail::raise(error());
    }

    std::variant<T, class error> either_;
};

template <>
class [[nodiscard]] result<void> {
public:
    using value_type = void;

    result() noexcept = default;
    result(class error why) noexcept : why_(std::move(why)) {}

    [[nodiscard]] bool has_value() const noexcept { return !why_; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    void value() const {
        if (why_) detail::raise(*why_);
    }
    /// Only where the call failed.
    [[nodiscard]] const class error &error() const noexcept { return *why_; }
    [[nodiscard]] errc code() const noexcept { return why_ ? why_->code() : errc::ok; }

private:
    std::optional<class error> why_;
};

}  // namespace millpond
