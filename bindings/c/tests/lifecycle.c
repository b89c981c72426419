/* What C programs do that a library must survive: threads that free under each other, forks, a daemon that dies in the middle of calls, no daemon at
   all, exits with handles open. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

static millpond_pond *pond;

/* What the child of a fork answers: its exit code is the line of the first check that failed, 0 for none. */
#define IN_CHILD(condition)                                                                    \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "    in the child, %s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, \
                    millpond_error_message());                                                  \
            _exit(1);                                                                          \
        }                                                                                      \
    } while (0)

static int child_ended_well(pid_t child) {
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void a_process_that_exits_with_open_handles_ends_and_lets_go(void) {
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        millpond_pond *own;
        IN_CHILD(millpond_pond_connect(NULL, &own) == MILLPOND_OK);
        millpond_tensor_spec spec = bytes_spec("exit/x", 64);
        spec.ephemeral = 1;
        spec.zero = 1;
        millpond_tensor *tensor;
        IN_CHILD(millpond_tensor_create(own, &spec, NULL, &tensor) == MILLPOND_OK);
        exit(0);
    }
    CHECK(child_ended_well(child));
    OK(millpond_pond_connect(NULL, &pond));
    millpond_tensor_info info;
    millpond_result answer;
    struct timespec pause = {0, 5000000};
    for (int i = 0; i < 2000; i++) {
        answer = millpond_tensor_inspect(pond, "exit/x", &info);
        if (answer == MILLPOND_NOT_FOUND) break;
        nanosleep(&pause, NULL);
    }
    CHECK(answer == MILLPOND_NOT_FOUND);
}

static void a_forked_child_has_a_connection_of_its_own_and_not_the_parents_tensors(void) {
    millpond_tensor_spec spec = bytes_spec("fork/x", 4096);
    spec.zero = 1;
    millpond_tensor *tensor;
    OK(millpond_tensor_create(pond, &spec, NULL, &tensor));
    millpond_events *events;
    OK(millpond_events_subscribe(pond, 0, &events));
    millpond_cancel *cancel;
    OK(millpond_cancel_new(&cancel));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        unsigned char byte = 1;
        IN_CHILD(millpond_tensor_fill(tensor, 1) == MILLPOND_FORKED);
        IN_CHILD(millpond_tensor_publish(tensor, NULL) == MILLPOND_FORKED);
        IN_CHILD(millpond_tensor_copy_to_host(tensor, 0, &byte, 1) == MILLPOND_FORKED);
        IN_CHILD(millpond_tensor_data(tensor) == NULL && millpond_error_result() == MILLPOND_FORKED);
        IN_CHILD(millpond_tensor_bytes(tensor) == 4096);
        IN_CHILD(millpond_events_next(events, 0, &(millpond_event){0}) == MILLPOND_FORKED);
        IN_CHILD(millpond_pond_ping(pond) == MILLPOND_OK);
        millpond_tensor_info info;
        IN_CHILD(millpond_tensor_inspect(pond, "fork/x", &info) == MILLPOND_OK && info.leases == 1);
        millpond_sink sink = {0};
        unsigned char bytes[4096] = {1};
        sink.place = MILLPOND_PLACE_MEMORY;
        sink.data = bytes;
        sink.bytes = sizeof bytes;
        IN_CHILD(millpond_tensor_download(pond, "fork/x", &sink, NULL, NULL, NULL) == MILLPOND_OK && bytes[0] == 0);
        /* The parent has used CUDA: as everywhere, its child cannot. */
        millpond_tensor *own;
        IN_CHILD(millpond_tensor_get(pond, "fork/x", NULL, &own) == MILLPOND_DRIVER);
        IN_CHILD(millpond_tensor_free(tensor) == MILLPOND_OK);
        IN_CHILD(millpond_tensor_free(tensor) == MILLPOND_INVALID_HANDLE);
        IN_CHILD(millpond_events_free(events) == MILLPOND_OK);
        IN_CHILD(millpond_cancel_free(cancel) == MILLPOND_OK);
        IN_CHILD(millpond_pond_free(pond) == MILLPOND_OK);
        _exit(0);
    }
    CHECK(child_ended_well(child));
    OK(millpond_tensor_fill(tensor, 2));
    unsigned char byte = 0;
    OK(millpond_tensor_copy_to_host(tensor, 4095, &byte, 1));
    CHECK(byte == 2);
    OK(millpond_tensor_free(tensor));
    OK(millpond_events_free(events));
    OK(millpond_cancel_free(cancel));
    OK(millpond_tensor_delete_unused(pond, "fork/x"));
}

static atomic_int stop;
static atomic_ulong rounds;

