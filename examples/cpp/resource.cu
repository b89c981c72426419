// Numbers in memory of the pond, made, sorted and added up by thrust.
#include <millpond/millpond.hpp>
#include <millpond/memory_resource.hpp>

#include <cuda/memory_resource>
#include <cuda_runtime.h>
#include <iostream>
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>

int main() try {
    const auto pond = millpond::pond::connect();
    const auto gpu = pond.gpus().at(0).uuid;
    cudaStream_t stream;
    MILLPOND_CUDA_CHECK(cudaStreamCreate(&stream));
    {
        // Any code that takes a resource of CCCL takes this one; copies of it are the same resource.
        cuda::mr::any_resource<cuda::mr::device_accessible> resource{millpond::memory_resource{pond, gpu}};
        constexpr std::size_t count = 1 << 20;
        auto *numbers = static_cast<int *>(resource.allocate(stream, count * sizeof(int), alignof(int)));

        const auto first = thrust::device_pointer_cast(numbers);
        const auto policy = thrust::cuda::par_nosync.on(stream);
        thrust::sequence(policy, first, first + count, 0, -1);
        thrust::sort(policy, first, first + count);
        const auto sum = thrust::reduce(policy, first, first + count, 0LL);
        std::cout << "sorted, and adds up to " << sum << '\n';

        resource.deallocate(stream, numbers, count * sizeof(int), alignof(int));
    }
    MILLPOND_CUDA_CHECK(cudaStreamSynchronize(stream));
    MILLPOND_CUDA_CHECK(cudaStreamDestroy(stream));
} catch (const millpond::error &why) {
    std::cerr << "resource: " << why << '\n';
    return 1;
}
