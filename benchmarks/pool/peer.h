// What the loops of peers.cpp know of an allocator. Each library of peers exports `bench_peers`.
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>

struct Peer {
    const char *name;
    // Null where there is no memory, or for an error; `bench_said` has the words.
    void *(*allocate)(std::size_t bytes, void *stream);
    void (*release)(void *pointer, std::size_t bytes, void *stream);
    // The block of the first stream was used by the second one too. Null where the allocator has nothing of the kind.
    void (*record)(void *pointer, void *stream, void *other);
    // Bytes of the card that it holds, by its own books; null where it does not say.
    std::size_t (*held)();
    // Gives everything back that is not in use; null where it cannot.
    void (*empty)();
};

// The last error, for people. Each library has its own.
static char bench_words[1024];

static inline void bench_say(const char *what) { std::snprintf(bench_words, sizeof bench_words, "%s", what); }

// Calls an allocator that throws. Without an exception it costs nothing.
template <typename Call> static inline void *bench_caught(Call call) {
    try {
        return call();
    } catch (const std::exception &error) {
        bench_say(error.what());
    } catch (...) {
        bench_say("an exception that says nothing");
    }
    return nullptr;
}

extern "C" {
// Makes the peers of this library; how many there are, or -1.
int bench_peers(int device, Peer *peers, int most);
const char *bench_said();
}

#define BENCH_SAID                                                                                                               \
    extern "C" const char *bench_said() { return bench_words; }
