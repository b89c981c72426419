// Types of elements, and which type of C++ each one is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>
#include <type_traits>

#include "detail/config.hpp"

// Types of CUDA's headers, which need not be there.
struct __half;
struct __nv_bfloat16;
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;

namespace millpond {

/// The numbers are those of the C ABI, and never change.
enum class dtype : std::uint8_t {
    boolean = 1,
    f4 = 2,
    f6_e2m3 = 3,
    f6_e3m2 = 4,
    u8 = 5,
    i8 = 6,
    f8_e5m2 = 7,
    f8_e4m3 = 8,
    f8_e8m0 = 9,
    f8_e4m3fnuz = 10,
    f8_e5m2fnuz = 11,
    i16 = 12,
    u16 = 13,
    f16 = 14,
    bf16 = 15,
    i32 = 16,
    u32 = 17,
    f32 = 18,
    c64 = 19,
    f64 = 20,
    i64 = 21,
    u64 = 22,
};

namespace detail {
struct dtype_line {
    std::string_view name;
    unsigned bits;
};
inline constexpr dtype_line dtype_lines[] = {
    {"", 0},         {"BOOL", 8},    {"F4", 4},           {"F6_E2M3", 6},      {"F6_E3M2", 6}, {"U8", 8},
    {"I8", 8},       {"F8_E5M2", 8}, {"F8_E4M3", 8},      {"F8_E8M0", 8},      {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
    {"I16", 16},     {"U16", 16},    {"F16", 16},         {"BF16", 16},        {"I32", 32},    {"U32", 32},
    {"F32", 32},     {"C64", 64},    {"F64", 64},         {"I64", 64},         {"U64", 64},
};
inline constexpr std::size_t dtype_count = sizeof dtype_lines / sizeof dtype_lines[0];

[[nodiscard]] constexpr const dtype_line &line_of(dtype type) noexcept {
    const auto at = static_cast<std::size_t>(type);
    return dtype_lines[at < dtype_count ? at : 0];
}
}  // namespace detail

/// In safetensors' spelling, such as `BF16`.
[[nodiscard]] constexpr std::string_view name(dtype type) noexcept { return detail::line_of(type).name; }

/// Of one element; less than eight for packed types.
[[nodiscard]] constexpr unsigned bits(dtype type) noexcept { return detail::line_of(type).bits; }

/// The type with this name, as `name` spells it.
[[nodiscard]] constexpr std::optional<dtype> parse_dtype(std::string_view name) noexcept {
    for (std::size_t at = 1; at < detail::dtype_count; ++at) {
        if (detail::dtype_lines[at].name == name) return static_cast<dtype>(at);
    }
    return std::nullopt;
}

inline std::ostream &operator<<(std::ostream &out, dtype type) { return out << name(type); }

/// Which dtype a type of C++ is. Specialise it, with `static constexpr dtype value`, for types of your own, such as
/// `std::complex<float>` (`dtype::c64`).
template <class T, class = void>
struct dtype_of {};

template <>
struct dtype_of<bool> {
    static constexpr dtype value = dtype::boolean;
};
template <>
struct dtype_of<float> {
    static constexpr dtype value = dtype::f32;
};
template <>
struct dtype_of<double> {
    static constexpr dtype value = dtype::f64;
};
template <>
struct dtype_of<::__half> {
    static constexpr dtype value = dtype::f16;
};
template <>
struct dtype_of<::__nv_bfloat16> {
    static constexpr dtype value = dtype::bf16;
};
template <>
struct dtype_of<::__nv_fp8_e4m3> {
    static constexpr dtype value = dtype::f8_e4m3;
};
template <>
struct dtype_of<::__nv_fp8_e5m2> {
    static constexpr dtype value = dtype::f8_e5m2;
};
/// Integers by size and sign, so that `long` and `long long` are both 64 bits wide here.
template <class T>
struct dtype_of<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
                                    !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>>> {
    static constexpr dtype value = sizeof(T) == 1   ? (std::is_signed_v<T> ? dtype::i8 : dtype::u8)
                                   : sizeof(T) == 2 ? (std::is_signed_v<T> ? dtype::i16 : dtype::u16)
                                   : sizeof(T) == 4 ? (std::is_signed_v<T> ? dtype::i32 : dtype::u32)
                                                    : (std::is_signed_v<T> ? dtype::i64 : dtype::u64);
};

namespace detail {
template <class T, class = void>
inline constexpr bool has_dtype = false;
template <class T>
inline constexpr bool has_dtype<T, std::void_t<decltype(dtype_of<T>::value)>> = true;

/// Types for which no dtype is asked: whoever names them looks at bytes.
template <class T>
inline constexpr bool is_raw = std::is_void_v<T> || std::is_same_v<std::remove_cv_t<T>, std::byte>;
}  // namespace detail
}  // namespace millpond
