// The resource for CCCL: resource, a program of its own, because it needs CUDA's headers. Runs on the software driver.
#include <millpond/millpond.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "check.hpp"
#include "own_pond.hpp"

using millpond::errc;

static millpond::pond &pond() {
    static check::own_pond process;
    static millpond::pond connected = process.connect();
    return connected;
}
static const cuda::stream_ref stream{cudaStream_t{nullptr}};

TEST("it is a resource of CCCL with device memory, and no host memory") {
    using resource = millpond::memory_resource;
    static_assert(cuda::mr::resource<resource>);
    static_assert(cuda::mr::synchronous_resource<resource>);
    static_assert(cuda::mr::resource_with<resource, cuda::mr::device_accessible>);
    static_assert(!cuda::mr::resource_with<resource, cuda::mr::host_accessible>);
    static_assert(std::is_copy_constructible_v<resource>);
}

TEST("the resource of the issue goes into any_resource") {
    auto gpu = pond().gpus()[0].uuid;
    auto &pond = ::pond();
    millpond::memory_resource mr{pond, gpu};
    cuda::mr::any_resource<cuda::mr::device_accessible> any{mr};
    cuda::mr::any_resource<cuda::mr::device_accessible> copy = any;
    CHECK(any == copy);
    void *at = any.allocate(stream, 1000, 256);
    CHECK(at != nullptr);
    CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(at) % 256, 0u);
    CHECK(!mr.id_of(at).is_nil());
    copy.deallocate(stream, at, 1000, 256);
    CHECK(mr.id_of(at).is_nil());
    at = any.allocate_sync(1000, 8);
    any.deallocate_sync(at, 1000, 8);
}

TEST("another process gets an allocation by its identity") {
    millpond::memory_resource mr{pond(), pond().gpus()[0]};
    void *at = mr.allocate_sync(4096);
    const auto id = mr.id_of(at);
    const auto same = pond().get(id);
    CHECK_EQUAL(same.bytes(), 4096u);
    mr.deallocate_sync(at, 4096);
    // Who has it keeps it.
    CHECK_EQUAL(same.to_vector<std::byte>().size(), 4096u);
}

TEST("memory comes back") {
    CHECK(pond().flush());
    const auto leases = pond().live_leases();
    {
        millpond::memory_resource mr{pond(), pond().gpus()[0]};
        const auto copy = mr;
        std::set<void *> all;
        for (int at = 0; at < 16; ++at) all.insert(mr.allocate_sync(1 << 20));
        CHECK_EQUAL(all.size(), 16u);
        CHECK_EQUAL(pond().live_leases(), leases + 16);
        for (void *at : all) mr.deallocate_sync(at, 1 << 20);
        CHECK(pond().flush());
        CHECK_EQUAL(pond().live_leases(), leases);
        // What is left ends with the last copy.
        (void)mr.allocate_sync(100);
    }
    CHECK(pond().flush());
    CHECK_EQUAL(pond().live_leases(), leases);
    // Nothing waits for a time: what is flushed is gone.
    CHECK_EQUAL(pond().gpus()[0].tensors, 0u);
}

TEST("zero bytes are no allocation, and what cannot be is bad_alloc") {
    millpond::memory_resource mr{pond(), pond().gpus()[0]};
    CHECK(mr.allocate_sync(0) == nullptr);
    mr.deallocate_sync(nullptr, 0);
    int at = 0;
    mr.deallocate_sync(&at, 4);
    try {
        (void)mr.allocate_sync(std::size_t{1} << 45);
        CHECK(false);
    } catch (const std::bad_alloc &why) {
        const auto *known = dynamic_cast<const millpond::bad_alloc *>(&why);
        CHECK(known != nullptr && known->why().code() == errc::gpu_full);
    }
    try {
        (void)mr.allocate_sync(1, 4096);
        CHECK(false);
    } catch (const millpond::bad_alloc &why) {
        CHECK_EQUAL(why.why().code(), errc::invalid);
    }
}

TEST("a pool is a resource, too") {
    static_assert(cuda::mr::resource_with<millpond::pool_resource, cuda::mr::device_accessible>);
    millpond::pool_resource mr{pond(), pond().gpus()[0].uuid};
    cuda::mr::any_resource<cuda::mr::device_accessible> any{mr};
    void *at = any.allocate(stream, 5000, 16);
    any.deallocate(stream, at, 5000, 16);
    CHECK(any.allocate(stream, 5000, 512) == at);
    try {
        (void)mr.allocate(stream, std::size_t{600} << 20);
        CHECK(false);
    } catch (const millpond::bad_alloc &why) {
        CHECK_EQUAL(why.why().code(), errc::gpu_full);
    }
}

TEST("threads use copies of it") {
    millpond::memory_resource mr{pond(), pond().gpus()[0]};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([mr]() mutable {
            for (int turn = 0; turn < 50; ++turn) mr.deallocate(stream, mr.allocate(stream, 5000), 5000);
        });
    }
    for (auto &thread : threads) thread.join();
    CHECK(pond().flush());
}

int main(int count, char **words) { return check::run(count, words); }
