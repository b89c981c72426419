// The two structs of DLPack 1.x that travel, with the layout of its header. They have names of their own, so that both headers
// can be in one program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../dtype.hpp"
#include "../result.hpp"

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

/// The struct, what it points to, and what keeps the memory.
template <class Managed, class Keeper>
struct parcel {
    Managed managed{};
    Keeper keeper;
    std::vector<std::int64_t> extents;
};

/// Makes the struct; `label` is what the tensor is called in errors. Its deleter ends `keeper`.
template <class Managed, class Keeper>
[[nodiscard]] result<Managed *> exported(Keeper keeper, void *data, device where, dtype type, const std::vector<std::uint64_t> &shape,
                                         const std::string &label) {
    const auto known = type_of(type);
    if (known.bits == 0) return error(errc::unsupported, "DLPack has no type for " + std::string(name(type)) + ", which tensor " + label + " is");
    auto made = std::make_unique<parcel<Managed, Keeper>>();
    made->keeper = std::move(keeper);
    const std::size_t count = shape.size();
    made->extents.resize(2 * count, 1);
    std::int64_t stride = 1;
    for (std::size_t at = count; at-- > 0;) {
        made->extents[at] = static_cast<std::int64_t>(shape[at]);
        made->extents[count + at] = stride;
        stride *= made->extents[at];
    }
    std::int64_t *extents = made->extents.data();
    made->managed.what = {data, where, static_cast<std::int32_t>(count), known, extents, extents + count, 0};
    made->managed.context = made.get();
    made->managed.deleter = [](Managed *whole) { delete static_cast<parcel<Managed, Keeper> *>(whole->context); };
    return &made.release()->managed;
}

/// The same in the newer format, which says whether memory is read-only.
template <class Keeper>
[[nodiscard]] result<::DLManagedTensorVersioned *> exported_versioned(Keeper keeper, void *data, device where, dtype type,
                                                                      const std::vector<std::uint64_t> &shape, const std::string &label,
                                                                      bool writable) {
    auto made = exported<managed_versioned>(std::move(keeper), data, where, type, shape, label);
    if (!made) return made.error();
    (*made)->spoken = {1, 1};
    (*made)->flags = writable ? 0 : read_only;
    return reinterpret_cast<::DLManagedTensorVersioned *>(*made);
}

}  // namespace millpond::detail::dl
