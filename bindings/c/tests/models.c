/* Models, caches, pools, groups and events from C. */
#define _GNU_SOURCE
#include "check.h"

static millpond_pond *pond;

static void connects(void) { OK(millpond_pond_connect(NULL, &pond)); }

static uint32_t count_versions(const millpond_version_info *info, void *user_data) {
    (void)info;
    ++*(int *)user_data;
    return 0;
}

static void a_version_is_staged_committed_attached_and_followed(void) {
    millpond_stage_tensor tensors[3];
    memset(tensors, 0, sizeof tensors);
    tensors[0].name = "embed";
    tensors[0].dtype = MILLPOND_DTYPE_F32;
    tensors[0].dimensions = 2;
    tensors[0].shape[0] = 64;
    tensors[0].shape[1] = 32;
    tensors[1] = tensors[0];
    tensors[1].name = "norm";
    tensors[1].dimensions = 1;
    tensors[1].shape[1] = 0;
    tensors[2].name = "head";
    tensors[2].tied_to = "embed";
    millpond_pair metadata = {"format", "pt"};
    millpond_stage_spec spec = {0};
    spec.model = "tiny";
    spec.tag = "v1";
    spec.tensors = tensors;
    spec.tensor_count = 3;
    spec.metadata = &metadata;
    spec.metadata_count = 1;
    spec.source = "a test";
    millpond_staging *staging;
    OK(millpond_staging_begin(pond, &spec, &staging));
    OK(millpond_staging_fill(staging, "embed", 5));
    unsigned char bytes[256];
    memset(bytes, 9, sizeof bytes);
    OK(millpond_staging_copy_from_host(staging, "norm", 0, bytes, sizeof bytes));
    millpond_model_tensor tensor;
    OK(millpond_staging_tensor(staging, "norm", &tensor));
    CHECK(tensor.bytes == 256 && tensor.data != NULL && strcmp(tensor.name, "norm") == 0);
    ANSWERS(MILLPOND_NOT_FOUND, millpond_staging_tensor(staging, "none", &tensor));
    millpond_version_info info;
    OK(millpond_staging_get_info(staging, &info));
    CHECK(info.state == MILLPOND_VERSION_STATE_STAGING && info.stager_pid == (uint32_t)getpid());
    OK(millpond_staging_commit(staging, 1, &info));
    CHECK(info.current == 1 && info.tensors == 3 && strcmp(info.tag, "v1") == 0);
    ANSWERS(MILLPOND_INVALID, millpond_staging_commit(staging, 1, NULL));
    ANSWERS(MILLPOND_INVALID, millpond_staging_fill(staging, "embed", 1));
    OK(millpond_staging_free(staging));

    millpond_model *model;
    OK(millpond_model_attach(pond, "tiny", 0, &model));
    OK(millpond_model_get_info(model, &info));
    CHECK(strcmp(info.model, "tiny") == 0 && info.state == MILLPOND_VERSION_STATE_READY);
    CHECK(millpond_model_tensor_count(model) == 3);
    OK(millpond_model_tensor_at(model, 0, &tensor));
    CHECK(strcmp(tensor.name, "embed") == 0 && tensor.dimensions == 2 && tensor.shape[1] == 32);
    millpond_model_tensor head;
    OK(millpond_model_tensor_find(model, "head", &head));
    CHECK(head.data == tensor.data);
    ANSWERS(MILLPOND_NOT_FOUND, millpond_model_tensor_find(model, "none", &tensor));
    CHECK(millpond_model_tensor_at(model, 3, &tensor) != MILLPOND_OK);
    OK(millpond_model_copy_to_host(model, "norm", 128, bytes, 128));
    CHECK(bytes[0] == 9 && bytes[127] == 9);
    void *arena;
    uint64_t arena_bytes;
    OK(millpond_model_arena(model, &arena, &arena_bytes));
    CHECK(arena != NULL && arena_bytes >= 64 * 32 * 4 + 256);
    uint32_t stale = 7;
    OK(millpond_model_is_stale(model, &stale));
    CHECK(stale == 0 && millpond_model_is_lost(model) == 0 && millpond_model_context(model) != NULL);

    spec = (millpond_stage_spec){0};
    spec.model = "tiny";
    spec.tag = "v2";
    spec.like = "tiny@v1";
    OK(millpond_staging_begin(pond, &spec, &staging));
    OK(millpond_staging_fill(staging, "norm", 4));
    OK(millpond_staging_commit(staging, 0, NULL));
    OK(millpond_staging_free(staging));
    OK(millpond_model_swap(pond, "tiny", "v2", &info));
    CHECK(info.current == 1 && strcmp(info.tag, "v2") == 0);
    OK(millpond_model_is_stale(model, &stale));
    CHECK(stale == 1);
    uint32_t changed = 0;
    OK(millpond_model_tensor_find(model, "norm", &tensor));
    void *before = tensor.data;
    OK(millpond_model_refresh_in_place(model, &changed));
    OK(millpond_model_tensor_find(model, "norm", &tensor));
    CHECK(changed == 1 && tensor.data == before);
    OK(millpond_model_copy_to_host(model, "norm", 0, bytes, 1));
    CHECK(bytes[0] == 4);
    OK(millpond_model_rollback(pond, "tiny", &info));
    CHECK(strcmp(info.tag, "v1") == 0);
    OK(millpond_model_refresh(model, &changed));
    CHECK(changed == 1);
    OK(millpond_model_copy_to_host(model, "norm", 0, bytes, 1));
    CHECK(bytes[0] == 9);

    int seen = 0;
    OK(millpond_model_list(pond, NULL, count_versions, &seen));
    CHECK(seen == 2);
    millpond_text *json;
    OK(millpond_model_list_json(pond, "ti", &json));
    CHECK(strstr(millpond_text_data(json), "\"name\":\"tiny\"") != NULL);
    OK(millpond_text_free(json));
    OK(millpond_version_inspect_json(pond, "tiny@v1", &json));
    CHECK(strstr(millpond_text_data(json), "\"metadata\":{\"format\":\"pt\"}") != NULL);
    OK(millpond_text_free(json));
    size_t differing = 7;
    millpond_text *names = (millpond_text *)0x1;
    OK(millpond_version_verify(pond, "tiny", NULL, NULL, &differing, &names));
    CHECK(differing == 0 && names == NULL);

    ANSWERS(MILLPOND_INVALID, millpond_version_retire(pond, "tiny@v1"));
    OK(millpond_version_inspect(pond, "tiny@v2", &info));
    OK(millpond_version_retire(pond, "tiny@v2"));
    OK(millpond_version_wait_gone(pond, &info.id, 10000));
    OK(millpond_model_free(model));
}

