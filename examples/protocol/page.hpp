// The page of counters: whoever finds a counter unchanged knows that a get would have the same answer as before.
#pragma once

#include "messages.hpp"

#include <string_view>
#include <sys/mman.h>

namespace protocol {

class Page {
  public:
    static constexpr std::uint32_t SLOTS = 512;

    explicit Page(const Fd &descriptor) : counters_(::mmap(nullptr, SLOTS * 8, PROT_READ, MAP_SHARED, descriptor.get(), 0)) {
        if (counters_ == MAP_FAILED) system_failed("mmap of the page of counters");
    }
    Page(const Page &) = delete;
    Page &operator=(const Page &) = delete;
    ~Page() { ::munmap(counters_, SLOTS * 8); }

    // To be read before the get is sent.
    std::uint64_t of_name(std::string_view name) const { return counter(slot(bare(name))); }
    std::uint64_t of_id(const wire::Id &id) const {
        auto bytes = bytes_of(id);
        return counter(slot({reinterpret_cast<const char *>(bytes.data()), bytes.size()}));
    }

    // FNV-1a with 64 bits, folded.
    static std::uint32_t slot(std::string_view bytes) {
        std::uint64_t hash = 0xcbf29ce484222325;
        for (char each : bytes) hash = (hash ^ static_cast<std::uint8_t>(each)) * 0x100000001b3;
        return static_cast<std::uint32_t>((hash ^ hash >> 32) % SLOTS);
    }

  private:
    // Without `~user/`, and without `public/` behind it.
    static std::string_view bare(std::string_view name) {
        if (std::size_t slash = name.find('/'); name.substr(0, 1) == "~" && slash != name.npos) name.remove_prefix(slash + 1);
        if (name.substr(0, 7) == "public/") name.remove_prefix(7);
        return name;
    }

    std::uint64_t counter(std::uint32_t slot) const {
        return __atomic_load_n(static_cast<const std::uint64_t *>(counters_) + slot, __ATOMIC_ACQUIRE);
    }

    void *counters_;
};

} // namespace protocol
