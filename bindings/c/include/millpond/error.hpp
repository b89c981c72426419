// One class for all errors: a code that says what to do, a message that names the thing, and a hint with the next command.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "detail/config.hpp"
#include "millpond.h"

namespace millpond {

/// Why a call failed. The numbers are those of the C ABI and of every other language, and never change.
enum class errc : int {
    ok = 0,
    internal = 1,
    invalid = 2,
    not_found = 3,
    exists = 4,
    denied = 5,
    not_ready = 6,
    gpu_full = 7,
    too_many = 8,
    later = 9,
    draining = 10,
    lost = 11,
    driver = 12,
    protocol = 13,
    unknown_kind = 14,
    no_pond = 15,
    untrusted = 16,
    timeout = 17,
    no_device = 18,
    file = 19,
    mover = 20,
    retired = 21,
    in_use = 22,
    unsupported = 23,
    invalid_handle = 1000,
    null_pointer = 1001,
    forked = 1002,
    cancelled = 1003,
    closed = 1004,
    too_small = 1005,
    panic = 1006,
};

/// What can be done about an error.
enum class remedy : std::uint32_t { none = 0, change = 1, retry = 2, free = 3, ask_operator = 4 };

/// Who has memory, where a GPU is full or a tensor in use.
struct holder {
    std::uint32_t user = 0;
    /// Zero where it is not about one process.
    std::uint32_t pid = 0;
    std::uint64_t bytes = 0;
    std::uint32_t tensors = 0;
    /// The bytes are a cache's, not a slab's.
    bool is_cache = false;
};

/// The numbers of `errc::gpu_full`; all zero otherwise.
struct shortage {
    std::uint64_t requested_bytes = 0, free_bytes = 0, capacity_bytes = 0;
};

/// The name that the command line and every other language print, such as `not_found`.
[[nodiscard]] inline const char *name(errc code) noexcept { return millpond_result_name(static_cast<millpond_result>(code)); }

inline std::ostream &operator<<(std::ostream &out, errc code) { return out << name(code); }

/// What else may be known of an error.
struct error_details {
    millpond::remedy remedy = millpond::remedy::change;
    std::vector<std::string> similar;
    std::vector<holder> holders;
    shortage memory;
};

/// Every error of this library. Copies share the text and throw nothing.
class error : public std::exception {
public:
    error(errc code, std::string message, std::string hint = {}, error_details more = {})
        : text_(std::make_shared<const text>(std::move(message), std::move(hint), std::move(more))), code_(code) {}

    [[nodiscard]] errc code() const noexcept { return code_; }
    /// One sentence that names the thing.
    [[nodiscard]] const std::string &message() const noexcept { return text_->message; }
    /// The next command to type, or the setting to change; may be empty.
    [[nodiscard]] const std::string &hint() const noexcept { return text_->hint; }
    /// Message and hint.
    [[nodiscard]] const char *what() const noexcept override { return text_->whole.c_str(); }
    [[nodiscard]] millpond::remedy remedy() const noexcept { return text_->more.remedy; }
    /// Names close to one that was not found.
    [[nodiscard]] const std::vector<std::string> &similar() const noexcept { return text_->more.similar; }
    /// Who has the memory of a full GPU, the largest first, or who uses a tensor that was not removed for that.
    [[nodiscard]] const std::vector<holder> &holders() const noexcept { return text_->more.holders; }
    [[nodiscard]] const shortage &memory() const noexcept { return text_->more.memory; }

    friend std::ostream &operator<<(std::ostream &out, const error &why) { return out << why.what(); }

private:
    struct text {
        text(std::string said, std::string advice, error_details known)
            : message(std::move(said)), hint(std::move(advice)), more(std::move(known)) {
            whole = hint.empty() ? message : message + "\nhint: " + hint;
        }
        std::string message, hint, whole;
        error_details more;
    };

    std::shared_ptr<const text> text_;
    errc code_;
};

namespace detail {

/// Throws, or where exceptions are off ends the program with the error's text.
template <class Error>
[[noreturn]] void raise(const Error &why) {
#if MILLPOND_HAS_EXCEPTIONS
    throw why;
#else
    std::fprintf(stderr, "millpond: %s\n", why.what());
    std::abort();
#endif
}

/// What a value without a handle answers.
[[nodiscard]] inline error empty() {
    return {errc::invalid_handle, "this value is empty: it was moved from, reset, or never got"};
}

/// The hints that are about C, as they are in C++.
[[nodiscard]] inline std::string in_cpp(const char *hint) {
    static constexpr std::pair<const char *, const char *> words[] = {
        {"mode MILLPOND_MODE_READ_WRITE", "pond.tensor()"},
        {"`spec.transport = MILLPOND_TRANSPORT_IPC`", "spec.transport(millpond::transport::ipc)"},
        {"`options.force = 1`", "`force`"},
    };
    std::string said = hint == nullptr ? "" : hint;
    for (const auto &[c, cpp] : words) {
        if (const auto at = said.find(c); at != std::string::npos) said.replace(at, std::char_traits<char>::length(c), cpp);
    }
    return said;
}

/// What the C ABI has kept of this thread's last failure.
[[nodiscard]] inline error last_error(int code) {
    // The only pointers that can be NULL here are handles.
    if (static_cast<errc>(code) == errc::null_pointer) return empty();
    error_details more;
    more.remedy = static_cast<remedy>(millpond_error_remedy());
    for (std::size_t at = 0; const char *name = millpond_error_similar(at); ++at) more.similar.emplace_back(name);
    for (std::size_t at = 0, count = millpond_error_holder_count(); at < count; ++at) {
        millpond_holder raw{};
        if (millpond_error_holder_at(at, &raw) != 0) break;
        more.holders.push_back({raw.user, raw.pid, raw.bytes, raw.tensors, raw.is_cache != 0});
    }
    millpond_memory_shortage memory{};
    if (millpond_error_memory(&memory) == 0) more.memory = {memory.requested_bytes, memory.free_bytes, memory.capacity_bytes};
    return {static_cast<errc>(code), millpond_error_message(), in_cpp(millpond_error_hint()), std::move(more)};
}

}  // namespace detail
}  // namespace millpond
