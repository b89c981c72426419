/* Tensors from C: made, published, got, listed, moved and deleted, as docs/c.md says. */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <stdbool.h>

static millpond_pond *pond;

static void connects_and_says_what_the_pond_has(void) {
    millpond_connect_options options = {0};
    options.program = "c-tests";
    options.request_timeout_ms = 20000;
    OK(millpond_pond_connect(&options, &pond));
    OK(millpond_pond_ping(pond));

    millpond_status *status;
    OK(millpond_pond_status(pond, &status));
    CHECK(millpond_status_gpu_count(status) >= 1);
    millpond_gpu gpu;
    OK(millpond_status_gpu_at(status, 0, &gpu));
    CHECK(gpu.software == 1 && gpu.capacity_bytes > 0 && gpu.total_bytes >= gpu.capacity_bytes);
    ANSWERS(MILLPOND_NO_DEVICE, millpond_status_gpu_at(status, 99, &gpu));
    millpond_pond_info info;
    OK(millpond_status_info(status, &info));
    CHECK(info.daemon_pid != 0 && info.keeper_pid != 0 && info.software == 1);
    CHECK(strcmp(info.version, MILLPOND_VERSION_TEXT) == 0);

    millpond_text *json;
    OK(millpond_status_json(status, &json));
    CHECK(strstr(millpond_text_data(json), "\"devices\":[{") != NULL);
    CHECK(strlen(millpond_text_data(json)) == millpond_text_length(json));
    OK(millpond_text_free(json));
    OK(millpond_status_free(status));

    char text[MILLPOND_UUID_TEXT_BYTES];
    millpond_uuid first, again;
    OK(millpond_pond_gpu_at(pond, 0, &first));
    CHECK(memcmp(&first, &gpu.uuid, sizeof first) == 0);
    OK(millpond_uuid_format_gpu(&first, text, sizeof text));
    CHECK(strncmp(text, "GPU-", 4) == 0 && strlen(text) == 40);
    OK(millpond_uuid_parse(text, &again));
    CHECK(memcmp(&first, &again, sizeof first) == 0);
    ANSWERS(MILLPOND_TOO_SMALL, millpond_uuid_format(&first, text, 36));
    ANSWERS(MILLPOND_INVALID, millpond_uuid_parse("GPU-nonsense", &again));
}

static void the_version_is_that_of_the_header(void) {
    CHECK(millpond_version() == MILLPOND_VERSION);
    CHECK(strcmp(millpond_version_text(), MILLPOND_VERSION_TEXT) == 0);
    CHECK(strcmp(millpond_result_name(MILLPOND_NOT_FOUND), "not_found") == 0);
    CHECK(strcmp(millpond_result_name(MILLPOND_INVALID_HANDLE), "invalid_handle") == 0);
    CHECK(strcmp(millpond_result_name((millpond_result)4711), "unknown") == 0);
}

