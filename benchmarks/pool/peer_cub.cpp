// CUB's caching allocator. By default it keeps blocks up to 2 MiB, and 6 MB of them; here it keeps all, as the others do, with the
// default bins (powers of 8) and with powers of 2, which waste less.
#include "peer.h"

#include <cuda_runtime_api.h>
#include <cub/util_allocator.cuh>

BENCH_SAID

using Allocator = cub::CachingDeviceAllocator;
static int own_device;
// Never destroyed: the driver may be gone by then.
static Allocator *by_8, *by_2;

static bool is_well(cudaError_t answer) {
    if (answer != cudaSuccess) bench_say(cudaGetErrorString(answer));
    return answer == cudaSuccess;
}

template <Allocator **own> static void *allocate(std::size_t bytes, void *stream) {
    return bench_caught([&]() -> void * {
        void *found = nullptr;
        return is_well((*own)->DeviceAllocate(own_device, &found, bytes, static_cast<cudaStream_t>(stream))) ? found : nullptr;
    });
}

template <Allocator **own> static void release(void *pointer, std::size_t, void *) {
    bench_caught([&]() -> void * {
        is_well((*own)->DeviceFree(own_device, pointer));
        return nullptr;
    });
}

template <Allocator **own> static std::size_t held() {
    const auto &counted = (*own)->cached_bytes[own_device];
    return counted.free + counted.live;
}

template <Allocator **own> static void empty() {
    bench_caught([]() -> void * {
        is_well((*own)->FreeAllCached());
        return nullptr;
    });
}

extern "C" int bench_peers(int device, Peer *peers, int most) {
    own_device = device;
    if (most < 2) return -1;
    // 512 B to 1 GiB in both.
    by_8 = new Allocator(8, 3, 10, Allocator::INVALID_SIZE, true);
    by_2 = new Allocator(2, 9, 30, Allocator::INVALID_SIZE, true);
    peers[0] = {"cub", allocate<&by_8>, release<&by_8>, nullptr, held<&by_8>, empty<&by_8>};
    peers[1] = {"cub_2", allocate<&by_2>, release<&by_2>, nullptr, held<&by_2>, empty<&by_2>};
    return 2;
}
