/* Processes that share memory by legacy handles as NVIDIA's sample simpleIPC does, with tensors of a pond in place of
 * memory of the first process: each opens everybody's memory and events, and in every round one after the other adds to the
 * memory of its neighbour. Only events carry the order between their streams; the hosts meet at barriers.
 *
 *   ring BYTES MEMORY EVENT [MEMORY EVENT ...]      in hex, one pair for each process
 */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define MUST(call)                                                                             \
    do {                                                                                       \
        cudaError_t answer = (call);                                                           \
        if (answer != cudaSuccess) {                                                           \
            printf("%s: %s\n", #call, cudaGetErrorName(answer));                               \
            _exit(1);                                                                          \
        }                                                                                      \
    } while (0)

static const int ROUNDS = 50;

__global__ void add(unsigned *memory, size_t words, unsigned value) {
    for (size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x; at < words; at += (size_t)gridDim.x * blockDim.x)
        memory[at] += value;
}

template <typename Handle> static Handle from_hex(const char *text) {
    Handle made;
    for (int at = 0; at < 64; at++) {
        unsigned value = 0;
        sscanf(text + 2 * at, "%2x", &value);
        made.reserved[at] = (char)value;
    }
    return made;
}

static int process(int own, int count, size_t bytes, char **handles, pthread_barrier_t *barrier) {
    std::vector<unsigned *> memory(count);
    std::vector<cudaEvent_t> events(count);
    cudaStream_t stream;
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int at = 0; at < count; at++) {
        MUST(cudaIpcOpenMemHandle((void **)&memory[at], from_hex<cudaIpcMemHandle_t>(handles[2 * at]),
                                  cudaIpcMemLazyEnablePeerAccess));
        MUST(cudaIpcOpenEventHandle(&events[at], from_hex<cudaIpcEventHandle_t>(handles[2 * at + 1])));
    }
    size_t words = bytes / sizeof(unsigned);
    if (own == 0)
        for (int at = 0; at < count; at++) MUST(cudaMemset(memory[at], 0, bytes));
    MUST(cudaDeviceSynchronize());
    pthread_barrier_wait(barrier);
    for (int round = 0; round < ROUNDS; round++) {
        int next = (own + round) % count;
        /* Whoever had this memory in the round before has recorded its event. */
        MUST(cudaStreamWaitEvent(stream, events[next], 0));
        add<<<256, 256, 0, stream>>>(memory[next], words, own + 1);
        MUST(cudaGetLastError());
        MUST(cudaEventRecord(events[next], stream));
        pthread_barrier_wait(barrier);
    }
    MUST(cudaStreamSynchronize(stream));
    pthread_barrier_wait(barrier);
    std::vector<unsigned> copy(words);
    unsigned expected = 0;
    for (int round = 0; round < ROUNDS; round++) expected += ((own - round) % count + count) % count + 1;
    MUST(cudaMemcpy(copy.data(), memory[own], bytes, cudaMemcpyDeviceToHost));
    for (size_t at = 0; at < words; at++)
        if (copy[at] != expected) {
            printf("process %d: word %zu is %u, not %u\n", own, at, copy[at], expected);
            return 1;
        }
    for (int at = 0; at < count; at++) {
        MUST(cudaIpcCloseMemHandle(memory[at]));
        MUST(cudaEventDestroy(events[at]));
    }
    return 0;
}

int main(int arguments, char **values) {
    int count = (arguments - 2) / 2, failed = 0;
    if (count < 1) return 2;
    size_t bytes = strtoull(values[1], nullptr, 10);
    auto *barrier = (pthread_barrier_t *)mmap(nullptr, sizeof(pthread_barrier_t), PROT_READ | PROT_WRITE,
                                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(barrier, &shared, count);
    for (int own = 0; own < count; own++)
        if (fork() == 0) _exit(process(own, count, bytes, values + 2, barrier));
    for (int own = 0; own < count; own++) {
        int status = 0;
        wait(&status);
        failed |= status != 0;
    }
    printf("%s\n", failed ? "failed" : "right");
    return failed;
}