static void a_tensor_is_made_published_got_and_deleted(void) {
    millpond_tensor_spec spec = {0};
    spec.name = "acts/x";
    spec.dtype = MILLPOND_DTYPE_F32;
    spec.dimensions = 2;
    spec.shape[0] = 8;
    spec.shape[1] = 16;
    uint32_t existed = 7;
    millpond_tensor *made, *got, *same;
    OK(millpond_tensor_create(pond, &spec, &existed, &made));
    CHECK(existed == 0);
    CHECK(millpond_tensor_bytes(made) == 512);
    CHECK(millpond_tensor_dtype(made) == MILLPOND_DTYPE_F32);
    CHECK(millpond_tensor_mode(made) == MILLPOND_MODE_READ_WRITE);
    CHECK(millpond_tensor_data(made) != NULL && millpond_tensor_context(made) != NULL);
    ANSWERS(MILLPOND_NOT_READY, millpond_tensor_get(pond, "acts/x", NULL, &got));

    OK(millpond_tensor_fill(made, 7));
    uint64_t generation = 0;
    OK(millpond_tensor_publish(made, &generation));
    CHECK(generation == 1 && millpond_tensor_generation(made) == 1);
    OK(millpond_tensor_get(pond, "acts/x", NULL, &got));
    OK(millpond_tensor_get(pond, "acts/x", NULL, &same));
    CHECK(got != same && millpond_tensor_data(got) == millpond_tensor_data(same));
    unsigned char back[512];
    OK(millpond_tensor_copy_to_host(got, 0, back, sizeof back));
    CHECK(back[0] == 7 && back[511] == 7);
    ANSWERS(MILLPOND_INVALID, millpond_tensor_fill(got, 1));
    CHECK(strstr(millpond_error_message(), "read-only") != NULL);
    CHECK(strstr(millpond_error_hint(), "MILLPOND_MODE_READ_WRITE") != NULL);
    CHECK(millpond_error_remedy() == MILLPOND_REMEDY_CHANGE);
    ANSWERS(MILLPOND_INVALID, millpond_tensor_copy_to_host(got, 500, back, 13));

    millpond_tensor_info info;
    OK(millpond_tensor_get_info(got, &info));
    CHECK(info.dimensions == 2 && info.shape[0] == 8 && info.shape[1] == 16 && info.shape[2] == 0);
    CHECK(strcmp(info.name, "acts/x") == 0 && info.state == MILLPOND_TENSOR_READY);
    CHECK(info.ttl_left_ms == UINT64_MAX && info.accesses_left == UINT64_MAX && info.generation == 1);
    OK(millpond_tensor_inspect(pond, "acts/x", &info));
    CHECK(info.leases >= 2 && info.user == geteuid());
    millpond_uuid id;
    OK(millpond_tensor_id(got, &id));
    CHECK(memcmp(&id, &info.id, sizeof id) == 0);
    millpond_tensor *by_id;
    millpond_get_options write = {0};
    write.mode = MILLPOND_MODE_READ_WRITE;
    OK(millpond_tensor_get_by_id(pond, &id, &write, &by_id));
    unsigned char some[4] = {1, 2, 3, 4};
    OK(millpond_tensor_copy_from_host(by_id, 508, some, sizeof some));
    OK(millpond_tensor_copy_to_host(got, 508, back, sizeof some));
    CHECK(memcmp(back, some, sizeof some) == 0);

    OK(millpond_tensor_free(same));
    OK(millpond_tensor_create(pond, &spec, &existed, &same));
    CHECK(existed == 1);
    spec.dtype = MILLPOND_DTYPE_I64;
    millpond_tensor *other;
    ANSWERS(MILLPOND_EXISTS, millpond_tensor_create(pond, &spec, NULL, &other));

    ANSWERS(MILLPOND_IN_USE, millpond_tensor_delete_unused(pond, "acts/x"));
    CHECK(millpond_error_holder_count() >= 1);
    millpond_holder holder;
    OK(millpond_error_holder_at(0, &holder));
    CHECK(holder.pid == (uint32_t)getpid() || (getpid() == 1 && holder.pid > 1));
    CHECK(millpond_error_holder_at(99, &holder) == MILLPOND_INVALID);

    OK(millpond_tensor_rename(pond, "acts/x", "acts/y"));
    ANSWERS(MILLPOND_NOT_FOUND, millpond_tensor_get(pond, "acts/x", NULL, &other));
    OK(millpond_tensor_delete(pond, "acts/y"));
    OK(millpond_tensor_copy_to_host(got, 0, back, sizeof back));
    OK(millpond_tensor_free(got));
    OK(millpond_tensor_free(by_id));
    OK(millpond_tensor_free(made));
    OK(millpond_tensor_free(same));
}

