// What create_get_free.c does, through the C++ header.
#include <millpond/millpond.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <vector>

// Gets of something mapped that are timed together: one is shorter than a look at the clock.
constexpr int batch = 1000;

static unsigned long long now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<unsigned long long>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

static void show(const char *name, const std::vector<unsigned long long> &times, const char *end) {
    std::cout << '"' << name << "\": [";
    for (std::size_t at = 0; at < times.size(); ++at) std::cout << (at == 0 ? "" : ", ") << times[at];
    std::cout << ']' << end;
}

int main(int count, char **words) {
    const int rounds = count > 1 ? std::atoi(words[1]) : 2000;
    if (rounds < 10) return 64;
    std::vector<unsigned long long> whole, again;
    auto pond = millpond::pond::connect();
    const auto spec = [](const char *name) { return millpond::spec(name, millpond::dtype::u8, {1 << 20}).zero(); };
    auto held = pond.create(spec("bench/held"));
    for (int round = 0; round < rounds; ++round) {
        const auto begun = now();
        auto made = pond.create(spec("bench/x"));
        auto got = pond.tensor("bench/x");
        got.reset();
        made.reset();
        pond.remove("bench/x");
        whole.push_back(now() - begun);
    }
    auto kept = pond.get("bench/held");
    for (int round = 0; round < rounds / 10; ++round) {
        const auto begun = now();
        for (int turn = 0; turn < batch; ++turn) (void)pond.get("bench/held");
        again.push_back((now() - begun) / batch);
    }
    kept.reset();
    held.reset();
    pond.remove("bench/held");
    std::cout << '{';
    show("create_get_free_ns", whole, ", ");
    show("get_again_ns", again, "}\n");
    pond.close();
}
