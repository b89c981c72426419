// Shows each GPU of the pond, and what the pond has on it.
#include <millpond/millpond.hpp>

#include <iostream>

int main() try {
    const auto pond = millpond::pond::connect();
    for (const auto &gpu : pond.gpus()) {
        std::cout << gpu.uuid.gpu_text() << ' ' << gpu.name << ": " << gpu.tensors << " tensors, " << gpu.tensor_bytes << " of "
                  << gpu.capacity_bytes << " bytes\n";
    }
} catch (const millpond::error &why) {
    std::cerr << "info: " << why << '\n';
    return 1;
}
