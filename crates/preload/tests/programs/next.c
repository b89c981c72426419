/* Calls the preloaded function and looks the driver up in every way that there is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int other_tool(void);
int other_wrapped(void);

static int driver_has(const char *name) { return dlsym(RTLD_DEFAULT, name) != NULL; }

int main(void) {
    printf("other=%d\n", other_tool());
    printf("wrapped=%d\n", other_wrapped());
    printf("before=%d\n", driver_has("cuMemAlloc_v2"));
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    printf("loaded=%d\n", driver != NULL);
    printf("after=%d\n", driver_has("cuMemAlloc_v2"));
    printf("same=%d\n", dlsym(RTLD_DEFAULT, "cuMemCreate") == dlsym(driver, "cuMemCreate"));
    printf("libc=%d\n", dlsym(RTLD_NEXT, "getpid") != NULL && dlsym(RTLD_DEFAULT, "cuckoo") == NULL);
    return 0;
}
