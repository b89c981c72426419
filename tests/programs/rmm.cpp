// RMM's containers in memory of the pond: built and run by tests/cpp_gpu.sh, against the headers and the library of librmm-cu13.
// Its last line is "nothing is left" when every tensor that RMM had is gone after a flush.
#include <millpond/millpond.hpp>
#include <millpond/memory_resource.hpp>

#include <cuda_runtime.h>
#include <iostream>
#include <rmm/device_buffer.hpp>
#include <rmm/device_scalar.hpp>
#include <rmm/device_uvector.hpp>
#include <vector>

namespace {
constexpr std::size_t count = 1 << 20;

bool same_after_a_round_trip(cuda::stream_ref stream, rmm::device_async_resource_ref resource) {
    std::vector<int> numbers(count);
    for (std::size_t at = 0; at < count; ++at) numbers[at] = static_cast<int>(at * 7);
    rmm::device_uvector<int> first(count, stream, resource);
    MILLPOND_CUDA_CHECK(cudaMemcpyAsync(first.data(), numbers.data(), count * sizeof(int), cudaMemcpyDefault, stream.get()));
    const rmm::device_uvector<int> second(first, stream, resource);
    rmm::device_buffer bytes(100, stream, resource);
    bytes.resize(1 << 22, stream);
    const int written = 41;
    const rmm::device_scalar<int> one(written, stream, resource);
    std::vector<int> back(count);
    MILLPOND_CUDA_CHECK(cudaMemcpyAsync(back.data(), second.data(), count * sizeof(int), cudaMemcpyDefault, stream.get()));
    const int read = one.value(stream);
    stream.sync();
    return back == numbers && read == written;
}
}  // namespace

int main() try {
    const auto pond = millpond::pond::connect();
    const auto gpu = pond.gpus().at(0);
    const auto before = gpu.tensors;
    cudaStream_t stream;
    MILLPOND_CUDA_CHECK(cudaStreamCreate(&stream));
    millpond::memory_resource tensors{pond, gpu.uuid};
    millpond::pool_resource blocks{pond, gpu.uuid};
    const bool right = same_after_a_round_trip(stream, tensors) && same_after_a_round_trip(stream, blocks);
    MILLPOND_CUDA_CHECK(cudaStreamDestroy(stream));
    if (!right) return std::cerr << "rmm: other bytes came back\n", 1;
    pond.flush();
    const auto left = pond.gpus().at(0).tensors;
    if (left != before) return std::cerr << "rmm: " << left - before << " tensors are left\n", 1;
    std::cout << "nothing is left\n";
} catch (const std::exception &why) {
    std::cerr << "rmm: " << why.what() << '\n';
    return 1;
}
