// One connection: datagrams with descriptors, in and out. It knows no request and no lease.
#pragma once

#include "messages.hpp"

#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace protocol {

// The daemon has gone, or is about to: whoever was connected comes back.
struct Gone : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Connection {
  public:
    explicit Connection(Fd socket) : socket_(std::move(socket)) {}

    // False where the daemon takes nothing now: read first, because it takes nothing while its answers are not read.
    bool try_send(const Bytes &message, int descriptor);

    // Waits for the next message, at most `wait_ms`; -1 is for ever.
    std::optional<Answer> receive(int wait_ms);

    // Waits until there is something to read or room to write.
    void wait_for_either();

  private:
    Fd socket_;
};

// A reply that did not fit a datagram. It may be read only if nobody can change or shorten it meanwhile.
inline wire::ReplyT read_memfd(const Fd &memfd, std::uint64_t bytes) {
    struct stat found {};
    int seals = ::fcntl(memfd.get(), F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_WRITE) == 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(memfd.get(), &found) != 0 ||
        static_cast<std::uint64_t>(found.st_size) != bytes || bytes == 0 || bytes > MOST_MEMFD)
        throw std::runtime_error("a reply that could change while it is read");
    void *mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, memfd.get(), 0);
    if (mapped == MAP_FAILED) system_failed("mmap of a reply");
    auto unmap = [bytes](void *each) { ::munmap(each, bytes); };
    std::unique_ptr<void, decltype(unmap)> owned(mapped, unmap);
    return decode(static_cast<const std::uint8_t *>(mapped), bytes);
}

inline short wait_for(int socket, short events, int wait_ms) {
    pollfd waiting{socket, events, 0};
    int found = ::poll(&waiting, 1, wait_ms);
    if (found < 0 && errno != EINTR) system_failed("poll");
    return found > 0 ? waiting.revents : short{0};
}

inline bool Connection::try_send(const Bytes &message, int descriptor) {
    iovec part{const_cast<std::uint8_t *>(message.data()), message.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (descriptor >= 0) {
        header.msg_control = control;
        header.msg_controllen = sizeof control;
        cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof descriptor);
        std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    }
    for (;;) {
        if (::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return true;
        if (errno == EAGAIN) return false;
        if (errno == EPIPE || errno == ECONNRESET) throw Gone("the daemon has gone");
        if (errno != EINTR) system_failed("sendmsg");
    }
}

inline std::optional<Answer> Connection::receive(int wait_ms) {
    alignas(8) std::uint8_t data[MOST_MESSAGE];
    alignas(cmsghdr) char control[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
    if (wait_for(socket_.get(), POLLIN, wait_ms) == 0) return std::nullopt;
    iovec part{data, sizeof data};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    ssize_t bytes = ::recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    // A daemon that was killed with requests unread resets first; what it had answered before follows.
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNRESET)) return std::nullopt;
    if (bytes == 0) throw Gone("the daemon has gone");
    if (bytes < 0) system_failed("recvmsg");

    Answer answer;
    for (cmsghdr *each = CMSG_FIRSTHDR(&header); each; each = CMSG_NXTHDR(&header, each)) {
        if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
        std::size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t at = 0; at < count; ++at) {
            int number;
            std::memcpy(&number, CMSG_DATA(each) + at * sizeof number, sizeof number);
            answer.fds.emplace_back(number);
        }
    }
    if (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) throw std::runtime_error("a message that is cut off");
    answer.reply = decode(data, static_cast<std::size_t>(bytes));
    if (answer.reply.body.type == wire::ReplyBody::InMemfd) {
        std::uint64_t number = answer.reply.number, size = answer.as<wire::InMemfdT>().bytes;
        if (answer.fds.empty()) throw std::runtime_error("a reply in a memfd without a memfd");
        answer.reply = read_memfd(answer.fds.front(), size);
        answer.came_in_memfd = true;
        answer.fds.erase(answer.fds.begin());
        if (answer.reply.number != number) throw std::runtime_error("a reply in a memfd with another number");
    }
    return answer;
}

inline void Connection::wait_for_either() { wait_for(socket_.get(), POLLIN | POLLOUT, -1); }

} // namespace protocol
