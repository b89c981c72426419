// A tensor that this process has a lease on, mapped into its address space on the GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "detail/call.hpp"
#include "dtype.hpp"
#include "span.hpp"
#include "status.hpp"

namespace millpond {

namespace detail {

/// `T` of a copy is never guessed from a container: bytes unless it is named.
template <class T>
struct named {
    using type = T;
};
template <class T>
using named_t = typename named<T>::type;

/// Whether elements of a tensor may be looked at as `T`.
template <class T>
[[nodiscard]] result<void> fits(dtype type, const std::string &label) {
    if constexpr (is_raw<T>) {
        return {};
    } else {
        static_assert(has_dtype<std::remove_cv_t<T>>, "no dtype is this type: specialise millpond::dtype_of, or ask for std::byte");
        constexpr dtype wanted = dtype_of<std::remove_cv_t<T>>::value;
        if (type == wanted) return {};
        return error(errc::invalid, "tensor " + label + " is " + std::string(name(type)) + ", not " + std::string(name(wanted)),
                     "ask for the type that it has, or for std::byte");
    }
}

/// A range of copied bytes; refuses what no 64-bit number can say.
template <class T>
[[nodiscard]] result<std::uint64_t> offset_of(std::uint64_t first) {
    if (first > UINT64_MAX / sizeof(T)) return error(errc::invalid, "element " + std::to_string(first) + " is outside of every tensor");
    return first * sizeof(T);
}

}  // namespace detail

/// Move-only. Its end gives the lease back and never waits: the memory stays mapped until the GPU has done what was submitted before.
/// All threads may use one tensor at once; in a forked child it is `errc::forked`.
class tensor {
public:
    /// No tensor.
    tensor() noexcept = default;
    /// Takes a handle of the C ABI over.
    explicit tensor(millpond_tensor *handle, bool existed = true) noexcept : handle_(handle), existed_(existed) {}

    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
    [[nodiscard]] bool has_value() const noexcept { return handle_ != nullptr; }
    /// Gives the lease back now.
    void reset() noexcept { handle_.reset(); }
    [[nodiscard]] millpond_tensor *handle() const noexcept { return handle_.get(); }
    [[nodiscard]] millpond_tensor *release() noexcept { return handle_.release(); }

    [[nodiscard]] uuid id() const noexcept {
        millpond_uuid id{};
        if (handle_) (void)millpond_tensor_id(handle_.get(), &id);
        return detail::cooked(id);
    }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return handle_ ? millpond_tensor_bytes(handle_.get()) : 0; }
    [[nodiscard]] millpond::dtype dtype() const noexcept {
        return handle_ ? static_cast<millpond::dtype>(millpond_tensor_dtype(handle_.get())) : millpond::dtype();
    }
    /// Elements, all together.
    [[nodiscard]] std::uint64_t size() const noexcept {
        const auto width = bits(dtype());
        return width == 0 ? 0 : bytes() * 8 / width;
    }
    /// Whether it is mapped for writing.
    [[nodiscard]] bool writable() const noexcept {
        return handle_ && static_cast<std::uint32_t>(millpond_tensor_mode(handle_.get())) == MILLPOND_MODE_READ_WRITE;
    }
    /// How often it was published, as far as this value knows.
    [[nodiscard]] std::uint64_t generation() const noexcept { return handle_ ? millpond_tensor_generation(handle_.get()) : 0; }
    /// Whether the create found it instead of making it.
    [[nodiscard]] bool existed() const noexcept { return existed_; }
    /// Whether another pond has taken the pond's place, so that nobody else can find it. The memory stays.
    [[nodiscard]] bool lost() const noexcept { return handle_ && millpond_tensor_is_lost(handle_.get()) != 0; }

