/* A second preloaded library, such as an OpenMP runtime has: it looks for "the next" function of its
 * own name, which is right only if the real dlsym sees this library as its caller. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int other_tool(void) {
    int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "other_tool");
    return next == other_tool ? -1 : next ? 1 + next() : 0;
}

/* A tool of its own around a function of the driver: what is next after it is not itself. */
int cuMemFree_v2(unsigned long long at) {
    static int depth;
    int (*next)(unsigned long long) = (int (*)(unsigned long long))dlsym(RTLD_NEXT, "cuMemFree_v2");
    if (++depth > 3) return -1;
    return next ? next(at) : 1;
}

int other_wrapped(void) { return cuMemFree_v2(0); }
