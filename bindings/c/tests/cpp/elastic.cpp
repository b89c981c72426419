// Groups, and caches under their limits.
#include <millpond/millpond.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "check.hpp"
#include "own_pond.hpp"

namespace elastic_tests {

using namespace std::chrono_literals;
using millpond::cache_spec;
using millpond::errc;
using millpond::group_change;
using millpond::limit;

constexpr std::uint64_t mib = 1 << 20;

static millpond::pond &pond() {
    static check::own_pond process;
    static millpond::pond connected = process.connect();
    return connected;
}

TEST("a group is made, changed, listed and removed") {
    CHECK_REFUSED(errc::not_found, pond().set_group("crew", group_change().limit(limit::bytes(64 * mib))));
    pond().set_group("crew", group_change().create().limit(limit::bytes(64 * mib)).weight(3));
    CHECK(pond().groups_json().find("\"crew\"") != std::string::npos);
    CHECK(pond().group_json("crew").find("67108864") != std::string::npos);
    pond().set_group("crew", group_change().limit(limit::share(0.5)).gpu(pond().gpus()[0].uuid));
    pond().remove_group("crew");
    CHECK_REFUSED(errc::not_found, pond().group_json("crew"));
}

TEST("a cache grows and shrinks under its limit") {
    pond().set_group("grow", group_change().create().limit(limit::bytes(32 * mib)));
    const auto group = pond().elastic("grow");
    CHECK_EQUAL(group.group(), "grow");
    auto cache = group.reserve("kv", cache_spec::of_blocks(32, 2 * mib).largest_handle(2 * mib).wait(0ms));
    const auto address = cache.data();
    CHECK_EQUAL(cache.info().blocks, 32u);
    CHECK_EQUAL(cache.info().held_bytes, 0u);
    cache.commit(8);
    CHECK(cache.info().committed_bytes == 16 * mib && cache.info().committed_blocks == 8);
    CHECK(cache.data(0, 0) == address);
    CHECK(cache.data(0, 1) == static_cast<char *>(address) + 2 * mib);
    CHECK(cache.data(0, 99) == nullptr);
    CHECK_REFUSED(errc::gpu_full, cache.commit(32));
    cache.uncommit(4, 4);
    CHECK_EQUAL(cache.info().committed_blocks, 4u);
    CHECK(cache.trim() >= 8 * mib);
    CHECK_EQUAL(cache.set_cap(4 * mib, 2).above_bytes, 4 * mib);
    CHECK(cache.set_cap(64 * mib, 1).is_stale);
    CHECK_REFUSED(errc::gpu_full, cache.commit(6));
    CHECK_EQUAL(cache.set_cap(UINT64_MAX, 3).above_bytes, 0u);
    cache.uncommit_at_step(0, 2);
    CHECK_EQUAL(cache.info().committed_blocks, 4u);
    cache.step();
    CHECK_EQUAL(cache.info().committed_blocks, 2u);
    auto ready = cache.prepare(0, 2);
    CHECK(cache.info().prepared_bytes > 0);
    ready.commit();
    CHECK_EQUAL(cache.info().committed_blocks, 4u);
    { const auto given_up = cache.prepare(8, 2); }
    CHECK_EQUAL(cache.info().prepared_bytes, 0u);
    CHECK(cache.data() == address);
    CHECK(pond().caches_json("grow").find("kv") != std::string::npos);
    CHECK_REFUSED(errc::not_found, pond().elastic("no-such-group"));
}

TEST("a cache is asked for pages when another one needs them") {
    pond().set_group("press", group_change().create().limit(limit::bytes(32 * mib)));
    const auto group = pond().elastic("press");
    auto large = group.reserve("large", cache_spec::of_blocks(16, 2 * mib));
    large.commit(14);
    std::atomic<int> asked{0};
    large.on_pressure([&](const millpond::pressure &ask) {
        ++asked;
        if (ask.blocks == 0 || ask.reason.empty()) return millpond::offer::nothing;
        large.uncommit(0, 14);
        return millpond::offer::now;
    });
    auto other = group.reserve("other", cache_spec::of_blocks(16, 2 * mib).wait(30s));
    other.commit(12);
    CHECK(asked > 0);
    CHECK_EQUAL(other.info().committed_blocks, 12u);
    // One that throws offers nothing.
    other.on_pressure([](const millpond::pressure &) -> millpond::offer { throw std::runtime_error("no"); });
    CHECK_REFUSED(errc::gpu_full, large.commit(14));
    // A cache that moves keeps its handler.
    auto moved = std::move(other);
    CHECK(moved && !other);
    moved.on_pressure([](const millpond::pressure &) { return millpond::offer::nothing; });
}

TEST("a pool hands blocks out and takes them back") {
    pond().set_group("blocks", group_change().create().limit(limit::bytes(64 * mib)));
    const auto gpu = pond().gpus()[0].uuid;
    const auto pool = millpond::pool::in(pond().elastic("blocks"), "scratch", gpu);
    void *first = pool.allocate(3 * mib, nullptr), *second = pool.allocate(5 * mib, nullptr);
    CHECK(first != second);
    CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(first) % 512, 0u);
    CHECK(pool.info().blocks == 2 && pool.info().in_use_bytes >= 8 * mib && pool.info().gpu == gpu);
    pool.free(first, nullptr);
    CHECK_EQUAL(pool.allocate(3 * mib, nullptr), first);
    CHECK_REFUSED(errc::gpu_full, pool.allocate(1024 * mib, nullptr));
    pool.free(first, nullptr);
    pool.free(second, nullptr);
    CHECK(pool.trim(UINT64_MAX, true) > 0);
    CHECK_EQUAL(pool.info().held_bytes, 0u);
    const millpond::pool own(pond(), gpu);
    CHECK(own.allocate(100, nullptr) != nullptr);
}

}  // namespace elastic_tests
