/* A program of the driver API that does what its arguments say, one line of answer for each.
 *
 *   steps direct|dlsym|proc1|proc2 STEP...
 *
 * Sizes are in MiB. It finds the driver in the way that the first argument names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uint64_t ptr;
typedef void *handle;
typedef struct { unsigned kind; int id; } location;
typedef struct { unsigned kind, handles; location where; void *security; uint64_t flags; } properties;
typedef struct { unsigned kind, handles; location where; void *security; size_t max; uint64_t rest[7]; } pool_properties;
typedef struct { pool_properties pool; void *access; size_t access_count, bytes; ptr at; } node_properties;
typedef struct { size_t width, height, depth; unsigned format, channels, flags; } array_description;
typedef struct { char bytes[64]; } ipc_handle;

/* result name base-name arguments */
#define FUNCTIONS(X) \
    X(cuInit, cuInit, (unsigned)) \
    X(cuDeviceGetCount, cuDeviceGetCount, (int *)) \
    X(cuDeviceGetName, cuDeviceGetName, (char *, int, int)) \
    X(cuDeviceTotalMem_v2, cuDeviceTotalMem, (size_t *, int)) \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (handle *, int)) \
    X(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, (int)) \
    X(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset, (int)) \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (handle)) \
    X(cuCtxCreate_v2, cuCtxCreate, (handle *, unsigned, int)) \
    X(cuCtxDestroy_v2, cuCtxDestroy, (handle)) \
    X(cuCtxSetLimit, cuCtxSetLimit, (unsigned, size_t)) \
    X(cuMemGetInfo_v2, cuMemGetInfo, (size_t *, size_t *)) \
    X(cuMemAlloc_v2, cuMemAlloc, (ptr *, size_t)) \
    X(cuMemAllocPitch_v2, cuMemAllocPitch, (ptr *, size_t *, size_t, size_t, unsigned)) \
    X(cuMemAllocManaged, cuMemAllocManaged, (ptr *, size_t, unsigned)) \
    X(cuMemFree_v2, cuMemFree, (ptr)) \
    X(cuMemCreate, cuMemCreate, (ptr *, size_t, const properties *, uint64_t)) \
    X(cuMemRelease, cuMemRelease, (ptr)) \
    X(cuMemRetainAllocationHandle, cuMemRetainAllocationHandle, (ptr *, void *)) \
    X(cuMemAddressReserve, cuMemAddressReserve, (ptr *, size_t, size_t, ptr, uint64_t)) \
    X(cuMemMap, cuMemMap, (ptr, size_t, size_t, ptr, uint64_t)) \
    X(cuMemUnmap, cuMemUnmap, (ptr, size_t)) \
    X(cuMemExportToShareableHandle, cuMemExportToShareableHandle, (void *, ptr, unsigned, uint64_t)) \
    X(cuMemImportFromShareableHandle, cuMemImportFromShareableHandle, (ptr *, void *, unsigned)) \
    X(cuMemAllocAsync, cuMemAllocAsync, (ptr *, size_t, handle)) \
    X(cuMemFreeAsync, cuMemFreeAsync, (ptr, handle)) \
    X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, (ptr *, size_t, handle, handle)) \
    X(cuMemPoolCreate, cuMemPoolCreate, (handle *, const pool_properties *)) \
    X(cuMemPoolDestroy, cuMemPoolDestroy, (handle)) \
    X(cuDeviceSetMemPool, cuDeviceSetMemPool, (int, handle)) \
    X(cuStreamSynchronize, cuStreamSynchronize, (handle)) \
    X(cuStreamCreate, cuStreamCreate, (handle *, unsigned)) \
    X(cuStreamDestroy_v2, cuStreamDestroy, (handle)) \
    X(cuStreamWaitEvent, cuStreamWaitEvent, (handle, handle, unsigned)) \
    X(cuEventCreate, cuEventCreate, (handle *, unsigned)) \
    X(cuEventRecord, cuEventRecord, (handle, handle)) \
    X(cuStreamBeginCapture_v2, cuStreamBeginCapture, (handle, unsigned)) \
    X(cuStreamEndCapture, cuStreamEndCapture, (handle, handle *)) \
    X(cuCtxSynchronize, cuCtxSynchronize, (handle)) \
    X(cuArray3DCreate_v2, cuArray3DCreate, (handle *, const array_description *)) \
    X(cuArrayDestroy, cuArrayDestroy, (handle)) \
    X(cuMipmappedArrayCreate, cuMipmappedArrayCreate, (handle *, const array_description *, unsigned)) \
    X(cuGraphCreate, cuGraphCreate, (handle *, unsigned)) \
    X(cuGraphAddMemAllocNode, cuGraphAddMemAllocNode, (handle *, handle, const handle *, size_t, node_properties *)) \
    X(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, (handle *, handle, uint64_t)) \
    X(cuGraphLaunch, cuGraphLaunch, (handle, handle)) \
    X(cuDeviceGraphMemTrim, cuDeviceGraphMemTrim, (int)) \
    X(cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, (handle *, int)) \
    X(cuMemPoolSetAttribute, cuMemPoolSetAttribute, (handle, unsigned, void *)) \
    X(cuIpcGetMemHandle, cuIpcGetMemHandle, (ipc_handle *, ptr)) \
    X(cuIpcOpenMemHandle_v2, cuIpcOpenMemHandle, (ptr *, ipc_handle, unsigned)) \
    X(cuIpcCloseMemHandle, cuIpcCloseMemHandle, (ptr))

