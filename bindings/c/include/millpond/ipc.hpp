// Tensors for programs that know nothing but CUDA: handles of 64 bytes.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "detail/call.hpp"
#include "pond.hpp"
#include "status.hpp"

namespace millpond {

/// What opens a tensor's memory in any other process. Whoever has the bytes has the memory, for reading and writing.
struct ipc_parts {
    /// For `cudaIpcOpenMemHandle`. The tensor begins `offset` bytes behind the address that it opens.
    std::array<std::uint8_t, 64> memory{};
    /// For `cudaIpcOpenEventHandle`: the event that carries order between streams of two processes.
    std::optional<std::array<std::uint8_t, 64>> event;
    std::uint64_t offset = 0;
    tensor_info info;

    explicit ipc_parts(const millpond_handle_parts &raw) : offset(raw.offset), info(raw.info) {
        std::memcpy(memory.data(), raw.memory, memory.size());
        if (raw.has_event != 0) std::memcpy(event.emplace().data(), raw.event, event->size());
    }
};

/// A lease on a tensor of `transport::ipc`, which is not mapped here. Move-only; its end gives the lease back.
class ipc_handle {
public:
    explicit ipc_handle(millpond_handle *handle) noexcept : handle_(handle) {}
    [[nodiscard]] ipc_parts parts() const { return try_parts().value(); }
    [[nodiscard]] result<ipc_parts> try_parts() const {
        return detail::filled<ipc_parts, millpond_handle_parts>([&](auto *out) { return millpond_handle_read(handle_.get(), out); });
    }
    void reset() noexcept { handle_.reset(); }

private:
    detail::owned<millpond_handle, millpond_handle_free> handle_;
};

inline millpond::ipc_handle pond::ipc_handle(const target &which, wait_time wait) const { return try_ipc_handle(which, wait).value(); }
inline result<millpond::ipc_handle> pond::try_ipc_handle(const target &which, wait_time wait) const {
    const auto options = pond::options(MILLPOND_MODE_READ_WRITE, wait);
    return detail::made<millpond::ipc_handle, millpond_handle>(
        [&](auto *out) { return millpond_handle_get(handle_.get(), which.c_str(), &options, out); });
}

}  // namespace millpond
