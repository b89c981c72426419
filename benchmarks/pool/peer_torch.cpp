// Torch's caching allocator, as its own tensors use it.
#include "peer.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

namespace torch_allocator = c10::cuda::CUDACachingAllocator;

BENCH_SAID

static c10::DeviceIndex own_device;

static void *allocate(std::size_t bytes, void *stream) {
    return bench_caught([&] { return torch_allocator::raw_alloc_with_stream(bytes, static_cast<cudaStream_t>(stream)); });
}

static void release(void *pointer, std::size_t, void *) {
    bench_caught([&]() -> void * {
        torch_allocator::raw_delete(pointer);
        return nullptr;
    });
}

// What `Tensor.record_stream` does, without a tensor.
static void record(void *pointer, void *, void *other) {
    bench_caught([&]() -> void * {
        auto *allocator = torch_allocator::get();
        c10::DataPtr block(pointer, pointer, allocator->raw_deleter(), c10::Device(c10::kCUDA, own_device));
        allocator->recordStream(block, c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(other), own_device));
        block.release_context();
        return nullptr;
    });
}

extern "C" int bench_peers(int device, Peer *peers, int most) {
    own_device = static_cast<c10::DeviceIndex>(device);
    if (most < 1 || !torch_allocator::get()) {
        bench_say("torch has no allocator yet");
        return -1;
    }
    peers[0] = {"torch", allocate, release, record, nullptr, nullptr};
    return 1;
}
