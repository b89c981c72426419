// What happens in a pond, what it says about itself, and bytes without a mapping.
#include <millpond/millpond.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "own_pond.hpp"

namespace events_tests {

using namespace std::chrono_literals;
using millpond::dtype;
using millpond::errc;
using millpond::event_kind;
using millpond::sink;
using millpond::source;
using millpond::spec;

static check::own_pond &process() {
    static check::own_pond only;
    return only;
}
static millpond::pond &pond() {
    static millpond::pond connected = process().connect();
    return connected;
}

TEST("events come as things happen, in order") {
    auto events = pond().events();
    const auto x = pond().create(spec("events/x", dtype::f32, {4}));
    x.publish();
    std::vector<event_kind> kinds;
    std::uint64_t last = 0;
    while (kinds.empty() || kinds.back() != event_kind::tensor_published) {
        const auto event = events.next(30s);
        CHECK(event.has_value());
        CHECK(event->sequence > last);
        last = event->sequence;
        if (event->name == "events/x") {
            CHECK(event->target == x.id());
            kinds.push_back(event->kind);
        }
    }
    CHECK(kinds == std::vector<event_kind>({event_kind::tensor_created, event_kind::tensor_published}));
    CHECK_EQUAL(std::string(millpond::name(kinds[0])), "tensor_created");
    CHECK(!events.next(0ms) || events.try_next(0ms));
}

TEST("what was kept is read without waiting") {
    const auto x = pond().create(spec("kept/x", dtype::f32, {4}).zero());
    bool found = false;
    for (const auto &event : pond().events(1).kept()) found |= event.target == x.id();
    CHECK(found);
    // As a range, which ends here with a break.
    auto events = pond().events(1);
    for (const auto &event : events) {
        if (event.target == x.id()) break;
    }
}

TEST("a wait for events is cancelled") {
    auto events = pond().events();
    const millpond::cancel stop;
    std::thread other([&] {
        std::this_thread::sleep_for(30ms);
        stop.set();
    });
    std::thread waiting([&] {
        const auto scope = stop.scope();
        for (;;) {
            const auto next = events.try_next();
            if (!next && next.code() == errc::cancelled) return;
        }
    });
    other.join();
    waiting.join();
}

TEST("the pond says what it is") {
    const auto status = pond().status();
    CHECK(status.software && status.driver_ready);
    CHECK_EQUAL(status.version, std::string(MILLPOND_VERSION_TEXT));
    CHECK(status.keeper_pid != 0 && status.daemon_pid != 0 && status.epoch >= 1);
    CHECK_EQUAL(status.gpus.size(), 2u);
    CHECK(status.gpus[0].software && status.gpus[0].total_bytes > 0);
    CHECK(status.json.find("\"daemon_pid\"") != std::string::npos);
    CHECK_EQUAL(pond().runtime_dir(), process().runtime_dir());
    CHECK(!pond().client_id().is_nil());
    CHECK(pond().clients_json().find("\"pid\"") != std::string::npos);
    CHECK(!pond().accounts_json().empty());
}

TEST("bytes are put, copied and saved without a mapping") {
    std::vector<std::uint16_t> numbers(3000);
    std::iota(numbers.begin(), numbers.end(), std::uint16_t{0});
    const auto bytes = millpond::as_bytes(millpond::span<const std::uint16_t>(numbers));
    std::uint64_t told = 0;
    const auto info = pond().put(spec("moved/x", dtype::u16, {3000}), source::memory(bytes), [&](std::uint64_t done, std::uint64_t total) {
        CHECK(done <= total);
        return ++told, true;
    });
    CHECK(told > 0 && info.state == millpond::tensor_state::ready);
    CHECK(pond().get("moved/x").to_vector<std::uint16_t>() == numbers);
    const auto file = process().folder() / "out.bin";
    CHECK_EQUAL(pond().download("moved/x", sink::file(file.string())), 6000u);
    CHECK_EQUAL(std::filesystem::file_size(file), 6000u);
    CHECK_REFUSED(errc::file, pond().download("moved/x", sink::file(file.string(), true)));
    (void)pond().put(spec("moved/x", dtype::u16, {3000}).replace(), source::file(file.string()));
    (void)pond().reserve(spec("moved/y", dtype::u16, {3000}));
    pond().copy("moved/x", "moved/y");
    (void)pond().publish("moved/y");
    std::vector<std::byte> back(6000);
    CHECK_EQUAL(pond().download("moved/y", sink::memory(back)), 6000u);
    CHECK(std::equal(back.begin(), back.end(), bytes.begin()));
    pond().zero("moved/y");
    CHECK(pond().get("moved/y").to_vector<std::uint16_t>() == std::vector<std::uint16_t>(3000));
    (void)pond().put(spec("moved/z", dtype::u8, {10}), source::zeroes());
    std::vector<std::byte> few(5);
    CHECK_REFUSED(errc::too_small, pond().download("moved/x", sink::memory(few)));
    CHECK_REFUSED(errc::file, pond().put(spec("moved/w", dtype::u8, {10}), source::file("/nowhere")));
}

TEST("a handle of 64 bytes is for programs that know only CUDA") {
    const auto x = pond().create(spec("ipc/x", dtype::u8, {4096}).transport(millpond::transport::ipc).zero());
    const auto parts = pond().ipc_handle("ipc/x").parts();
    CHECK(parts.info.id == x.id() && parts.event.has_value());
    CHECK(parts.memory != decltype(parts.memory)());
    CHECK_REFUSED(errc::invalid, pond().ipc_handle(pond().create(spec(10).zero())));
}

TEST("a progress ends a transfer, and what it throws comes out of the call") {
    // Streams of bytes are moved in several parts.
    constexpr std::size_t size = 160 << 20;
    const std::vector<std::byte> bytes(size);
    const auto never = [](std::uint64_t, std::uint64_t) { return false; };
    // One whose last part is on its way already is not ended any more.
    const auto ended = pond().try_put(spec("ended/x", dtype::u8, {size}), source::memory(bytes), never);
    CHECK(ended || ended.code() == errc::cancelled);
    CHECK_EQUAL(pond().try_get("ended/x").has_value(), ended.has_value());
    bool thrown = false;
    try {
        (void)pond().put(spec("ended/y", dtype::u8, {size}), source::memory(bytes),
                         [](std::uint64_t, std::uint64_t) -> bool { throw std::runtime_error("mine"); });
    } catch (const std::runtime_error &why) {
        thrown = std::string(why.what()) == "mine";
    }
    CHECK(thrown);
}

}  // namespace events_tests