static void *get_and_free(void *unused) {
    (void)unused;
    while (!atomic_load(&stop)) {
        millpond_tensor *tensor;
        if (millpond_tensor_get(pond, "busy/x", NULL, &tensor) != MILLPOND_OK) return (void *)1;
        if (millpond_tensor_bytes(tensor) != 4096) return (void *)2;
        if (millpond_tensor_free(tensor) != MILLPOND_OK) return (void *)3;
        atomic_fetch_add(&rounds, 1);
    }
    return NULL;
}

static void forks_while_other_threads_are_in_calls_leave_the_child_at_work(void) {
    millpond_tensor_spec spec = bytes_spec("busy/x", 4096);
    spec.zero = 1;
    millpond_tensor *tensor;
    OK(millpond_tensor_create(pond, &spec, NULL, &tensor));
    pthread_t threads[2];
    atomic_store(&stop, 0);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, get_and_free, NULL);
    int well = 0;
    enum { FORKS = 20 };
    for (int i = 0; i < FORKS; i++) {
        unsigned long before = atomic_load(&rounds);
        while (atomic_load(&rounds) < before + 10) sched_yield();
        pid_t child = fork();
        if (child == 0) {
            alarm(30);
            millpond_tensor_info info;
            IN_CHILD(millpond_tensor_inspect(pond, "busy/x", &info) == MILLPOND_OK);
            millpond_text *text;
            IN_CHILD(millpond_pond_runtime_dir(pond, &text) == MILLPOND_OK);
            _exit(0);
        }
        well += child > 0 && child_ended_well(child);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 2; i++) {
        void *answer;
        pthread_join(threads[i], &answer);
        CHECK(answer == NULL);
    }
    CHECK(well == FORKS);
    OK(millpond_tensor_free(tensor));
    OK(millpond_tensor_delete(pond, "busy/x"));
}

static millpond_tensor *_Atomic shared_tensor;
static atomic_int good, refused, odd;

static void *use(void *unused) {
    (void)unused;
    unsigned char byte;
    while (!atomic_load(&stop)) {
        millpond_result answer = millpond_tensor_copy_to_host(atomic_load(&shared_tensor), 0, &byte, 1);
        if (answer == MILLPOND_OK) atomic_fetch_add(&good, 1);
        else if (answer == MILLPOND_INVALID_HANDLE) atomic_fetch_add(&refused, 1);
        else atomic_fetch_add(&odd, 1);
    }
    return NULL;
}

static void a_free_under_a_call_of_another_thread_ends_nothing_under_it(void) {
    millpond_tensor_spec spec = bytes_spec("free/x", 4096);
    spec.zero = 1;
    millpond_tensor *tensor;
    OK(millpond_tensor_create(pond, &spec, NULL, &tensor));
    atomic_store(&stop, 0);
    atomic_store(&shared_tensor, tensor);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, use, NULL);
    for (int i = 0; i < 300 || atomic_load(&refused) == 0 || atomic_load(&good) < 300; i++) {
        millpond_tensor *next;
        OK(millpond_tensor_get(pond, "free/x", NULL, &next));
        OK(millpond_tensor_free(atomic_load(&shared_tensor)));
        sched_yield();
        atomic_store(&shared_tensor, next);
        sched_yield();
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    CHECK(atomic_load(&odd) == 0);
    OK(millpond_tensor_free(atomic_load(&shared_tensor)));
    OK(millpond_tensor_delete(pond, "free/x"));
}

static void *free_it(void *tensor) { return (void *)(uintptr_t)(millpond_tensor_free(tensor) == MILLPOND_OK); }

static void of_two_frees_at_once_one_is_refused(void) {
    millpond_tensor_spec spec = bytes_spec("twice/x", 64);
    spec.zero = 1;
    OK(millpond_tensor_reserve(pond, &spec, NULL, NULL));
    for (int i = 0; i < 200; i++) {
        millpond_tensor *tensor;
        OK(millpond_tensor_get(pond, "twice/x", NULL, &tensor));
        pthread_t thread;
        pthread_create(&thread, NULL, free_it, tensor);
        void *other, *own = free_it(tensor);
        pthread_join(thread, &other);
        CHECK((own != NULL) + (other != NULL) == 1);
    }
    OK(millpond_tensor_delete(pond, "twice/x"));
}

static void *make_a_failure(void *unused) {
    (void)unused;
    if (millpond_error_result() != MILLPOND_OK) return (void *)1;
    millpond_pond_ping(NULL);
    return (void *)(uintptr_t)(millpond_error_result() != MILLPOND_NULL_POINTER);
}

static void each_thread_has_its_own_failure(void) {
    ANSWERS(MILLPOND_NOT_FOUND, millpond_tensor_delete(pond, "no/such"));
    const char *message = millpond_error_message();
    pthread_t thread;
    void *answer;
    pthread_create(&thread, NULL, make_a_failure, NULL);
    pthread_join(thread, &answer);
    CHECK(answer == NULL && millpond_error_result() == MILLPOND_NOT_FOUND);
    CHECK(message == millpond_error_message() && strstr(message, "no/such") != NULL);
}

