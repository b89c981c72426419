// A file descriptor that is closed once, and errors of the system with the thing that they are about.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace protocol {

[[noreturn]] inline void system_failed(const std::string &what) {
    throw std::system_error(errno, std::generic_category(), what);
}

class Fd {
  public:
    Fd() = default;
    explicit Fd(int number) : number_(number) {}
    Fd(Fd &&other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Fd &operator=(Fd &&other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Fd() {
        if (number_ >= 0) ::close(number_);
    }

    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

  private:
    int number_ = -1;
};

} // namespace protocol
