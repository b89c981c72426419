// Loops over allocators, called from peers.py by ctypes: each call is one sample of many operations, and the order of calls is
// the caller's. Here are also the peers that need no header: the driver's pool, the runtime's cudaMalloc, and Millpond's pool by
// its exported symbols. Whatever answers a `const char *` answers null when all is well.
#include "peer.h"

#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace {

// The driver, by the names under which its library exports it.
namespace cu {
using Result = int;
using Stream = void *;
using Event = void *;
using Pool = void *;
using Address = unsigned long long;
Result (*StreamCreate)(Stream *, unsigned);
Result (*StreamSynchronize)(Stream);
Result (*StreamGetId)(Stream, unsigned long long *);
Result (*StreamGetCaptureInfo_v2)(Stream, int *, std::uint64_t *, void **, const void **, std::size_t *);
Result (*StreamIsCapturing)(Stream, int *);
Result (*StreamWaitEvent)(Stream, Event, unsigned);
Result (*EventCreate)(Event *, unsigned);
Result (*EventRecord)(Event, Stream);
Result (*EventQuery)(Event);
Result (*CtxGetCurrent)(void **);
Result (*MemGetInfo_v2)(std::size_t *, std::size_t *);
Result (*DeviceGetDefaultMemPool)(Pool *, int);
Result (*MemPoolSetAttribute)(Pool, int, void *);
Result (*MemPoolGetAttribute)(Pool, int, void *);
Result (*MemPoolTrimTo)(Pool, std::size_t);
Result (*MemAllocAsync)(Address *, std::size_t, Stream);
Result (*MemFreeAsync)(Address, Stream);
constexpr unsigned NON_BLOCKING = 1, DISABLE_TIMING = 2;
constexpr int RELEASE_THRESHOLD = 4, RESERVED_MEM_HIGH = 6;
} // namespace cu

int (*runtime_malloc)(void **, std::size_t);
int (*runtime_free)(void *);

void *(*pool_malloc)(ssize_t, int, void *);
void (*pool_free)(void *, ssize_t, int, void *);
void (*pool_record_stream)(void *, void *);

int own_device;
cu::Stream streams[2];
cu::Event event;
cu::Pool default_pool;
std::string words;

// A peer and the words of its library.
struct Known {
    Peer peer;
    const char *(*said)();
};
std::vector<Known> known;

const char *say(const std::string &what) {
    words = what;
    return words.c_str();
}

const char *refused(const Known &one, const char *what) {
    const char *said = one.said ? one.said() : "";
    return say(std::string(one.peer.name) + ": " + what + (*said ? std::string(": ") + said : ""));
}

