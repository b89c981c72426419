// A model of one layer: multiply publish|run. `publish` makes a version and makes it current; `run` attaches the model and
// multiplies it with a vector by cuBLAS. However many programs run, the weights are on the GPU once.
#include <millpond/millpond.hpp>

#include <chrono>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <iostream>
#include <string>
#include <vector>

constexpr int rows = 512, columns = 1024;

void publish(const millpond::pond &pond) {
    // Row r is full of r: times a vector of ones it is r * columns.
    std::vector<float> weights(static_cast<std::size_t>(rows) * columns);
    for (std::size_t at = 0; at < weights.size(); ++at) weights[at] = static_cast<float>(at / columns);

    auto next = pond.stage(millpond::stage_spec("example/layer").tensor("weight", millpond::dtype::f32, {rows, columns}));
    next.tensor("weight").copy_from_host<float>(weights);
    const auto version = next.commit();
    std::cout << "example/layer@" << version.tag << " is current\n";
}

void run(const millpond::pond &pond) {
    using namespace std::chrono_literals;
    auto model = pond.attach("example/layer", 30s);
    if (model.stale()) model.refresh();  // between two steps of a server
    const auto weight = model.tensor("weight");

    float *in, *out;
    MILLPOND_CUDA_CHECK(cudaMallocManaged(&in, columns * sizeof(float)));
    MILLPOND_CUDA_CHECK(cudaMallocManaged(&out, rows * sizeof(float)));
    for (int at = 0; at < columns; ++at) in[at] = 1;

    cublasHandle_t blas;
    MILLPOND_CUDA_CHECK(cublasCreate(&blas));
    const float one = 1, zero = 0;
    // cuBLAS thinks in columns: a row-major matrix is its transpose.
    MILLPOND_CUDA_CHECK(cublasSgemv(blas, CUBLAS_OP_T, columns, rows, &one, weight.data<const float>(), columns, in, 1, &zero, out, 1));
    MILLPOND_CUDA_CHECK(cudaDeviceSynchronize());

    int right = 0;
    for (int row = 0; row < rows; ++row) right += out[row] == static_cast<float>(row) * columns;
    std::cout << right << " of " << rows << " rows are right\n";
    MILLPOND_CUDA_CHECK(cublasDestroy(blas));
    MILLPOND_CUDA_CHECK(cudaFree(in));
    MILLPOND_CUDA_CHECK(cudaFree(out));
}

int main(int count, char **words) try {
    const std::string part = count > 1 ? words[1] : "";
    const auto pond = millpond::pond::connect();
    if (part == "publish") {
        publish(pond);
    } else if (part == "run") {
        run(pond);
    } else {
        std::cerr << "usage: multiply publish|run\n";
        return 2;
    }
} catch (const millpond::error &why) {
    std::cerr << "multiply: " << why << '\n';
    return 1;
}
