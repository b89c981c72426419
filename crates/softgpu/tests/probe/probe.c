/* Asks a CUDA driver what it answers, and prints one line per question.
 *
 * usage: probe LIBCUDA LIBNVML
 *
 * The same program was run on a real card (answers-h200.txt beside this file) and is run by the
 * tests on the software driver: the two outputs are compared line by line. It links neither
 * library. Each section runs in a process of its own, because some of them poison their context.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long long u64;
typedef u64 ptr;
typedef void *obj;

typedef struct { int type, id; } location;
typedef struct {
  int type, handle_types;
  location where;
  void *win32;
  struct { unsigned char compression, rdma; unsigned short usage; unsigned char reserved[4]; } flags;
} prop;
typedef struct { location where; int flags; } access_desc;

static void *cuda, *nvml;
#define F(name, ...) (((int (*)(__VA_ARGS__))sym(cuda, #name)))
#define N(name, ...) (((int (*)(__VA_ARGS__))sym(nvml, #name)))
static void *sym(void *lib, const char *name) {
  void *p = dlsym(lib, name);
  if (!p) { printf("MISSING %s\n", name); exit(3); }
  return p;
}
#define ASK(label, call) do { int rc_ = (call); printf("%-58s %d\n", label, rc_); fflush(stdout); } while (0)
#define SAY(label, value) do { printf("%-58s = %lld\n", label, (long long)(value)); fflush(stdout); } while (0)

#define M (2ull << 20)
static prop device_prop(int handle_types) {
  prop p; memset(&p, 0, sizeof p);
  p.type = 1; p.handle_types = handle_types; p.where.type = 1; p.where.id = 0;
  return p;
}
static int create(u64 *h, size_t bytes, int types) {
  prop p = device_prop(types);
  return F(cuMemCreate, u64 *, size_t, const prop *, u64)(h, bytes, &p, 0);
}
static int reserve(ptr *a, size_t bytes) { return F(cuMemAddressReserve, ptr *, size_t, size_t, ptr, u64)(a, bytes, 0, 0, 0); }
static int map(ptr a, size_t bytes, size_t off, u64 h) { return F(cuMemMap, ptr, size_t, size_t, u64, u64)(a, bytes, off, h, 0); }
static int unmap(ptr a, size_t bytes) { return F(cuMemUnmap, ptr, size_t)(a, bytes); }
static int release(u64 h) { return F(cuMemRelease, u64)(h); }
static int unreserve(ptr a, size_t bytes) { return F(cuMemAddressFree, ptr, size_t)(a, bytes); }
static int grant(ptr a, size_t bytes, int flags) {
  access_desc d = {{1, 0}, flags};
  return F(cuMemSetAccess, ptr, size_t, const access_desc *, size_t)(a, bytes, &d, 1);
}
static int get_access(u64 *flags, ptr a) {
  location l = {1, 0};
  *flags = 77;
  return F(cuMemGetAccess, u64 *, const location *, ptr)(flags, &l, a);
}
static int export_fd(int *fd, u64 h) { *fd = -1; return F(cuMemExportToShareableHandle, void *, u64, int, u64)(fd, h, 1, 0); }
static int import_fd(u64 *h, int fd) { return F(cuMemImportFromShareableHandle, u64 *, void *, int)(h, (void *)(uintptr_t)fd, 1); }
static int retain(u64 *h, ptr a) { return F(cuMemRetainAllocationHandle, u64 *, void *)(h, (void *)a); }
static int htod(ptr d, const void *s, size_t n) { return F(cuMemcpyHtoD_v2, ptr, const void *, size_t)(d, s, n); }
static int dtoh(void *d, ptr s, size_t n) { return F(cuMemcpyDtoH_v2, void *, ptr, size_t)(d, s, n); }
static int dtod(ptr d, ptr s, size_t n) { return F(cuMemcpyDtoD_v2, ptr, ptr, size_t)(d, s, n); }
static int set8(ptr d, unsigned char v, size_t n) { return F(cuMemsetD8_v2, ptr, unsigned char, size_t)(d, v, n); }
static int sync_all(void) { return F(cuCtxSynchronize, void)(); }
static int init(void) { return F(cuInit, unsigned)(0); }
static obj context(void) {
  obj c = 0;
  if (F(cuDevicePrimaryCtxRetain, obj *, int)(&c, 0)) exit(4);
  if (F(cuCtxSetCurrent, obj)(c)) exit(4);
  return c;
}
static ptr mapped(size_t bytes, int flags, u64 *handle) {
  ptr a; u64 h;
  if (create(&h, bytes, 1) || reserve(&a, bytes) || map(a, bytes, 0, h)) exit(5);
  if (flags && grant(a, bytes, flags)) exit(5);
  if (handle) *handle = h;
  return a;
}

static void before_init(void) {
  int i; u64 h; ptr a; obj c; size_t s, s2; const char *t = 0; char name[64]; prop p = device_prop(0);
  ASK("cuDriverGetVersion", F(cuDriverGetVersion, int *)(&i));
  ASK("cuGetErrorName(2)", F(cuGetErrorName, int, const char **)(2, &t));
  printf("%-58s = %s\n", "name of 2", t ? t : "(null)");
  ASK("cuGetErrorString(2)", F(cuGetErrorString, int, const char **)(2, &t));
  printf("%-58s = %s\n", "text of 2", t ? t : "(null)");
  t = "x"; ASK("cuGetErrorName(123456)", F(cuGetErrorName, int, const char **)(123456, &t));
  SAY("name of 123456 is null", t == 0);
  ASK("cuDeviceGet", F(cuDeviceGet, int *, int)(&i, 0));
  ASK("cuDeviceGetCount", F(cuDeviceGetCount, int *)(&i));
  ASK("cuDeviceGetName", F(cuDeviceGetName, char *, int, int)(name, 64, 0));
  ASK("cuCtxGetCurrent", F(cuCtxGetCurrent, obj *)(&c));
  ASK("cuCtxSetCurrent(null)", F(cuCtxSetCurrent, obj)(0));
  ASK("cuMemCreate", create(&h, M, 0));
  ASK("cuMemAddressReserve", reserve(&a, M));
  ASK("cuMemGetInfo", F(cuMemGetInfo_v2, size_t *, size_t *)(&s, &s2));
  ASK("cuMemAlloc", F(cuMemAlloc_v2, ptr *, size_t)(&a, 100));
  ASK("cuMemFree(0)", F(cuMemFree_v2, ptr)(0));
  ASK("cuCtxSynchronize", sync_all());
  ASK("granularity", F(cuMemGetAllocationGranularity, size_t *, const prop *, int)(&s, &p, 0));
  ASK("cuMemcpyHtoD", htod(0x1000, name, 8));
  ASK("cuInit(1)", F(cuInit, unsigned)(1));
  ASK("cuInit(0)", init());
  ASK("cuInit(0) again", init());
}

static void lookups(void) {
  typedef int (*gpa)(const char *, void **, int, u64, int *);
  gpa get = (gpa)sym(cuda, "cuGetProcAddress_v2");
  void *f = (void *)1; int st = 9;
  ASK("lookup before init", get("cuMemAlloc", &f, 12000, 0, &st)); SAY("status", st); SAY("found", f != 0);
  init();
  ASK("lookup cuMemAlloc 12000", get("cuMemAlloc", &f, 12000, 0, &st)); SAY("status", st);
  SAY("is cuMemAlloc_v2", f == dlsym(cuda, "cuMemAlloc_v2"));
  f = (void *)1; st = 9; ASK("lookup cuMemAlloc_v2", get("cuMemAlloc_v2", &f, 12000, 0, &st)); SAY("status", st); SAY("null", f == 0);
  f = (void *)1; st = 9; ASK("lookup cuNoSuchThing", get("cuNoSuchThing", &f, 12000, 0, &st)); SAY("status", st); SAY("null", f == 0);
  f = (void *)1; st = 9; ASK("lookup cuMemCreate for 9000", get("cuMemCreate", &f, 9000, 0, &st)); SAY("status", st); SAY("null", f == 0);
  f = (void *)1; st = 9; ASK("lookup cuMemCreate for 10020", get("cuMemCreate", &f, 10020, 0, &st)); SAY("status", st); SAY("null", f == 0);
  f = (void *)1; st = 9; ASK("lookup cuMemCreate for 99000", get("cuMemCreate", &f, 99000, 0, &st)); SAY("status", st); SAY("null", f == 0);
  f = (void *)1; st = 9; ASK("lookup empty name", get("", &f, 12000, 0, &st)); SAY("status", st);
  ASK("lookup null status", get("cuInit", &f, 12000, 0, 0)); SAY("is cuInit", f == dlsym(cuda, "cuInit"));
  ASK("lookup null status, unknown", get("cuNoSuchThing", &f, 12000, 0, 0));
  ASK("lookup flag legacy", get("cuMemcpyHtoD", &f, 12000, 1, &st)); SAY("status", st); SAY("is _v2", f == dlsym(cuda, "cuMemcpyHtoD_v2"));
  ASK("lookup flag per thread", get("cuMemcpyHtoD", &f, 12000, 2, &st)); SAY("status", st); SAY("is _v2", f == dlsym(cuda, "cuMemcpyHtoD_v2"));
  ASK("lookup flag 64", get("cuMemcpyHtoD", &f, 12000, 64, &st)); SAY("status", st);
  ASK("lookup cuGetProcAddress 12000", get("cuGetProcAddress", &f, 12000, 0, &st)); SAY("is _v2", f == dlsym(cuda, "cuGetProcAddress_v2"));
  ASK("lookup cuGetProcAddress 11030", get("cuGetProcAddress", &f, 11030, 0, &st)); SAY("is v1", f == dlsym(cuda, "cuGetProcAddress"));
  ASK("lookup cuDeviceGetUuid 11040", get("cuDeviceGetUuid", &f, 11040, 0, &st)); SAY("is _v2", f == dlsym(cuda, "cuDeviceGetUuid_v2"));
  ASK("lookup cuDeviceGetUuid 9020", get("cuDeviceGetUuid", &f, 9020, 0, &st)); SAY("is v1", f == dlsym(cuda, "cuDeviceGetUuid"));
  ASK("lookup cuStreamDestroy 12000", get("cuStreamDestroy", &f, 12000, 0, &st)); SAY("is _v2", f == dlsym(cuda, "cuStreamDestroy_v2"));
  ASK("lookup cuMemsetD8Async 12000", get("cuMemsetD8Async", &f, 12000, 0, &st)); SAY("is itself", f == dlsym(cuda, "cuMemsetD8Async"));
}

static void devices(void) {
  init();
  int d = 9, n, v; size_t s; char name[64];
  ASK("cuDeviceGet(0)", F(cuDeviceGet, int *, int)(&d, 0)); SAY("device", d);
  ASK("cuDeviceGet(-1)", F(cuDeviceGet, int *, int)(&d, -1));
  ASK("cuDeviceGet(99)", F(cuDeviceGet, int *, int)(&d, 99));
  ASK("cuDeviceGet(null)", F(cuDeviceGet, int *, int)(0, 0));
  ASK("cuDeviceGetCount(null)", F(cuDeviceGetCount, int *)(0));
  ASK("cuDeviceGetCount", F(cuDeviceGetCount, int *)(&n));
  ASK("cuDeviceGetName", F(cuDeviceGetName, char *, int, int)(name, 64, 0));
  ASK("cuDeviceGetName bad device", F(cuDeviceGetName, char *, int, int)(name, 64, 99));
  memset(name, 'z', 64);
  ASK("cuDeviceGetName into 5", F(cuDeviceGetName, char *, int, int)(name, 5, 0)); printf("%-58s = %.6s\n", "name in 5", name);
  ASK("cuDeviceTotalMem bad device", F(cuDeviceTotalMem_v2, size_t *, int)(&s, 99));
  ASK("cuDeviceTotalMem null", F(cuDeviceTotalMem_v2, size_t *, int)(0, 0));
  ASK("attribute 0", F(cuDeviceGetAttribute, int *, int, int)(&v, 0, 0));
  ASK("attribute 9999", F(cuDeviceGetAttribute, int *, int, int)(&v, 9999, 0));
  ASK("attribute bad device", F(cuDeviceGetAttribute, int *, int, int)(&v, 1, 99));
  ASK("attribute null", F(cuDeviceGetAttribute, int *, int, int)(0, 1, 0));
  for (int i = 1; i < 145; i++) {
    v = -1;
    int rc = F(cuDeviceGetAttribute, int *, int, int)(&v, i, 0);
    printf("attribute %-3d %d = %d\n", i, rc, v);
  }
  memset(name, 'z', 64);
  ASK("bus id", F(cuDeviceGetPCIBusId, char *, int, int)(name, 64, 0)); SAY("length", strlen(name)); SAY("separators", name[4] == ':' && name[7] == ':' && name[10] == '.');
  ASK("bus id into 5", F(cuDeviceGetPCIBusId, char *, int, int)(name, 5, 0));
  char u[16];
  ASK("uuid null", F(cuDeviceGetUuid_v2, void *, int)(0, 0));
  ASK("uuid", F(cuDeviceGetUuid_v2, void *, int)(u, 0));
  ASK("uuid bad device", F(cuDeviceGetUuid_v2, void *, int)(u, 99));
}

static void contexts(void) {
  init();
  obj c = (obj)1, c2, x; int active = 9, d; unsigned flags = 9; size_t s, s2; int mode = 1; u64 h; ptr a; obj st;
  ASK("current", F(cuCtxGetCurrent, obj *)(&c)); SAY("is null", c == 0);
  ASK("current into null", F(cuCtxGetCurrent, obj *)(0));
  ASK("pop empty", F(cuCtxPopCurrent_v2, obj *)(&c));
  ASK("device of none", F(cuCtxGetDevice, int *)(&d));
  ASK("synchronize none", sync_all());
  ASK("push null", F(cuCtxPushCurrent_v2, obj)(0));
  ASK("set null", F(cuCtxSetCurrent, obj)(0));
  ASK("release unretained", F(cuDevicePrimaryCtxRelease_v2, int)(0));
  ASK("state", F(cuDevicePrimaryCtxGetState, int, unsigned *, int *)(0, &flags, &active)); SAY("active", active); SAY("flags", flags);
  ASK("state bad device", F(cuDevicePrimaryCtxGetState, int, unsigned *, int *)(99, &flags, &active));
  ASK("mem info without context", F(cuMemGetInfo_v2, size_t *, size_t *)(&s, &s2));
  ASK("alloc without context", F(cuMemAlloc_v2, ptr *, size_t)(&a, 100));
  ASK("host alloc without context", F(cuMemHostAlloc, void **, size_t, unsigned)((void **)&x, 100, 0));
  ASK("stream without context", F(cuStreamCreate, obj *, unsigned)(&st, 0));
  ASK("event without context", F(cuEventCreate, obj *, unsigned)(&st, 0));
  ASK("module without context", F(cuModuleLoadData, obj *, const void *)(&st, ".version 7.0\n.target sm_70\n.address_size 64\n"));
  ASK("stream synchronize null without context", F(cuStreamSynchronize, obj)(0));
  ASK("capture mode without context", F(cuThreadExchangeStreamCaptureMode, int *)(&mode)); SAY("was", mode);
  mode = 7; ASK("capture mode 7", F(cuThreadExchangeStreamCaptureMode, int *)(&mode));
  mode = 2; ASK("capture mode 2", F(cuThreadExchangeStreamCaptureMode, int *)(&mode)); SAY("was", mode);
  ASK("create without context", create(&h, M, 1));
  ASK("reserve without context", reserve(&a, M));
  ASK("map without context", map(a, M, 0, h));
  ASK("grant without context", grant(a, M, 3));
  ASK("set without context", set8(a, 1, 8));
  ASK("copy without context", htod(a, &h, 8));
  ASK("free without context", F(cuMemFree_v2, ptr)(a));
  ASK("free host without context", F(cuMemFreeHost, void *)(&h));
  ASK("pointer attribute without context", F(cuPointerGetAttribute, void *, int, ptr)(&d, 2, a));
  ASK("unmap without context", unmap(a, M));
  ASK("unreserve without context", unreserve(a, M));
  ASK("release without context", release(h));
  ASK("retain context", F(cuDevicePrimaryCtxRetain, obj *, int)(&c, 0));
  ASK("retain context bad device", F(cuDevicePrimaryCtxRetain, obj *, int)(&c2, 99));
  ASK("retain context null", F(cuDevicePrimaryCtxRetain, obj *, int)(0, 0));
  ASK("retain context again", F(cuDevicePrimaryCtxRetain, obj *, int)(&c2, 0)); SAY("same", c == c2);
  ASK("state", F(cuDevicePrimaryCtxGetState, int, unsigned *, int *)(0, &flags, &active)); SAY("active", active);
  ASK("current after retain", F(cuCtxGetCurrent, obj *)(&x)); SAY("is null", x == 0);
  ASK("push", F(cuCtxPushCurrent_v2, obj)(c));
  ASK("push again", F(cuCtxPushCurrent_v2, obj)(c));
  ASK("pop", F(cuCtxPopCurrent_v2, obj *)(&x)); SAY("same", x == c);
  ASK("device", F(cuCtxGetDevice, int *)(&d)); SAY("device", d);
  ASK("set null", F(cuCtxSetCurrent, obj)(0));
  ASK("pop after set null", F(cuCtxPopCurrent_v2, obj *)(&x));
  ASK("set", F(cuCtxSetCurrent, obj)(c));
  ASK("pop into null", F(cuCtxPopCurrent_v2, obj *)(0));
  ASK("pop empty", F(cuCtxPopCurrent_v2, obj *)(&x));
  ASK("set", F(cuCtxSetCurrent, obj)(c));
  ASK("release context", F(cuDevicePrimaryCtxRelease_v2, int)(0));
  ASK("synchronize", sync_all());
  ASK("release context again", F(cuDevicePrimaryCtxRelease_v2, int)(0));
  ASK("current after release", F(cuCtxGetCurrent, obj *)(&x)); SAY("same", x == c);
  ASK("synchronize after release", sync_all());
  ASK("alloc after release", F(cuMemAlloc_v2, ptr *, size_t)(&a, 100));
  ASK("release context too often", F(cuDevicePrimaryCtxRelease_v2, int)(0));
}

static void creation(void) {
  init();
  u64 h = 0, h2 = 0; prop p; size_t s = 0; int fd = -1, fd2 = -1;
  int (*raw)(u64 *, size_t, const prop *, u64) = (int (*)(u64 *, size_t, const prop *, u64))sym(cuda, "cuMemCreate");
  p = device_prop(1);
  ASK("size 0", raw(&h, 0, &p, 0));
  ASK("size 1", raw(&h, 1, &p, 0));
  ASK("size 3 MiB", raw(&h, 3 << 20, &p, 0));
  ASK("flags 1", raw(&h, M, &p, 1));
  ASK("null handle", raw(0, M, &p, 0));
  ASK("null prop", raw(&h, M, 0, 0));
  ASK("too large", raw(&h, 1ull << 50, &p, 0));
  ASK("size -2M", raw(&h, -M, &p, 0));
  p.where.id = 99; ASK("device 99", raw(&h, M, &p, 0));
  p.where.id = -1; ASK("device -1", raw(&h, M, &p, 0));
  p = device_prop(1); p.where.type = 0; ASK("location invalid", raw(&h, M, &p, 0));
  p = device_prop(1); p.where.type = 77; ASK("location 77", raw(&h, M, &p, 0));
  p = device_prop(1); p.type = 0; ASK("type invalid", raw(&h, M, &p, 0));
  p = device_prop(1); p.type = 77; ASK("type 77", raw(&h, M, &p, 0));
  p = device_prop(2); ASK("handle type win32", raw(&h, M, &p, 0));
  p = device_prop(64); ASK("handle type 64", raw(&h, M, &p, 0));
  p = device_prop(0); ASK("handle type none", raw(&h, M, &p, 0));
  ASK("export unexportable", export_fd(&fd, h));
  memset(&p, 9, sizeof p);
  ASK("properties", F(cuMemGetAllocationPropertiesFromHandle, prop *, u64)(&p, h));
  SAY("type", p.type); SAY("handle types", p.handle_types); SAY("where", p.where.type); SAY("id", p.where.id);
  SAY("compression", p.flags.compression); SAY("rdma", p.flags.rdma); SAY("usage", p.flags.usage);
  ASK("release", release(h));
  ASK("release again", release(h));
  ASK("release 0", release(0));
  ASK("create", create(&h, M, 1));
  ASK("export", export_fd(&fd, h)); SAY("fd", fd >= 0); SAY("cloexec", fcntl(fd, F_GETFD));
  ASK("export again", export_fd(&fd2, h)); SAY("other fd", fd2 != fd);
  ASK("export type none", F(cuMemExportToShareableHandle, void *, u64, int, u64)(&fd2, h, 0, 0));
  ASK("export type win32", F(cuMemExportToShareableHandle, void *, u64, int, u64)(&fd2, h, 2, 0));
  ASK("export type fabric", F(cuMemExportToShareableHandle, void *, u64, int, u64)(&fd2, h, 8, 0));
  ASK("export flags 1", F(cuMemExportToShareableHandle, void *, u64, int, u64)(&fd2, h, 1, 1));
  ASK("export null", F(cuMemExportToShareableHandle, void *, u64, int, u64)(0, h, 1, 0));
  ASK("import of own", import_fd(&h2, fd)); SAY("same handle", h == h2);
  ASK("import null", import_fd(0, fd));
  ASK("import type none", F(cuMemImportFromShareableHandle, u64 *, void *, int)(&h2, (void *)(uintptr_t)fd, 0));
  ASK("import fd -1", import_fd(&h2, -1));
  ASK("import fd 999", import_fd(&h2, 999));
  int junk = open("/dev/null", O_RDWR);
  ASK("import /dev/null", import_fd(&h2, junk));
  int pair[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  ASK("import socket", import_fd(&h2, pair[0]));
  int mem = memfd_create("x", 0); if (ftruncate(mem, M)) exit(6);
  ASK("import memfd", import_fd(&h2, mem));
  ASK("export imported of own", export_fd(&fd2, h2));
  ASK("release original", release(h));
  ASK("properties of import of own", F(cuMemGetAllocationPropertiesFromHandle, prop *, u64)(&p, h2)); SAY("handle types", p.handle_types); SAY("id", p.where.id);
  ASK("release import", release(h2));
  ASK("import after all released", import_fd(&h2, fd));
  ASK("export it", export_fd(&fd2, h2));
  ASK("release it", release(h2));
  p = device_prop(1);
  ASK("granularity minimum", F(cuMemGetAllocationGranularity, size_t *, const prop *, int)(&s, &p, 0)); SAY("bytes", s);
  ASK("granularity recommended", F(cuMemGetAllocationGranularity, size_t *, const prop *, int)(&s, &p, 1)); SAY("bytes", s);
  ASK("granularity option 2", F(cuMemGetAllocationGranularity, size_t *, const prop *, int)(&s, &p, 2));
  ASK("granularity null", F(cuMemGetAllocationGranularity, size_t *, const prop *, int)(0, &p, 0));
  p.where.id = 99; ASK("granularity device 99", F(cuMemGetAllocationGranularity, size_t *, const prop *, int)(&s, &p, 0));
}

static void reservations(void) {
  init();
  ptr a = 0, b = 0;
  int (*raw)(ptr *, size_t, size_t, ptr, u64) = (int (*)(ptr *, size_t, size_t, ptr, u64))sym(cuda, "cuMemAddressReserve");
  ASK("size 0", raw(&a, 0, 0, 0, 0));
  ASK("size 1", raw(&a, 1, 0, 0, 0));
  ASK("size 1 MiB", raw(&a, 1 << 20, 0, 0, 0));
  ASK("flags 1", raw(&a, M, 0, 0, 1));
  ASK("null", raw(0, M, 0, 0, 0));
  ASK("alignment 3", raw(&a, M, 3, 0, 0));
  ASK("alignment 4096", raw(&a, M, 4096, 0, 0)); SAY("2 MiB aligned", a % M == 0);
  ASK("alignment 3 MiB", raw(&a, M, 3 << 20, 0, 0));
  ASK("alignment 1 GiB", raw(&a, M, 1 << 30, 0, 0)); SAY("aligned", a % (1 << 30) == 0);
  ASK("64 GiB", raw(&a, 64ull << 30, 0, 0, 0));
  ASK("4 TiB", raw(&a, 4ull << 40, 0, 0, 0));
  ASK("2^60", raw(&a, 1ull << 60, 0, 0, 0));
  ASK("4 pages", raw(&a, 4 * M, 0, 0, 0));
  ASK("free first half", unreserve(a, 2 * M));
  ASK("free second half", unreserve(a + 2 * M, 2 * M));
  ASK("free 0 bytes", unreserve(a, 0));
  ASK("free all", unreserve(a, 4 * M));
  ASK("free again", unreserve(a, 4 * M));
  ASK("free null", unreserve(0, M));
  ASK("hint", raw(&b, 4 * M, 0, a, 0)); SAY("hint taken", a == b);
  ASK("hint in use", raw(&a, 4 * M, 0, b, 0)); SAY("other address", a != b);
  ASK("hint unaligned", raw(&a, M, 0, 0x700000001000, 0)); SAY("aligned", a % M == 0);
}

static void mappings(void) {
  init(); context();
  ptr a, b; u64 h, h2, f = 0; char *host = calloc(1, 8 * M);
  create(&h, 2 * M, 1); create(&h2, 2 * M, 1); reserve(&a, 8 * M);
  ASK("partial", map(a, M, 0, h));
  ASK("offset", map(a, M, M, h));
  ASK("offset with whole size", map(a, 2 * M, M, h));
  ASK("larger than handle", map(a, 4 * M, 0, h));
  ASK("size 0", map(a, 0, 0, h));
  ASK("unaligned address", map(a + 4096, 2 * M, 0, h));
  ASK("unaligned size", map(a, M + 4096, 0, h));
  ASK("unreserved", map(0x1000000, 2 * M, 0, h));
  ASK("flags 1", F(cuMemMap, ptr, size_t, size_t, u64, u64)(a, 2 * M, 0, h, 1));
  ASK("unmap nothing", unmap(a, 2 * M));
  ASK("grant nothing", grant(a, 2 * M, 3));
  ASK("access of nothing", get_access(&f, a)); SAY("flags", f);
  ASK("access of unreserved", get_access(&f, 0x1000000)); SAY("flags", f);
  ASK("map", map(a, 2 * M, 0, h));
  ASK("map over it", map(a, 2 * M, 0, h2));
  ASK("map overlapping", map(a + M, 2 * M, 0, h2));
  ASK("access before grant", get_access(&f, a)); SAY("flags", f);
  ASK("set before grant", set8(a, 1, 8));
  ASK("copy before grant", htod(a, host, 8));
  ASK("copy out before grant", dtoh(host, a, 8));
  ASK("synchronize", sync_all());
  ASK("grant flags 2", grant(a, 2 * M, 2));
  ASK("grant flags 7", grant(a, 2 * M, 7));
  ASK("grant count 0", F(cuMemSetAccess, ptr, size_t, const access_desc *, size_t)(a, 2 * M, 0, 0));
  { access_desc d = {{1, 99}, 3}; ASK("grant device 99", F(cuMemSetAccess, ptr, size_t, const access_desc *, size_t)(a, 2 * M, &d, 1)); }
  { access_desc d = {{0, 0}, 3}; ASK("grant location 0", F(cuMemSetAccess, ptr, size_t, const access_desc *, size_t)(a, 2 * M, &d, 1)); }
  ASK("grant half", grant(a, M, 3));
  ASK("access of half", get_access(&f, a)); SAY("flags", f);
  ASK("access of other half", get_access(&f, a + M)); SAY("flags", f);
  ASK("grant unaligned", grant(a, 4096, 3));
  ASK("grant too much", grant(a, 4 * M, 3));
  ASK("grant", grant(a, 2 * M, 3));
  ASK("access", get_access(&f, a + 100)); SAY("flags", f);
  ASK("set", set8(a, 7, 2 * M));
  ASK("set over the end", set8(a, 7, 2 * M + 1));
  ASK("copy over the end", htod(a + 2 * M - 4, host, 8));
  ASK("copy out over the end", dtoh(host, a + 2 * M - 4, 8));
  ASK("synchronize", sync_all());
  ASK("map second", map(a + 2 * M, 2 * M, 0, h2));
  ASK("set into second before grant", set8(a, 7, 2 * M + 1));
  ASK("synchronize", sync_all());
  ASK("grant both", grant(a, 4 * M, 3));
  ASK("set both", set8(a, 7, 4 * M));
  ASK("copy across", dtoh(host, a + M, 2 * M)); SAY("byte", host[2 * M - 1]);
  ASK("device copy overlapping", dtod(a, a + M, 2 * M));
  ASK("map first elsewhere too", (reserve(&b, 2 * M), map(b, 2 * M, 0, h)));
  ASK("grant read-only", grant(b, 2 * M, 1));
  ASK("access", get_access(&f, b)); SAY("flags", f);
  ASK("set read-only", set8(b, 1, 8));
  ASK("set32 read-only", F(cuMemsetD32_v2, ptr, unsigned, size_t)(b, 1, 8));
  ASK("set async read-only", F(cuMemsetD8Async, ptr, unsigned char, size_t, obj)(b, 1, 8, 0));
  ASK("copy into read-only", htod(b, host, 8));
  ASK("copy async into read-only", F(cuMemcpyHtoDAsync_v2, ptr, const void *, size_t, obj)(b, host, 8, 0));
  ASK("device copy into read-only", dtod(b, a, 8));
  ASK("copy out of read-only", dtoh(host, b, 8)); SAY("byte", host[0]);
  ASK("device copy out of read-only", dtod(a, b, 8));
  ASK("synchronize", sync_all());
  ASK("grant none", grant(b, 2 * M, 0)); ASK("access", get_access(&f, b)); SAY("flags", f);
  ASK("copy out of none", dtoh(host, b, 8));
  ASK("grant again", grant(b, 2 * M, 3));
  ASK("unmap half", unmap(a, M));
  ASK("unmap second half", unmap(a + M, M));
  ASK("unmap one and a half", unmap(a, 3 * M));
  ASK("unmap unaligned", unmap(a + 4096, 2 * M));
  ASK("unmap size 0", unmap(a, 0));
  ASK("free reservation while mapped", unreserve(a, 8 * M));
  ASK("release while mapped", release(h2));
  ASK("copy after release", dtoh(host, a + 2 * M, 8));
  ASK("unmap with gap at the end", unmap(a, 8 * M));
  ASK("access afterwards", get_access(&f, a)); SAY("flags", f);
  ASK("unmap both", unmap(a, 4 * M));
  ASK("unmap again", unmap(a, 4 * M));
  ASK("copy from unmapped", dtoh(host, a, 8));
  ASK("set unmapped", set8(a, 1, 8));
  ASK("set async unmapped", F(cuMemsetD8Async, ptr, unsigned char, size_t, obj)(a, 1, 8, 0));
  ASK("copy async to unmapped", F(cuMemcpyHtoDAsync_v2, ptr, const void *, size_t, obj)(a, host, 8, 0));
  ASK("copy 0 bytes to unmapped", htod(a, host, 0));
  ASK("set 0 bytes", set8(a, 1, 0));
  ASK("synchronize", sync_all());
  ASK("copy from the second mapping", dtoh(host, b, 8)); SAY("byte", host[0]);
  ASK("free reservation", unreserve(a, 8 * M));
  /* two handles with a hole between them */
  create(&h2, 2 * M, 1); reserve(&a, 8 * M); map(a, 2 * M, 0, h2); map(a + 4 * M, 2 * M, 0, h2);
  ASK("grant with a hole", grant(a, 6 * M, 3));
  ASK("access first", get_access(&f, a)); SAY("flags", f);
  ASK("unmap with a hole", unmap(a, 6 * M));
  ASK("access first", get_access(&f, a)); SAY("flags", f);
}

