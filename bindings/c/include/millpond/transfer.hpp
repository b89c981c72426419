// Bytes into tensors and out of them without mapping anything: the pond's mover carries them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "detail/visit.hpp"
#include "pond.hpp"
#include "span.hpp"

namespace millpond {

/// Where bytes come from: exactly as many as the tensor has.
class source {
public:
    [[nodiscard]] static source file(std::string path) { return source(MILLPOND_PLACE_PATH, std::move(path)); }
    /// A file, pipe or socket, from where it stands. It stays open.
    [[nodiscard]] static source descriptor(int fd) {
        source made(MILLPOND_PLACE_FD);
        made.fd_ = fd;
        return made;
    }
    /// Must stay until the call is over.
    [[nodiscard]] static source memory(span<const std::byte> bytes) {
        source made(MILLPOND_PLACE_MEMORY);
        made.bytes_ = bytes;
        return made;
    }
    [[nodiscard]] static source zeroes() { return source(MILLPOND_PLACE_ZEROES); }
    [[nodiscard]] static source tensor(const target &which) { return source(MILLPOND_PLACE_TENSOR, which.c_str()); }

    [[nodiscard]] millpond_source raw() const noexcept {
        millpond_source made{};
        detail::set(made.place, place_);
        made.fd = fd_;
        made.path = path_.empty() ? nullptr : path_.c_str();
        made.data = bytes_.data();
        made.bytes = bytes_.size();
        return made;
    }

private:
    explicit source(std::uint32_t place, std::string path = {}) : path_(std::move(path)), place_(place) {}

    std::string path_;
    span<const std::byte> bytes_;
    std::uint32_t place_;
    int fd_ = -1;
};

/// Where bytes go.
class sink {
public:
    /// Made or overwritten; with `exclusive` a file that is there is refused.
    [[nodiscard]] static sink file(std::string path, bool exclusive = false) {
        sink made(MILLPOND_PLACE_PATH, std::move(path));
        made.exclusive_ = exclusive;
        return made;
    }
    /// A file, pipe or socket, from where it stands. It stays open.
    [[nodiscard]] static sink descriptor(int fd) {
        sink made(MILLPOND_PLACE_FD);
        made.fd_ = fd;
        return made;
    }
    [[nodiscard]] static sink memory(span<std::byte> bytes) {
        sink made(MILLPOND_PLACE_MEMORY);
        made.bytes_ = bytes;
        return made;
    }

    [[nodiscard]] millpond_sink raw() const noexcept {
        millpond_sink made{};
        detail::set(made.place, place_);
        made.fd = fd_;
        made.path = path_.empty() ? nullptr : path_.c_str();
        made.data = bytes_.data();
        made.bytes = bytes_.size();
        made.exclusive = exclusive_;
        return made;
    }

private:
    explicit sink(std::uint32_t place, std::string path = {}) : path_(std::move(path)), place_(place) {}

    std::string path_;
    span<std::byte> bytes_;
    std::uint32_t place_;
    int fd_ = -1;
    bool exclusive_ = false;
};

inline tensor_info pond::put(const spec &wanted, const source &from, const progress &told) const {
    return try_put(wanted, from, told).value();
}
inline result<tensor_info> pond::try_put(const spec &wanted, const source &from, const progress &told) const {
    const auto spec = wanted.raw();
    if (!spec) return spec.error();
    const auto place = from.raw();
    millpond_tensor_info info{};
    const auto put = detail::told(told, [&](auto callback, void *data) {
        return millpond_tensor_put(handle_.get(), &*spec, &place, callback, data, &info);
    });
    if (!put) return put.error();
    return tensor_info(info);
}
inline void pond::upload(const target &to, const source &from, const progress &told) const { try_upload(to, from, told).value(); }
inline result<void> pond::try_upload(const target &to, const source &from, const progress &told) const {
    const auto place = from.raw();
    return detail::told(told, [&](auto callback, void *data) {
        return millpond_tensor_upload(handle_.get(), to.c_str(), &place, callback, data);
    });
}
inline std::uint64_t pond::download(const target &from, const sink &to, const progress &told) const {
    return try_download(from, to, told).value();
}
inline result<std::uint64_t> pond::try_download(const target &from, const sink &to, const progress &told) const {
    const auto place = to.raw();
    std::uint64_t bytes = 0;
    const auto done = detail::told(told, [&](auto callback, void *data) {
        return millpond_tensor_download(handle_.get(), from.c_str(), &place, callback, data, &bytes);
    });
    if (!done) return done.error();
    return bytes;
}
inline void pond::copy(const target &from, const target &to, const progress &told) const { try_copy(from, to, told).value(); }
inline result<void> pond::try_copy(const target &from, const target &to, const progress &told) const {
    return detail::told(told, [&](auto callback, void *data) {
        return millpond_tensor_copy(handle_.get(), from.c_str(), to.c_str(), callback, data);
    });
}

}  // namespace millpond
