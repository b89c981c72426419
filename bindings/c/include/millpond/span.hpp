// Ranges of memory that somebody else owns: `std::span` where the library has it.
#pragma once

#include <cstddef>
#include <type_traits>

#include "detail/config.hpp"

#if defined(__cpp_lib_span)
#include <span>

namespace millpond {
template <class T>
using span = std::span<T>;
}
#else
#include <iterator>

namespace millpond {

/// The part of C++20's `std::span` that this library needs.
template <class T>
class span {
    template <class C>
    using data_of = decltype(std::data(std::declval<C &>()));

public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;
    using iterator = T *;

    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <std::size_t N>
    constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    /// From a vector, an array, a string, another span.
    template <class C, class = std::enable_if_t<
                           !std::is_array_v<std::remove_reference_t<C>> &&
                           std::is_convertible_v<std::remove_pointer_t<data_of<C>> (*)[], T (*)[]>>>
    constexpr span(C &&container) : data_(std::data(container)), size_(std::size(container)) {}

    [[nodiscard]] constexpr T *data() const noexcept { return data_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr T *begin() const noexcept { return data_; }
    [[nodiscard]] constexpr T *end() const noexcept { return data_ + size_; }
    [[nodiscard]] constexpr T &front() const { return data_[0]; }
    [[nodiscard]] constexpr T &back() const { return data_[size_ - 1]; }
    [[nodiscard]] constexpr T &operator[](std::size_t at) const { return data_[at]; }
    [[nodiscard]] constexpr span subspan(std::size_t from, std::size_t count) const { return {data_ + from, count}; }
    [[nodiscard]] constexpr span first(std::size_t count) const { return {data_, count}; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace millpond
#endif

namespace millpond {

/// Elements seen as bytes. C++20's function of that name keeps the extent; here it is never known.
template <class T>
[[nodiscard]] span<const std::byte> as_bytes(span<T> elements) noexcept {
    return {reinterpret_cast<const std::byte *>(elements.data()), elements.size_bytes()};
}

template <class T, class = std::enable_if_t<!std::is_const_v<T>>>
[[nodiscard]] span<std::byte> as_writable_bytes(span<T> elements) noexcept {
    return {reinterpret_cast<std::byte *>(elements.data()), elements.size_bytes()};
}

}  // namespace millpond
