/* What all parts of the probe use: the two libraries, the calls in short words, and the sections. */
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

extern void *cuda, *nvml;
#define F(name, ...) (((int (*)(__VA_ARGS__))sym(cuda, #name)))
#define N(name, ...) (((int (*)(__VA_ARGS__))sym(nvml, #name)))
static inline void *sym(void *lib, const char *name) {
  void *p = dlsym(lib, name);
  if (!p) { printf("MISSING %s\n", name); exit(3); }
  return p;
}
#define ASK(label, call) do { int rc_ = (call); printf("%-58s %d\n", label, rc_); fflush(stdout); } while (0)
#define SAY(label, value) do { printf("%-58s = %lld\n", label, (long long)(value)); fflush(stdout); } while (0)

#define M (2ull << 20)
static inline prop device_prop(int handle_types) {
  prop p; memset(&p, 0, sizeof p);
  p.type = 1; p.handle_types = handle_types; p.where.type = 1; p.where.id = 0;
  return p;
}
static inline int create(u64 *h, size_t bytes, int types) {
  prop p = device_prop(types);
  return F(cuMemCreate, u64 *, size_t, const prop *, u64)(h, bytes, &p, 0);
}
static inline int reserve(ptr *a, size_t bytes) { return F(cuMemAddressReserve, ptr *, size_t, size_t, ptr, u64)(a, bytes, 0, 0, 0); }
static inline int map(ptr a, size_t bytes, size_t off, u64 h) { return F(cuMemMap, ptr, size_t, size_t, u64, u64)(a, bytes, off, h, 0); }
static inline int unmap(ptr a, size_t bytes) { return F(cuMemUnmap, ptr, size_t)(a, bytes); }
static inline int release(u64 h) { return F(cuMemRelease, u64)(h); }
static inline int unreserve(ptr a, size_t bytes) { return F(cuMemAddressFree, ptr, size_t)(a, bytes); }
static inline int grant(ptr a, size_t bytes, int flags) {
  access_desc d = {{1, 0}, flags};
  return F(cuMemSetAccess, ptr, size_t, const access_desc *, size_t)(a, bytes, &d, 1);
}
static inline int get_access(u64 *flags, ptr a) {
  location l = {1, 0};
  *flags = 77;
  return F(cuMemGetAccess, u64 *, const location *, ptr)(flags, &l, a);
}
static inline int export_fd(int *fd, u64 h) { *fd = -1; return F(cuMemExportToShareableHandle, void *, u64, int, u64)(fd, h, 1, 0); }
static inline int import_fd(u64 *h, int fd) { return F(cuMemImportFromShareableHandle, u64 *, void *, int)(h, (void *)(uintptr_t)fd, 1); }
static inline int retain(u64 *h, ptr a) { return F(cuMemRetainAllocationHandle, u64 *, void *)(h, (void *)a); }
static inline int htod(ptr d, const void *s, size_t n) { return F(cuMemcpyHtoD_v2, ptr, const void *, size_t)(d, s, n); }
static inline int dtoh(void *d, ptr s, size_t n) { return F(cuMemcpyDtoH_v2, void *, ptr, size_t)(d, s, n); }
static inline int dtod(ptr d, ptr s, size_t n) { return F(cuMemcpyDtoD_v2, ptr, ptr, size_t)(d, s, n); }
static inline int set8(ptr d, unsigned char v, size_t n) { return F(cuMemsetD8_v2, ptr, unsigned char, size_t)(d, v, n); }
static inline int sync_all(void) { return F(cuCtxSynchronize, void)(); }
static inline int init(void) { return F(cuInit, unsigned)(0); }
static inline obj context(void) {
  obj c = 0;
  if (F(cuDevicePrimaryCtxRetain, obj *, int)(&c, 0)) exit(4);
  if (F(cuCtxSetCurrent, obj)(c)) exit(4);
  return c;
}
static inline ptr mapped(size_t bytes, int flags, u64 *handle) {
  ptr a; u64 h;
  if (create(&h, bytes, 1) || reserve(&a, bytes) || map(a, bytes, 0, h)) exit(5);
  if (flags && grant(a, bytes, flags)) exit(5);
  if (handle) *handle = h;
  return a;
}

/* Sections in memory.c. */
void creation(void);
void reservations(void);
void mappings(void);
void sharing(void);
void linear(void);
