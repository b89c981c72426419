// Publishes frames under names of their own, which consumers hear of as events: producer FRAMES
#include <millpond/millpond.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

int main(int count, char **words) try {
    using namespace std::chrono_literals;
    const int frames = count > 1 ? std::atoi(words[1]) : 4;
    const auto pond = millpond::pond::connect();
    for (int frame = 0; frame < frames; ++frame) {
        const auto name = "frames/" + std::to_string(frame);
        // A frame goes when its one reader is done with it, or after a minute.
        auto pixels = pond.create(millpond::spec(name, millpond::dtype::u16, {480, 640}).ttl(1min).max_accesses(1));
        const std::vector<std::uint16_t> picture(480 * 640, static_cast<std::uint16_t>(frame));
        pixels.copy_from_host<std::uint16_t>(picture);
        pixels.publish();
        std::cout << "published " << name << '\n';
    }
} catch (const millpond::error &why) {
    std::cerr << "producer: " << why << '\n';
    return 1;
}
