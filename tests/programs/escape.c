/* A program that goes around a preloaded library in the way that its first argument names.
 *
 *   escape WAY [LIBRARY]
 *
 * plain      not at all
 * deepbind   LIBRARY is this file as a library that is linked with the driver
 * dlmopen    the driver in a namespace of its own
 * copy       the driver from the file LIBRARY
 * twice      the driver once more, from the file LIBRARY; the ordinary one is used before
 *
 * Answers `ready PID`, and then each line `alloc KIND BYTES` with `ok 1` or `error CODE CALL`.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long pointer;

#ifdef LINKED
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuMemAlloc_v2(pointer *, size_t);

int begin(void) {
    void *context;
    int status = cuInit(0);
    status = status ? status : cuDevicePrimaryCtxRetain(&context, 0);
    return status ? status : cuCtxSetCurrent(context);
}

int take(size_t bytes) {
    pointer memory;
    return cuMemAlloc_v2(&memory, bytes);
}
#else
static void *driver;

static void *find(const char *name) {
    void *found = dlsym(driver, name);
    if (!found) {
        printf("error 500 %s\n", name);
        exit(1);
    }
    return found;
}

static int begin_by_name(void) {
    void *context;
    int status = ((int (*)(unsigned))find("cuInit"))(0);
    status = status ? status : ((int (*)(void **, int))find("cuDevicePrimaryCtxRetain"))(&context, 0);
    return status ? status : ((int (*)(void *))find("cuCtxSetCurrent"))(context);
}

static int take_by_name(size_t bytes) {
    pointer memory;
    return ((int (*)(pointer *, size_t))find("cuMemAlloc_v2"))(&memory, bytes);
}

int main(int count, char **words) {
    const char *way = count > 1 ? words[1] : "plain", *library = count > 2 ? words[2] : "";
    int (*begin)(void) = begin_by_name, (*take)(size_t) = take_by_name;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(way, "deepbind")) {
        driver = dlopen(library, RTLD_NOW | RTLD_DEEPBIND);
    } else if (!strcmp(way, "dlmopen")) {
        driver = dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW);
    } else {
        driver = dlopen(strcmp(way, "copy") ? "libcuda.so.1" : library, RTLD_NOW);
    }
    if (!driver) {
        printf("error 500 %s\n", dlerror());
        return 1;
    }
    if (!strcmp(way, "deepbind")) {
        begin = (int (*)(void))find("begin");
        take = (int (*)(size_t))find("take");
    }
    int status = begin();
    if (!status && !strcmp(way, "twice")) {
        driver = dlopen(library, RTLD_NOW);
        status = driver ? begin() : 500;
    }
    if (status) {
        printf("error %d begin\n", status);
        return 1;
    }
    printf("ready %d\n", getpid());
    char line[200], kind[20];
    size_t bytes;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "alloc %19s %zu", kind, &bytes) != 2) {
            printf("error 1 command\n");
        } else if ((status = take(bytes))) {
            printf("error %d cuMemAlloc_v2\n", status);
        } else {
            printf("ok 1\n");
        }
    }
    return 0;
}
#endif
