// A client over all of its connections: its identity, its leases, and what it has asked and not heard yet. When the
// daemon goes, the session connects to the next one, claims, asks again, and whoever waits for an answer gets it.
#pragma once

#include "connection.hpp"
#include "page.hpp"
#include "pond.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <fcntl.h>
#include <map>
#include <thread>

namespace protocol {

class Session {
  public:
    explicit Session(std::string program);

    // Sends a request and does not wait. The number is for `await`.
    template <class Body> std::uint64_t send(Body body, int descriptor = -1) {
        wire::RequestT request;
        request.body.Set(std::move(body));
        return send_request(std::move(request), descriptor);
    }

    // The answer to a request; those that come before it are kept. Throws `Failed` where it is a failure.
    Answer await(std::uint64_t number);

    template <class Body> Answer ask(Body body, int descriptor = -1) { return await(send(std::move(body), descriptor)); }

    // Everything from the event `from` on; 0 is from now on.
    void subscribe(std::uint64_t from);
    wire::EventT next_event();

    // Looks whether the daemon is still there, and reconnects if not; true if it had to.
    bool look(int wait_ms);

    std::uint64_t new_lease() { return ++last_lease_; }
    // To be called when nothing of it is mapped any more.
    void release(std::uint64_t lease);
    // Says that nothing is mapped and nothing comes any more.
    void goodbye();

    const wire::WelcomeT &welcome() const { return welcome_; }
    const wire::Id &identity() const { return identity_; }
    const Page *page() const { return page_.get(); }
    std::size_t leases() const { return held_.size(); }
    // Leases that a later daemon did not accept: their memory stays, but the pond does not know it any more.
    const std::vector<std::uint64_t> &refused() const { return refused_; }

  private:
    struct Asked {
        wire::RequestT request;
        Fd descriptor;
        std::optional<std::uint64_t> until_ms;
    };

    std::uint64_t send_request(wire::RequestT request, int descriptor);
    void transmit(Asked &asked);
    void take(Answer answer);
    void connect();
    void reconnect();
    void hello();
    void claim();
    Answer direct(wire::RequestT request);
    void lose_all();

