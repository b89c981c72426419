// Tensors by name: made, written, published, read, listed.
#pragma once

#include "mapping.hpp"
#include "session.hpp"

#include <algorithm>
#include <functional>

namespace protocol {

// A tensor on which there is a lease, mapped.
struct Held {
    wire::TensorInfoT info;
    std::uint64_t lease;
    bool existed;
    Mapped memory;
    // Of an `ipc` tensor: the handle of its event.
    Bytes event;
};

// What a create says beside name, dtype and shape.
using Wish = std::function<void(wire::TensorCreateT &)>;

Held create(Session &session, const std::string &name, std::uint8_t dtype, std::vector<std::uint64_t> shape, const Wish &wish = {});
// Without a lease, and without waiting: the number is for `await`.
std::uint64_t begin_create(Session &session, const std::string &name, const Wish &wish = {});
std::uint64_t publish(Session &session, const wire::Id &tensor);
Held get(Session &session, const std::string &name, std::uint8_t mode, std::uint64_t wait_ms);
void drop(Session &session, Held &held);
void remove(Session &session, const wire::Id &tensor);

wire::TensorInfoT inspect(Session &session, const std::string &name);
std::vector<std::string> list(Session &session, const std::string &prefix);
// The same in pages of so many; how many pages there were.
std::vector<std::string> list_pages(Session &session, const std::string &prefix, std::uint32_t most, std::size_t &pages);

inline wire::TensorCreateT described(const std::string &name, std::uint8_t dtype, std::vector<std::uint64_t> shape, const Wish &wish) {
    wire::TensorCreateT create;
    // A repeat after a restart has the same UUID, and finds what the request before has made.
    create.tensor = copy_of(random_id());
    create.name = name;
    create.dtype = dtype;
    create.shape = std::move(shape);
    create.audience = FOR_USER;
    if (wish) wish(create);
    return create;
}

inline Held held(Answer answer) {
    auto &reply = answer.as<wire::TensorReplyT>();
    Mapped memory = Card::open().map(answer);
    return {*reply.info, reply.lease, reply.existed, std::move(memory), reply.event};
}

inline std::vector<std::string> names(const wire::TensorsT &tensors) {
    std::vector<std::string> names;
    for (const auto &each : tensors.tensors) names.push_back(each->name);
    return names;
}

inline Held create(Session &session, const std::string &name, std::uint8_t dtype, std::vector<std::uint64_t> shape, const Wish &wish) {
    wire::TensorCreateT create = described(name, dtype, std::move(shape), wish);
    create.lease = session.new_lease();
    return held(session.ask(std::move(create)));
}

inline std::uint64_t begin_create(Session &session, const std::string &name, const Wish &wish) {
    return session.send(described(name, DTYPE_U8, {1}, wish));
}

inline std::uint64_t publish(Session &session, const wire::Id &tensor) {
    wire::TensorPublishT publish;
    publish.tensor = copy_of(tensor);
    publish.token = copy_of(random_id());
    return session.ask(std::move(publish)).as<wire::PublishedT>().generation;
}

inline Held get(Session &session, const std::string &name, std::uint8_t mode, std::uint64_t wait_ms) {
    wire::TensorGetT get;
    get.name = name;
    get.lease = session.new_lease();
    get.mode = mode;
    get.wait_ms = wait_ms;
    return held(session.ask(std::move(get)));
}

inline void drop(Session &session, Held &held) {
    held.memory.unmap();
    session.release(held.lease);
}

inline void remove(Session &session, const wire::Id &tensor) {
    wire::TensorDeleteT request;
    request.tensor = copy_of(tensor);
    session.ask(std::move(request)).as<wire::DoneT>();
}

inline wire::TensorInfoT inspect(Session &session, const std::string &name) {
    wire::TensorInspectT request;
    request.name = name;
    return *session.ask(std::move(request)).as<wire::TensorDetailsT>().info;
}

inline std::vector<std::string> list(Session &session, const std::string &prefix) {
    wire::TensorListT request;
    request.prefix = prefix;
    return names(session.ask(std::move(request)).as<wire::TensorsT>());
}

inline std::vector<std::string> list_pages(Session &session, const std::string &prefix, std::uint32_t most, std::size_t &pages) {
    std::vector<std::string> all;
    std::optional<wire::Id> after;
    for (pages = 1;; ++pages) {
        wire::TensorListT request;
        request.prefix = prefix;
        request.most = most;
        if (after) request.after = copy_of(*after);
        Answer answer = session.ask(std::move(request));
        const auto &page = answer.as<wire::TensorsT>();
        for (const auto &each : page.tensors)
            if (!after || bytes_of(*after) < bytes_of(*each->tensor)) after = *each->tensor;
        for (std::string &name : names(page)) all.push_back(std::move(name));
        if (page.tensors.size() < most) return all;
    }
}

} // namespace protocol