static void sharing(void) {
  int pair[2], fd = -1; u64 h, h2, h3; ptr a, b; prop p; char byte = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) exit(6);
  pid_t child = fork();
  char control[CMSG_SPACE(sizeof(int))]; char c; struct iovec v = {&c, 1};
  struct msghdr m; memset(&m, 0, sizeof m); m.msg_iov = &v; m.msg_iovlen = 1; m.msg_control = control; m.msg_controllen = sizeof control;
  if (child == 0) {
    init(); context(); a = mapped(2 * M, 3, &h); set8(a, 42, 2 * M); sync_all();
    if (export_fd(&fd, h)) exit(7);
    struct cmsghdr *k = CMSG_FIRSTHDR(&m); k->cmsg_level = SOL_SOCKET; k->cmsg_type = SCM_RIGHTS; k->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(k), &fd, sizeof fd); sendmsg(pair[0], &m, 0); pause(); _exit(0);
  }
  recvmsg(pair[1], &m, 0); memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
  kill(child, 9); waitpid(child, 0, 0);
  init();
  ASK("import from the dead", import_fd(&h, fd));
  ASK("import again", import_fd(&h2, fd)); SAY("same handle", h == h2);
  ASK("export again", export_fd(&(int){0}, h));
  ASK("properties", F(cuMemGetAllocationPropertiesFromHandle, prop *, u64)(&p, h)); SAY("handle types", p.handle_types); SAY("id", p.where.id);
  context();
  reserve(&a, 4 * M);
  ASK("map partial", map(a, M, 0, h));
  ASK("map", map(a, 2 * M, 0, h));
  ASK("grant read-only", grant(a, 2 * M, 1));
  ASK("read", dtoh(&byte, a + 100, 1)); SAY("byte", byte);
  ASK("write", set8(a, 1, 1));
  ASK("retain", retain(&h3, a + 4096)); SAY("same handle", h3 == h);
  ASK("export retained", export_fd(&(int){0}, h3));
  ASK("release", release(h)); ASK("release second", release(h2)); ASK("release retained", release(h3)); ASK("release too often", release(h));
  close(fd);
  ASK("read after all released", dtoh(&byte, a + 100, 1)); SAY("byte", byte);
  ASK("retain again", retain(&h3, a));
  ASK("unmap", unmap(a, 2 * M));
  ASK("retain unmapped", retain(&h, a));
  ASK("map the retained one", map(a + 2 * M, 2 * M, 0, h3));
  ASK("release", release(h3));
  ASK("own: make", (b = mapped(2 * M, 3, &h)) == 0);
  ASK("own: retain", retain(&h2, b + M)); SAY("same handle", h2 == h);
  ASK("own: export retained", export_fd(&fd, h2));
  ASK("own: release", release(h));
  ASK("own: release retained", release(h2));
  ASK("own: release too often", release(h2));
  ASK("own: retain again", retain(&h2, b)); 
  ASK("own: export after release", export_fd(&fd, h2));
  ASK("linear: alloc", F(cuMemAlloc_v2, ptr *, size_t)(&a, M));
  ASK("linear: retain", retain(&h, a));
  ASK("retain host pointer", retain(&h, (ptr)&byte));
  ASK("retain null pointer", retain(&h, 0));
}

