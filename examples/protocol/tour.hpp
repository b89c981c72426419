// One request after the other, with what came of it.
#pragma once

#include "tensors.hpp"
#include "versions.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <sys/wait.h>

namespace protocol {

inline Bytes floats(std::size_t count) {
    Bytes data(count * sizeof(float));
    for (std::size_t at = 0; at < count; ++at) {
        auto number = static_cast<float>(at);
        std::memcpy(&data[at * sizeof number], &number, sizeof number);
    }
    return data;
}

inline void must(bool so, const std::string &what) {
    if (!so) throw std::runtime_error("not so: " + what);
}

// What another process prints that is this program, too: no memory and no identity is shared with it.
inline Bytes from_another_process(const std::vector<std::string> &words) {
    int ends[2];
    if (::pipe(ends) != 0) system_failed("pipe");
    pid_t child = ::fork();
    if (child < 0) system_failed("fork");
    if (child == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        std::vector<char *> arguments{const_cast<char *>("client")};
        for (const std::string &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
        arguments.push_back(nullptr);
        ::execv("/proc/self/exe", arguments.data());
        ::_exit(127);
    }
    ::close(ends[1]);
    Fd end(ends[0]);
    Bytes said;
    std::uint8_t block[65536];
    for (ssize_t more; (more = ::read(end.get(), block, sizeof block)) > 0;) said.insert(said.end(), block, block + more);
    int status = 0;
    if (::waitpid(child, &status, 0) < 0) system_failed("waitpid");
    must(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the other process ends well");
    return said;
}

inline void tensors(Session &session, Held &written) {
    Bytes data = floats(256);
    written.memory.write(data);
    std::uint64_t generation = publish(session, *written.info.tensor);
    std::cout << "created cpp/x: " << written.info.bytes << " bytes in a slab of " << written.info.slab_bytes << ", generation " << generation
              << std::endl;
    must(from_another_process({"cat", "cpp/x"}) == data, "another process reads what was written");
    std::cout << "another process reads the same bytes" << std::endl;
}

inline void lives(Session &session) {
    Held zero = create(session, "cpp/zero", DTYPE_U8, {4096}, [](wire::TensorCreateT &create) {
        create.zero = true;
        create.ttl_ms = 3'600'000;
        create.max_accesses = 1;
    });
    must(zero.info.state == STATE_READY && zero.memory.read() == Bytes(4096), "a zero tensor is ready, and zero");
    must(zero.info.ttl_ms && zero.info.accesses_left == std::uint64_t{1}, "its life is shown");
    Held counted = get(session, "cpp/zero", RO, 0);
    drop(session, counted);
    drop(session, zero);
    std::string said = "nothing";
    try {
        get(session, "cpp/zero", RO, 0);
    } catch (const Failed &failure) {
        said = failure.what();
    }
    std::cout << "after one access: " << said << std::endl;
}

inline void waits(Session &session, Session &other) {
    std::uint64_t begun = now_ms();
    std::uint16_t kind = 0;
    try {
        get(session, "cpp/later", RO, 200);
    } catch (const Failed &failure) {
        kind = failure.kind;
    }
    must(kind == TIMEOUT && now_ms() - begun >= 200, "a wait ends");
    wire::TensorGetT get;
    get.name = "cpp/later";
    std::uint64_t lease = get.lease = session.new_lease();
    get.mode = RO;
    get.wait_ms = ~std::uint64_t{0};
    std::uint64_t waiting = session.send(std::move(get));
    // Answers come in any order: this one is before that of the get.
    session.ask(wire::PingT());
    Answer made = other.await(begin_create(other, "cpp/later", [](wire::TensorCreateT &create) { create.zero = true; }));
    session.await(waiting);
    session.release(lease);
    remove(other, *made.as<wire::TensorReplyT>().info->tensor);
    std::cout << "a wait timed out, another one was answered" << std::endl;
}

inline void counters(Session &session, const Held &written) {
    const Page *page = session.page();
    must(page, "there is a page");
    std::uint64_t by_name = page->of_name("cpp/x"), by_id = page->of_id(*written.info.tensor);
    session.ask(wire::PingT());
    must(page->of_name("cpp/x") == by_name && page->of_id(*written.info.tensor) == by_id, "nothing has happened to it");
    publish(session, *written.info.tensor);
    must(page->of_name("cpp/x") != by_name && page->of_id(*written.info.tensor) != by_id, "the page says that it was published");
    std::cout << "the page of counters says that cpp/x has changed" << std::endl;
}

// Many requests, of which some are always under way. The daemon lets 1,024 of a connection wait at a time.
template <class Begin, class End> void pipelined(Session &session, std::size_t count, Begin begin, End end) {
    std::deque<std::uint64_t> under_way;
    for (std::size_t at = 0; at < count || !under_way.empty();) {
        if (at < count && under_way.size() < 500) {
            under_way.push_back(begin(at++));
            continue;
        }
        end(session.await(under_way.front()));
        under_way.pop_front();
    }
}

inline void listings(Session &session) {
    constexpr std::size_t COUNT = 2500;
    std::vector<wire::Id> made;
    pipelined(session, COUNT, [&](std::size_t at) {
        return begin_create(session, "cpp/many/" + std::to_string(at), [](wire::TensorCreateT &create) { create.zero = true; });
    }, [&](Answer answer) { made.push_back(*answer.as<wire::TensorReplyT>().info->tensor); });

    wire::TensorListT request;
    request.prefix = "cpp/many/";
    std::uint64_t listing = session.send(std::move(request)), ping = session.send(wire::PingT());
    session.await(ping);
    Answer all = session.await(listing);
    must(all.as<wire::TensorsT>().tensors.size() == COUNT && all.came_in_memfd, "all are listed, in a memfd");
    std::size_t pages = 0;
    must(list_pages(session, "cpp/many/", 1000, pages).size() == COUNT && pages == 3, "and in pages");
    std::cout << "listed " << COUNT << " tensors: one answer in a memfd, and " << pages << " pages" << std::endl;

    pipelined(session, COUNT, [&](std::size_t at) {
        wire::TensorDeleteT remove;
        remove.tensor = copy_of(made[at]);
        return session.send(std::move(remove));
    }, [](Answer answer) { answer.as<wire::DoneT>(); });
    must(list(session, "cpp/many/").empty(), "all are deleted");
}

inline void transports(Session &session) {
    struct Kind {
        const char *name;
        std::uint8_t number;
    };
    for (const Kind &kind : {Kind{"ipc", TRANSPORT_IPC}, Kind{"mempool", TRANSPORT_MEMPOOL}}) {
        std::string name = std::string("cpp/") + kind.name;
        Held made = create(session, name, DTYPE_F32, {256}, [&](wire::TensorCreateT &create) { create.transport = kind.number; });
        must(made.info.transport == kind.number, "it has the transport that was asked for");
        made.memory.write(floats(256));
        publish(session, *made.info.tensor);
        if (!made.event.empty()) Card::open().try_event(made.info.device, made.event);
        must(from_another_process({"cat", name}) == floats(256), "another process reads it");
        drop(session, made);
        remove(session, *made.info.tensor);
    }
    std::cout << "an ipc and a mempool tensor were opened in two processes" << std::endl;
}

inline void versions(Session &session) {
    Bytes weight(6 << 20);
    for (std::size_t at = 0; at < weight.size(); ++at) weight[at] = static_cast<std::uint8_t>(at * 7 + at / 251);
    wire::VersionInfoT info = commit(session, "cpp-model", {{"weight", DTYPE_U8, {weight.size()}, weight}, {"bias", DTYPE_F32, {4}, floats(4)}});
    std::cout << "committed " << info.model << " " << info.tag << ": " << info.tensors << " tensors, " << info.bytes << " bytes in " << info.slabs
              << " slabs" << std::endl;
    Attached read(session, "cpp-model", 5000);
    must(read.names() == std::vector<std::string>{"bias", "weight"}, "its tensors are in the order of names");
    must(read.read("bias") == floats(4) && read.read("weight") == weight, "they are what was committed");
    must(from_another_process({"attach", "cpp-model", "weight"}) == weight, "another process reads them");
    read.release();
    std::cout << "attached here and in another process" << std::endl;
}

inline void groups(Session &session) {
    wire::GroupJoinT join;
    join.token = copy_of(random_id());
    join.name = "cpp-group";
    join.limit = std::uint64_t{64} << 20;
    std::string name = session.ask(std::move(join)).as<wire::GroupJoinedT>().name;
    Answer answer = session.ask(wire::GroupListT());
    const auto &groups = answer.as<wire::GroupsT>().groups;
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto &each) { return each->name == name; });
    must(found != groups.end() && (*found)->devices.at(0)->limit == std::uint64_t{64} << 20, "the group is listed with its limit");
    std::cout << "group " << name << " is listed" << std::endl;
    wire::GroupRemoveT remove;
    remove.name = name;
    session.ask(std::move(remove));
}

inline void restart(Session &session, Session &events, Held &written) {
    Answer answer = session.ask(wire::PondStatusT());
    std::uint64_t epoch = session.welcome().epoch;
    ::kill(static_cast<pid_t>(answer.as<wire::StatusT>().daemon_pid), SIGKILL);
    // Asked of the daemon that is gone, answered by the next one.
    while (session.welcome().epoch == epoch) session.ask(wire::PingT());
    must(session.refused().empty() && session.leases() == 1, "the lease was claimed");
    must(inspect(session, "cpp/x").leases == 1, "the daemon knows it");
    must(written.memory.read() == floats(256), "what is mapped is as it was");
    std::cout << "the daemon was killed: epoch " << session.welcome().epoch << ", leases claimed " << session.leases() << std::endl;

    drop(session, written);
    remove(session, *written.info.tensor);
    for (;;) {
        wire::EventT event = events.next_event();
        if (event.kind != 3 || event.name != "cpp/x") continue;
        std::cout << "event: " << event.name << " was deleted" << std::endl;
        return;
    }
}

inline void tour() {
    Session session("example writer"), other("example other"), events("example events");
    std::cout << "hello: user " << session.welcome().user << ", epoch " << session.welcome().epoch << std::endl;
    events.subscribe(0);
    Held written = create(session, "cpp/x", DTYPE_F32, {256});
    must(!written.existed, "cpp/x is new");
    tensors(session, written);
    lives(session);
    waits(session, other);
    counters(session, written);
    listings(session);
    transports(session);
    versions(session);
    groups(session);
    restart(session, events, written);
    for (Session *each : {&session, &other, &events}) each->goodbye();
}

} // namespace protocol