static uint32_t end_it(uint32_t phase, uint64_t done, uint64_t total, void *user_data) {
    (void)phase, (void)done, (void)total, (void)user_data;
    return 1;
}

static void a_checkpoint_is_saved_loaded_and_given_up(void) {
    char folder[] = "/tmp/millpond-c-XXXXXX", path[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/tiny.safetensors", folder);
    uint64_t bytes = 0;
    OK(millpond_version_save(pond, "tiny", path, 0, 0, NULL, NULL, &bytes));
    CHECK(bytes > 64 * 32 * 4);
    ANSWERS(MILLPOND_FILE, millpond_version_save(pond, "tiny", path, 0, 0, NULL, NULL, NULL));
    OK(millpond_version_save(pond, "tiny", path, 0, 1, NULL, NULL, NULL));
    const char *paths[] = {path};
    millpond_load_spec spec = {0};
    spec.model = "loaded";
    spec.paths = paths;
    spec.path_count = 1;
    spec.tag = "a";
    ANSWERS(MILLPOND_CANCELLED, millpond_model_load(pond, &spec, end_it, NULL, NULL));
    millpond_loaded loaded;
    OK(millpond_model_load(pond, &spec, NULL, NULL, &loaded));
    CHECK(loaded.info.current == 1 && loaded.bytes_read > 0);
    ANSWERS(MILLPOND_EXISTS, millpond_model_load(pond, &spec, NULL, NULL, NULL));
    spec.plan = "{";
    ANSWERS(MILLPOND_INVALID, millpond_model_load(pond, &spec, NULL, NULL, NULL));
    OK(millpond_model_rename(pond, "loaded", "renamed"));
    OK(millpond_version_remove(pond, "renamed@a"));
    spec = (millpond_load_spec){0};
    spec.model = "loaded";
    paths[0] = "/nonexistent";
    spec.paths = paths;
    spec.path_count = 1;
    ANSWERS(MILLPOND_FILE, millpond_model_load(pond, &spec, NULL, NULL, NULL));

    millpond_stage_spec stage = {0};
    stage.model = "tiny";
    stage.like = "tiny@v1";
    millpond_staging *staging;
    OK(millpond_staging_begin(pond, &stage, &staging));
    millpond_version_info info;
    OK(millpond_staging_get_info(staging, &info));
    OK(millpond_staging_free(staging));
    OK(millpond_version_wait_gone(pond, &info.id, 10000));
    unlink(path);
    rmdir(folder);
}

static int asked;
static millpond_offer pressed(const millpond_pressure *ask, void *user_data) {
    (void)user_data;
    asked += ask->bytes > 0 && ask->reason != NULL;
    return MILLPOND_OFFER_NOTHING;
}

static void a_cache_grows_and_shrinks_on_the_budget_of_its_group(void) {
    millpond_group_change change = {0};
    change.limit.kind = MILLPOND_LIMIT_BYTES;
    change.limit.bytes = 64 << 20;
    change.create = 1;
    OK(millpond_group_set(pond, "serving", &change));
    change.reserved[0] = 1;
    ANSWERS(MILLPOND_INVALID, millpond_group_set(pond, "serving", &change));
    millpond_text *json;
    OK(millpond_group_list_json(pond, &json));
    CHECK(strstr(millpond_text_data(json), "\"name\":\"serving\"") != NULL);
    OK(millpond_text_free(json));
    OK(millpond_group_inspect_json(pond, "serving", &json));
    OK(millpond_text_free(json));

    millpond_elastic *elastic;
    OK(millpond_elastic_open(pond, "serving", &elastic));
    millpond_text *name;
    uint32_t limited = 7;
    OK(millpond_elastic_group(elastic, &limited, &name));
    CHECK(limited == 0 && strcmp(millpond_text_data(name), "serving") == 0);
    OK(millpond_text_free(name));
    millpond_cache_spec spec = {0};
    millpond_cache *cache;
    ANSWERS(MILLPOND_INVALID, millpond_cache_reserve(elastic, "kv", &spec, &cache));
    spec.blocks = 64;
    spec.block_bytes = 2 << 20;
    spec.wait_ms = MILLPOND_NO_WAIT;
    OK(millpond_cache_reserve(elastic, "kv", &spec, &cache));
    OK(millpond_cache_on_pressure(cache, pressed, NULL));
    OK(millpond_cache_commit(cache, 4));
    millpond_cache_info info;
    OK(millpond_cache_get_info(cache, &info));
    CHECK(info.blocks == 64 && info.committed_blocks == 4 && info.committed_bytes == 8 << 20);
    CHECK(millpond_cache_address(cache, 0, 0) == info.data && info.data != NULL);
    CHECK(millpond_cache_address(cache, 0, 64) == NULL && millpond_error_result() == MILLPOND_INVALID);
    OK(millpond_cache_commit_range(cache, 10, 2));
    ANSWERS(MILLPOND_INVALID, millpond_cache_commit_range(cache, 10, 2));
    ANSWERS(MILLPOND_INVALID, millpond_cache_commit_range(cache, UINT64_MAX, 2));
    ANSWERS(MILLPOND_GPU_FULL, millpond_cache_commit(cache, 60));
    millpond_prepared *prepared;
    OK(millpond_cache_prepare(cache, 20, 2, &prepared));
    OK(millpond_prepared_commit(prepared));
    ANSWERS(MILLPOND_INVALID_HANDLE, millpond_prepared_commit(prepared));
    OK(millpond_cache_prepare(cache, 22, 2, &prepared));
    OK(millpond_prepared_free(prepared));
    OK(millpond_cache_uncommit_after(cache, 20, 2, NULL));
    OK(millpond_cache_uncommit_at_step(cache, 10, 2));
    OK(millpond_cache_step(cache, NULL));
    OK(millpond_cache_uncommit(cache, 3, 1));
    OK(millpond_cache_step_now(cache));
    uint64_t given = 0;
    uint64_t above = 0, in_force = 0;
    OK(millpond_cache_set_cap(cache, 0, 2, &above, &in_force));
    CHECK(above > 0 && in_force == 2);
    ANSWERS(MILLPOND_GPU_FULL, millpond_cache_commit_range(cache, 24, 2));
    OK(millpond_cache_set_cap(cache, UINT64_MAX, 1, NULL, &in_force));
    CHECK(in_force == 2);
    OK(millpond_cache_set_cap(cache, UINT64_MAX, 3, &above, NULL));
    CHECK(above == 0);
    OK(millpond_cache_trim(cache, UINT64_MAX, &given));
    OK(millpond_cache_get_info(cache, &info));
    CHECK(info.committed_blocks == 3);
    OK(millpond_pond_caches_json(pond, "serving", &json));
    CHECK(strstr(millpond_text_data(json), "\"name\":\"kv\"") != NULL);
    OK(millpond_text_free(json));

    millpond_cache *table_cache;
    spec.blocks = 8;
    OK(millpond_cache_reserve(elastic, "table", &spec, &table_cache));
    CHECK(millpond_cache_context(table_cache) != NULL);
    millpond_blocks *blocks, *second_table;
    OK(millpond_blocks_open(table_cache, &blocks));
    ANSWERS(MILLPOND_IN_USE, millpond_blocks_open(table_cache, &second_table));
    uint32_t numbers[3] = {99, 99, 99};
    OK(millpond_blocks_take(blocks, 3, numbers));
    CHECK(numbers[0] < 8 && numbers[1] < 8 && numbers[0] != numbers[1] && numbers[1] != numbers[2]);
    uint64_t free_blocks, ready_blocks;
    OK(millpond_blocks_count(blocks, &free_blocks, &ready_blocks));
    CHECK(free_blocks == 5);
    CHECK(millpond_blocks_take(blocks, 6, numbers) != MILLPOND_OK);
    numbers[2] = numbers[1];
    ANSWERS(MILLPOND_INVALID, millpond_blocks_give(blocks, numbers, 3, NULL));
    OK(millpond_blocks_give(blocks, numbers, 2, NULL));
    OK(millpond_blocks_free(blocks));
    OK(millpond_cache_free(table_cache));
    millpond_pool_spec pool_spec = {0};
    pool_spec.name = "pool";
    pool_spec.address_bytes = 256 << 20;
    millpond_pool *pool;
    OK(millpond_pool_reserve(elastic, &pool_spec, &pool));
    void *first, *second;
    OK(millpond_pool_alloc(pool, 1 << 20, NULL, &first));
    CHECK(first != NULL && millpond_pool_context(pool) != NULL);
    OK(millpond_pool_record_stream(pool, first, NULL));
    OK(millpond_pool_free_block(pool, first, NULL));
    ANSWERS(MILLPOND_INVALID, millpond_pool_free_block(pool, first, NULL));
    OK(millpond_pool_alloc(pool, 1 << 20, NULL, &second));
    millpond_pool_info pool_info;
    OK(millpond_pool_get_info(pool, 1, &pool_info));
    CHECK(pool_info.blocks == 1 && pool_info.allocations == 2 && pool_info.asked_bytes == 1 << 20);
    OK(millpond_pool_trim(pool, 1 << 20, 1, NULL));
    OK(millpond_pool_free(pool));
    OK(millpond_cache_free(cache));
    ANSWERS(MILLPOND_INVALID_HANDLE, millpond_cache_commit(cache, 1));
    OK(millpond_elastic_free(elastic));

    millpond_uuid gpu;
    OK(millpond_pond_gpu_at(pond, 0, &gpu));
    OK(millpond_pool_open(pond, &gpu, &pool));
    OK(millpond_pool_free(pool));

    millpond_group_seat seat;
    OK(millpond_group_join(pond, "serving", NULL, NULL, &seat));
    CHECK(strcmp(seat.name, "serving") == 0 && seat.anonymous == 0 && seat.folder[0] == '/');
    OK(millpond_group_remove(pond, "serving"));
    ANSWERS(MILLPOND_NOT_FOUND, millpond_group_remove(pond, "serving"));
    ANSWERS(MILLPOND_NOT_FOUND, millpond_elastic_open(pond, "serving", &elastic));
}

static uint32_t count_events(const millpond_event *event, void *user_data) {
    *(int *)user_data += event->kind == MILLPOND_EVENT_TENSOR_CREATED;
    return 0;
}

static void events_are_seen_as_they_happen(void) {
    millpond_events *events;
    OK(millpond_events_subscribe(pond, 0, &events));
    millpond_event event;
    ANSWERS(MILLPOND_TIMEOUT, millpond_events_next(events, 20, &event));
    millpond_tensor_spec spec = bytes_spec("seen", 64);
    spec.zero = 1;
    millpond_tensor_info info;
    OK(millpond_tensor_reserve(pond, &spec, NULL, &info));
    do OK(millpond_events_next(events, 10000, &event));
    while (event.kind != MILLPOND_EVENT_TENSOR_CREATED);
    CHECK(strcmp(event.name, "seen") == 0 && memcmp(&event.target, &info.id, sizeof info.id) == 0);
    CHECK(event.user == geteuid() && event.unix_ms > 0);
    OK(millpond_events_free(events));
    ANSWERS(MILLPOND_INVALID_HANDLE, millpond_events_next(events, 0, &event));
    OK(millpond_events_subscribe(pond, 1, &events));
    int created = 0;
    OK(millpond_events_kept(events, count_events, &created));
    CHECK(created >= 1);
    OK(millpond_events_free(events));
    OK(millpond_tensor_delete(pond, "seen"));
}

static void ends(void) {
    OK(millpond_version_remove(pond, "tiny@v1"));
    OK(millpond_pond_close(pond));
}

#define TEST(name) {#name, name}
static const test tests[] = {
    TEST(connects),
    TEST(a_version_is_staged_committed_attached_and_followed),
    TEST(a_checkpoint_is_saved_loaded_and_given_up),
    TEST(a_cache_grows_and_shrinks_on_the_budget_of_its_group),
    TEST(events_are_seen_as_they_happen),
    TEST(ends),
};
RUN(tests)
