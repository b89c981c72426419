// What users of cuda-ipc-memory-manager had, and where it failed them.
#include <millpond/millpond.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "holder.hpp"
#include "own_pond.hpp"

namespace parity_tests {

using namespace std::chrono_literals;
using millpond::errc;
using millpond::spec;

constexpr std::uint64_t mib = 1 << 20;

TEST("each GPU has its UUID, count, bytes and maximum, in bytes or as a share, by configuration with variables") {
    std::vector<millpond::gpu> gpus;
    {
        check::own_pond first;
        gpus = first.connect().gpus();
    }
    CHECK_EQUAL(gpus.size(), 2u);
    CHECK(gpus[0].uuid != gpus[1].uuid);
    check::own_pond process({{"FIRST_GPU_BYTES", "96M"}}, "capacity = \"${UNSET_SHARE:25%}\"\n[capacity_by_gpu]\n" +
                                                              gpus[0].uuid.gpu_text() + " = \"${FIRST_GPU_BYTES}\"\n");
    const auto pond = process.connect();
    gpus = pond.gpus();
    CHECK_EQUAL(gpus[0].capacity_bytes, 96 * mib);
    CHECK_EQUAL(gpus[1].capacity_bytes, gpus[1].total_bytes / 4);
    const auto a = pond.create(spec(40 * mib).gpu(gpus[0].uuid).zero());
    const auto b = pond.create(spec(40 * mib).gpu(gpus[1].uuid).zero());
    const auto c = pond.create(spec(40 * mib).gpu(gpus[1].uuid).zero());
    CHECK(c.gpu() == gpus[1].uuid);
    const auto full = CHECK_REFUSED(errc::gpu_full, pond.create(spec(80 * mib).gpu(gpus[0].uuid)));
    CHECK_EQUAL(full.memory().capacity_bytes, 96 * mib);
    gpus = pond.gpus();
    CHECK(gpus[0].tensors == 1 && gpus[0].tensor_bytes == 40 * mib);
    CHECK(gpus[1].tensors == 2 && gpus[1].tensor_bytes == 80 * mib);
}

TEST("neither time nor count ends memory under a reader") {
    check::own_pond process;
    const auto pond = process.connect();
    // Long enough for a reader to begin on a busy machine.
    const auto timed = pond.create(spec(4096).ttl(4s).zero()).id();
    check::holder timed_reader(process, timed);
    const auto counted = pond.create(spec(4096).max_accesses(1).zero()).id();
    check::holder counted_reader(process, counted);
    for (const auto &id : {timed, counted}) {
        check::eventually("its end", [&] { return pond.try_get(id).code() == errc::not_found; });
    }
    CHECK_EQUAL(timed_reader.sum(), 0u);
    CHECK_EQUAL(counted_reader.sum(), 0u);
    CHECK(pond.gpus()[0].slab_bytes > 0);
    timed_reader.finish();
    counted_reader.finish();
    check::eventually("the memory is given back", [&] { return pond.gpus()[0].slab_bytes == pond.gpus()[0].recycled_bytes; });
}

TEST("what lives longer hides nothing that is over") {
    check::own_pond process;
    const auto pond = process.connect();
    const auto few = pond.create(spec(100).max_accesses(2).zero()).id();
    const auto lasting = pond.create(spec(100).ttl(1h).zero()).id();
    const auto brief = pond.create(spec(100).ttl(100ms).zero()).id();
    check::eventually("the end of the brief one", [&] { return pond.try_inspect(brief).code() == errc::not_found; });
    CHECK(pond.try_inspect(few));
    CHECK(pond.try_inspect(lasting));
}

TEST("a lease ends as a notification did, also with a process that is killed") {
    check::own_pond process;
    const auto pond = process.connect();
    const auto id = pond.create(spec(4096).zero()).id();
    check::holder reader(process, id);
    const auto why = CHECK_REFUSED(errc::in_use, pond.remove_unused(id));
    CHECK_EQUAL(why.holders().size(), 1u);
    CHECK_EQUAL(why.holders()[0].pid, static_cast<std::uint32_t>(reader.pid()));
    reader.kill_9();
    check::eventually("it is not in use", [&] { return pond.try_remove_unused(id).has_value(); });
}

TEST("free is refused or deferred, by choice") {
    check::own_pond process;
    const auto pond = process.connect();
    auto buffer = pond.create(spec(4096).zero());
    buffer.fill(std::byte{1});
    const auto id = buffer.id();
    check::holder reader(process, id);
    CHECK_REFUSED(errc::in_use, pond.remove_unused(id));
    pond.remove(id);
    CHECK_REFUSED(errc::not_found, pond.get(id));
    CHECK_EQUAL(reader.sum(), 4096u);
    buffer.reset();
    reader.finish();
    check::eventually("the memory is given back", [&] { return pond.gpus()[0].tensors == 0; });
}

TEST("zeroes are complete when memory is handed out, also where other bytes were") {
    check::own_pond process;
    const auto pond = process.connect();
    for (int turn = 0; turn < 5; ++turn) {
        auto buffer = pond.create(spec(3 * mib).zero());
        for (const auto byte : buffer.to_vector<std::byte>()) {
            if (byte != std::byte{0}) check::fail(__FILE__, __LINE__, "a byte that is not zero");
        }
        buffer.fill(std::byte{0xff});
        pond.remove(buffer);
        buffer.reset();
        CHECK(pond.flush(10s));
    }
}

TEST("a client waits no longer than it says, and is of use afterwards") {
    check::own_pond process;
    const auto pond = process.connect();
    (void)pond.create(spec("late/x", millpond::dtype::u8, {1}));
    CHECK_EQUAL(pond.try_get("late/x", 20ms).code(), errc::timeout);
    pond.ping();
    CHECK_EQUAL(pond.create(spec(10).zero()).bytes(), 10u);
}

TEST("a client does not wait for a service that hangs longer than it says, and goes on with it afterwards") {
    check::own_pond process;
    const auto pond = process.connect(millpond::pond_options().request_timeout(1s).reconnect_timeout(1s));
    const auto daemon = static_cast<pid_t>(pond.status().daemon_pid);
    kill(daemon, SIGSTOP);
    const auto late = pond.try_ping();
    kill(daemon, SIGCONT);
    CHECK(late.code() == errc::timeout || late.code() == errc::no_pond);
    check::eventually("it answers again", [&] { return pond.try_ping().has_value(); });
    check::eventually("and makes tensors again", [&] { return pond.try_create(spec(10).zero()).has_value(); });
}

TEST("a client survives the service, and so does memory") {
    check::own_pond process;
    const auto pond = process.connect();
    auto buffer = pond.create(spec(4096).zero());
    buffer.fill(std::byte{3});
    for (int turn = 0; turn < 3; ++turn) {
        const auto status = pond.status();
        kill(static_cast<pid_t>(status.daemon_pid), SIGKILL);
        CHECK_EQUAL(pond.get(buffer.id()).to_vector<std::uint8_t>()[4095], 3);
        CHECK(pond.status().epoch > status.epoch);
    }
    CHECK(!buffer.lost());
}

}  // namespace parity_tests
