// Maps a buffer read-only and shows its first bytes: get ID-OR-NAME
#include <millpond/millpond.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <vector>

int main(int count, char **words) try {
    if (count != 2) {
        std::cerr << "usage: get ID-OR-NAME\n";
        return 2;
    }
    const auto pond = millpond::pond::connect();
    const auto id = millpond::uuid::parse(words[1]);
    const auto view = id ? pond.get(*id) : pond.get(words[1]);
    std::printf("%llu bytes on %s\n", static_cast<unsigned long long>(view.bytes()), view.gpu().gpu_text().c_str());

    std::vector<std::byte> first(std::min<std::uint64_t>(view.bytes(), 8));
    view.copy_to_host(first);
    for (const std::byte byte : first) std::printf("%02x ", std::to_integer<unsigned>(byte));
    std::printf("\n");
} catch (const millpond::error &why) {
    std::cerr << "get: " << why << '\n';
    return 1;
}