static void linear(void) {
  init(); context();
  ptr a = 0; char buf[64]; void *hp = 0; int v; ptr dp; unsigned type = 9; obj ctx;
  ASK("alloc 0", F(cuMemAlloc_v2, ptr *, size_t)(&a, 0));
  ASK("alloc null", F(cuMemAlloc_v2, ptr *, size_t)(0, 10));
  ASK("alloc too large", F(cuMemAlloc_v2, ptr *, size_t)(&a, 1ull << 50));
  ASK("alloc 100", F(cuMemAlloc_v2, ptr *, size_t)(&a, 100)); SAY("256 aligned", a % 256 == 0);
  ASK("set all", set8(a, 5, 100));
  ASK("set too much", set8(a, 5, 101));
  ASK("copy too much", dtoh(buf, a + 90, 11));
  ASK("pointer type", F(cuPointerGetAttribute, void *, int, ptr)(&type, 2, a)); SAY("type", type);
  ASK("pointer context", F(cuPointerGetAttribute, void *, int, ptr)(&ctx, 1, a)); SAY("has context", ctx != 0);
  ASK("pointer device pointer", F(cuPointerGetAttribute, void *, int, ptr)(&dp, 3, a + 8)); SAY("offset", dp - a);
  ASK("pointer host pointer", F(cuPointerGetAttribute, void *, int, ptr)(&hp, 4, a));
  ASK("pointer ordinal", F(cuPointerGetAttribute, void *, int, ptr)(&v, 9, a)); SAY("ordinal", v);
  ASK("pointer range start", F(cuPointerGetAttribute, void *, int, ptr)(&dp, 11, a + 8)); SAY("offset", dp - a);
  { size_t s = 0; ASK("pointer range size", F(cuPointerGetAttribute, void *, int, ptr)(&s, 12, a + 8)); SAY("size", s); }
  { unsigned char m = 9; ASK("pointer mapped", F(cuPointerGetAttribute, void *, int, ptr)(&m, 13, a)); SAY("mapped", m); }
  ASK("pointer attribute 999", F(cuPointerGetAttribute, void *, int, ptr)(&v, 999, a));
  ASK("pointer of stack", F(cuPointerGetAttribute, void *, int, ptr)(&type, 2, (ptr)buf));
  ASK("ordinal of stack", F(cuPointerGetAttribute, void *, int, ptr)(&v, 9, (ptr)buf));
  ASK("pointer of null", F(cuPointerGetAttribute, void *, int, ptr)(&type, 2, 0));
  ASK("free inside", F(cuMemFree_v2, ptr)(a + 8));
  ASK("free", F(cuMemFree_v2, ptr)(a));
  ASK("free again", F(cuMemFree_v2, ptr)(a));
  ASK("free null", F(cuMemFree_v2, ptr)(0));
  ASK("free stack", F(cuMemFree_v2, ptr)((ptr)buf));
  ASK("set freed", set8(a, 5, 10));
  u64 h; a = mapped(2 * M, 3, &h);
  ASK("free mapped", F(cuMemFree_v2, ptr)(a));
  type = 9; ASK("mapped: type", F(cuPointerGetAttribute, void *, int, ptr)(&type, 2, a)); SAY("type", type);
  ctx = (obj)1; ASK("mapped: context", F(cuPointerGetAttribute, void *, int, ptr)(&ctx, 1, a)); SAY("has context", ctx != 0);
  ASK("mapped: ordinal", F(cuPointerGetAttribute, void *, int, ptr)(&v, 9, a)); SAY("ordinal", v);
  ASK("mapped: range start", F(cuPointerGetAttribute, void *, int, ptr)(&dp, 11, a + M)); SAY("offset", dp - a);
  { size_t s = 0; ASK("mapped: range size", F(cuPointerGetAttribute, void *, int, ptr)(&s, 12, a + M)); SAY("size", s); }
  { unsigned char m = 9; ASK("mapped: mapped", F(cuPointerGetAttribute, void *, int, ptr)(&m, 13, a)); SAY("mapped", m); }
  ASK("unmap", unmap(a, 2 * M));
  type = 9; ASK("reserved: type", F(cuPointerGetAttribute, void *, int, ptr)(&type, 2, a)); SAY("type", type);
  v = 9; ASK("reserved: ordinal", F(cuPointerGetAttribute, void *, int, ptr)(&v, 9, a)); SAY("ordinal", v);
  { unsigned char m = 9; ASK("reserved: mapped", F(cuPointerGetAttribute, void *, int, ptr)(&m, 13, a)); SAY("mapped", m); }
  ASK("host alloc 0", F(cuMemHostAlloc, void **, size_t, unsigned)(&hp, 0, 0));
  ASK("host alloc flags 64", F(cuMemHostAlloc, void **, size_t, unsigned)(&hp, 100, 64));
  ASK("host alloc null", F(cuMemHostAlloc, void **, size_t, unsigned)(0, 100, 0));
  ASK("host alloc", F(cuMemHostAlloc, void **, size_t, unsigned)(&hp, 100, 1)); SAY("aligned", (uintptr_t)hp % 512 == 0);
  type = 9; ASK("host: type", F(cuPointerGetAttribute, void *, int, ptr)(&type, 2, (ptr)hp)); SAY("type", type);
  { void *q = 0; ASK("host: host pointer", F(cuPointerGetAttribute, void *, int, ptr)(&q, 4, (ptr)hp)); SAY("same", q == hp); }
  dp = 0; ASK("host: device pointer", F(cuPointerGetAttribute, void *, int, ptr)(&dp, 3, (ptr)hp)); SAY("same", dp == (ptr)hp);
  ASK("host free inside", F(cuMemFreeHost, void *)((char *)hp + 8));
  ASK("host free", F(cuMemFreeHost, void *)(hp));
  ASK("host free again", F(cuMemFreeHost, void *)(hp));
  ASK("host free null", F(cuMemFreeHost, void *)(0));
  char *page = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASK("register null", F(cuMemHostRegister_v2, void *, size_t, unsigned)(0, 4096, 0));
  ASK("register 0", F(cuMemHostRegister_v2, void *, size_t, unsigned)(page, 0, 0));
  ASK("register flags 64", F(cuMemHostRegister_v2, void *, size_t, unsigned)(page, 4096, 64));
  ASK("register", F(cuMemHostRegister_v2, void *, size_t, unsigned)(page, 8192, 0));
  ASK("register again", F(cuMemHostRegister_v2, void *, size_t, unsigned)(page, 8192, 0));
  ASK("register overlapping", F(cuMemHostRegister_v2, void *, size_t, unsigned)(page + 4096, 8192, 0));
  ASK("unregister inside", F(cuMemHostUnregister, void *)(page + 4096));
  ASK("unregister", F(cuMemHostUnregister, void *)(page));
  ASK("unregister again", F(cuMemHostUnregister, void *)(page));
  ASK("unregister null", F(cuMemHostUnregister, void *)(0));
  ASK("copy to null", htod(0, buf, 8));
  ASK("copy from null", dtoh(buf, 0, 8));
  ASK("copy null host", (F(cuMemAlloc_v2, ptr *, size_t)(&a, 100), htod(a, 0, 8)));
  ASK("set32 unaligned", F(cuMemsetD32_v2, ptr, unsigned, size_t)(a + 1, 1, 2));
  ASK("set32", F(cuMemsetD32_v2, ptr, unsigned, size_t)(a + 4, 0x01020304, 2));
  ASK("copy out", dtoh(buf, a + 4, 8)); SAY("byte 0", buf[0]); SAY("byte 7", buf[7]);
  ASK("host pointer as device", htod((ptr)buf, buf + 32, 8));
  ASK("device pointer as host", dtoh((void *)a, a + 32, 8));
}

