#include <millpond/millpond.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#define OK(call) do { millpond_result r_ = (call); if (r_ != MILLPOND_OK) { printf("%s:%d %s: %s: %s (%s)\n", __FILE__, __LINE__, #call, millpond_result_name(r_), millpond_error_message(), millpond_error_hint() ? millpond_error_hint() : "-"); exit(1);} } while (0)
int main(void) {
  millpond_pond *pond; millpond_status *st; millpond_gpu gpu; millpond_tensor *t, *u; char text[MILLPOND_UUID_TEXT_BYTES];
  OK(millpond_pond_connect(NULL, &pond));
  OK(millpond_pond_status(pond, &st));
  OK(millpond_status_gpu_at(st, 0, &gpu));
  OK(millpond_uuid_format_gpu(&gpu.uuid, text, sizeof text));
  printf("%s %s %llu\n", text, gpu.name, (unsigned long long)gpu.capacity_bytes);
  millpond_tensor_spec spec = {0};
  spec.name = "acts/x"; spec.dtype = MILLPOND_DTYPE_F32; spec.dimensions = 2; spec.shape[0] = 8; spec.shape[1] = 16;
  uint32_t existed;
  OK(millpond_tensor_create(pond, &spec, &existed, &t));
  OK(millpond_tensor_fill(t, 7));
  uint64_t generation; OK(millpond_tensor_publish(t, &generation));
  OK(millpond_tensor_get(pond, "acts/x", NULL, &u));
  char back[512]; OK(millpond_tensor_copy_to_host(u, 0, back, 512));
  printf("%d %d %llu existed %u gen %llu %p\n", back[0], back[511], (unsigned long long)millpond_tensor_bytes(u), existed, (unsigned long long)generation, millpond_tensor_data(u));
  printf("%d %s | %s\n", millpond_tensor_fill(u, 1), millpond_error_message(), millpond_error_hint());
  printf("%d %s\n", millpond_tensor_delete_unused(pond, "acts/x"), millpond_error_message());
  OK(millpond_tensor_free(t)); OK(millpond_tensor_free(u));
  printf("%d %s\n", millpond_tensor_free(u), millpond_error_message());
  printf("%d %s\n", millpond_tensor_fill((millpond_tensor *)pond, 1), millpond_error_message());
  printf("%d %s\n", millpond_tensor_fill((millpond_tensor *)text, 1), millpond_error_message());
  OK(millpond_tensor_delete_unused(pond, "acts/x"));
  OK(millpond_status_free(st));
  OK(millpond_pond_close(pond));
  return 0;
}
