/* A second preloaded library, such as an OpenMP runtime has: it looks for "the next" function of its
 * own name, which is right only if the real dlsym sees this library as its caller. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int other_tool(void) {
    int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "other_tool");
    return next == other_tool ? -1 : next ? 1 + next() : 0;
}
