/* An ordinary program of the driver API, with the names that such programs use.
 *
 * usage: ordinary LIBCUDA LIBNVML
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *cuda;
#define CALL(name, types, ...)                                                  \
  do {                                                                          \
    int (*f) types = (int (*) types)dlsym(cuda, #name);                         \
    if (!f) { printf("no %s\n", #name); return 1; }                             \
    int rc = f(__VA_ARGS__);                                                    \
    if (rc) { printf("%s: %d\n", #name, rc); return 1; }                        \
  } while (0)

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  cuda = dlopen(argv[1], RTLD_NOW);
  void *nvml = dlopen(argv[2], RTLD_NOW);
  if (!cuda || !nvml) { printf("%s\n", dlerror()); return 1; }
  int device, major, minor;
  void *context, *current, *stream, *host, *proc;
  unsigned long long pointer, second;
  size_t free_bytes, total;
  char out[16] = {0}, in[16] = "unmodified";
  CALL(cuInit, (unsigned), 0);
  CALL(cuDeviceGet, (int *, int), &device, 0);
  CALL(cuDeviceComputeCapability, (int *, int *, int), &major, &minor, device);
  CALL(cuDeviceTotalMem, (size_t *, int), &total, device);
  CALL(cuGetProcAddress, (const char *, void **, int, unsigned long long), "cuMemAlloc", &proc, 11030, 0);
  CALL(cuCtxCreate, (void **, unsigned, int), &context, 0, device);
  CALL(cuCtxGetCurrent, (void **), &current);
  if (current != context) { printf("a new context is not current\n"); return 1; }
  CALL(cuMemAlloc, (unsigned long long *, size_t), &pointer, 4096);
  CALL(cuMemAlloc, (unsigned long long *, size_t), &second, 4096);
  CALL(cuMemGetInfo, (size_t *, size_t *), &free_bytes, &total);
  /* small ones share a block of 2 MiB */
  if (total - free_bytes != 2 << 20) { printf("used %zu\n", total - free_bytes); return 1; }
  CALL(cuMemcpyHtoD, (unsigned long long, const void *, size_t), pointer, in, 16);
  CALL(cuMemcpyDtoD, (unsigned long long, unsigned long long, size_t), second, pointer, 16);
  CALL(cuMemAllocHost, (void **, size_t), &host, 4096);
  CALL(cuStreamCreate, (void **, unsigned), &stream, 0);
  CALL(cuMemcpyDtoHAsync, (void *, unsigned long long, size_t, void *), host, second, 16, stream);
  CALL(cuStreamSynchronize, (void *), stream);
  CALL(cuMemcpy, (unsigned long long, unsigned long long, size_t), (unsigned long long)out, (unsigned long long)host, 16);
  if (strcmp(in, out)) { printf("read '%s'\n", out); return 1; }
  CALL(cuStreamDestroy, (void *), stream);
  CALL(cuMemFreeHost, (void *), host);
  CALL(cuMemFree, (unsigned long long), pointer);
  CALL(cuCtxPopCurrent, (void **), &current);
  CALL(cuCtxPushCurrent, (void *), context);
  CALL(cuCtxDestroy, (void *), context);
  if (dlsym(cuda, "cuTexObjectCreate")) { printf("claims what it cannot do\n"); return 1; }
  cuda = nvml;
  unsigned count;
  CALL(nvmlInit, (void), );
  CALL(nvmlDeviceGetCount, (unsigned *), &count);
  const char *(*text)(int) = (const char *(*)(int))dlsym(nvml, "nvmlErrorString");
  if (count != 1 || !text || !strstr(text(0), "success")) { printf("nvml\n"); return 1; }
  printf("all names work\n");
  return 0;
}