    /// What the pond said when it was got. Costs no message.
    [[nodiscard]] tensor_info info() const { return try_info().value(); }
    [[nodiscard]] result<tensor_info> try_info() const {
        if (!handle_) return detail::empty();
        return detail::filled<tensor_info, millpond_tensor_info>([&](auto *out) { return millpond_tensor_get_info(handle_.get(), out); });
    }
    [[nodiscard]] std::vector<std::uint64_t> shape() const { return handle_ ? info().shape : std::vector<std::uint64_t>(); }
    [[nodiscard]] std::string name() const { return handle_ ? info().name : std::string(); }
    [[nodiscard]] uuid gpu() const { return handle_ ? info().gpu : uuid(); }

    /// Where it begins in the GPU's address space, for this process; zero for no tensor. Nothing is checked.
    [[nodiscard]] std::uintptr_t address() const noexcept {
        return handle_ ? reinterpret_cast<std::uintptr_t>(millpond_tensor_data(handle_.get())) : 0;
    }
    /// The same as a pointer for kernels. `T` must be its dtype, and const where it is read-only; `std::byte` and `void` are always right.
    template <class T>
    [[nodiscard]] T *data() const {
        return try_data<T>().value();
    }
    template <class T>
    [[nodiscard]] result<T *> try_data() const {
        if (!handle_) return detail::empty();
        if (const auto fits = detail::fits<T>(dtype(), label()); !fits) return fits.error();
        if constexpr (!std::is_const_v<T> && !std::is_void_v<T>) {
            if (!writable()) {
                return error(errc::invalid, "tensor " + label() + " is mapped read-only", "ask for a const type, or get it with pond.tensor()");
            }
        }
        void *at = millpond_tensor_data(handle_.get());
        if (at == nullptr) return detail::last_error(millpond_error_result());
        return static_cast<T *>(at);
    }

    /// Waits for all work of its CUDA context, then tells the pond that the bytes are complete. Answers the generation.
    std::uint64_t publish() const { return try_publish().value(); }
    [[nodiscard]] result<std::uint64_t> try_publish() const {
        return counted([&](std::uint64_t *out) { return millpond_tensor_publish(handle_.get(), out); });
    }
    /// The same, but waits for the work of one stream: a `cudaStream_t` or `CUstream` of its context.
    std::uint64_t publish(void *stream) const { return try_publish(stream).value(); }
    [[nodiscard]] result<std::uint64_t> try_publish(void *stream) const {
        return counted([&](std::uint64_t *out) { return millpond_tensor_publish_after(handle_.get(), stream, out); });
    }

    /// Marks the end of what the stream has queued as the last write: `wait` of any process waits for it, on its stream. Only for tensors
    /// with `transport::ipc`.
    void record(void *stream) const { try_record(stream).value(); }
    [[nodiscard]] result<void> try_record(void *stream) const {
        return checked([&] { return millpond_tensor_record(handle_.get(), stream); });
    }
    /// Queues a fill of all of it with one byte.
    void fill(std::byte byte, void *stream) const { try_fill(byte, stream).value(); }
    [[nodiscard]] result<void> try_fill(std::byte byte, void *stream) const {
        return checked([&] { return millpond_tensor_fill_on(handle_.get(), stream, std::to_integer<std::uint8_t>(byte)); });
    }
    /// The `CUcontext` that it is mapped for.
    [[nodiscard]] void *context() const noexcept { return handle_ ? millpond_tensor_context(handle_.get()) : nullptr; }

    /// Has later work of the stream wait for the last `record` of anybody.
    void wait(void *stream) const { try_wait(stream).value(); }
    [[nodiscard]] result<void> try_wait(void *stream) const {
        return checked([&] { return millpond_tensor_wait(handle_.get(), stream); });
    }

    /// Copies elements into it, from the element `first` on, and waits. `T` is `std::byte` unless it is named.
    template <class T = std::byte>
    void copy_from_host(span<const detail::named_t<T>> source, std::uint64_t first = 0) const {
        try_copy_from_host<T>(source, first).value();
    }
    template <class T = std::byte>
    [[nodiscard]] result<void> try_copy_from_host(span<const detail::named_t<T>> source, std::uint64_t first = 0) const {
        if (!handle_) return detail::empty();
        if (const auto fits = detail::fits<T>(dtype(), label()); !fits) return fits;
        const auto offset = detail::offset_of<T>(first);
        if (!offset) return offset.error();
        if (source.empty()) return {};
        return detail::done(millpond_tensor_copy_from_host(handle_.get(), *offset, source.data(), source.size_bytes()));
    }

