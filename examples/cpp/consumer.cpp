// Waits for frames of the producer and adds their pixels: consumer FRAMES
#include <millpond/millpond.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <vector>

int main(int count, char **words) try {
    using namespace std::chrono_literals;
    const int wanted = count > 1 ? std::atoi(words[1]) : 4;
    const auto pond = millpond::pond::connect();
    // From the first event that the pond has kept on, so that a consumer may also come late.
    auto events = pond.events(1);
    for (int seen = 0; seen < wanted;) {
        const auto event = events.next(30s);
        if (!event) {
            std::cerr << "consumer: nothing was published for half a minute\n";
            return 1;
        }
        if (event->kind != millpond::event_kind::tensor_published || event->name.rfind("frames/", 0) != 0) continue;
        // Somebody else may have been faster.
        const auto frame = pond.try_get(event->name);
        if (!frame && frame.code() == millpond::errc::not_found) continue;

        std::vector<std::uint16_t> picture(frame.value().bytes() / sizeof(std::uint16_t));
        frame->copy_to_host<std::uint16_t>(picture);
        std::uint64_t sum = 0;
        for (const auto pixel : picture) sum += pixel;
        std::cout << event->name << " adds up to " << sum << '\n';
        ++seen;
    }
} catch (const millpond::error &why) {
    std::cerr << "consumer: " << why << '\n';
    return 1;
}