static void a_miss_names_what_is_like_it(void) {
    millpond_tensor_spec spec = bytes_spec("weights/layer.0", 64);
    spec.zero = 1;
    OK(millpond_tensor_reserve(pond, &spec, NULL, NULL));
    millpond_tensor *tensor = (millpond_tensor *)0x55;
    ANSWERS(MILLPOND_NOT_FOUND, millpond_tensor_get(pond, "weights/layer.00", NULL, &tensor));
    CHECK(tensor == (millpond_tensor *)0x55);
    CHECK(millpond_error_result() == MILLPOND_NOT_FOUND);
    CHECK(millpond_error_similar(0) != NULL && strcmp(millpond_error_similar(0), "weights/layer.0") == 0);
    CHECK(millpond_error_similar(1) == NULL && millpond_error_limit(NULL, NULL) == NULL);
    millpond_error_clear();
    CHECK(millpond_error_result() == MILLPOND_OK && *millpond_error_message() == 0);
    OK(millpond_tensor_delete(pond, "weights/layer.0"));
}

static void bad_specs_are_refused_with_what_is_wrong(void) {
    millpond_tensor *tensor;
    millpond_tensor_spec spec = bytes_spec("a b", 64);
    ANSWERS(MILLPOND_INVALID, millpond_tensor_create(pond, &spec, NULL, &tensor));
    spec = bytes_spec("a", 0);
    ANSWERS(MILLPOND_INVALID, millpond_tensor_create(pond, &spec, NULL, &tensor));
    spec = bytes_spec("a", 1);
    spec.dtype = 200;
    ANSWERS(MILLPOND_INVALID, millpond_tensor_create(pond, &spec, NULL, &tensor));
    CHECK(strstr(millpond_error_message(), "200 is no millpond_dtype") != NULL);
    spec = bytes_spec("a", 1);
    spec.dimensions = 17;
    ANSWERS(MILLPOND_INVALID, millpond_tensor_create(pond, &spec, NULL, &tensor));
    spec = bytes_spec("a", 1);
    spec.reserved[3] = 1;
    ANSWERS(MILLPOND_INVALID, millpond_tensor_create(pond, &spec, NULL, &tensor));
    spec = bytes_spec("a", 1);
    spec.zero = 2;
    ANSWERS(MILLPOND_INVALID, millpond_tensor_create(pond, &spec, NULL, &tensor));
    spec = bytes_spec("\xff\xfe", 1);
    ANSWERS(MILLPOND_INVALID, millpond_tensor_create(pond, &spec, NULL, &tensor));
    CHECK(strstr(millpond_error_message(), "UTF-8") != NULL);
    spec = bytes_spec("a", (uint64_t)1 << 49);
    ANSWERS(MILLPOND_GPU_FULL, millpond_tensor_create(pond, &spec, NULL, &tensor));
    millpond_memory_shortage shortage;
    OK(millpond_error_memory(&shortage));
    CHECK(shortage.requested_bytes >= (uint64_t)1 << 49 && shortage.capacity_bytes > 0);
}

static void life_ends_as_it_was_said(void) {
    millpond_tensor_spec spec = bytes_spec("short", 64);
    spec.zero = 1;
    spec.max_accesses = 2;
    spec.ttl_ms = 3600000;
    millpond_tensor_info info;
    OK(millpond_tensor_reserve(pond, &spec, NULL, &info));
    CHECK(info.accesses_left == 2 && info.ttl_left_ms <= 3600000);
    millpond_tensor *first, *second, *third;
    OK(millpond_tensor_get(pond, "short", NULL, &first));
    OK(millpond_tensor_get(pond, "short", NULL, &second));
    ANSWERS(MILLPOND_NOT_FOUND, millpond_tensor_get(pond, "short", NULL, &third));
    unsigned char zeroes[64];
    OK(millpond_tensor_copy_to_host(first, 0, zeroes, sizeof zeroes));
    CHECK(zeroes[0] == 0 && zeroes[63] == 0);
    OK(millpond_tensor_free(first));
    OK(millpond_tensor_free(second));
}

