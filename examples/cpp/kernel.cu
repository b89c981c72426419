// A kernel that writes a tensor in one process, and another that reads it: kernel write|read
#include <millpond/millpond.hpp>

#include <chrono>
#include <cuda_runtime.h>
#include <iostream>
#include <string>

__global__ void squares(float *out, int count) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) out[at] = static_cast<float>(at) * static_cast<float>(at);
}

__global__ void compare(const float *in, int count, int *wrong) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count && in[at] != static_cast<float>(at) * static_cast<float>(at)) atomicAdd(wrong, 1);
}

constexpr int count = 1 << 20, threads = 256, blocks = count / threads;

void write(const millpond::pond &pond) {
    auto x = pond.create(millpond::spec("example/squares", millpond::dtype::f32, {count}));
    cudaStream_t stream;
    MILLPOND_CUDA_CHECK(cudaStreamCreate(&stream));
    squares<<<blocks, threads, 0, stream>>>(x.data<float>(), count);
    MILLPOND_CUDA_CHECK(cudaGetLastError());
    // Waits for this stream alone, and then tells the pond that the bytes are there.
    x.publish(stream);
    MILLPOND_CUDA_CHECK(cudaStreamDestroy(stream));
    std::cout << "written\n";
}

void read(const millpond::pond &pond) {
    using namespace std::chrono_literals;
    const auto x = pond.get("example/squares", 30s);
    int *wrong;
    MILLPOND_CUDA_CHECK(cudaMallocManaged(&wrong, sizeof *wrong));
    *wrong = 0;
    compare<<<blocks, threads>>>(x.data<const float>(), count, wrong);
    MILLPOND_CUDA_CHECK(cudaDeviceSynchronize());
    std::cout << count - *wrong << " of " << count << " are right\n";
    MILLPOND_CUDA_CHECK(cudaFree(wrong));
    pond.remove("example/squares");
}

int main(int words_count, char **words) try {
    const std::string part = words_count > 1 ? words[1] : "";
    const auto pond = millpond::pond::connect();
    if (part == "write") {
        write(pond);
    } else if (part == "read") {
        read(pond);
    } else {
        std::cerr << "usage: kernel write|read\n";
        return 2;
    }
} catch (const millpond::error &why) {
    std::cerr << "kernel: " << why << '\n';
    return 1;
}
