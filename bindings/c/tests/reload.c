/* Loads the library with dlopen, uses it, closes it while its threads run, and uses it again. */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>

static const char *path;

#define FIND(function) __typeof__(&function) function##_ = (__typeof__(&function))(uintptr_t)dlsym(library, #function)

static int one_round(void) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return printf("    %s\n", dlerror());
    FIND(millpond_pond_connect);
    FIND(millpond_tensor_create);
    FIND(millpond_tensor_free);
    FIND(millpond_tensor_delete);
    millpond_pond *pond;
    millpond_tensor *tensor;
    millpond_tensor_spec spec = bytes_spec("reload/x", 4096);
    spec.zero = 1;
    if (millpond_pond_connect_(NULL, &pond) != MILLPOND_OK) return printf("    connect\n");
    if (millpond_tensor_create_(pond, &spec, NULL, &tensor) != MILLPOND_OK) return printf("    create\n");
    if (millpond_tensor_free_(tensor) != MILLPOND_OK) return printf("    free\n");
    if (millpond_tensor_delete_(pond, "reload/x") != MILLPOND_OK) return printf("    delete\n");
    /* The pond is open, and the thread that ends leases runs. */
    return dlclose(library);
}

int main(int argc, char **argv) {
    path = argc > 1 ? argv[1] : "libmillpond.so.0";
    for (int i = 0; i < 5; i++) {
        if (one_round() != 0) {
            printf("FAILED after_a_dlclose_its_threads_go_on_and_it_can_be_loaded_again\n0 passed, 1 failed\n");
            return 1;
        }
        usleep(20000);
    }
    printf("ok after_a_dlclose_its_threads_go_on_and_it_can_be_loaded_again\n1 passed, 0 failed\n");
    return 0;
}