    std::string program_;
    wire::Id identity_;
    wire::WelcomeT welcome_;
    std::optional<Connection> connection_;
    std::unique_ptr<Page> page_;
    std::uint64_t last_number_ = 0, last_lease_ = 0;
    std::map<std::uint64_t, Asked> asked_;
    std::map<std::uint64_t, Answer> answers_;
    // By lease: what a claim of it needs.
    std::map<std::uint64_t, wire::LeaseClaimT> held_;
    std::vector<std::uint64_t> refused_;
    std::deque<wire::EventT> events_;
    bool subscribed_ = false;
    std::uint64_t last_event_ = 0;
};

using namespace std::chrono_literals;

constexpr std::uint32_t MAGIC = 0x504f4e44;
constexpr std::size_t CLAIMS_IN_A_MESSAGE = 500;
constexpr std::uint64_t FOR_EVER = ~std::uint64_t{0};

inline std::uint64_t now_ms() {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

// How long a request lets the daemon wait, if it is of such a kind.
inline std::uint64_t *wait_of(wire::RequestT &request) {
    if (auto *get = request.body.AsTensorGet()) return &get->wait_ms;
    if (auto *get = request.body.AsVersionGet()) return &get->wait_ms;
    return nullptr;
}

inline bool is_hello_kind(wire::RequestBody kind) { return kind == wire::RequestBody::Hello || kind == wire::RequestBody::Claim; }

inline Session::Session(std::string program) : program_(std::move(program)), identity_(random_id()) { connect(); }

inline std::uint64_t Session::send_request(wire::RequestT request, int descriptor) {
    std::uint64_t number = request.number = ++last_number_;
    Asked asked{std::move(request), Fd(), std::nullopt};
    // A repeat needs the descriptor again.
    if (descriptor >= 0) asked.descriptor = Fd(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
    if (const std::uint64_t *wait = wait_of(asked.request); wait && *wait != FOR_EVER) asked.until_ms = now_ms() + *wait;
    Asked &kept = asked_.emplace(number, std::move(asked)).first->second;
    try {
        transmit(kept);
    } catch (const Gone &) {
        reconnect();
    }
    return number;
}

inline void Session::transmit(Asked &asked) {
    if (asked.until_ms) {
        std::uint64_t now = now_ms();
        *wait_of(asked.request) = *asked.until_ms > now ? *asked.until_ms - now : 0;
    }
    Bytes message = encode(asked.request);
    if (message.size() > MOST_MESSAGE) throw std::runtime_error("a request above 64 KiB");
    while (!connection_->try_send(message, asked.descriptor.get())) {
        connection_->wait_for_either();
        if (auto answer = connection_->receive(0)) take(std::move(*answer));
    }
}

inline Answer Session::await(std::uint64_t number) {
    for (;;) {
        auto found = answers_.find(number);
        try {
            if (found == answers_.end()) {
                if (auto answer = connection_->receive(-1)) take(std::move(*answer));
                continue;
            }
            Answer answer = std::move(found->second);
            answers_.erase(found);
            const wire::FailureT *failure = answer.reply.body.AsFailure();
            if (failure && failure->kind == LATER) {
                // Nothing has changed: the same request again, after a pause.
                std::this_thread::sleep_for(50ms);
                transmit(asked_.at(number));
                continue;
            }
            asked_.erase(number);
            if (failure) throw Failed(*failure);
            return answer;
        } catch (const Gone &) {
            reconnect();
        }
    }
}

// Sorts in what came: events aside, leases into what is held, the rest to whoever asked.
inline void Session::take(Answer answer) {
    wire::ReplyT &reply = answer.reply;
    if (reply.number == 0) {
        if (const auto *failure = reply.body.AsFailure()) throw Failed(*failure);
        if (const auto *event = reply.body.AsEvent()) {
            last_event_ = event->sequence;
            events_.push_back(*event);
        }
        return;
    }
    wire::LeaseClaimT claim;
    if (const auto *tensor = reply.body.AsTensorReply(); tensor && tensor->lease) {
        claim.lease = tensor->lease, claim.mode = tensor->mode, claim.token = tensor->token;
        claim.tensor = copy_of(*tensor->info->tensor);
    } else if (const auto *version = reply.body.AsVersionReply(); version && version->lease) {
        claim.lease = version->lease, claim.mode = version->mode, claim.token = version->token;
        claim.version = copy_of(*version->info->version);
    }
    if (claim.lease) held_[claim.lease] = claim;
    answers_.insert_or_assign(reply.number, std::move(answer));
}

inline void Session::subscribe(std::uint64_t from) {
    wire::SubscribeT subscribe;
    subscribe.from = from;
    ask(std::move(subscribe));
    subscribed_ = true;
}

inline wire::EventT Session::next_event() {
    while (events_.empty()) {
        try {
            if (auto answer = connection_->receive(-1)) take(std::move(*answer));
        } catch (const Gone &) {
            reconnect();
        }
    }
    wire::EventT event = std::move(events_.front());
    events_.pop_front();
    return event;
}

inline bool Session::look(int wait_ms) {
    try {
        if (auto answer = connection_->receive(wait_ms)) take(std::move(*answer));
        return false;
    } catch (const Gone &) {
        reconnect();
        return true;
    }
}

inline void Session::release(std::uint64_t lease) {
    // From here on it is not claimed any more, whatever becomes of the message.
    held_.erase(lease);
    wire::LeaseReleaseT release;
    release.leases = {lease};
    ask(std::move(release));
}

inline void Session::goodbye() {
    held_.clear();
    ask(wire::GoodbyeT());
}

// Connections

inline void Session::reconnect() {
    std::uint64_t begun = now_ms();
    for (;;) {
        try {
            connect();
            return;
        } catch (const std::system_error &failure) {
            int error = failure.code().value();
            // Only a stop in order removes the socket; a refused connection may be answered by the next pond.
            std::uint64_t patience = error == ENOENT ? 1000 : error == ECONNREFUSED || error == EAGAIN ? 15000 : 0;
            if (now_ms() - begun >= patience) throw;
        } catch (const Gone &) {
            if (now_ms() - begun >= 15000) throw;
        }
        std::this_thread::sleep_for(20ms);
    }
}

inline void Session::connect() {
    connection_.emplace(enter(find_pond()));
    try {
        hello();
    } catch (const Failed &failure) {
        if (failure.kind != DENIED || !held_.empty()) throw;
        identity_ = random_id();
        welcome_ = wire::WelcomeT();
        connection_.emplace(enter(find_pond()));
        hello();
    }
    if (!held_.empty()) claim();
    for (auto &each : asked_)
        if (answers_.count(each.first) == 0) transmit(each.second);
    if (subscribed_) {
        wire::RequestT again;
        wire::SubscribeT subscribe;
        subscribe.from = last_event_ + 1;
        again.body.Set(std::move(subscribe));
        direct(std::move(again)).as<wire::DoneT>();
    }
}

// A request of the connection itself, which no later connection repeats.
inline Answer Session::direct(wire::RequestT request) {
    std::uint64_t number = request.number = ++last_number_;
    Asked asked{std::move(request), Fd(), std::nullopt};
    transmit(asked);
    for (;;) {
        auto answer = connection_->receive(-1);
        if (!answer) continue;
        bool mine = answer->reply.number == number || (answer->reply.number == 0 && is_hello_kind(asked.request.body.type));
        if (!mine) {
            take(std::move(*answer));
            continue;
        }
        if (const auto *failure = answer->reply.body.AsFailure()) throw Failed(*failure);
        return std::move(*answer);
    }
}

inline void Session::hello() {
    wire::HelloT hello;
    hello.magic = MAGIC;
    hello.version = 1;
    hello.client = copy_of(identity_);
    hello.program = program_;
    hello.claims = !held_.empty();
    if (welcome_.pond) {
        hello.pond = copy_of(*welcome_.pond);
        hello.token = welcome_.token;
    }
    wire::RequestT request;
    request.body.Set(std::move(hello));
    Answer answer = direct(std::move(request));
    wire::WelcomeT &welcome = answer.as<wire::WelcomeT>();
    if (welcome.version != 1) throw std::runtime_error("a pond of another version");
    if (welcome_.pond && bytes_of(*welcome_.pond) != bytes_of(*welcome.pond)) lose_all();
    welcome_ = std::move(welcome);
    page_ = welcome_.page_slots == Page::SLOTS && !answer.fds.empty() ? std::make_unique<Page>(answer.fds.front()) : nullptr;
}

// Another pond: what was held is lost, as if each lease had been refused.
inline void Session::lose_all() {
    for (const auto &each : held_) refused_.push_back(each.first);
    held_.clear();
}

inline void Session::claim() {
    std::vector<std::uint64_t> refused;
    for (auto next = held_.begin(); next != held_.end();) {
        wire::ClaimT claim;
        for (; next != held_.end() && claim.leases.size() < CLAIMS_IN_A_MESSAGE; ++next)
            claim.leases.push_back(std::make_unique<wire::LeaseClaimT>(next->second));
        claim.last = next == held_.end();
        wire::RequestT request;
        request.body.Set(std::move(claim));
        Answer answer = direct(std::move(request));
        const auto &more = answer.as<wire::ClaimedT>().refused;
        refused.insert(refused.end(), more.begin(), more.end());
    }
    for (std::uint64_t lease : refused) held_.erase(lease);
    refused_.insert(refused_.end(), refused.begin(), refused.end());
}

} // namespace protocol
