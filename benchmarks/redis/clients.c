/* Clients of the benchmark, on a unix socket:
 *
 *   clients SOCKET echo                      answers every element of `bench:ping` in `bench:pong`, until it is killed
 *   clients SOCKET ping COUNT                COUNT times an element there and back; nanoseconds of each, a line each
 *   clients SOCKET ask COUNT OP NAME         COUNT commands, each after the answer to the last; nanoseconds of each
 *   clients SOCKET flood SECONDS AHEAD NAME  gets, AHEAD of them at a time, for so long; how many were answered with ok
 *
 * A ping and a command are the same two calls of the client: LPUSH, then BRPOP.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static redisContext *redis;

static long long now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static redisReply *checked(redisReply *reply, int type) {
    if (!reply || reply->type != type) {
        fprintf(stderr, "Redis: %s\n", reply ? (reply->str ? reply->str : "another kind of answer") : redis->errstr);
        exit(1);
    }
    return reply;
}

static void call_and_wait(const char *list, const char *element, const char *answers, int must_be_ok) {
    freeReplyObject(checked(redisCommand(redis, "LPUSH %s %s", list, element), REDIS_REPLY_INTEGER));
    redisReply *reply = checked(redisCommand(redis, "BRPOP %s 30", answers), REDIS_REPLY_ARRAY);
    if (must_be_ok && !strstr(reply->element[1]->str, "\"status\":\"ok\"")) {
        fprintf(stderr, "%s\n", reply->element[1]->str);
        exit(1);
    }
    freeReplyObject(reply);
}

static void command(char *to, size_t size, const char *op, const char *name, const char *reply, long number) {
    snprintf(to, size, "{\"op\":\"%s\",\"name\":\"%s\",\"id\":\"%d-%ld\",\"reply\":\"%s\"}", op, name, (int)getpid(), number, reply);
}

static long flood(double seconds, int ahead, const char *name, const char *reply) {
    char line[512];
    long answered = 0, number = 0;
    long long end = now() + (long long)(seconds * 1e9);
    do {
        for (int at = 0; at < ahead; at++) {
            command(line, sizeof line, "get", name, reply, number++);
            redisAppendCommand(redis, "LPUSH tensor:cmd %s", line);
        }
        for (int at = 0; at < ahead; at++) redisAppendCommand(redis, "BRPOP %s 30", reply);
        for (int at = 0; at < 2 * ahead; at++) {
            redisReply *got = NULL;
            redisGetReply(redis, (void **)&got);
            checked(got, at < ahead ? REDIS_REPLY_INTEGER : REDIS_REPLY_ARRAY);
            if (at >= ahead && strstr(got->element[1]->str, "\"status\":\"ok\"")) answered++;
            freeReplyObject(got);
        }
    } while (now() < end);
    return answered;
}

int main(int count, char **words) {
    if (count < 3) return 2;
    redis = redisConnectUnix(words[1]);
    if (!redis || redis->err) {
        fprintf(stderr, "no Redis at %s\n", words[1]);
        return 1;
    }
    char reply[64], line[512];
    snprintf(reply, sizeof reply, "tensor:reply:bench-%d", (int)getpid());
    if (!strcmp(words[2], "echo")) {
        for (;;) {
            redisReply *got = redisCommand(redis, "BRPOP bench:ping 0");
            if (!got || got->type != REDIS_REPLY_ARRAY) return 0;
            freeReplyObject(redisCommand(redis, "LPUSH bench:pong %s", got->element[1]->str));
            freeReplyObject(got);
        }
    } else if (!strcmp(words[2], "flood") && count == 6) {
        printf("%ld\n", flood(atof(words[3]), atoi(words[4]), words[5], reply));
    } else if (count >= 4) {
        int ask = !strcmp(words[2], "ask"), times = atoi(words[3]);
        if (ask && count < 6) return 2;
        for (int at = 0; at < times; at++) {
            if (ask) command(line, sizeof line, words[4], words[5], reply, at);
            /* A ping is as long as a command. */
            else command(line, sizeof line, "get", "ping", "bench:pong", at);
            long long begun = now();
            call_and_wait(ask ? "tensor:cmd" : "bench:ping", line, ask ? reply : "bench:pong", ask);
            printf("%lld\n", now() - begun);
        }
    }
    redisFree(redis);
    return 0;
}
