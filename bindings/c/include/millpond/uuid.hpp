// Identities: of tensors, versions, clients, and of GPUs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "detail/config.hpp"

namespace millpond {

/// Sixteen bytes in the order in which they are printed, on every machine.
class uuid {
public:
    static constexpr std::size_t size = 16;

    /// All zeroes: the identity of nothing.
    constexpr uuid() noexcept = default;
    constexpr explicit uuid(const std::array<std::uint8_t, size> &bytes) noexcept : bytes_(bytes) {}

    /// Sixteen bytes from anywhere, such as `cudaDeviceProp::uuid.bytes` or `CUuuid::bytes`.
    [[nodiscard]] static uuid from_bytes(const void *bytes) noexcept {
        uuid made;
        std::memcpy(made.bytes_.data(), bytes, size);
        return made;
    }

    /// `8-4-4-4-12` hexadecimal digits in either case, or 32 without dashes; with or without `GPU-` in front.
    [[nodiscard]] static std::optional<uuid> parse(std::string_view text) noexcept {
        constexpr std::string_view gpu = "GPU-";
        if (text.substr(0, gpu.size()) == gpu) text.remove_prefix(gpu.size());
        const bool dashes = text.size() == 36;
        if (!dashes && text.size() != 32) return std::nullopt;
        uuid made;
        std::size_t at = 0;
        for (std::size_t byte = 0; byte < size; ++byte) {
            if (dashes && (byte == 4 || byte == 6 || byte == 8 || byte == 10) && text[at++] != '-') return std::nullopt;
            const int high = digit(text[at]), low = digit(text[at + 1]);
            if (high < 0 || low < 0) return std::nullopt;
            made.bytes_[byte] = static_cast<std::uint8_t>(high << 4 | low);
            at += 2;
        }
        return made;
    }

    [[nodiscard]] constexpr const std::array<std::uint8_t, size> &bytes() const noexcept { return bytes_; }
    [[nodiscard]] constexpr const std::uint8_t *data() const noexcept { return bytes_.data(); }

    [[nodiscard]] bool is_nil() const noexcept { return *this == uuid(); }

    /// `123e4567-e89b-12d3-a456-426614174000`
    [[nodiscard]] std::string text() const {
        constexpr char digits[] = "0123456789abcdef";
        std::string made;
        made.reserve(36);
        for (std::size_t byte = 0; byte < size; ++byte) {
            if (byte == 4 || byte == 6 || byte == 8 || byte == 10) made += '-';
            made += digits[bytes_[byte] >> 4];
            made += digits[bytes_[byte] & 15];
        }
        return made;
    }

    /// `GPU-123e4567-…`, as `nvidia-smi -L` prints the UUID of a GPU.
    [[nodiscard]] std::string gpu_text() const { return "GPU-" + text(); }

    [[nodiscard]] std::size_t hash() const noexcept {
        // FNV-1a: identities of GPUs are not random in every byte.
        std::uint64_t sum = 14695981039346656037u;
        for (const std::uint8_t byte : bytes_) sum = (sum ^ byte) * 1099511628211u;
        return static_cast<std::size_t>(sum);
    }

    friend bool operator==(const uuid &a, const uuid &b) noexcept { return a.bytes_ == b.bytes_; }
    friend bool operator!=(const uuid &a, const uuid &b) noexcept { return !(a == b); }
    friend bool operator<(const uuid &a, const uuid &b) noexcept { return a.bytes_ < b.bytes_; }
    friend std::ostream &operator<<(std::ostream &out, const uuid &id) { return out << id.text(); }

private:
    static constexpr int digit(char letter) noexcept {
        if (letter >= '0' && letter <= '9') return letter - '0';
        if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
        if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
        return -1;
    }

    std::array<std::uint8_t, size> bytes_{};
};

}  // namespace millpond

template <>
struct std::hash<millpond::uuid> {
    [[nodiscard]] std::size_t operator()(const millpond::uuid &id) const noexcept { return id.hash(); }
};
