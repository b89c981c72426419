/* Asks a CUDA driver what it answers, and prints one line per question.
 *
 * usage: probe LIBCUDA LIBNVML
 *
 * The same program was run on a real card (answers-h200.txt beside this file) and is run by the
 * tests on the software driver: the two outputs are compared line by line. It links neither
 * library. Each section runs in a process of its own, because some of them poison their context.
 */
#include "probe.h"

void *cuda, *nvml;

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
