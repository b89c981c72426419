// A whole client of a pond in C++17, written from docs/protocol.md and the schemas alone: sockets, libcuda by name, and
// what flatc makes of the schemas. docs/protocol.md has the commands that build it.
//
//   client                   a tour of the protocol, which kills the daemon of its pond
//   client put NAME FILE     a tensor of bytes
//   client cat NAME          the bytes of a tensor, of any transport
//   client keep NAME         leases a tensor until the input ends, whatever becomes of the daemon
//   client commit MODEL FILE a version with one tensor, `data`
//   client attach MODEL NAME the bytes of a tensor of the current version
//   client list PREFIX MOST  names, in pages
//   client groups            the groups

#include "tensors.hpp"
#include "tour.hpp"
#include "versions.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <poll.h>

using namespace protocol;

namespace {

Bytes file(const std::string &path) {
    std::ifstream input(path, std::ios::binary);
    if (!input) system_failed(path);
    return Bytes(std::istreambuf_iterator<char>(input), {});
}

void show(const Bytes &data) {
    if (std::fwrite(data.data(), 1, data.size(), stdout) != data.size() || std::fflush(stdout) != 0) system_failed("standard output");
}

void put(Session &session, const std::string &name, const std::string &path) {
    Bytes data = file(path);
    Held made = create(session, name, DTYPE_U8, {data.size()});
    if (made.existed) throw std::runtime_error("'" + name + "' is there already");
    made.memory.write(data);
    publish(session, *made.info.tensor);
    drop(session, made);
}

void cat(Session &session, const std::string &name) {
    Held found = get(session, name, RO, 5000);
    show(found.memory.read());
    drop(session, found);
}

void keep(Session &session, const std::string &name) {
    Held found = get(session, name, RO, 5000);
    Bytes before = found.memory.read();
    std::cout << "epoch " << session.welcome().epoch << ", leases " << session.leases() << std::endl;
    for (pollfd input{0, POLLIN, 0}; ::poll(&input, 1, 0) == 0;) {
        if (!session.look(50)) continue;
        bool kept = found.memory.read() == before;
        std::cout << "epoch " << session.welcome().epoch << ", leases " << session.leases() << ", refused " << session.refused().size()
                  << ", the bytes are " << (kept ? "kept" : "lost") << std::endl;
    }
    drop(session, found);
}

void attach(Session &session, const std::string &model, const std::string &name) {
    Attached version(session, model, 5000);
    show(version.read(name));
    version.release();
}

void show_list(Session &session, const std::string &prefix, const std::string &most) {
    std::size_t pages = 0;
    for (const std::string &name : list_pages(session, prefix, static_cast<std::uint32_t>(std::stoul(most)), pages)) std::cout << name << '\n';
    std::cerr << "pages: " << pages << '\n';
}

void show_groups(Session &session) {
    Answer answer = session.ask(wire::GroupListT());
    for (const auto &group : answer.as<wire::GroupsT>().groups) {
        std::cout << group->name << ": " << group->processes << " processes";
        for (const auto &device : group->devices)
            if (device->limit) std::cout << ", limit " << *device->limit;
        std::cout << '\n';
    }
}

int run(const std::vector<std::string> &words) {
    std::string command = words.empty() ? "tour" : words[0];
    if (command == "tour") return tour(), 0;
    Session session("example " + command);
    if (command == "put" && words.size() == 3) put(session, words[1], words[2]);
    else if (command == "cat" && words.size() == 2) cat(session, words[1]);
    else if (command == "keep" && words.size() == 2) keep(session, words[1]);
    else if (command == "commit" && words.size() == 3) {
        Bytes data = file(words[2]);
        std::uint64_t bytes = data.size();
        std::cout << commit(session, words[1], {{"data", DTYPE_U8, {bytes}, std::move(data)}}).tag << '\n';
    } else if (command == "attach" && words.size() == 3) attach(session, words[1], words[2]);
    else if (command == "list" && words.size() == 3) show_list(session, words[1], words[2]);
    else if (command == "groups" && words.size() == 1) show_groups(session);
    else {
        std::cerr << "client: put NAME FILE, cat NAME, keep NAME, commit MODEL FILE, attach MODEL NAME, list PREFIX MOST or groups\n";
        return 2;
    }
    session.goodbye();
    return 0;
}

} // namespace

int main(int count, char **words) {
    try {
        return run({words + 1, words + count});
    } catch (const Failed &failure) {
        std::cerr << "client: " << failure.what() << " (kind " << failure.kind << ")" << (failure.hint.empty() ? "" : "\nhint: ") << failure.hint
                  << '\n';
    } catch (const std::exception &failure) {
        std::cerr << "client: " << failure.what() << '\n';
    }
    return 1;
}