static void streams(void) {
  init(); context();
  obj s = 0, e = 0, e2 = 0; float ms = 0;
  ASK("stream flags 2", F(cuStreamCreate, obj *, unsigned)(&s, 2));
  ASK("stream null", F(cuStreamCreate, obj *, unsigned)(0, 0));
  ASK("stream", F(cuStreamCreate, obj *, unsigned)(&s, 1));
  ASK("stream query", F(cuStreamQuery, obj)(s));
  ASK("stream query null", F(cuStreamQuery, obj)(0));
  ASK("stream query legacy", F(cuStreamQuery, obj)((obj)1));
  ASK("stream synchronize", F(cuStreamSynchronize, obj)(s));
  ASK("stream synchronize per thread", F(cuStreamSynchronize, obj)((obj)2));
  ASK("event flags 64", F(cuEventCreate, obj *, unsigned)(&e, 64));
  ASK("event null", F(cuEventCreate, obj *, unsigned)(0, 0));
  ASK("event interprocess with timing", F(cuEventCreate, obj *, unsigned)(&e, 4));
  ASK("event", F(cuEventCreate, obj *, unsigned)(&e, 0));
  ASK("second event", F(cuEventCreate, obj *, unsigned)(&e2, 2));
  ASK("query unrecorded", F(cuEventQuery, obj)(e));
  ASK("synchronize unrecorded", F(cuEventSynchronize, obj)(e));
  ASK("wait for unrecorded", F(cuStreamWaitEvent, obj, obj, unsigned)(s, e, 0));
  ASK("wait flags 2", F(cuStreamWaitEvent, obj, obj, unsigned)(s, e, 2));
  ASK("wait for null", F(cuStreamWaitEvent, obj, obj, unsigned)(s, 0, 0));
  ASK("elapsed unrecorded", F(cuEventElapsedTime, float *, obj, obj)(&ms, e, e));
  ASK("record", F(cuEventRecord, obj, obj)(e, s));
  ASK("record null", F(cuEventRecord, obj, obj)(0, s));
  ASK("record second", F(cuEventRecord, obj, obj)(e2, s));
  ASK("wait", F(cuStreamWaitEvent, obj, obj, unsigned)(0, e, 0));
  ASK("synchronize event", F(cuEventSynchronize, obj)(e));
  ASK("synchronize second", F(cuEventSynchronize, obj)(e2));
  ASK("query", F(cuEventQuery, obj)(e));
  ASK("query null", F(cuEventQuery, obj)(0));
  ASK("elapsed without timing", F(cuEventElapsedTime, float *, obj, obj)(&ms, e, e2));
  ASK("elapsed same", F(cuEventElapsedTime, float *, obj, obj)(&ms, e, e)); SAY("zero", ms == 0);
  ASK("elapsed null", F(cuEventElapsedTime, float *, obj, obj)(0, e, e));
  ASK("destroy event", F(cuEventDestroy_v2, obj)(e));
  ASK("destroy null event", F(cuEventDestroy_v2, obj)(0));
  ASK("destroy stream", F(cuStreamDestroy_v2, obj)(s));
  ASK("destroy null stream", F(cuStreamDestroy_v2, obj)(0));
  ASK("destroy legacy stream", F(cuStreamDestroy_v2, obj)((obj)1));
}