template <typename Function> bool find(void *library, const char *name, Function &function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

double now_ns() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

// Nothing at all: what the loop itself costs.
void *nothing_allocate(std::size_t, void *) { return &words; }
void nothing_release(void *, std::size_t, void *) {}

void *async_allocate(std::size_t bytes, void *stream) {
    cu::Address address = 0;
    const int answer = cu::MemAllocAsync(&address, bytes, stream);
    if (answer) bench_say(("cuMemAllocAsync answered " + std::to_string(answer)).c_str());
    return reinterpret_cast<void *>(static_cast<std::uintptr_t>(address));
}
void async_release(void *pointer, std::size_t, void *stream) { cu::MemFreeAsync(reinterpret_cast<std::uintptr_t>(pointer), stream); }
// What a program does that has no `record_stream`.
void async_record(void *, void *stream, void *other) {
    cu::EventRecord(event, other);
    cu::StreamWaitEvent(stream, event, 0);
}
std::size_t async_held() {
    std::uint64_t bytes = 0;
    cu::MemPoolGetAttribute(default_pool, cu::RESERVED_MEM_HIGH, &bytes);
    return bytes;
}
void async_empty() {
    std::uint64_t anew = 0;
    cu::MemPoolTrimTo(default_pool, 0);
    cu::MemPoolSetAttribute(default_pool, cu::RESERVED_MEM_HIGH, &anew);
}

void *malloc_allocate(std::size_t bytes, void *) {
    void *found = nullptr;
    const int answer = runtime_malloc(&found, bytes);
    if (answer) bench_say(("cudaMalloc answered " + std::to_string(answer)).c_str());
    return answer ? nullptr : found;
}
void malloc_release(void *pointer, std::size_t, void *) { runtime_free(pointer); }

void *pool_allocate(std::size_t bytes, void *stream) {
    return bench_caught([&] { return pool_malloc(static_cast<ssize_t>(bytes), own_device, stream); });
}
void pool_release(void *pointer, std::size_t bytes, void *stream) { pool_free(pointer, static_cast<ssize_t>(bytes), own_device, stream); }
void pool_record(void *pointer, void *, void *other) { pool_record_stream(pointer, other); }

const char *own_words() { return bench_words; }

// The mixed sequence. Every allocator gets the same one.
struct Step {
    std::uint32_t slot;
    // 0 gives the slot's block back.
    std::uint64_t bytes;
};
struct Mixed {
    std::vector<Step> steps;
    std::vector<std::uint64_t> sizes;
    std::vector<void *> blocks;
    std::uint64_t allocations = 0, most_bytes = 0, most_blocks = 0;
} mixed;

std::uint64_t next_random(std::uint64_t &state) { // splitmix64
    std::uint64_t value = state += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

const char *let_go(const Known &one) {
    for (std::size_t slot = 0; slot < mixed.blocks.size(); ++slot) {
        if (mixed.blocks[slot]) one.peer.release(mixed.blocks[slot], mixed.sizes[slot], streams[0]);
        mixed.blocks[slot] = nullptr;
    }
    return nullptr;
}

template <typename Call> double mean_ns(long count, Call call) {
    const double begun = now_ns();
    for (long number = 0; number < count; ++number) call();
    return (now_ns() - begun) / static_cast<double>(count);
}

} // namespace

extern "C" {

// Finds the driver and the runtime, and makes two streams. The context is current already.
const char *bench_open(const char *driver, const char *runtime, int device) {
    void *library = dlopen(driver, RTLD_NOW);
    if (!library) return say(dlerror());
    own_device = device;
#define FIND(name)                                                                                                               \
    if (!find(library, "cu" #name, cu::name)) return say(std::string(driver) + " has no cu" #name);
    FIND(StreamCreate) FIND(StreamSynchronize) FIND(StreamGetId) FIND(StreamGetCaptureInfo_v2) FIND(StreamIsCapturing)
    FIND(StreamWaitEvent) FIND(EventCreate) FIND(EventRecord) FIND(EventQuery) FIND(CtxGetCurrent) FIND(MemGetInfo_v2)
    FIND(DeviceGetDefaultMemPool) FIND(MemPoolSetAttribute) FIND(MemPoolGetAttribute) FIND(MemPoolTrimTo) FIND(MemAllocAsync)
    FIND(MemFreeAsync)
#undef FIND
    void *context = nullptr;
    if (cu::CtxGetCurrent(&context) || !context) return say("no context is current");
    for (cu::Stream &stream : streams)
        if (const int answer = cu::StreamCreate(&stream, cu::NON_BLOCKING)) return say("cuStreamCreate answered " + std::to_string(answer));
    if (const int answer = cu::EventCreate(&event, cu::DISABLE_TIMING)) return say("cuEventCreate answered " + std::to_string(answer));
    std::uint64_t all = ~std::uint64_t{0};
    if (cu::DeviceGetDefaultMemPool(&default_pool, device) || cu::MemPoolSetAttribute(default_pool, cu::RELEASE_THRESHOLD, &all))
        return say("the driver's pool cannot be told to keep its memory");
    known.push_back({{"nothing", nothing_allocate, nothing_release, nullptr, nullptr, nullptr}, own_words});
    known.push_back({{"async", async_allocate, async_release, async_record, async_held, async_empty}, own_words});
    void *of_runtime = dlopen(runtime, RTLD_NOW);
    if (of_runtime && find(of_runtime, "cudaMalloc", runtime_malloc) && find(of_runtime, "cudaFree", runtime_free))
        known.push_back({{"malloc", malloc_allocate, malloc_release, nullptr, nullptr, nullptr}, own_words});
    return nullptr;
}

// Millpond's pool, by the symbols of its Python module, which Python has loaded and told of a group.
const char *bench_pool(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (!library && !(library = dlopen(path, RTLD_NOW))) return say(dlerror());
    // The one that says why there is no memory, as torch gets it.
    if (!find(library, "millpond_pool_malloc_or_throw", pool_malloc) || !find(library, "millpond_pool_free", pool_free))
        return say(std::string(path) + " exports no millpond_pool_malloc_or_throw and millpond_pool_free");
    const bool records = find(library, "millpond_pool_record_stream", pool_record_stream);
    known.push_back({{"pool", pool_allocate, pool_release, records ? pool_record : nullptr, nullptr, nullptr}, own_words});
    return nullptr;
}

// The peers of another library.
const char *bench_load(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    if (!library) return say(dlerror());
    int (*make)(int, Peer *, int);
    const char *(*said)();
    if (!find(library, "bench_peers", make) || !find(library, "bench_said", said)) return say(std::string(path) + " has no peers");
    Peer peers[4];
    const int count = make(own_device, peers, 4);
    if (count < 0) return say(said());
    for (int number = 0; number < count; ++number) known.push_back({peers[number], said});
    return nullptr;
}

int bench_count() { return static_cast<int>(known.size()); }
const char *bench_name(int number) { return known[number].peer.name; }
int bench_records(int number) { return known[number].peer.record != nullptr; }

// Bytes that a peer holds by its own books; -1 where it does not say.
long long bench_held(int number) {
    const Peer &peer = known[number].peer;
    return peer.held ? static_cast<long long>(peer.held()) : -1;
}

void bench_empty(int number) {
    const Peer &peer = known[number].peer;
    if (peer.empty) peer.empty();
}

// Free bytes of the card.
long long bench_card_free() {
    std::size_t free = 0, total = 0;
    return cu::MemGetInfo_v2(&free, &total) ? -1 : static_cast<long long>(free);
}

// One block out and back, so often: the mean of a pair.
const char *bench_pairs(int number, std::uint64_t bytes, long pairs, double *ns) {
    const Known &one = known[number];
    const Peer peer = one.peer;
    cu::StreamSynchronize(streams[0]);
    long done = 0;
    const double begun = now_ns();
    for (; done < pairs; ++done) {
        void *block = peer.allocate(bytes, streams[0]);
        if (!block) break;
        peer.release(block, bytes, streams[0]);
    }
    *ns = (now_ns() - begun) / static_cast<double>(pairs);
    return done == pairs ? nullptr : refused(one, "no block");
}

// Two streams, the mean of a round. 0: a block of one stream, freed there, then one as large of the other. 1: the same, and the
// other stream uses the first block too. 2: a block of one stream is freed on the other, so that the next one crosses over.
const char *bench_two_streams(int number, std::uint64_t bytes, long rounds, int how, double *ns) {
    const Known &one = known[number];
    const Peer peer = one.peer;
    if (how == 1 && !peer.record) return refused(one, "has nothing like record_stream");
    for (cu::Stream stream : streams) cu::StreamSynchronize(stream);
    long done = 0;
    const double begun = now_ns();
    for (; done < rounds; ++done) {
        void *first = peer.allocate(bytes, streams[0]);
        if (!first) break;
        if (how == 1) peer.record(first, streams[0], streams[1]);
        peer.release(first, bytes, streams[how == 2]);
        if (how == 2) continue;
        void *second = peer.allocate(bytes, streams[1]);
        if (!second) break;
        peer.release(second, bytes, streams[1]);
    }
    *ns = (now_ns() - begun) / static_cast<double>(rounds);
    for (cu::Stream stream : streams) cu::StreamSynchronize(stream);
    return done == rounds ? nullptr : refused(one, "no block");
}

// Makes the mixed sequence: sizes from 512 B to 32 MiB, each doubling as likely as any other; when all slots are in use once,
// between half of them and all are.
void bench_mix(std::uint64_t seed, std::uint32_t slots, std::uint32_t steps) {
    mixed = Mixed{};
    mixed.sizes.assign(slots, 0);
    mixed.blocks.assign(slots, nullptr);
    std::vector<std::uint32_t> free(slots), used;
    for (std::uint32_t slot = 0; slot < slots; ++slot) free[slot] = slots - 1 - slot;
    std::vector<std::uint64_t> sizes(slots, 0);
    std::uint64_t bytes = 0;
    bool was_full = false;
    const auto give = [&](std::size_t place) {
        const std::uint32_t slot = used[place];
        mixed.steps.push_back({slot, 0});
        bytes -= sizes[slot];
        free.push_back(slot);
        used[place] = used.back();
        used.pop_back();
    };
    for (std::uint32_t number = 0; number < steps; ++number) {
        const bool least = used.empty() || (was_full && used.size() <= slots / 2);
        const bool takes = !free.empty() && (least || next_random(seed) % 4 < (was_full ? 2u : 3u));
        if (takes) {
            const std::uint64_t power = std::uint64_t{1} << (9 + next_random(seed) % 16);
            const std::uint32_t slot = free.back();
            free.pop_back();
            used.push_back(slot);
            sizes[slot] = power + next_random(seed) % power;
            mixed.steps.push_back({slot, sizes[slot]});
            bytes += sizes[slot];
            ++mixed.allocations;
        } else {
            give(next_random(seed) % used.size());
        }
        was_full = was_full || free.empty();
        if (bytes > mixed.most_bytes) mixed.most_bytes = bytes;
        if (used.size() > mixed.most_blocks) mixed.most_blocks = used.size();
    }
}

// How many blocks the sequence asks for, and the most of it at one time.
void bench_mix_facts(std::uint64_t *allocations, std::uint64_t *most_bytes, std::uint64_t *most_blocks) {
    *allocations = mixed.allocations, *most_bytes = mixed.most_bytes, *most_blocks = mixed.most_blocks;
}

// The mixed sequence: the mean for each block that is asked for. Blocks that are left are kept until `bench_mixed_end` has
// given them back, outside of what is timed.
const char *bench_mixed(int number, double *ns) {
    const Known &one = known[number];
    const Peer peer = one.peer;
    cu::StreamSynchronize(streams[0]);
    const double begun = now_ns();
    for (const Step &step : mixed.steps) {
        void *&block = mixed.blocks[step.slot];
        if (step.bytes) {
            block = peer.allocate(step.bytes, streams[0]);
            if (!block) {
                refused(one, "no block of the mixed sequence");
                let_go(one);
                return words.c_str();
            }
            mixed.sizes[step.slot] = step.bytes;
        } else {
            peer.release(block, mixed.sizes[step.slot], streams[0]);
            block = nullptr;
        }
    }
    *ns = (now_ns() - begun) / static_cast<double>(mixed.allocations);
    return nullptr;
}

void bench_mixed_end(int number) {
    let_go(known[number]);
    cu::StreamSynchronize(streams[0]);
}

// Single calls: the mean of so many.
const char *bench_call(const char *name, long count, double *ns) {
    const std::string wanted = name;
    const cu::Stream stream = streams[0];
    std::uint64_t id = 0;
    unsigned long long stream_id = 0;
    int status = 0;
    void *context = nullptr;
    cu::StreamSynchronize(stream);
    cu::EventRecord(event, stream);
    cu::StreamSynchronize(stream);
    if (wanted == "cuStreamGetId") *ns = mean_ns(count, [&] { cu::StreamGetId(stream, &stream_id); });
    else if (wanted == "cuStreamGetCaptureInfo_v2")
        *ns = mean_ns(count, [&] { cu::StreamGetCaptureInfo_v2(stream, &status, &id, nullptr, nullptr, nullptr); });
    else if (wanted == "cuStreamIsCapturing") *ns = mean_ns(count, [&] { cu::StreamIsCapturing(stream, &status); });
    else if (wanted == "cuEventRecord") *ns = mean_ns(count, [&] { cu::EventRecord(event, stream); });
    else if (wanted == "cuEventQuery") *ns = mean_ns(count, [&] { cu::EventQuery(event); });
    else if (wanted == "cuStreamWaitEvent") *ns = mean_ns(count, [&] { cu::StreamWaitEvent(stream, event, 0); });
    else if (wanted == "cuCtxGetCurrent") *ns = mean_ns(count, [&] { cu::CtxGetCurrent(&context); });
    else if (wanted == "getpid") *ns = mean_ns(count, [&] { static_cast<void>(getpid()); });
    else return say("no such call: " + wanted);
    cu::StreamSynchronize(stream);
    return nullptr;
}

} // extern "C"