    /// Copies elements out of it, from the element `first` on, and waits.
    template <class T = std::byte>
    void copy_to_host(span<detail::named_t<T>> target, std::uint64_t first = 0) const {
        try_copy_to_host<T>(target, first).value();
    }
    template <class T = std::byte>
    [[nodiscard]] result<void> try_copy_to_host(span<detail::named_t<T>> target, std::uint64_t first = 0) const {
        if (!handle_) return detail::empty();
        if (const auto fits = detail::fits<T>(dtype(), label()); !fits) return fits;
        const auto offset = detail::offset_of<T>(first);
        if (!offset) return offset.error();
        if (target.empty()) return {};
        return detail::done(millpond_tensor_copy_to_host(handle_.get(), *offset, target.data(), target.size_bytes()));
    }

    /// All of its elements.
    template <class T>
    [[nodiscard]] std::vector<T> to_vector() const {
        std::vector<T> all(static_cast<std::size_t>(bytes() / sizeof(T)));
        copy_to_host<T>(all);
        return all;
    }

    /// Fills all of it with one byte, and waits.
    void fill(std::byte byte) const { try_fill(byte).value(); }
    [[nodiscard]] result<void> try_fill(std::byte byte) const {
        return checked([&] { return millpond_tensor_fill(handle_.get(), std::to_integer<std::uint8_t>(byte)); });
    }

    /// For other libraries, as DLPack 1: whoever has it calls its deleter when done, on any thread, and has the lease until then.
    [[nodiscard]] ::DLManagedTensorVersioned *dlpack() const { return try_dlpack().value(); }
    [[nodiscard]] result<::DLManagedTensorVersioned *> try_dlpack() const {
        if (!handle_) return detail::empty();
        ::DLManagedTensorVersioned *made = nullptr;
        if (const int code = millpond_tensor_dlpack(handle_.get(), &made); code != 0) return detail::last_error(code);
        return made;
    }
    /// As DLPack before 1.0, which cannot say that memory is read-only: only for what is mapped for writing.
    [[nodiscard]] ::DLManagedTensor *dlpack_legacy() const { return try_dlpack_legacy().value(); }
    [[nodiscard]] result<::DLManagedTensor *> try_dlpack_legacy() const {
        if (!handle_) return detail::empty();
        if (!writable()) {
            return error(errc::unsupported, "tensor " + label() + " is mapped read-only, and DLPack before 1.0 cannot say so",
                         "call dlpack(), or get it with pond.tensor()");
        }
        ::DLManagedTensor *made = nullptr;
        if (const int code = millpond_tensor_dlpack_legacy(handle_.get(), &made); code != 0) return detail::last_error(code);
        return made;
    }

    friend std::ostream &operator<<(std::ostream &out, const tensor &which) {
        if (!which) return out << "no tensor";
        const auto info = which.info();
        out << (info.name.empty() ? info.id.text() : info.name) << ": " << info.dtype << " [";
        for (std::size_t at = 0; at < info.shape.size(); ++at) out << (at == 0 ? "" : ", ") << info.shape[at];
        return out << ']';
    }

private:
    /// What it is called in errors.
    [[nodiscard]] std::string label() const {
        const auto known = try_info();
        if (!known) return "";
        return known->name.empty() ? known->id.text() : "'" + known->name + "'";
    }

    template <class Call>
    [[nodiscard]] result<void> checked(Call &&call) const {
        if (!handle_) return detail::empty();
        return detail::done(call());
    }

    template <class Call>
    [[nodiscard]] result<std::uint64_t> counted(Call &&call) const {
        if (!handle_) return detail::empty();
        std::uint64_t count = 0;
        if (const int code = call(&count); code != 0) return detail::last_error(code);
        return count;
    }

    detail::owned<millpond_tensor, millpond_tensor_free> handle_;
    bool existed_ = true;
};

}  // namespace millpond