static const char PTX[] =
  ".version 7.0\n.target sm_70\n.address_size 64\n"
  ".visible .entry millpond_touch(.param .u64 a, .param .u64 an, .param .u64 b, .param .u64 bn, .param .u64 us)\n{\n"
  ".reg .u64 %a, %n, %b, %us, %s, %v, %t, %e, %i; .reg .pred %p;\n"
  "ld.param.u64 %a, [a]; ld.param.u64 %n, [an]; ld.param.u64 %b, [b]; ld.param.u64 %us, [us];\n"
  "mov.u64 %s, 0; mov.u64 %i, 0; shr.u64 %n, %n, 3;\n"
  "L0: setp.ge.u64 %p, %i, %n; @%p bra L1;\n"
  "ld.volatile.global.u64 %v, [%a]; add.u64 %s, %s, %v; add.u64 %a, %a, 8; add.u64 %i, %i, 1; bra L0;\n"
  "L1: mul.lo.u64 %us, %us, 1000; mov.u64 %t, %globaltimer; add.u64 %e, %t, %us;\n"
  "L2: mov.u64 %t, %globaltimer; setp.lt.u64 %p, %t, %e; @%p bra L2;\n"
  "st.volatile.global.u64 [%b], %s; ret;\n}\n"
  ".visible .entry other(.param .u64 a)\n{\nret;\n}\n";