static void *wait_for_what_never_comes(void *cancel) {
    millpond_get_options options = {0};
    options.wait_ms = MILLPOND_WAIT_FOREVER;
    millpond_tensor *tensor;
    millpond_cancel_use(cancel);
    millpond_result answer = millpond_tensor_get(pond, "never/x", &options, &tensor);
    return (void *)(uintptr_t)(answer != MILLPOND_CANCELLED);
}

static void a_wait_is_ended_by_another_thread(void) {
    millpond_cancel *cancel;
    OK(millpond_cancel_new(&cancel));
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_what_never_comes, cancel);
    usleep(20000);
    OK(millpond_cancel_set(cancel));
    OK(millpond_cancel_free(cancel));
    void *answer;
    pthread_join(thread, &answer);
    CHECK(answer == NULL);
    OK(millpond_pond_ping(pond));
}

static void a_daemon_that_is_killed_in_the_middle_of_calls_is_not_noticed(void) {
    millpond_tensor_spec spec = bytes_spec("kill/x", 4096);
    spec.zero = 1;
    millpond_tensor *held;
    OK(millpond_tensor_create(pond, &spec, NULL, &held));
    OK(millpond_tensor_fill(held, 6));
    for (int i = 0; i < 5; i++) {
        millpond_status *status;
        millpond_pond_info info;
        OK(millpond_pond_status(pond, &status));
        OK(millpond_status_info(status, &info));
        OK(millpond_status_free(status));
        CHECK(kill((pid_t)info.daemon_pid, SIGKILL) == 0);
        for (int call = 0; call < 20; call++) {
            millpond_tensor_info found;
            OK(millpond_tensor_inspect(pond, "kill/x", &found));
            millpond_tensor_spec other = bytes_spec("kill/y", 4096);
            other.zero = 1;
            millpond_tensor *made;
            OK(millpond_tensor_create(pond, &other, NULL, &made));
            OK(millpond_tensor_free(made));
            OK(millpond_tensor_delete(pond, "kill/y"));
        }
    }
    CHECK(millpond_tensor_is_lost(held) == 0);
    unsigned char byte = 0;
    OK(millpond_tensor_copy_to_host(held, 100, &byte, 1));
    CHECK(byte == 6);
    OK(millpond_tensor_free(held));
    OK(millpond_tensor_delete(pond, "kill/x"));
}

static void where_no_pond_is_the_answer_says_so(void) {
    millpond_connect_options options = {0};
    options.runtime_dir = "/nonexistent/millpond";
    options.reconnect_timeout_ms = 100;
    millpond_pond *none = (millpond_pond *)0x5;
    ANSWERS(MILLPOND_NO_POND, millpond_pond_connect(&options, &none));
    CHECK(none == (millpond_pond *)0x5 && strstr(millpond_error_hint(), "millpond serve") != NULL);
    CHECK(millpond_error_remedy() == MILLPOND_REMEDY_OPERATOR);
    options.lazy = 1;
    OK(millpond_pond_connect(&options, &none));
    ANSWERS(MILLPOND_NO_POND, millpond_pond_ping(none));
    millpond_tensor *tensor;
    ANSWERS(MILLPOND_NO_POND, millpond_tensor_get(none, "x", NULL, &tensor));
    OK(millpond_pond_free(none));
    options = (millpond_connect_options){0};
    options.door = 7;
    ANSWERS(MILLPOND_INVALID, millpond_pond_connect(&options, &none));
    options = (millpond_connect_options){0};
    options.door = MILLPOND_DOOR_WATCH;
    OK(millpond_pond_connect(&options, &none));
    OK(millpond_pond_ping(none));
    OK(millpond_pond_free(none));
}

static void ends(void) { OK(millpond_pond_close(pond)); }

#define TEST(name) {#name, name}
static const test tests[] = {
    TEST(a_process_that_exits_with_open_handles_ends_and_lets_go),
    TEST(a_forked_child_has_a_connection_of_its_own_and_not_the_parents_tensors),
    TEST(forks_while_other_threads_are_in_calls_leave_the_child_at_work),
    TEST(a_free_under_a_call_of_another_thread_ends_nothing_under_it),
    TEST(of_two_frees_at_once_one_is_refused),
    TEST(each_thread_has_its_own_failure),
    TEST(a_wait_is_ended_by_another_thread),
    TEST(a_daemon_that_is_killed_in_the_middle_of_calls_is_not_noticed),
    TEST(where_no_pond_is_the_answer_says_so),
    TEST(ends),
};
RUN(tests)
