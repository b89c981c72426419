/* What the test programs share: checks that say where they failed, and a count at the end. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <millpond/millpond.h>

static int failures;
static const char *only; /* the part of a name that argv[1] asks for */

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            printf("    %s:%d: not so: %s (last failure: %s)\n", __FILE__, __LINE__, #condition, \
                   millpond_error_message());                                                  \
            failures++;                                                                        \
            return;                                                                            \
        }                                                                                      \
    } while (0)

/* The call answers so. */
#define ANSWERS(result, call)                                                                  \
    do {                                                                                       \
        millpond_result answer_ = (call);                                                      \
        if (answer_ != (result)) {                                                             \
            printf("    %s:%d: %s\n        answers %s, not %s: %s\n", __FILE__, __LINE__, #call, \
                   millpond_result_name(answer_), millpond_result_name(result),                \
                   millpond_error_message());                                                  \
            failures++;                                                                        \
            return;                                                                            \
        }                                                                                      \
    } while (0)

#define OK(call) ANSWERS(MILLPOND_OK, call)

typedef struct test {
    const char *name;
    void (*run)(void);
} test;

static inline int run_tests(const test *tests, size_t count, int argc, char **argv) {
    int passed = 0, failed = 0;
    only = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < count; i++) {
        if (strstr(tests[i].name, only) == NULL) continue;
        failures = 0;
        millpond_error_clear();
        tests[i].run();
        printf("%s %s\n", failures == 0 ? "ok" : "FAILED", tests[i].name);
        fflush(stdout);
        if (failures == 0) passed++;
        else failed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}

#define RUN(tests) int main(int argc, char **argv) { return run_tests(tests, sizeof tests / sizeof *tests, argc, argv); }

/* A tensor of so many bytes. */
static inline millpond_tensor_spec bytes_spec(const char *name, uint64_t bytes) {
    millpond_tensor_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.name = name;
    spec.dtype = MILLPOND_DTYPE_U8;
    spec.dimensions = 1;
    spec.shape[0] = bytes;
    return spec;
}

#endif
