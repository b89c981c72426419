// Makes a buffer that others find by its identity or its name: create BYTES [NAME]
#include <millpond/millpond.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>

int main(int count, char **words) try {
    using namespace std::chrono_literals;
    if (count < 2) {
        std::cerr << "usage: create BYTES [NAME]\n";
        return 2;
    }
    const auto pond = millpond::pond::connect();
    auto wanted = millpond::spec(std::strtoull(words[1], nullptr, 0)).gpu(pond.gpus().at(0).uuid).ttl(10min).zero();
    if (count > 2) wanted.name(words[2]);

    const auto buffer = pond.create(wanted);
    std::cout << buffer.id() << '\n';
    // The lease ends here; the buffer stays until it is freed or its time is over.
} catch (const millpond::error &why) {
    std::cerr << "create: " << why << '\n';
    return 1;
}
