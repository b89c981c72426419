// The two structs of DLPack 1.x that travel, with the layout of its header. They have names of their own, so that both headers
// can be in one program.
#pragma once

#include <cstdint>

#include "../dtype.hpp"

struct DLManagedTensorVersioned;
struct DLManagedTensor;

namespace millpond::detail::dl {

struct device {
    std::int32_t type, id;
};
struct data_type {
    std::uint8_t code, bits;
    std::uint16_t lanes;
};
struct tensor {
    void *data;
    device where;
    std::int32_t dimensions;
    data_type type;
    std::int64_t *shape, *strides;
    std::uint64_t byte_offset;
};
struct managed {
    tensor what;
    void *context;
    void (*deleter)(managed *);
};
struct version {
    std::uint32_t major, minor;
};
struct managed_versioned {
    version spoken;
    void *context;
    void (*deleter)(managed_versioned *);
    std::uint64_t flags;
    tensor what;
};

inline constexpr std::int32_t cpu = 1, cuda = 2;
inline constexpr std::uint64_t read_only = 1;

/// `bits` is zero where DLPack has no such type.
[[nodiscard]] constexpr data_type type_of(dtype type) noexcept {
    switch (type) {
        case dtype::i8:
        case dtype::i16:
        case dtype::i32:
        case dtype::i64: return {0, static_cast<std::uint8_t>(bits(type)), 1};
        case dtype::u8:
        case dtype::u16:
        case dtype::u32:
        case dtype::u64: return {1, static_cast<std::uint8_t>(bits(type)), 1};
        case dtype::f16:
        case dtype::f32:
        case dtype::f64: return {2, static_cast<std::uint8_t>(bits(type)), 1};
        case dtype::bf16: return {4, 16, 1};
        case dtype::c64: return {5, 64, 1};
        case dtype::boolean: return {6, 8, 1};
        case dtype::f8_e4m3: return {10, 8, 1};
        case dtype::f8_e4m3fnuz: return {11, 8, 1};
        case dtype::f8_e5m2: return {12, 8, 1};
        case dtype::f8_e5m2fnuz: return {13, 8, 1};
        case dtype::f8_e8m0: return {14, 8, 1};
        default: return {0, 0, 0};
    }
}

}  // namespace millpond::detail::dl
