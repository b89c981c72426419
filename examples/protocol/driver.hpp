// The part of libcuda that a client needs: opened by name, without its headers.
#pragma once

#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace protocol::cuda {

// As in cuda.h.
using Address = unsigned long long;
struct Uuid {
    char bytes[16];
};
struct Handle {
    char bytes[64];
};
struct Location {
    int type, id;
};
struct Access {
    Location location;
    int flags;
};
constexpr int ON_DEVICE = 1, READ = 1, READ_WRITE = 3, POSIX_FD = 1;
constexpr unsigned LAZY_PEER_ACCESS = 1;

inline Handle handle_of(const std::vector<std::uint8_t> &data) {
    Handle handle{};
    if (data.size() != sizeof handle) throw std::runtime_error("a handle that has not 64 bytes");
    std::memcpy(&handle, data.data(), sizeof handle);
    return handle;
}

// How the driver takes a descriptor.
inline void *descriptor(int fd) { return reinterpret_cast<void *>(static_cast<std::intptr_t>(fd)); }

struct Driver {
    int (*init)(unsigned);
    int (*error_name)(int, const char **);
    int (*count)(int *);
    int (*device)(int *, int);
    int (*uuid)(Uuid *, int);
    int (*retain)(void **, int);
    int (*set_current)(void *);
    int (*synchronize)();
    int (*import)(Address *, void *, int);
    int (*reserve)(Address *, std::size_t, std::size_t, Address, Address);
    int (*map)(Address, std::size_t, std::size_t, Address, Address);
    int (*set_access)(Address, std::size_t, const Access *, std::size_t);
    int (*unmap)(Address, std::size_t);
    int (*unreserve)(Address, std::size_t);
    int (*let_go)(Address);
    int (*to_device)(Address, const void *, std::size_t);
    int (*to_host)(void *, Address, std::size_t);
    int (*ipc_open)(Address *, Handle, unsigned);
    int (*ipc_close)(Address);
    int (*event_open)(void **, Handle);
    int (*event_close)(void *);
    int (*pool_import)(void **, void *, int, Address);
    int (*pool_pointer)(Address *, void *, Handle *);
    int (*pool_destroy)(void *);
    int (*free)(Address);
    int (*range)(Address *, std::size_t *, Address);

    Driver() {
        void *library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library) throw std::runtime_error(::dlerror());
        auto find = [library](const char *name, auto &function) {
            void *found = ::dlsym(library, name);
            if (!found) throw std::runtime_error(std::string("the driver has no ") + name);
            std::memcpy(&function, &found, sizeof function);
        };
        find("cuInit", init);
        find("cuGetErrorName", error_name);
        find("cuDeviceGetCount", count);
        find("cuDeviceGet", device);
        find("cuDeviceGetUuid_v2", uuid);
        find("cuDevicePrimaryCtxRetain", retain);
        find("cuCtxSetCurrent", set_current);
        find("cuCtxSynchronize", synchronize);
        find("cuMemImportFromShareableHandle", import);
        find("cuMemAddressReserve", reserve);
        find("cuMemMap", map);
        find("cuMemSetAccess", set_access);
        find("cuMemUnmap", unmap);
        find("cuMemAddressFree", unreserve);
        find("cuMemRelease", let_go);
        find("cuMemcpyHtoD_v2", to_device);
        find("cuMemcpyDtoH_v2", to_host);
        find("cuIpcOpenMemHandle_v2", ipc_open);
        find("cuIpcCloseMemHandle", ipc_close);
        find("cuIpcOpenEventHandle", event_open);
        find("cuEventDestroy_v2", event_close);
        find("cuMemPoolImportFromShareableHandle", pool_import);
        find("cuMemPoolImportPointer", pool_pointer);
        find("cuMemPoolDestroy", pool_destroy);
        find("cuMemFree_v2", free);
        find("cuMemGetAddressRange_v2", range);
        must(init(0), "cuInit");
    }

    void must(int code, const char *call) const {
        const char *name = nullptr;
        if (code == 0) return;
        if (error_name(code, &name) != 0 || !name) name = "an error";
        throw std::runtime_error(std::string(call) + ": " + name + " (" + std::to_string(code) + ")");
    }
};

} // namespace protocol::cuda
