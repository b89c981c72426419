/* What the generated calls stand on: a live handle of every kind, and what is expected. */
#ifndef ABUSE_H
#define ABUSE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <millpond/millpond.h>

static int wrong_answers, calls;
static millpond_pond *base;
static char room[8192];
static uint64_t zeroes[4096];
static const char *texts[] = {"abuse/x", "abuse/x"};
static void *malloced;

static void expect_ok(millpond_result result, const char *what) {
    if (result == MILLPOND_OK) return;
    printf("    %s answers %s: %s\n", what, millpond_result_name(result), millpond_error_message());
    exit(1);
}

static void begin(void) {
    millpond_connect_options options = {0};
    options.request_timeout_ms = 20000;
    malloced = malloc(64);
    expect_ok(millpond_pond_connect(&options, &base), "connect");
}

static void expect(millpond_result got, millpond_result wanted, const char *call, const char *with) {
    calls++;
    if (got != MILLPOND_OK && got == wanted && millpond_error_result() == wanted && *millpond_error_message() != 0) return;
    if (got == MILLPOND_OK && wanted == MILLPOND_OK) return;
    printf("    %s with %s answers %s, not %s: %s\n", call, with, millpond_result_name(got), millpond_result_name(wanted),
           millpond_error_message());
    wrong_answers++;
}

/* A getter that answers with nothing. */
static void expect_none(int is_none, millpond_result wanted, const char *call, const char *with) {
    calls++;
    if (is_none && (wanted == MILLPOND_OK || millpond_error_result() == wanted)) return;
    printf("    %s with %s is not refused\n", call, with);
    wrong_answers++;
}

/* Whatever the answer: it came. */
static void survive(long answer, const char *call, const char *without) {
    (void)answer, (void)call, (void)without;
    calls++;
    /* A call that was allowed may have written over these. */
    memset(zeroes, 0, sizeof zeroes);
    memset(room, 0, sizeof room);
}

static int finish(int count) {
    printf("%s every_function_refuses_what_it_must_not_take: %d of %d calls\n", wrong_answers || calls != count ? "FAILED" : "ok",
           calls - wrong_answers, count);
    printf("%d passed, %d failed\n", wrong_answers == 0 && calls == count, wrong_answers != 0 || calls != count);
    return wrong_answers != 0 || calls != count;
}

static void make_millpond_pond(millpond_pond **pond) {
    expect_ok(millpond_pond_connect(NULL, pond), "connect");
}

static void make_millpond_cancel(millpond_cancel **cancel) { expect_ok(millpond_cancel_new(cancel), "cancel"); }

static void make_millpond_status(millpond_status **status) { expect_ok(millpond_pond_status(base, status), "status"); }

static void make_millpond_text(millpond_text **text) { expect_ok(millpond_pond_runtime_dir(base, text), "text"); }

static void make_millpond_tensor(millpond_tensor **tensor) {
    millpond_tensor_spec spec = {0};
    spec.name = "abuse/tensor";
    spec.dtype = MILLPOND_DTYPE_U8;
    spec.dimensions = 1;
    spec.shape[0] = 64;
    spec.zero = 1;
    expect_ok(millpond_tensor_create(base, &spec, NULL, tensor), "create");
}

static void make_millpond_handle(millpond_handle **handle) {
    millpond_tensor_spec spec = {0};
    spec.name = "abuse/handle";
    spec.dtype = MILLPOND_DTYPE_U8;
    spec.dimensions = 1;
    spec.shape[0] = 64;
    spec.zero = 1;
    spec.transport = MILLPOND_TRANSPORT_IPC;
    expect_ok(millpond_tensor_reserve(base, &spec, NULL, NULL), "reserve");
    expect_ok(millpond_handle_get(base, "abuse/handle", NULL, handle), "handle");
}

static void begin_staging(const char *model, millpond_staging **staging) {
    static const char *tags[] = {"a", "b", "c", "d", "e", "f"};
    static int next;
    millpond_stage_tensor tensor = {0};
    tensor.name = "w";
    tensor.dtype = MILLPOND_DTYPE_U8;
    tensor.dimensions = 1;
    tensor.shape[0] = 64;
    millpond_stage_spec spec = {0};
    spec.model = model;
    spec.tag = tags[next++];
    spec.tensors = &tensor;
    spec.tensor_count = 1;
    expect_ok(millpond_staging_begin(base, &spec, staging), "stage");
}

static void make_millpond_staging(millpond_staging **staging) { begin_staging("abuse-staging", staging); }

static void make_millpond_model(millpond_model **model) {
    millpond_staging *staging;
    begin_staging("abuse-model", &staging);
    expect_ok(millpond_staging_fill(staging, "w", 1), "fill");
    expect_ok(millpond_staging_commit(staging, 1, NULL), "commit");
    expect_ok(millpond_staging_free(staging), "free");
    expect_ok(millpond_model_attach(base, "abuse-model", 0, model), "attach");
}

static void make_millpond_elastic(millpond_elastic **elastic) {
    millpond_group_change change = {0};
    change.limit.kind = MILLPOND_LIMIT_UNLIMITED;
    change.create = 1;
    expect_ok(millpond_group_set(base, "abuse", &change), "group");
    expect_ok(millpond_elastic_open(base, "abuse", elastic), "elastic");
}

static void make_millpond_cache(millpond_cache **cache) {
    millpond_elastic *elastic;
    make_millpond_elastic(&elastic);
    millpond_cache_spec spec = {0};
    spec.bytes = 16 << 20;
    expect_ok(millpond_cache_reserve(elastic, "abuse", &spec, cache), "cache");
    expect_ok(millpond_elastic_free(elastic), "free");
}

static void make_millpond_prepared(millpond_prepared **prepared) {
    static millpond_cache *cache;
    static uint64_t next;
    if (cache == NULL) make_millpond_cache(&cache);
    expect_ok(millpond_cache_prepare(cache, next++, 1, prepared), "prepare");
}

static void make_millpond_blocks(millpond_blocks **blocks) {
    millpond_cache *cache;
    make_millpond_cache(&cache);
    expect_ok(millpond_blocks_open(cache, blocks), "blocks");
    expect_ok(millpond_cache_free(cache), "free");
}

static void make_millpond_pool(millpond_pool **pool) {
    millpond_elastic *elastic;
    make_millpond_elastic(&elastic);
    millpond_pool_spec spec = {0};
    spec.name = "abuse";
    spec.address_bytes = 64 << 20;
    expect_ok(millpond_pool_reserve(elastic, &spec, pool), "pool");
    expect_ok(millpond_elastic_free(elastic), "free");
}

static void make_millpond_events(millpond_events **events) {
    expect_ok(millpond_events_subscribe(base, 0, events), "events");
}

#endif
