/* A program that knows CUDA's driver and nothing of Millpond: standard input is the descriptor of a memory pool, and the
 * argument the 64 bytes of an exported pointer. It reads the memory in stream order, writes it, and frees its own share of
 * it in stream order, as a consumer of a pool does.
 *
 *   pool_reader POINTER BYTES VALUE <POOL      prints the sum of the bytes, then fills them with VALUE
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int status;
typedef unsigned long long address;
typedef struct { unsigned char bytes[64]; } pointer_data;

static void *library;

static void *entry(const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "no %s\n", name);
        exit(3);
    }
    return found;
}

static void must(const char *what, status answer) {
    const char *text = "?";
    if (!answer) return;
    ((status(*)(status, const char **))entry("cuGetErrorName"))(answer, &text);
    printf("%s: %s\n", what, text);
    exit(4);
}

int main(int count, char **arguments) {
    const char *path = getenv("CUDA_LIBRARY");
    library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
    if (count < 4 || !library) {
        fprintf(stderr, "%s\n", count < 4 ? "a pointer, bytes and a value, please" : dlerror());
        return 2;
    }
    pointer_data data;
    for (int at = 0; at < 64; at++) {
        unsigned value = 0;
        sscanf(arguments[1] + 2 * at, "%2x", &value);
        data.bytes[at] = (unsigned char)value;
    }
    size_t bytes = strtoull(arguments[2], NULL, 10);
    int device;
    void *context, *stream, *pool;
    address memory = 0;
    must("cuInit", ((status(*)(unsigned))entry("cuInit"))(0));
    must("cuDeviceGet", ((status(*)(int *, int))entry("cuDeviceGet"))(&device, 0));
    must("context", ((status(*)(void **, int))entry("cuDevicePrimaryCtxRetain"))(&context, device));
    must("current", ((status(*)(void *))entry("cuCtxSetCurrent"))(context));
    must("stream", ((status(*)(void **, unsigned))entry("cuStreamCreate"))(&stream, 1));
    typedef status (*import_pool)(void **, void *, int, unsigned long long);
    typedef status (*import_pointer)(address *, void *, pointer_data *);
    /* The driver takes a descriptor as a pointer, and nothing for the number 0. */
    int descriptor = dup(0);
    must("pool", ((import_pool)entry("cuMemPoolImportFromShareableHandle"))(&pool, (void *)(uintptr_t)descriptor, 1, 0));
    must("pointer", ((import_pointer)entry("cuMemPoolImportPointer"))(&memory, pool, &data));
    unsigned char *copy = malloc(bytes);
    unsigned long long sum = 0;
    typedef status (*to_host)(void *, address, size_t, void *);
    typedef status (*fill)(address, unsigned char, size_t, void *);
    must("copy", ((to_host)entry("cuMemcpyDtoHAsync_v2"))(copy, memory, bytes, stream));
    must("wait", ((status(*)(void *))entry("cuStreamSynchronize"))(stream));
    for (size_t at = 0; at < bytes; at++) sum += copy[at];
    must("fill", ((fill)entry("cuMemsetD8Async"))(memory, (unsigned char)atoi(arguments[3]), bytes, stream));
    must("free", ((status(*)(address, void *))entry("cuMemFreeAsync"))(memory, stream));
    must("wait", ((status(*)(void *))entry("cuStreamSynchronize"))(stream));
    must("destroy", ((status(*)(void *))entry("cuMemPoolDestroy"))(pool));
    printf("%llu\n", sum);
    return 0;
}
