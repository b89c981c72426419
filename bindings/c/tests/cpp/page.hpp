// What the pieces of code on pages stand on. Stand-ins for CUDA and for the reader's own functions.
#pragma once

#include <millpond/millpond.hpp>

#include <complex>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#if !defined(CCCL_VERSION)
using cudaStream_t = struct CUstream_st *;
namespace cuda::mr {
struct device_accessible {};
template <class>
struct any_resource {
    template <class R>
    explicit any_resource(R &) {}
    void *allocate(cudaStream_t, std::size_t, std::size_t);
    void deallocate(cudaStream_t, void *, std::size_t, std::size_t);
};
}  // namespace cuda::mr
namespace millpond {
struct memory_resource {
    memory_resource(const pond &, const uuid &);
    [[nodiscard]] uuid id_of(const void *) const;
};
}  // namespace millpond
#endif

struct batch {};
void launch_step(float *values, std::uint64_t count, cudaStream_t stream);
void hand_over(DLManagedTensorVersioned *shared);
std::optional<batch> next_batch();
void run(const std::optional<batch> &batch, const __nv_bfloat16 *head);
void tell(const millpond::uuid &id);