#define DECLARE(name, base, arguments) static int (*p_##name) arguments;
FUNCTIONS(DECLARE)
#ifdef DIRECT
#define EXTERN(name, base, arguments) extern int name arguments;
FUNCTIONS(EXTERN)
#endif

static void *driver;

/* What programs do that only want to know whether there is a driver. */
static void probe(void) {
    void *first = dlopen("libcuda.so.1", RTLD_LAZY);
    errno = 77;
    void *found = dlsym(first, "cuMemAlloc_v2");
    printf("probed=%d errno=%d\n", found != NULL, errno);
    dlclose(first);
    void *still = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    printf("stays=%d\n", still != NULL);
}

static void find(const char *how) {
    if (!strcmp(how, "again")) {
        probe();
        how = "dlsym";
    }
    driver = dlopen("libcuda.so.1", RTLD_LAZY);
#ifdef DIRECT
    if (!strcmp(how, "direct")) {
#define BIND(name, base, arguments) p_##name = name;
        FUNCTIONS(BIND)
        return;
    }
#endif
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    if (!strcmp(how, "dlsym")) {
#define LOOK(name, base, arguments) p_##name = dlsym(driver, #name);
        FUNCTIONS(LOOK)
    } else if (!strcmp(how, "proc1")) {
        int (*ask)(const char *, void **, int, uint64_t) = dlsym(driver, "cuGetProcAddress");
#define ASK1(name, base, arguments) ask(#base, (void **)&p_##name, 11080, 0);
        FUNCTIONS(ASK1)
    } else if (!strcmp(how, "proc2") || !strcmp(how, "thread") || !strcmp(how, "renamed")) {
        int flags = strcmp(how, "thread") ? 0 : 2;
        int (*ask)(const char *, void **, int, uint64_t, int *) = dlsym(driver, "cuGetProcAddress_v2");
        int (*self)(const char *, void **, int, uint64_t, int *) = NULL;
        int why = 9;
        ask("cuGetProcAddress", (void **)&self, 12000, 0, &why);
        if (why != 0) printf("why=%d\n", why);
#define ASK2(name, base, arguments) self(#base, (void **)&p_##name, 13000, flags, &why);
        FUNCTIONS(ASK2)
        if (!strcmp(how, "renamed")) self("cuGraphInstantiate", (void **)&p_cuGraphInstantiateWithFlags, 12000, 0, &why);
    } else {
        exit(2);
    }
}

static ptr held[64], handles[64], reserved;
static int held_count, handle_count;
static size_t mib, mapped_bytes;
static handle context, stream, own_pool, graph_exec, arrays[64];
static int array_count, kept;