static void a_get_waits_as_long_as_it_was_told(void) {
    millpond_get_options options = {0};
    options.wait_ms = 50;
    millpond_tensor *tensor;
    ANSWERS(MILLPOND_TIMEOUT, millpond_tensor_get(pond, "never", &options, &tensor));
}

static uint32_t count_tensors(const millpond_tensor_info *info, void *user_data) {
    if (strncmp(info->name, "many/", 5) != 0) return 1;
    ++*(int *)user_data;
    return 0;
}

static uint32_t stop_at_once(const millpond_tensor_info *info, void *user_data) {
    (void)info;
    ++*(int *)user_data;
    return 1;
}

static void many_are_got_listed_and_collected(void) {
    enum { COUNT = 25 };
    char names[COUNT][16];
    const char *targets[COUNT];
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "many/%d", i);
        targets[i] = names[i];
        millpond_tensor_spec spec = bytes_spec(names[i], 4096);
        spec.zero = 1;
        OK(millpond_tensor_reserve(pond, &spec, NULL, NULL));
    }
    int seen = 0;
    OK(millpond_tensor_list(pond, "many/", 10, count_tensors, &seen));
    CHECK(seen == COUNT);
    seen = 0;
    ANSWERS(MILLPOND_CANCELLED, millpond_tensor_list(pond, "many/", 0, stop_at_once, &seen));
    CHECK(seen == 1);
    millpond_text *json;
    OK(millpond_tensor_list_json(pond, "many/", &json));
    CHECK(strstr(millpond_text_data(json), "\"name\":\"many/24\"") != NULL);
    OK(millpond_text_free(json));
    OK(millpond_tensor_inspect_json(pond, "many/3", &json));
    CHECK(strstr(millpond_text_data(json), "\"leases\":[]") != NULL);
    OK(millpond_text_free(json));

    millpond_tensor *tensors[COUNT] = {0};
    OK(millpond_tensor_get_many(pond, targets, COUNT, NULL, tensors));
    uint64_t leases, bytes;
    OK(millpond_pond_live(pond, &leases, &bytes));
    CHECK(leases >= COUNT && bytes >= COUNT * 4096);
    for (int i = 0; i < COUNT; i++) OK(millpond_tensor_free(tensors[i]));
    targets[7] = "many/none";
    memset(tensors, 0, sizeof tensors);
    ANSWERS(MILLPOND_NOT_FOUND, millpond_tensor_get_many(pond, targets, COUNT, NULL, tensors));
    CHECK(tensors[0] == NULL);
    OK(millpond_pond_flush(pond, 10000));
    for (int i = 0; i < COUNT; i++) OK(millpond_tensor_delete_unused(pond, names[i]));
    uint64_t slabs;
    OK(millpond_pond_collect(pond, 0, 0, NULL, &slabs, &bytes));
    OK(millpond_pond_collect(pond, 0, 1, NULL, &slabs, NULL));
    CHECK(slabs == 0);
}

static uint32_t count_progress(uint64_t done, uint64_t total, void *user_data) {
    uint64_t *last = user_data;
    if (done < *last || done > total) return 1;
    *last = done;
    return 0;
}

