/* A program that knows Redis and CUDA's driver and nothing of Millpond: a tensor's life by commands of a list.
 *
 *   redis_tensor SOCKET make NAME BYTES VALUE     creates it, opens its memory, checks that it is zeroes, fills it
 *   redis_tensor SOCKET check NAME BYTES VALUE    gets it for as long as this process lives, opens it, checks what is in it
 *   redis_tensor SOCKET delete NAME               gives one hold up
 *
 * Prints the count of holds afterwards. SOCKET is Redis' unix socket, or HOST:PORT.
 */
#include <dlfcn.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int status;
typedef unsigned long long address;
typedef struct { char bytes[64]; } handle;

static void *library;

static void *entry(const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "no %s\n", name);
        exit(3);
    }
    return found;
}

static void must(const char *what, status answer) {
    if (answer) {
        fprintf(stderr, "%s: error %d\n", what, answer);
        exit(4);
    }
}

/* The value of a field of a flat part of JSON: enough for answers whose form is known. */
static char *field(const char *json, const char *name) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = strstr(json, quoted);
    if (!at) return NULL;
    at += strlen(quoted);
    size_t length = *at == '"' ? strcspn(++at, "\"") : strcspn(at, ",}");
    return strndup(at, length);
}

static handle from_base64(const char *text) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    handle made;
    unsigned bits = 0, count = 0, at = 0;
    for (; *text && *text != '=' && at < 64; text++) {
        bits = bits << 6 | (unsigned)(strchr(digits, *text) - digits);
        count += 6;
        if (count >= 8) made.bytes[at++] = (char)(bits >> (count -= 8));
    }
    if (at != 64) {
        fprintf(stderr, "a handle of %u bytes\n", at);
        exit(5);
    }
    return made;
}

/* Pushes a command and waits for its answer, which must be ok. */
static char *ask(redisContext *redis, const char *command) {
    char line[1024], reply[64];
    snprintf(reply, sizeof reply, "tensor:reply:c-%d-%ld", (int)getpid(), random());
    snprintf(line, sizeof line, "{%s,\"id\":\"%s\",\"reply\":\"%s\"}", command, reply, reply);
    freeReplyObject(redisCommand(redis, "LPUSH tensor:cmd %s", line));
    redisReply *answer = redisCommand(redis, "BRPOP %s 30", reply);
    if (!answer || answer->type != REDIS_REPLY_ARRAY || answer->elements != 2) {
        fprintf(stderr, "no answer to %s: %s\n", line, redis->errstr);
        exit(6);
    }
    char *text = strdup(answer->element[1]->str);
    freeReplyObject(answer);
    char *word = field(text, "status");
    if (!word || strcmp(word, "ok")) {
        fprintf(stderr, "%s\n", text);
        exit(7);
    }
    free(word);
    return text;
}

static address open_memory(const char *answer) {
    const char *path = getenv("CUDA_LIBRARY");
    library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    char *bytes = field(answer, "ipc_handle"), *offset = field(answer, "offset"), *number = field(answer, "device");
    int device;
    void *context;
    address memory = 0;
    must("cuInit", ((status(*)(unsigned))entry("cuInit"))(0));
    must("cuDeviceGet", ((status(*)(int *, int))entry("cuDeviceGet"))(&device, atoi(number)));
    must("context", ((status(*)(void **, int))entry("cuDevicePrimaryCtxRetain"))(&context, device));
    must("current", ((status(*)(void *))entry("cuCtxSetCurrent"))(context));
    typedef status (*open)(address *, handle, unsigned);
    must("open", ((open)entry("cuIpcOpenMemHandle_v2"))(&memory, from_base64(bytes), 1));
    memory += strtoull(offset, NULL, 10);
    free(bytes);
    free(offset);
    free(number);
    return memory;
}

static void check(address memory, size_t bytes, unsigned value) {
    unsigned char *copy = malloc(bytes);
    typedef status (*to_host)(void *, address, size_t);
    must("copy", ((to_host)entry("cuMemcpyDtoH_v2"))(copy, memory, bytes));
    for (size_t at = 0; at < bytes; at++) {
        if (copy[at] != value) {
            fprintf(stderr, "byte %zu is %u instead of %u\n", at, copy[at], value);
            exit(8);
        }
    }
    free(copy);
}

int main(int count, char **arguments) {
    if (count < 4) {
        fprintf(stderr, "redis_tensor SOCKET make|check|delete NAME [BYTES VALUE]\n");
        return 2;
    }
    srandom((unsigned)getpid());
    char *colon = strchr(arguments[1], ':'), command[512];
    redisContext *redis;
    if (colon) {
        *colon = 0;
        redis = redisConnect(arguments[1], atoi(colon + 1));
    } else {
        redis = redisConnectUnix(arguments[1]);
    }
    if (!redis || redis->err) {
        fprintf(stderr, "no Redis: %s\n", redis ? redis->errstr : "no memory");
        return 6;
    }
    const char *what = arguments[2], *name = arguments[3];
    size_t bytes = count > 5 ? strtoull(arguments[4], NULL, 10) : 0;
    unsigned value = count > 5 ? (unsigned)atoi(arguments[5]) : 0;
    char *answer;
    if (!strcmp(what, "make")) {
        snprintf(command, sizeof command, "\"op\":\"create\",\"name\":\"%s\",\"dtype\":\"u8\",\"shape\":[%zu],\"device\":0", name, bytes);
        answer = ask(redis, command);
        address memory = open_memory(answer);
        check(memory, bytes, 0);
        typedef status (*fill)(address, unsigned char, size_t);
        must("fill", ((fill)entry("cuMemsetD8_v2"))(memory, (unsigned char)value, bytes));
        must("synchronize", ((status(*)(void))entry("cuCtxSynchronize"))());
        must("close", ((status(*)(address))entry("cuIpcCloseMemHandle"))(memory));
    } else if (!strcmp(what, "check")) {
        snprintf(command, sizeof command, "\"op\":\"get\",\"name\":\"%s\",\"pid\":%d", name, (int)getpid());
        answer = ask(redis, command);
        address memory = open_memory(answer);
        check(memory, bytes, value);
        must("close", ((status(*)(address))entry("cuIpcCloseMemHandle"))(memory));
    } else {
        snprintf(command, sizeof command, "\"op\":\"delete\",\"name\":\"%s\"", name);
        answer = ask(redis, command);
    }
    char *left = field(answer, "refcount");
    printf("%s\n", left ? left : "?");
    free(left);
    free(answer);
    redisFree(redis);
    return 0;
}
