// Ponds that are not there, die in a call, or are replaced by others; processes that fork.
#include <millpond/millpond.hpp>

#include <chrono>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "check.hpp"
#include "own_pond.hpp"

namespace faults_tests {

using namespace std::chrono_literals;
using millpond::errc;
using millpond::spec;

TEST("no pond is an error that says how to start one") {
    const auto why = CHECK_REFUSED(errc::no_pond, millpond::pond::connect(millpond::pond_options().runtime_dir("/nowhere/at/all")));
    CHECK(why.message().find("/nowhere/at/all") != std::string::npos);
    CHECK(why.hint().find("millpond serve") != std::string::npos);
    CHECK(why.remedy() == millpond::remedy::ask_operator);
    const auto late = millpond::pond::connect(millpond::pond_options().runtime_dir("/nowhere/at/all").lazy());
    CHECK_EQUAL(late.try_status().code(), errc::no_pond);
}

TEST("a daemon that is killed again and again delays calls and fails none") {
    check::own_pond process;
    const auto pond = process.connect();
    // One kill in each turn, at a moment of its own: a daemon has the time that it needs to begin.
    for (int turn = 0; turn < 12; ++turn) {
        std::thread killer([&, turn] {
            const auto daemon = pond.try_status();
            std::this_thread::sleep_for(std::chrono::microseconds(300 * turn));
            if (daemon) kill(static_cast<pid_t>(daemon->daemon_pid), SIGKILL);
        });
        const auto name = "killed/" + std::to_string(turn);
        const auto met = [&]() -> millpond::result<std::uint8_t> {
            auto x = pond.try_create(spec(name, millpond::dtype::u8, {4096}));
            if (!x) return x.error();
            if (const auto filled = x->try_fill(static_cast<std::byte>(turn)); !filled) return filled.error();
            if (const auto published = x->try_publish(); !published) return published.error();
            auto same = pond.try_get(name);
            if (!same) return same.error();
            if (const auto removed = pond.try_remove(name); !removed) return removed.error();
            return same->to_vector<std::uint8_t>()[7];
        }();
        killer.join();
        CHECK_EQUAL(met.value(), turn);
    }
}

TEST("memory of a pond that is gone stays with its holder, which is told") {
    check::own_pond process;
    const auto pond = process.connect();
    auto buffer = pond.create(spec("lost/x", millpond::dtype::u8, {64}).zero());
    buffer.fill(std::byte{9});
    process.kill_everything(pond);
    process.serve();
    check::eventually("it is known to be lost", [&] { return (void)pond.try_status(), buffer.lost(); });
    CHECK_EQUAL(buffer.to_vector<std::uint8_t>()[63], 9);
    CHECK_REFUSED(errc::not_found, pond.get("lost/x"));
}

TEST("a pond that is closed is of no use, and tensors keep it from closing") {
    check::own_pond process;
    auto pond = process.connect();
    auto buffer = pond.create(spec(64).zero());
    CHECK(!pond.try_close());
    buffer.reset();
    const auto copy = pond, other = process.connect();
    pond.close();
    CHECK_REFUSED(errc::invalid_handle, pond.status());
    CHECK_REFUSED(errc::invalid_handle, copy.status());
    // Another pond on the same connection.
    CHECK_REFUSED(errc::closed, other.status());
}

TEST("a moved-from pond and a default tensor refuse, and end nothing") {
    check::own_pond process;
    auto pond = process.connect();
    auto other = std::move(pond);
    CHECK_EQUAL(pond.try_status().code(), errc::invalid_handle);
    CHECK(other.try_status());
    millpond::tensor none;
    CHECK(!none && none.bytes() == 0 && none.shape().empty() && none.name().empty());
    CHECK_REFUSED(errc::invalid_handle, none.dlpack());
    CHECK_REFUSED(errc::invalid_handle, none.data<float>());
}

TEST("a forked child has nothing of its parent's, and takes nothing from it") {
    check::own_pond process;
    const auto pond = process.connect();
    auto buffer = pond.create(spec("forked/x", millpond::dtype::u8, {64}).zero());
    const pid_t child = fork();
    if (child == 0) {
        int wrong = 0;
        std::vector<std::uint8_t> bytes(64);
        if (buffer.try_copy_to_host<std::uint8_t>(bytes).code() != errc::forked) wrong |= 1;
        if (buffer.try_publish().code() != errc::forked) wrong |= 2;
        buffer.reset();
        _exit(wrong);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), 0);
    buffer.fill(std::byte{5});
    CHECK_EQUAL(pond.get("forked/x").to_vector<std::uint8_t>()[0], 5);
}

TEST("a call is cancelled by another thread") {
    check::own_pond process;
    const auto pond = process.connect();
    const millpond::cancel stop;
    std::thread other([&] {
        std::this_thread::sleep_for(50ms);
        stop.set();
    });
    {
        const auto scope = stop.scope();
        CHECK_REFUSED(errc::cancelled, pond.get("never/there", 10min));
    }
    other.join();
    pond.ping();
}

}  // namespace faults_tests