static obj function(const char *name) {
  obj m, f;
  if (F(cuModuleLoadData, obj *, const void *)(&m, PTX)) exit(8);
  if (F(cuModuleGetFunction, obj *, obj, const char *)(&f, m, name)) exit(8);
  return f;
}
static int launch(obj f, obj s, ptr a, u64 an, ptr b, u64 bn, u64 us) {
  void *params[] = {&a, &an, &b, &bn, &us};
  return F(cuLaunchKernel, obj, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, obj, void **, void **)(f, 1, 1, 1, 1, 1, 1, 0, s, params, 0);
}

static void kernels(void) {
  init(); context();
  obj m = 0, f = 0, s, e; ptr a; u64 sum = 0;
  F(cuStreamCreate, obj *, unsigned)(&s, 1); F(cuEventCreate, obj *, unsigned)(&e, 2);
  ASK("load null", F(cuModuleLoadData, obj *, const void *)(&m, 0));
  ASK("load empty", F(cuModuleLoadData, obj *, const void *)(&m, ""));
  ASK("load text", F(cuModuleLoadData, obj *, const void *)(&m, "this is not a module"));
  ASK("load broken ptx", F(cuModuleLoadData, obj *, const void *)(&m, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry x( nonsense"));
  ASK("load", F(cuModuleLoadData, obj *, const void *)(&m, PTX));
  ASK("missing function", F(cuModuleGetFunction, obj *, obj, const char *)(&f, m, "nothing"));
  ASK("prefix of a function", F(cuModuleGetFunction, obj *, obj, const char *)(&f, m, "millpond"));
  ASK("function", F(cuModuleGetFunction, obj *, obj, const char *)(&f, m, "millpond_touch"));
  ASK("function null name", F(cuModuleGetFunction, obj *, obj, const char *)(&f, m, 0));
  ASK("unload null", F(cuModuleUnload, obj)(0));
  ASK("unload", F(cuModuleUnload, obj)(m));
  f = function("millpond_touch");
  a = mapped(2 * M, 3, 0); set8(a, 1, 2 * M);
  ASK("launch null function", launch(0, s, a, 16, a + M, 8, 0));
  ASK("launch", launch(f, s, a, 16, a + M, 8, 20000));
  ASK("record", F(cuEventRecord, obj, obj)(e, s));
  ASK("stream query", F(cuStreamQuery, obj)(s));
  ASK("event query", F(cuEventQuery, obj)(e));
  ASK("synchronize", F(cuStreamSynchronize, obj)(s));
  ASK("stream query", F(cuStreamQuery, obj)(s));
  ASK("event query", F(cuEventQuery, obj)(e));
  ASK("read", dtoh(&sum, a + M, 8)); SAY("sum", sum);
}

static void after_fault(const char *how) {
  obj s, e, c, hp; ptr a, va; u64 h; size_t n1, n2; int d; char buf[8]; char label[99]; int fd;
  #define AFTER(what, call) do { snprintf(label, sizeof label, "%s: %s", how, what); ASK(label, call); } while (0)
  AFTER("synchronize", sync_all());
  AFTER("synchronize again", sync_all());
  AFTER("alloc", F(cuMemAlloc_v2, ptr *, size_t)(&a, 100));
  AFTER("mem info", F(cuMemGetInfo_v2, size_t *, size_t *)(&n1, &n2));
  AFTER("stream", F(cuStreamCreate, obj *, unsigned)(&s, 0));
  AFTER("event", F(cuEventCreate, obj *, unsigned)(&e, 0));
  AFTER("host alloc", F(cuMemHostAlloc, void **, size_t, unsigned)(&hp, 100, 0));
  AFTER("module", F(cuModuleLoadData, obj *, const void *)(&s, PTX));
  AFTER("current", F(cuCtxGetCurrent, obj *)(&c));
  AFTER("device", F(cuCtxGetDevice, int *)(&d));
  AFTER("set current", F(cuCtxSetCurrent, obj)(c));
  AFTER("push", F(cuCtxPushCurrent_v2, obj)(c));
  AFTER("pop", F(cuCtxPopCurrent_v2, obj *)(&c));
  AFTER("stream query null", F(cuStreamQuery, obj)(0));
  AFTER("create", create(&h, M, 1));
  AFTER("export", export_fd(&fd, h));
  AFTER("reserve", reserve(&va, M));
  AFTER("map", map(va, M, 0, h));
  AFTER("grant", grant(va, M, 3));
  AFTER("copy", dtoh(buf, va, 8));
  AFTER("unmap", unmap(va, M));
  AFTER("unreserve", unreserve(va, M));
  AFTER("release", release(h));
  AFTER("device name", F(cuDeviceGetName, char *, int, int)(label + 50, 40, 0));
  AFTER("pointer attribute", F(cuPointerGetAttribute, void *, int, ptr)(&d, 2, (ptr)buf));
  AFTER("retain context", F(cuDevicePrimaryCtxRetain, obj *, int)(&c, 0));
  AFTER("release context", F(cuDevicePrimaryCtxRelease_v2, int)(0));
  AFTER("free null", F(cuMemFree_v2, ptr)(0));
  AFTER("release last", F(cuDevicePrimaryCtxRelease_v2, int)(0));
  AFTER("retain new", F(cuDevicePrimaryCtxRetain, obj *, int)(&c, 0));
  AFTER("set new", F(cuCtxSetCurrent, obj)(c));
  AFTER("synchronize new", sync_all());
  AFTER("alloc new", F(cuMemAlloc_v2, ptr *, size_t)(&a, 100));
}
static void fault_write_read_only(void) {
  init(); context(); obj f = function("millpond_touch"); ptr a = mapped(2 * M, 1, 0);
  ASK("launch writing read-only", launch(f, 0, a, 16, a, 8, 0));
  after_fault("read-only");
}
static void fault_read_unmapped(void) {
  init(); context(); obj f = function("millpond_touch"); ptr a = mapped(2 * M, 3, 0), b = mapped(2 * M, 3, 0); unmap(b, 2 * M);
  ASK("launch reading unmapped", launch(f, 0, b, 16, a, 8, 0));
  after_fault("unmapped");
}
static void fault_no_access(void) {
  init(); context(); obj f = function("millpond_touch"); ptr a = mapped(2 * M, 3, 0), b = mapped(2 * M, 0, 0);
  ASK("launch reading without access", launch(f, 0, b, 16, a, 8, 0));
  ASK("synchronize", sync_all());
}
static void unmap_under_kernel(void) {
  init(); context(); obj f = function("millpond_touch"), s; ptr a = mapped(2 * M, 3, 0), b = mapped(2 * M, 3, 0);
  F(cuStreamCreate, obj *, unsigned)(&s, 1);
  sync_all();
  launch(f, s, a, 16, a, 8, 300000);
  ASK("unmap another range under a kernel", unmap(b, 2 * M));
  ASK("kernel still runs", F(cuStreamQuery, obj)(s));
  ASK("unmap its own range", unmap(a, 2 * M));
  ASK("synchronize", F(cuStreamSynchronize, obj)(s));
}

static void readings(void) {
  char text[128]; int v; unsigned n; obj d; struct { u64 total, free, used; } m;
  struct { unsigned pid; u64 bytes; unsigned g, c; } infos[64];
  ASK("nvml before init", N(nvmlDeviceGetCount_v2, unsigned *)(&n));
  ASK("nvml init", N(nvmlInit_v2, void)());
  ASK("nvml init again", N(nvmlInit_v2, void)());
  ASK("driver version", N(nvmlSystemGetDriverVersion, char *, unsigned)(text, 80));
  ASK("driver version into 3", N(nvmlSystemGetDriverVersion, char *, unsigned)(text, 3));
  ASK("cuda version", N(nvmlSystemGetCudaDriverVersion_v2, int *)(&v)); SAY("version", v);
  ASK("count", N(nvmlDeviceGetCount_v2, unsigned *)(&n));
  ASK("count null", N(nvmlDeviceGetCount_v2, unsigned *)(0));
  ASK("by index 99", N(nvmlDeviceGetHandleByIndex_v2, unsigned, obj *)(99, &d));
  ASK("by index", N(nvmlDeviceGetHandleByIndex_v2, unsigned, obj *)(0, &d));
  ASK("uuid into 5", N(nvmlDeviceGetUUID, obj, char *, unsigned)(d, text, 5));
  ASK("uuid", N(nvmlDeviceGetUUID, obj, char *, unsigned)(d, text, 96)); SAY("length", strlen(text)); printf("%-58s = %.4s\n", "starts with", text);
  obj d2 = 0; ASK("by uuid", N(nvmlDeviceGetHandleByUUID, const char *, obj *)(text, &d2)); SAY("same", d == d2);
  ASK("by other uuid", N(nvmlDeviceGetHandleByUUID, const char *, obj *)("GPU-00000000-0000-0000-0000-000000000000", &d2));
  ASK("by rubbish uuid", N(nvmlDeviceGetHandleByUUID, const char *, obj *)("rubbish", &d2));
  ASK("by null uuid", N(nvmlDeviceGetHandleByUUID, const char *, obj *)(0, &d2));
  ASK("name", N(nvmlDeviceGetName, obj, char *, unsigned)(d, text, 96));
  ASK("name into 3", N(nvmlDeviceGetName, obj, char *, unsigned)(d, text, 3));
  ASK("memory", N(nvmlDeviceGetMemoryInfo, obj, void *)(d, &m)); SAY("adds up", m.total == m.free + m.used);
  ASK("memory null", N(nvmlDeviceGetMemoryInfo, obj, void *)(d, 0));
  ASK("memory of null", N(nvmlDeviceGetMemoryInfo, obj, void *)(0, &m));
  n = 64; ASK("processes", N(nvmlDeviceGetComputeRunningProcesses_v3, obj, unsigned *, void *)(d, &n, infos)); SAY("count", n);
  n = 0; ASK("processes into nothing", N(nvmlDeviceGetComputeRunningProcesses_v3, obj, unsigned *, void *)(d, &n, 0)); SAY("count", n);
  init(); u64 h; create(&h, M, 1);
  n = 64; ASK("processes with only cuInit", N(nvmlDeviceGetComputeRunningProcesses_v3, obj, unsigned *, void *)(d, &n, infos)); SAY("count", n);
  context();
  n = 64; ASK("processes with a context", N(nvmlDeviceGetComputeRunningProcesses_v3, obj, unsigned *, void *)(d, &n, infos)); SAY("count", n);
  SAY("own pid", n == 1 && infos[0].pid == (unsigned)getpid());
  n = 0; ASK("processes into nothing", N(nvmlDeviceGetComputeRunningProcesses_v3, obj, unsigned *, void *)(d, &n, 0)); SAY("count", n);
  { char u[16], s[64]; unsigned char *b = (unsigned char *)u; F(cuDeviceGetUuid_v2, void *, int)(u, 0); N(nvmlDeviceGetUUID, obj, char *, unsigned)(d, text, 96);
    snprintf(s, sizeof s, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    SAY("uuids agree", strcmp(s, text) == 0); }
  ASK("shutdown", N(nvmlShutdown, void)());
  ASK("count", N(nvmlDeviceGetCount_v2, unsigned *)(&n));
  ASK("shutdown", N(nvmlShutdown, void)());
  ASK("count", N(nvmlDeviceGetCount_v2, unsigned *)(&n));
  ASK("shutdown", N(nvmlShutdown, void)());
}

static void forked(void) {
  init(); context(); ptr a; F(cuMemAlloc_v2, ptr *, size_t)(&a, 100);
  pid_t p = fork();
  if (p == 0) {
    int n; u64 h;
    ASK("count in the child", F(cuDeviceGetCount, int *)(&n));
    ASK("create in the child", create(&h, M, 1));
    ASK("set in the child", set8(a, 1, 1));
    ASK("init in the child", init());
    _exit(0);
  }
  waitpid(p, 0, 0);
  ASK("set in the parent", set8(a, 1, 1));
}

static const struct { const char *name; void (*run)(void); } SECTIONS[] = {
  {"before init", before_init}, {"look-ups", lookups}, {"devices", devices}, {"contexts", contexts}, {"creation", creation},
  {"reservations", reservations}, {"mappings", mappings}, {"sharing", sharing}, {"linear", linear}, {"streams", streams},
  {"kernels", kernels}, {"fault: write read-only", fault_write_read_only}, {"fault: read unmapped", fault_read_unmapped},
  {"fault: no access", fault_no_access}, {"unmap under kernel", unmap_under_kernel}, {"readings", readings}, {"fork", forked},
};

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int bad = 0;
  for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; i++) {
    printf("[%s]\n", SECTIONS[i].name); fflush(stdout);
    pid_t p = fork();
    if (p == 0) {
      alarm(60);
      cuda = dlopen(argv[1], RTLD_NOW); nvml = dlopen(argv[2], RTLD_NOW);
      if (!cuda || !nvml) { printf("dlopen: %s\n", dlerror()); exit(9); }
      SECTIONS[i].run(); fflush(stdout); _exit(0);
    }
    int status; waitpid(p, &status, 0);
    if (WIFSIGNALED(status)) { printf("KILLED by signal %d\n", WTERMSIG(status)); bad = 1; }
    else if (WEXITSTATUS(status)) { printf("EXIT %d\n", WEXITSTATUS(status)); bad = 1; }
    fflush(stdout);
  }
  return bad;
}