static void bytes_are_put_copied_and_taken_out_without_a_mapping(void) {
    enum { BYTES = 3 << 20 };
    unsigned char *bytes = malloc(BYTES), *back = malloc(BYTES);
    for (int i = 0; i < BYTES; i++) bytes[i] = (unsigned char)(i * 31);
    millpond_source source = {0};
    source.place = MILLPOND_PLACE_MEMORY;
    source.data = bytes;
    source.bytes = BYTES;
    millpond_tensor_spec spec = bytes_spec("files/a", BYTES);
    uint64_t progress = 0;
    millpond_tensor_info info;
    OK(millpond_tensor_put(pond, &spec, &source, count_progress, &progress, &info));
    CHECK(info.bytes == BYTES && info.state == MILLPOND_TENSOR_READY && progress == BYTES);
    ANSWERS(MILLPOND_EXISTS, millpond_tensor_put(pond, &spec, &source, NULL, NULL, NULL));
    spec.replace = 1;
    OK(millpond_tensor_put(pond, &spec, &source, NULL, NULL, NULL));
    millpond_cancel *cancel;
    OK(millpond_cancel_new(&cancel));
    OK(millpond_cancel_use(cancel));
    OK(millpond_tensor_put(pond, &spec, &source, NULL, NULL, NULL));
    CHECK(millpond_cancel_is_set(cancel) == 0);
    OK(millpond_cancel_set(cancel));
    CHECK(millpond_cancel_is_set(cancel) == 1);
    ANSWERS(MILLPOND_CANCELLED, millpond_tensor_put(pond, &spec, &source, NULL, NULL, NULL));
    OK(millpond_cancel_use(NULL));
    OK(millpond_cancel_free(cancel));

    millpond_sink sink = {0};
    sink.place = MILLPOND_PLACE_MEMORY;
    sink.data = back;
    sink.bytes = BYTES;
    uint64_t written = 0;
    progress = 0;
    OK(millpond_tensor_download(pond, "files/a", &sink, count_progress, &progress, &written));
    CHECK(written == BYTES && memcmp(bytes, back, BYTES) == 0);
    sink.bytes = BYTES - 1;
    ANSWERS(MILLPOND_TOO_SMALL, millpond_tensor_download(pond, "files/a", &sink, NULL, NULL, NULL));

    spec = bytes_spec("files/b", BYTES);
    OK(millpond_tensor_reserve(pond, &spec, NULL, NULL));
    OK(millpond_tensor_copy(pond, "files/a", "files/b", NULL, NULL));
    OK(millpond_tensor_publish_unmapped(pond, "files/b", NULL));

    char path[] = "/tmp/millpond-c-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    sink = (millpond_sink){0};
    sink.place = MILLPOND_PLACE_FD;
    sink.fd = fd;
    OK(millpond_tensor_download(pond, "files/b", &sink, NULL, NULL, NULL));
    memset(back, 0, BYTES);
    CHECK(pread(fd, back, BYTES, 0) == BYTES && memcmp(bytes, back, BYTES) == 0);
    sink = (millpond_sink){0};
    sink.place = MILLPOND_PLACE_PATH;
    sink.path = path;
    sink.exclusive = 1;
    ANSWERS(MILLPOND_FILE, millpond_tensor_download(pond, "files/b", &sink, NULL, NULL, NULL));

    source = (millpond_source){0};
    source.place = MILLPOND_PLACE_PATH;
    source.path = path;
    spec = bytes_spec("files/c", BYTES);
    OK(millpond_tensor_put(pond, &spec, &source, NULL, NULL, NULL));
    source.place = MILLPOND_PLACE_TENSOR;
    source.path = "files/c";
    OK(millpond_tensor_upload(pond, "files/b", &source, NULL, NULL));
    OK(millpond_tensor_zero(pond, "files/b"));
    source = (millpond_source){0};
    ANSWERS(MILLPOND_INVALID, millpond_tensor_upload(pond, "files/b", &source, NULL, NULL));
    source.place = MILLPOND_PLACE_FD;
    source.fd = 9999;
    ANSWERS(MILLPOND_FILE, millpond_tensor_upload(pond, "files/b", &source, NULL, NULL));
    source.place = MILLPOND_PLACE_MEMORY;
    source.data = bytes;
    source.bytes = 5;
    ANSWERS(MILLPOND_FILE, millpond_tensor_upload(pond, "files/b", &source, NULL, NULL));
    OK(millpond_tensor_delete(pond, "files/a"));
    OK(millpond_tensor_delete(pond, "files/b"));
    OK(millpond_tensor_delete(pond, "files/c"));
    close(fd);
    unlink(path);
    free(bytes);
    free(back);
}

