/* What crates/client/examples/create_get_free.rs does through the client, here through the C library: for a comparison in one run. */
#define _POSIX_C_SOURCE 200809L
#include <millpond/millpond.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Gets of something mapped that are timed together: one is shorter than a look at the clock. */
enum { BATCH = 1000 };

static void ok(millpond_result result) {
    if (result == MILLPOND_OK) return;
    fprintf(stderr, "%s: %s\n", millpond_result_name(result), millpond_error_message());
    exit(1);
}

static unsigned long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (unsigned long long)time.tv_sec * 1000000000ull + (unsigned long long)time.tv_nsec;
}

static void show(const char *name, const unsigned long long *times, int count, const char *end) {
    printf("\"%s\": [", name);
    for (int i = 0; i < count; i++) printf("%s%llu", i ? ", " : "", times[i]);
    printf("]%s", end);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 2000;
    if (rounds < 10) return 64;
    unsigned long long *whole = calloc((size_t)rounds, sizeof *whole), *again = calloc((size_t)rounds, sizeof *again);
    millpond_tensor_spec spec = {0};
    spec.name = "bench/held";
    spec.dtype = MILLPOND_DTYPE_U8;
    spec.dimensions = 1;
    spec.shape[0] = 1 << 20;
    spec.zero = 1;
    millpond_get_options write = {0};
    write.mode = MILLPOND_MODE_READ_WRITE;
    millpond_pond *pond;
    millpond_tensor *held, *made, *got, *kept;
    ok(millpond_pond_connect(NULL, &pond));
    ok(millpond_tensor_create(pond, &spec, NULL, &held));
    spec.name = "bench/x";
    for (int i = 0; i < rounds; i++) {
        unsigned long long begun = now();
        ok(millpond_tensor_create(pond, &spec, NULL, &made));
        ok(millpond_tensor_get(pond, "bench/x", &write, &got));
        ok(millpond_tensor_free(got));
        ok(millpond_tensor_free(made));
        ok(millpond_tensor_delete(pond, "bench/x"));
        whole[i] = now() - begun;
    }
    ok(millpond_tensor_get(pond, "bench/held", NULL, &kept));
    for (int i = 0; i < rounds / 10; i++) {
        unsigned long long begun = now();
        for (int j = 0; j < BATCH; j++) {
            ok(millpond_tensor_get(pond, "bench/held", NULL, &got));
            ok(millpond_tensor_free(got));
        }
        again[i] = (now() - begun) / BATCH;
    }
    ok(millpond_tensor_free(kept));
    ok(millpond_tensor_free(held));
    ok(millpond_tensor_delete(pond, "bench/held"));
    printf("{");
    show("create_get_free_ns", whole, rounds, ", ");
    show("get_again_ns", again, rounds / 10, "}\n");
    ok(millpond_pond_close(pond));
    return 0;
}
