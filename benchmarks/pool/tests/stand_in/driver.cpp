// The part of the driver that peers.cpp needs, and the symbols of the pool, over malloc, so that the loops can be tried where there
// is no GPU. It says nothing about either.
#include <sys/types.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>

static std::uint64_t in_use, allocations, most;

static void *take(std::size_t bytes) {
    auto *block = static_cast<std::uint64_t *>(std::malloc(16));
    if (!block) throw std::bad_alloc();
    *block = bytes;
    in_use += bytes;
    ++allocations;
    most = in_use > most ? in_use : most;
    return block;
}
static void give(void *block) {
    in_use -= *static_cast<std::uint64_t *>(block);
    std::free(block);
}

extern "C" {
int cuCtxGetCurrent(void **context) { return *context = &in_use, 0; }
int cuStreamCreate(void **stream, unsigned) { return *stream = std::malloc(1), 0; }
int cuStreamSynchronize(void *) { return 0; }
int cuStreamGetId(void *, unsigned long long *id) { return *id = 1, 0; }
int cuStreamGetCaptureInfo_v2(void *, int *status, std::uint64_t *, void **, const void **, std::size_t *) { return *status = 0; }
int cuStreamIsCapturing(void *, int *status) { return *status = 0; }
int cuStreamWaitEvent(void *, void *, unsigned) { return 0; }
int cuEventCreate(void **event, unsigned) { return *event = std::malloc(1), 0; }
int cuEventRecord(void *, void *) { return 0; }
int cuEventQuery(void *) { return 0; }
int cuMemGetInfo_v2(std::size_t *free, std::size_t *total) { return *total = std::size_t{1} << 40, *free = *total - in_use, 0; }
int cuDeviceGetDefaultMemPool(void **pool, int) { return *pool = &in_use, 0; }
int cuMemPoolSetAttribute(void *, int, void *) { return most = 0; }
int cuMemPoolGetAttribute(void *, int, void *value) { return *static_cast<std::uint64_t *>(value) = most, 0; }
int cuMemPoolTrimTo(void *, std::size_t) { return 0; }
int cuMemAllocAsync(unsigned long long *address, std::size_t bytes, void *) {
    return *address = reinterpret_cast<std::uintptr_t>(take(bytes)), 0;
}
int cuMemFreeAsync(unsigned long long address, void *) { return give(reinterpret_cast<void *>(static_cast<std::uintptr_t>(address))), 0; }

void *millpond_pool_malloc_or_throw(ssize_t bytes, int, void *) {
    if (std::getenv("STAND_IN_POOL_EMPTY")) throw std::runtime_error("no memory for a block");
    return take(static_cast<std::size_t>(bytes));
}
void millpond_pool_free(void *block, ssize_t, int, void *) { give(block); }
void millpond_pool_record_stream(void *, void *) {}
std::uint64_t stand_in_allocations() { return allocations; }
std::uint64_t stand_in_most() { return most; }
}