static void streams_order_work_of_ipc_tensors(void) {
    millpond_tensor_spec spec = bytes_spec("ipc/x", 1 << 21);
    spec.transport = MILLPOND_TRANSPORT_IPC;
    millpond_tensor *tensor;
    OK(millpond_tensor_create(pond, &spec, NULL, &tensor));
    OK(millpond_tensor_fill_on(tensor, NULL, 3));
    OK(millpond_tensor_record(tensor, NULL));
    OK(millpond_tensor_wait(tensor, NULL));
    uint64_t generation;
    OK(millpond_tensor_publish_after(tensor, NULL, &generation));
    CHECK(generation == 1);

    millpond_handle *handle;
    OK(millpond_handle_get(pond, "ipc/x", NULL, &handle));
    millpond_handle_parts parts;
    OK(millpond_handle_read(handle, &parts));
    CHECK(parts.has_event == 1 && parts.info.transport == MILLPOND_TRANSPORT_IPC);
    unsigned char none[64] = {0};
    CHECK(memcmp(parts.memory, none, 64) != 0);
    OK(millpond_handle_free(handle));
    OK(millpond_tensor_free(tensor));
    OK(millpond_tensor_delete(pond, "ipc/x"));

    spec = bytes_spec("vmm/x", 64);
    spec.zero = 1;
    OK(millpond_tensor_create(pond, &spec, NULL, &tensor));
    ANSWERS(MILLPOND_INVALID, millpond_tensor_record(tensor, NULL));
    CHECK(strstr(millpond_error_hint(), "MILLPOND_TRANSPORT_IPC") != NULL);
    ANSWERS(MILLPOND_INVALID, millpond_handle_get(pond, "vmm/x", NULL, &handle));
    OK(millpond_tensor_free(tensor));
    OK(millpond_tensor_delete(pond, "vmm/x"));
}

static void held_tensors_live_as_long_as_their_holds(void) {
    millpond_tensor_spec spec = bytes_spec("held/x", 1 << 21);
    spec.transport = MILLPOND_TRANSPORT_IPC;
    spec.zero = 1;
    memset(spec.hold_token.bytes, 0x42, 16);
    OK(millpond_tensor_reserve(pond, &spec, NULL, NULL));
    millpond_uuid token, other;
    memset(token.bytes, 0x43, 16);
    memset(other.bytes, 0x44, 16);
    millpond_handle_parts parts;
    OK(millpond_tensor_hold(pond, "held/x", (uint32_t)getpid(), &token, &parts));
    OK(millpond_tensor_peek(pond, "held/x", &parts));
    millpond_tensor_info info;
    OK(millpond_tensor_unhold(pond, "held/x", (uint32_t)getpid(), &other, &info));
    CHECK(info.holds == 1);
    memset(other.bytes, 0x45, 16);
    OK(millpond_tensor_unhold(pond, "held/x", 0, &other, &info));
    CHECK(info.holds == 0 && info.state == MILLPOND_TENSOR_DELETED);
}

