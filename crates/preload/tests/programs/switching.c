/* A driver that lets somebody in between an allocation's beginning and its end, and (with PROGRAM) a
   program that uses that moment to choose another pool, as another of its threads might. */
#ifndef PROGRAM

#include <string.h>

typedef unsigned long long u64;

static u64 reserved[2], current;
static void (*meanwhile)(void);

void between(void (*what)(void)) { meanwhile = what; }

int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDeviceGetUuid_v2(char *uuid, int device) { return memset(uuid, 7 + device, 16), 0; }
int cuDeviceTotalMem_v2(u64 *bytes, int device) { return *bytes = 256ULL << (20 + device), 0; }
int cuDevicePrimaryCtxRetain(u64 *context, int device) { return *context = 0x5000 + device, 0; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    return *flags = 0, *active = device, 0;
}
int cuCtxGetCurrent(u64 *context) { return *context = 0x5000, 0; }
int cuMemGetInfo_v2(u64 *left, u64 *total) { return *total = *left = 256ULL << 20, 0; }
/* Pools 1 and 2: 1 is the default. */
int cuDeviceGetMemPool(u64 *pool, int device) { return *pool = 0x6001 + current + device, 0; }
int cuDeviceSetMemPool(int device, u64 pool) { return current = pool - 0x6001 - device, 0; }
int cuMemPoolCreate(u64 *pool, const void *properties) { return *pool = 0x6002, !properties; }
int cuMemPoolGetAttribute(u64 pool, unsigned attribute, u64 *value) {
    return *value = attribute == 5 ? reserved[pool - 0x6001] : 0, 0;
}
int cuMemAllocAsync(u64 *at, u64 bytes, void *stream) {
    if (meanwhile) meanwhile();
    meanwhile = 0;
    reserved[current] += bytes;
    return *at = 0x300000000ULL + (u64)stream, 0;
}

#else

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

typedef unsigned long long u64;

static void *driver;
static u64 own;

#define CALL(name, ...) ((int (*)())dlsym(driver, #name))(__VA_ARGS__)

static void other_thread(void) { CALL(cuDeviceSetMemPool, 0, own); }

static u64 left(void) {
    u64 free = 0, total;
    CALL(cuMemGetInfo_v2, &free, &total);
    return free >> 20;
}

int main(void) {
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    u64 context, at;
    unsigned properties[22] = {1, 0, 1, 0};
    CALL(cuInit, 0);
    CALL(cuDevicePrimaryCtxRetain, &context, 0);
    CALL(cuMemPoolCreate, &own, properties);
    CALL(cuMemAllocAsync, &at, 32ULL << 20, (void *)0);
    u64 before = left();
    ((void (*)(void (*)(void)))dlsym(driver, "between"))(other_thread);
    CALL(cuMemAllocAsync, &at, 64ULL << 20, (void *)0);
    printf("%llu", before - left());
    CALL(cuMemAllocAsync, &at, 32ULL << 20, (void *)0);
    printf(" %llu\n", before - left());
    return 0;
}

#endif