static void *without_context(void *unused) {
    (void)unused;
    ptr at = 0;
    printf("thread=%d\n", p_cuMemAlloc_v2(&at, mib));
    return NULL;
}

/* Threads that all begin with the primary context. */
static pthread_barrier_t begin;

static void *first(void *unused) {
    handle own;
    pthread_barrier_wait(&begin);
    return (void *)(intptr_t)p_cuDevicePrimaryCtxRetain(&own, 0);
}

/* Threads that take and give every kind of memory at once, near the limit. */
static void *storm(void *number) {
    unsigned seed = (unsigned)(intptr_t)number * 2654435761u;
    properties where = {1, 1, {1, 0}, NULL, 0};
    handle own;
    p_cuCtxSetCurrent(context);
    p_cuStreamCreate(&own, 1);
    ptr linear[4] = {0}, async[4] = {0}, created[4] = {0};
    for (int round = 0; round < 400; round++) {
        int place = rand_r(&seed) % 4;
        size_t bytes = (size_t)(1 + rand_r(&seed) % 8) << (rand_r(&seed) % 2 ? 21 : 14);
        switch (rand_r(&seed) % 4) {
        case 0:
            if (linear[place]) p_cuMemFree_v2(linear[place]);
            if (p_cuMemAlloc_v2(&linear[place], bytes)) linear[place] = 0;
            break;
        case 1:
            if (async[place]) p_cuMemFreeAsync(async[place], own);
            if (p_cuMemAllocAsync(&async[place], bytes, own)) async[place] = 0;
            break;
        case 2:
            if (created[place]) p_cuMemRelease(created[place]);
            bytes = (bytes + 0x1fffff) & ~(size_t)0x1fffff;
            if (p_cuMemCreate(&created[place], bytes, &where, 0)) created[place] = 0;
            break;
        default:
            p_cuStreamSynchronize(own);
        }
    }
    for (int place = 0; place < 4; place++) {
        if (linear[place]) p_cuMemFree_v2(linear[place]);
        if (async[place]) p_cuMemFreeAsync(async[place], own);
        if (created[place]) p_cuMemRelease(created[place]);
    }
    p_cuStreamSynchronize(own);
    return NULL;
}

/* Threads that make, use and destroy pools of their own, before and after they free. */
static void *pools(void *number) {
    unsigned seed = (unsigned)(intptr_t)number * 2654435761u;
    intptr_t wrong = 0;
    handle own;
    p_cuCtxSetCurrent(context);
    p_cuStreamCreate(&own, 1);
    for (int round = 0; round < 150; round++) {
        pool_properties settings = {1, 0, {1, 0}, NULL, 0, {0}};
        handle pool = NULL;
        ptr at = 0, linear = 0;
        wrong += p_cuMemPoolCreate(&pool, &settings) != 0;
        int taken = !p_cuMemAllocFromPoolAsync(&at, (size_t)(1 + rand_r(&seed) % 8) << 20, pool, own);
        if (!p_cuMemAlloc_v2(&linear, 1 << 14)) wrong += p_cuMemFreeAsync(linear, own) != 0;
        int early = rand_r(&seed) % 2;
        if (early) wrong += p_cuMemPoolDestroy(pool) != 0;
        if (taken) wrong += p_cuMemFreeAsync(at, own) != 0;
        if (rand_r(&seed) % 4) wrong += p_cuStreamSynchronize(own) != 0;
        if (!early) wrong += p_cuMemPoolDestroy(pool) != 0;
    }
    p_cuStreamSynchronize(own);
    return (void *)wrong;
}

static void *end_elsewhere(void *unused) {
    (void)unused;
    handle graph = NULL;
    p_cuCtxSetCurrent(context);
    return (void *)(intptr_t)p_cuStreamEndCapture(stream, &graph);
}

/* The driver's own function, found by the loader's own dlsym. */
static void *real(const char *name) {
    void *(*next)(void *, const char *) = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!next) next = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (!next) next = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
    return next(driver, name);
}

static void say(const char *step, int status) {
    printf("%s=%d\n", step, status);
    fflush(stdout);
}

