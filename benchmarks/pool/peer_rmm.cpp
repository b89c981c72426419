// RMM's pool over cudaMalloc, and its resource over the driver's own pool.
#include "peer.h"

#include <rmm/mr/cuda_async_memory_resource.hpp>
#include <rmm/mr/cuda_memory_resource.hpp>
#include <rmm/mr/pool_memory_resource.hpp>

#include <cuda/stream_ref>
#include <cuda_runtime_api.h>

#include <cstdint>

BENCH_SAID

// What RMM aligns to by itself.
constexpr std::size_t alignment = 256;
// Never destroyed: the driver may be gone by then.
static rmm::mr::pool_memory_resource *pool;
static rmm::mr::cuda_async_memory_resource *async;

template <auto *own> static void *allocate(std::size_t bytes, void *stream) {
    return bench_caught([&] { return (*own)->allocate(cuda::stream_ref{static_cast<cudaStream_t>(stream)}, bytes, alignment); });
}

template <auto *own> static void release(void *pointer, std::size_t bytes, void *stream) {
    (*own)->deallocate(cuda::stream_ref{static_cast<cudaStream_t>(stream)}, pointer, bytes, alignment);
}

static std::size_t pool_held() { return pool->pool_size(); }

// It never gives anything back while it lives, so it is made anew, without memory and without an end.
static void pool_empty() {
    bench_caught([]() -> void * {
        delete pool;
        pool = nullptr;
        pool = new rmm::mr::pool_memory_resource(rmm::mr::cuda_memory_resource{}, 0);
        return nullptr;
    });
}

static std::size_t async_held() {
    std::uint64_t bytes = 0;
    cudaMemPoolGetAttribute(async->pool_handle(), cudaMemPoolAttrReservedMemHigh, &bytes);
    return bytes;
}

static void async_empty() {
    std::uint64_t anew = 0;
    cudaMemPoolTrimTo(async->pool_handle(), 0);
    cudaMemPoolSetAttribute(async->pool_handle(), cudaMemPoolAttrReservedMemHigh, &anew);
}

extern "C" int bench_peers(int, Peer *peers, int most) {
    if (most < 2) return -1;
    pool_empty();
    bench_caught([]() -> void * {
        async = new rmm::mr::cuda_async_memory_resource();
        return nullptr;
    });
    int count = 0;
    if (pool) peers[count++] = {"rmm", allocate<&pool>, release<&pool>, nullptr, pool_held, pool_empty};
    if (async) peers[count++] = {"rmm_async", allocate<&async>, release<&async>, nullptr, async_held, async_empty};
    return count ? count : -1;
}
