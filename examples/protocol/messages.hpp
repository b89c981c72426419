// Requests become bytes here, and bytes replies. flatc's header knows the tables; the rest is in this file.
#pragma once

#include "fd.hpp"
#include "wire_generated.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/random.h>
#include <vector>

namespace protocol {

namespace wire = millpond::wire;
using Bytes = std::vector<std::uint8_t>;
using IdPtr = std::unique_ptr<wire::Id>;

constexpr std::uint8_t RO = 1, RW = 2;
constexpr std::uint8_t FOR_USER = 1;
constexpr std::uint8_t STATE_READY = 2;
constexpr std::uint8_t TRANSPORT_VMM = 1, TRANSPORT_MEMPOOL = 2, TRANSPORT_IPC = 3;
constexpr std::uint8_t DTYPE_U8 = 5, DTYPE_F32 = 18;
constexpr std::uint16_t DENIED = 5, LATER = 9, TIMEOUT = 17;
constexpr std::size_t MOST_MESSAGE = 65536, MOST_DESCRIPTORS = 128;
constexpr std::uint64_t MOST_MEMFD = std::uint64_t{1} << 30;

// A random UUID, for whatever a client has to invent.
wire::Id random_id();
IdPtr copy_of(const wire::Id &id);
std::array<std::uint8_t, 16> bytes_of(const wire::Id &id);
std::string text_of(const wire::Id &id);

Bytes encode(const wire::RequestT &request);

// Checks all of the bytes before it reads any; without that a wrong offset would be followed anywhere.
wire::ReplyT decode(const std::uint8_t *data, std::size_t bytes);

// A `Failure` of the daemon.
class Failed : public std::runtime_error {
  public:
    explicit Failed(const wire::FailureT &failure);
    std::uint16_t kind;
    std::string hint;
};

// A reply with the descriptors that came along.
struct Answer {
    wire::ReplyT reply;
    std::vector<Fd> fds;
    bool came_in_memfd = false;

    // The body, which has to be of this kind. A kind that is not known is an error of its request.
    template <class Body> Body &as() {
        if (reply.body.type != wire::ReplyBodyUnionTraits<Body>::enum_value || !reply.body.value)
            throw std::runtime_error("a reply of kind " + std::to_string(static_cast<int>(reply.body.type)) + " was not asked for");
        return *static_cast<Body *>(reply.body.value);
    }
};

inline wire::Id random_id() {
    std::uint64_t halves[2];
    if (::getrandom(halves, sizeof halves, 0) != static_cast<ssize_t>(sizeof halves)) system_failed("getrandom");
    // Version 4, variant 1, as RFC 9562 says.
    halves[0] = (halves[0] & ~std::uint64_t{0xf000}) | 0x4000;
    halves[1] = (halves[1] & ~(std::uint64_t{3} << 62)) | std::uint64_t{1} << 63;
    return wire::Id(halves[0], halves[1]);
}

inline IdPtr copy_of(const wire::Id &id) { return std::make_unique<wire::Id>(id); }

inline std::array<std::uint8_t, 16> bytes_of(const wire::Id &id) {
    std::array<std::uint8_t, 16> bytes{};
    for (std::size_t at = 0; at < 8; ++at) {
        bytes[at] = static_cast<std::uint8_t>(id.high() >> (56 - 8 * at));
        bytes[8 + at] = static_cast<std::uint8_t>(id.low() >> (56 - 8 * at));
    }
    return bytes;
}

inline std::string text_of(const wire::Id &id) {
    std::string text;
    for (std::uint8_t byte : bytes_of(id)) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", byte);
        if (text.size() == 8 || text.size() == 13 || text.size() == 18 || text.size() == 23) text += '-';
        text += digits;
    }
    return text;
}

inline Bytes encode(const wire::RequestT &request) {
    // A builder goes on where it was, so each message has one of its own.
    flatbuffers::FlatBufferBuilder builder(512);
    builder.Finish(wire::Request::Pack(builder, &request));
    return Bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

inline wire::ReplyT decode(const std::uint8_t *data, std::size_t bytes) {
    flatbuffers::Verifier::Options options;
    // A listing has up to 4,000,000 entries; what flatbuffers allows by itself is a million tables.
    options.max_tables = 32'000'000;
    flatbuffers::Verifier verifier(data, bytes, options);
    if (!verifier.VerifyBuffer<wire::Reply>(nullptr)) throw std::runtime_error("a reply that cannot be read");
    wire::ReplyT reply;
    flatbuffers::GetRoot<wire::Reply>(data)->UnPackTo(&reply);
    return reply;
}

inline Failed::Failed(const wire::FailureT &failure) : std::runtime_error(failure.message), kind(failure.kind), hint(failure.hint) {}

} // namespace protocol