static void step(char *text);

static char *word;

static void run(char *text) {
    char *value = strchr(text, '=');
    word = value ? value + 1 : text;
    mib = 0;
    if (value) {
        *value = 0;
        mib = (size_t)(atof(value + 1) * (1 << 20));
    }
    step(text);
}

static void step(char *text) {
    properties where = {1, 1, {1, 0}, NULL, 0};
    size_t a = 0, b = 0;
    ptr at = 0;
    if (!strcmp(text, "context")) {
        int status = p_cuDevicePrimaryCtxRetain(&context, (int)(mib >> 20));
        if (!status) p_cuCtxSetCurrent(context);
        say(text, status);
    } else if (!strcmp(text, "contexts")) {
        pthread_t threads[8];
        int refused = 0;
        pthread_barrier_init(&begin, NULL, 8);
        for (int index = 0; index < 8; index++) pthread_create(&threads[index], NULL, first, NULL);
        for (int index = 0; index < 8; index++) {
            void *status = NULL;
            pthread_join(threads[index], &status);
            refused += status != NULL;
        }
        say(text, refused);
    } else if (!strcmp(text, "hidden") || !strcmp(text, "unhidden") || !strcmp(text, "hiddennew")) {
        /* what no hook sees: the driver's own function */
        if (!strcmp(text, "hidden")) {
            int (*retain)(handle *, int) = real("cuDevicePrimaryCtxRetain");
            int status = retain(&context, 0);
            if (!status) p_cuCtxSetCurrent(context);
            say(text, status);
        } else if (!strcmp(text, "hiddennew")) {
            int (*create)(handle *, unsigned, int) = real("cuCtxCreate_v2");
            say(text, create(&context, 0, 0));
        } else {
            int (*release)(int) = real("cuDevicePrimaryCtxRelease_v2");
            say(text, release(0));
        }
    } else if (!strcmp(text, "reset")) {
        say(text, p_cuDevicePrimaryCtxReset_v2(0));
    } else if (!strcmp(text, "uncontext")) {
        say(text, p_cuDevicePrimaryCtxRelease_v2(0));
    } else if (!strcmp(text, "newcontext")) {
        say(text, p_cuCtxCreate_v2(&context, 0, 0));
    } else if (!strcmp(text, "endcontext")) {
        say(text, p_cuCtxDestroy_v2(context));
    } else if (!strcmp(text, "stack")) {
        say(text, p_cuCtxSetLimit(0, (size_t)atol(word)));
    } else if (!strcmp(text, "alloc")) {
        int status = p_cuMemAlloc_v2(&at, mib);
        if (!status) held[held_count++] = at;
        say(text, status);
    } else if (!strcmp(text, "pitch")) {
        int status = p_cuMemAllocPitch_v2(&at, &a, 1024, mib >> 10, 4);
        if (!status) held[held_count++] = at;
        say(text, status);
    } else if (!strcmp(text, "managed")) {
        int status = p_cuMemAllocManaged(&at, mib, 1);
        if (!status) held[held_count++] = at;
        say(text, status);
    } else if (!strcmp(text, "free")) {
        say(text, p_cuMemFree_v2(held[--held_count]));
    } else if (!strcmp(text, "freeunknown")) {
        say(text, p_cuMemFree_v2(0x7000000000ull));
    } else if (!strcmp(text, "create")) {
        int status = p_cuMemCreate(&at, mib, &where, 0);
        if (!status) handles[handle_count++] = at;
        say(text, status);
    } else if (!strcmp(text, "createsecond")) {
        where.where.id = 1;
        int status = p_cuMemCreate(&at, mib, &where, 0);
        if (!status) handles[handle_count++] = at;
        say(text, status);
    } else if (!strcmp(text, "release")) {
        say(text, p_cuMemRelease(handles[--handle_count]));
    } else if (!strcmp(text, "map")) {
        mapped_bytes = mib;
        p_cuMemAddressReserve(&reserved, mib, 0, 0, 0);
        say(text, p_cuMemMap(reserved, mib, 0, handles[handle_count - 1], 0));
    } else if (!strcmp(text, "retain")) {
        int status = p_cuMemRetainAllocationHandle(&at, (void *)reserved);
        if (!status) handles[handle_count++] = at;
        say(text, status);
    } else if (!strcmp(text, "unmap")) {
        say(text, p_cuMemUnmap(reserved, mapped_bytes));
    } else if (!strcmp(text, "import") || !strcmp(text, "shared")) {
        /* its own export, as another process would get it */
        int fd = -1;
        p_cuMemExportToShareableHandle(&fd, handles[handle_count - 1], 1, 0);
        int (*shared)(ptr *, void *, unsigned) = dlsym(RTLD_DEFAULT, "millpond_preload_import");
        int status = strcmp(text, "shared") ? p_cuMemImportFromShareableHandle(&at, (void *)(intptr_t)fd, 1)
                                            : shared(&at, (void *)(intptr_t)fd, 1);
        if (!status) handles[handle_count++] = at;
        close(fd);
        say(text, status);
    } else if (!strcmp(text, "hand") || !strcmp(text, "back") || !strcmp(text, "handmap") || !strcmp(text, "backmap")) {
        /* somebody else pays from now on, or no longer: for linear memory, or what is mapped */
        ptr mine = strlen(text) > 4 ? reserved : held_count ? held[held_count - 1] : 0x7000000000ull;
        const char *name = strncmp(text, "hand", 4) ? "millpond_take_back" : "millpond_hand_over";
        int (*pay)(ptr, uint64_t) = dlsym(RTLD_DEFAULT, name);
        say(text, pay ? pay(mine, mib) : -1);
    } else if (!strcmp(text, "fd")) {
        say(text, p_cuMemExportToShareableHandle(&kept, handles[handle_count - 1], 1, 0));
    } else if (!strcmp(text, "closefd")) {
        say(text, close(kept));
    } else if (!strcmp(text, "async")) {
        int status = p_cuMemAllocAsync(&at, mib, stream);
        if (!status) held[held_count++] = at;
        say(text, status);
    } else if (!strcmp(text, "afree")) {
        say(text, p_cuMemFreeAsync(held[--held_count], stream));
    } else if (!strcmp(text, "afreeat")) {
        say(text, p_cuMemFreeAsync(held[mib >> 20], stream));
    } else if (!strcmp(text, "stream")) {
        say(text, p_cuStreamCreate(&stream, 1));
    } else if (!strcmp(text, "pool")) {
        pool_properties settings = {1, 0, {1, 0}, NULL, 0, {0}};
        say(text, p_cuMemPoolCreate(&own_pool, &settings));
    } else if (!strcmp(text, "endpool")) {
        say(text, p_cuMemPoolDestroy(own_pool));
    } else if (!strcmp(text, "setpool")) {
        say(text, p_cuDeviceSetMemPool(0, own_pool));
    } else if (!strcmp(text, "nopool")) {
        say(text, p_cuMemAllocFromPoolAsync(&at, mib, (handle)(intptr_t)0x7777000, stream));
    } else if (!strcmp(text, "own")) {
        int status = p_cuMemAllocFromPoolAsync(&at, mib, own_pool, stream);
        if (!status) held[held_count++] = at;
        say(text, status);
    } else if (!strcmp(text, "sync")) {
        say(text, p_cuStreamSynchronize(stream));
    } else if (!strcmp(text, "syncall")) {
        say(text, p_cuCtxSynchronize(context)); /* version 13 takes the context */
    } else if (!strcmp(text, "array") || !strcmp(text, "mipmap")) {
        array_description wanted = {1024, mib >> 12, 0, 0x20, 1, 0};
        handle made = NULL;
        int status = strcmp(text, "mipmap") ? p_cuArray3DCreate_v2(&made, &wanted) : p_cuMipmappedArrayCreate(&made, &wanted, 1);
        if (!status) arrays[array_count++] = made;
        say(text, status);
    } else if (!strcmp(text, "endarray")) {
        say(text, p_cuArrayDestroy(arrays[--array_count]));
    } else if (!strcmp(text, "graph")) {
        handle graph = NULL, node = NULL;
        node_properties wanted;
        memset(&wanted, 0, sizeof wanted);
        wanted.pool.kind = 1;
        wanted.pool.where.kind = 1;
        wanted.bytes = mib;
        p_cuGraphCreate(&graph, 0);
        int status = p_cuGraphAddMemAllocNode(&node, graph, NULL, 0, &wanted);
        if (!status) held[held_count++] = wanted.at;
        if (!status) status = p_cuGraphInstantiateWithFlags(&graph_exec, graph, 0);
        say(text, status);
    } else if (!strcmp(text, "capture")) {
        handle graph = NULL;
        p_cuStreamBeginCapture_v2(stream, 0);
        int status = p_cuMemAllocAsync(&at, mib, stream);
        if (!status) p_cuMemFreeAsync(at, stream);
        int ended = p_cuStreamEndCapture(stream, &graph);
        if (!status) status = ended;
        if (!status) status = p_cuGraphInstantiateWithFlags(&graph_exec, graph, 0);
        say(text, status);
    } else if (!strcmp(text, "begin")) {
        say(text, p_cuStreamBeginCapture_v2(stream, 0));
    } else if (!strcmp(text, "end")) {
        handle graph = NULL;
        say(text, p_cuStreamEndCapture(stream, &graph));
    } else if (!strcmp(text, "otherend")) {
        pthread_t thread;
        void *status = NULL;
        pthread_create(&thread, NULL, end_elsewhere, NULL);
        pthread_join(thread, &status);
        say(text, (int)(intptr_t)status);
    } else if (!strcmp(text, "unmatched")) {
        /* a second capture, whose end is first asked for in a stream that it has spread to */
        handle one, two, event, graph;
        p_cuStreamCreate(&one, 1);
        p_cuStreamCreate(&two, 1);
        p_cuEventCreate(&event, 2);
        p_cuStreamBeginCapture_v2(one, 0);
        p_cuEventRecord(event, one);
        p_cuStreamWaitEvent(two, event, 0);
        int status = p_cuStreamEndCapture(two, &graph);
        printf("unmatched=%d %d\n", status, p_cuStreamEndCapture(one, &graph));
    } else if (!strcmp(text, "endstream")) {
        say(text, p_cuStreamDestroy_v2(stream));
    } else if (!strcmp(text, "launch")) {
        say(text, p_cuGraphLaunch(graph_exec, stream));
    } else if (!strcmp(text, "trim")) {
        say(text, p_cuDeviceGraphMemTrim(0));
    } else if (!strcmp(text, "info")) {
        int status = p_cuMemGetInfo_v2(&b, &a);
        printf("info=%d %zu %zu\n", status, a >> 20, b >> 20);
    } else if (!strcmp(text, "uuid")) {
        unsigned char uuid[16] = {0};
        int (*get)(unsigned char *, int) = real("cuDeviceGetUuid_v2");
        get(uuid, 0);
        printf("uuid=");
        for (int index = 0; index < 16; index++) printf("%02x", uuid[index]);
        printf("\n");
    } else if (!strcmp(text, "total")) {
        p_cuDeviceTotalMem_v2(&a, 0);
        printf("total=%zu\n", a >> 20);
    } else if (!strcmp(text, "name")) {
        char name[100] = "";
        p_cuDeviceGetName(name, sizeof name, 0);
        printf("name=%s\n", name);
    } else if (!strcmp(text, "nvml")) {
        void *nvml = dlopen("libnvidia-ml.so.1", RTLD_LAZY), *device = NULL;
        int (*init)(void) = dlsym(nvml, "nvmlInit_v2");
        int (*get)(unsigned, void **) = dlsym(nvml, "nvmlDeviceGetHandleByIndex_v2");
        int (*memory)(void *, uint64_t *) = dlsym(nvml, "nvmlDeviceGetMemoryInfo");
        uint64_t values[3] = {0, 0, 0};
        init();
        get((unsigned)(mib >> 20), &device);
        memory(device, values);
        printf("nvml=%llu %llu %llu\n", (unsigned long long)(values[0] >> 20), (unsigned long long)(values[1] >> 20), (unsigned long long)(values[2] >> 20));
    } else if (!strcmp(text, "thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, without_context, NULL);
        pthread_join(thread, NULL);
    } else if (!strcmp(text, "pools")) {
        pthread_t threads[6];
        intptr_t wrong = 0;
        for (int index = 0; index < 6; index++) pthread_create(&threads[index], NULL, pools, (void *)(intptr_t)(index + 1));
        for (int index = 0; index < 6; index++) {
            void *own = NULL;
            pthread_join(threads[index], &own);
            wrong += (intptr_t)own;
        }
        say(text, (int)wrong);
    } else if (!strcmp(text, "storm")) {
        pthread_t threads[8];
        for (int index = 0; index < 8; index++) pthread_create(&threads[index], NULL, storm, (void *)(intptr_t)(index + 1));
        for (int index = 0; index < 8; index++) pthread_join(threads[index], NULL);
        say(text, 0);
    } else if (!strcmp(text, "keep")) {
        uint64_t everything = UINT64_MAX;
        handle pool = NULL;
        p_cuDeviceGetDefaultMemPool(&pool, 0);
        say(text, p_cuMemPoolSetAttribute(pool, 4, &everything));
    } else if (!strcmp(text, "export")) {
        ipc_handle made;
        int status = p_cuIpcGetMemHandle(&made, held[held_count - 1]);
        printf("export=%d ", status);
        for (int index = 0; index < 64; index++) printf("%02x", (unsigned char)made.bytes[index]);
        printf("\n");
    } else if (!strcmp(text, "open")) {
        ipc_handle given;
        for (int index = 0; index < 64; index++) {
            unsigned byte = 0;
            sscanf(word + 2 * index, "%2x", &byte);
            given.bytes[index] = (char)byte;
        }
        int status = p_cuIpcOpenMemHandle_v2(&at, given, 1);
        if (!status) held[held_count++] = at;
        say(text, status);
    } else if (!strcmp(text, "close")) {
        say(text, p_cuIpcCloseMemHandle(held[--held_count]));
    } else if (!strcmp(text, "fork")) {
        /* The child begins anew: nothing of the parent's is its own. */
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            printf("child=%d\n", p_cuMemCreate(&at, mib, &where, 0));
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    } else if (!strcmp(text, "exec")) {
        char size[32];
        snprintf(size, sizeof size, "create=%zu", mib >> 20);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            execl("/proc/self/exe", "steps", "dlsym", size, (char *)NULL);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    } else if (!strcmp(text, "closefds")) {
        for (int fd = 3; fd < 256; fd++) close(fd);
        say(text, 0);
    } else if (!strcmp(text, "hooked")) {
        Dl_info where_is;
        dladdr((void *)p_cuMemAlloc_v2, &where_is);
        printf("hooked=%d\n", strstr(where_is.dli_fname, "libmillpond_preload") != NULL);
    } else if (!strcmp(text, "missing")) {
        dlerror();
        void *found = dlsym(driver, "cuNothingOfTheKind");
        char *first = dlerror();
        printf("missing=%d %d\n", found != NULL, first != NULL && strstr(first, "cuNothingOfTheKind") != NULL);
    } else if (!strcmp(text, "wait")) {
        char line[8];
        printf("ready\n");
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin)) return;
    } else {
        fprintf(stderr, "no step %s\n", text);
        exit(2);
    }
    fflush(stdout);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    find(arguments[1]);
    if (count > 2 && !strncmp(arguments[2], "fork=", 5)) {
        /* before the driver was asked for anything */
        pid_t child = fork();
        if (child == 0) {
            properties where = {1, 1, {1, 0}, NULL, 0};
            ptr at = 0;
            p_cuInit(0);
            printf("child=%d\n", p_cuMemCreate(&at, (size_t)atoi(arguments[2] + 5) << 20, &where, 0));
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        arguments++;
        count--;
    }
    int status = p_cuInit ? p_cuInit(0) : -1;
    if (status) say("init", status);
    for (int index = 2; index < count; index++) run(arguments[index]);
    return 0;
}