/* The parts of dlpack.h that are looked at. */
typedef struct dl_tensor {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;
typedef struct dl_versioned {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(struct dl_versioned *);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;
typedef struct dl_legacy {
    dl_tensor tensor;
    void *manager;
    void (*deleter)(struct dl_legacy *);
} dl_legacy;

static void dlpack_keeps_the_lease_when_the_tensor_is_freed(void) {
    millpond_tensor_spec spec = {0};
    spec.name = "dl/x";
    spec.dtype = MILLPOND_DTYPE_BF16;
    spec.dimensions = 3;
    spec.shape[0] = 2, spec.shape[1] = 3, spec.shape[2] = 4;
    spec.zero = 1;
    millpond_tensor *tensor;
    OK(millpond_tensor_create(pond, &spec, NULL, &tensor));
    struct DLManagedTensor *legacy;
    OK(millpond_tensor_dlpack_legacy(tensor, &legacy));
    ((dl_legacy *)(void *)legacy)->deleter((dl_legacy *)(void *)legacy);
    OK(millpond_tensor_free(tensor));
    OK(millpond_tensor_get(pond, "dl/x", NULL, &tensor));
    struct DLManagedTensorVersioned *managed;
    OK(millpond_tensor_dlpack(tensor, &managed));
    void *data = millpond_tensor_data(tensor);
    OK(millpond_tensor_free(tensor));
    OK(millpond_pond_flush(pond, 10000));
    dl_versioned *dl = (dl_versioned *)(void *)managed;
    CHECK(dl->major == 1 && dl->flags == 1 && dl->tensor.data == data && dl->tensor.ndim == 3);
    CHECK(dl->tensor.code == 4 && dl->tensor.bits == 16 && dl->tensor.lanes == 1);
    CHECK(dl->tensor.shape[2] == 4 && dl->tensor.strides[0] == 12 && dl->tensor.strides[2] == 1);
    CHECK(dl->tensor.device_type == 1 && ((unsigned char *)data)[47] == 0);
    ANSWERS(MILLPOND_IN_USE, millpond_tensor_delete_unused(pond, "dl/x"));
    dl->deleter(dl);
    OK(millpond_tensor_delete_unused(pond, "dl/x"));
}

static int released;
static void release(void *user_data) { *(int *)user_data = 1; }

static void memory_that_is_none_cannot_be_adopted(void) {
    millpond_tensor_spec spec = bytes_spec("adopted/x", 64);
    char host[64];
    CHECK(millpond_tensor_adopt(pond, &spec, host, release, &released, NULL) == MILLPOND_INVALID);
    CHECK(released == 1);
    spec.zero = 1;
    ANSWERS(MILLPOND_INVALID, millpond_tensor_adopt(pond, &spec, host, NULL, NULL, NULL));
}

static void others_are_told_as_json(void) {
    millpond_text *json;
    OK(millpond_pond_clients_json(pond, &json));
    CHECK(strstr(millpond_text_data(json), "\"program\":\"c-tests\"") != NULL);
    OK(millpond_text_free(json));
    OK(millpond_pond_accounts_json(pond, &json));
    CHECK(strstr(millpond_text_data(json), "\"users\":[") != NULL);
    OK(millpond_text_free(json));
    OK(millpond_pond_caches_json(pond, NULL, &json));
    CHECK(strcmp(millpond_text_data(json), "{\"caches\":[]}") == 0);
    OK(millpond_text_free(json));
}

static void a_pond_is_closed_when_nothing_of_it_is_in_use(void) {
    millpond_tensor_spec spec = bytes_spec("last", 64);
    spec.zero = 1;
    millpond_tensor *tensor;
    OK(millpond_tensor_create(pond, &spec, NULL, &tensor));
    ANSWERS(MILLPOND_IN_USE, millpond_pond_close(pond));
    OK(millpond_tensor_free(tensor));
    OK(millpond_tensor_delete(pond, "last"));
    OK(millpond_pond_close(pond));
    ANSWERS(MILLPOND_INVALID_HANDLE, millpond_pond_ping(pond));
}

#define TEST(name) {#name, name}
static const test tests[] = {
    TEST(connects_and_says_what_the_pond_has),
    TEST(the_version_is_that_of_the_header),
    TEST(a_tensor_is_made_published_got_and_deleted),
    TEST(a_miss_names_what_is_like_it),
    TEST(bad_specs_are_refused_with_what_is_wrong),
    TEST(life_ends_as_it_was_said),
    TEST(a_get_waits_as_long_as_it_was_told),
    TEST(many_are_got_listed_and_collected),
    TEST(bytes_are_put_copied_and_taken_out_without_a_mapping),
    TEST(streams_order_work_of_ipc_tensors),
    TEST(held_tensors_live_as_long_as_their_holds),
    TEST(dlpack_keeps_the_lease_when_the_tensor_is_freed),
    TEST(memory_that_is_none_cannot_be_adopted),
    TEST(others_are_told_as_json),
    TEST(a_pond_is_closed_when_nothing_of_it_is_in_use),
};
RUN(tests)
