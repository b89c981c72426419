/* A program that knows CUDA's driver and nothing of Millpond: it opens memory by its 64 bytes.
 *
 *   ipc_reader MEMORY [EVENT]     then, on standard input, one of these a line:
 *     sum OFFSET BYTES            the sum of these bytes
 *     fill OFFSET BYTES VALUE     on a stream, and records the event
 *     wait                        a stream waits for the event
 *     open MEMORY                 tries other bytes; says the name of the driver's answer
 *     close                       closes the memory
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int status;
typedef unsigned long long address;
typedef struct { char bytes[64]; } handle;

static void *library;

static void *entry(const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "no %s\n", name);
        exit(3);
    }
    return found;
}

static const char *name_of(status answer) {
    const char *text = "?";
    ((status(*)(status, const char **))entry("cuGetErrorName"))(answer, &text);
    return text ? text : "?";
}

static void must(const char *what, status answer) {
    if (answer) {
        printf("%s: %s\n", what, name_of(answer));
        exit(4);
    }
}

static handle from_hex(const char *text) {
    handle made;
    for (int at = 0; at < 64; at++) {
        unsigned value = 0;
        sscanf(text + 2 * at, "%2x", &value);
        made.bytes[at] = (char)value;
    }
    return made;
}

int main(int count, char **arguments) {
    const char *path = getenv("CUDA_LIBRARY");
    library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
    if (count < 2 || !library) {
        fprintf(stderr, "%s\n", count < 2 ? "a handle, please" : dlerror());
        return 2;
    }
    int device;
    void *context, *stream, *event = NULL;
    must("cuInit", ((status(*)(unsigned))entry("cuInit"))(0));
    must("cuDeviceGet", ((status(*)(int *, int))entry("cuDeviceGet"))(&device, 0));
    must("context", ((status(*)(void **, int))entry("cuDevicePrimaryCtxRetain"))(&context, device));
    must("current", ((status(*)(void *))entry("cuCtxSetCurrent"))(context));
    must("stream", ((status(*)(void **, unsigned))entry("cuStreamCreate"))(&stream, 1));
    status (*open)(address *, handle, unsigned) =
        (status(*)(address *, handle, unsigned))entry("cuIpcOpenMemHandle_v2");
    status (*close)(address) = (status(*)(address))entry("cuIpcCloseMemHandle");
    status (*synchronize)(void *) = (status(*)(void *))entry("cuStreamSynchronize");
    address memory = 0;
    status opened = open(&memory, from_hex(arguments[1]), 1);
    if (!opened && count > 2) {
        typedef status (*open_event)(void **, handle);
        must("event", ((open_event)entry("cuIpcOpenEventHandle"))(&event, from_hex(arguments[2])));
    }
    printf("%s\n", name_of(opened));
    fflush(stdout);
    char line[4096], other[2048];
    while (fgets(line, sizeof line, stdin)) {
        unsigned long long offset, bytes;
        unsigned value;
        if (sscanf(line, "sum %llu %llu", &offset, &bytes) == 2) {
            unsigned char *copy = malloc(bytes);
            unsigned long long sum = 0;
            typedef status (*to_host)(void *, address, size_t);
            must("copy", ((to_host)entry("cuMemcpyDtoH_v2"))(copy, memory + offset, bytes));
            for (unsigned long long at = 0; at < bytes; at++) sum += copy[at];
            free(copy);
            printf("%llu\n", sum);
        } else if (sscanf(line, "fill %llu %llu %u", &offset, &bytes, &value) == 3) {
            typedef status (*fill)(address, unsigned char, size_t, void *);
            must("fill", ((fill)entry("cuMemsetD8Async"))(memory + offset, (unsigned char)value, bytes, stream));
            if (event) must("record", ((status(*)(void *, void *))entry("cuEventRecord"))(event, stream));
            else must("synchronize", synchronize(stream));
            printf("filled\n");
        } else if (!strncmp(line, "wait", 4)) {
            must("wait", ((status(*)(void *, void *, unsigned))entry("cuStreamWaitEvent"))(stream, event, 0));
            must("synchronize", synchronize(stream));
            printf("waited\n");
        } else if (sscanf(line, "open %2047s", other) == 1) {
            address second = 0;
            status answer = open(&second, from_hex(other), 1);
            if (!answer) close(second);
            printf("%s\n", name_of(answer));
        } else if (!strncmp(line, "close", 5)) {
            printf("%s\n", name_of(close(memory)));
        } else {
            printf("what?\n");
        }
        fflush(stdout);
    }
    return 0;
}
