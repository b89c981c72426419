// Frees a buffer that nobody uses; one in use stays, and the error says who uses it: free ID-OR-NAME
#include <millpond/millpond.hpp>

#include <iostream>

int main(int count, char **words) try {
    if (count != 2) {
        std::cerr << "usage: free ID-OR-NAME\n";
        return 2;
    }
    const auto pond = millpond::pond::connect();
    const auto id = millpond::uuid::parse(words[1]);
    const auto target = id ? millpond::target(*id) : millpond::target(words[1]);

    // Without exceptions: every call has a twin that answers a result.
    if (const auto freed = pond.try_remove_unused(target); !freed) {
        std::cerr << "free: " << freed.error() << '\n';
        return 1;
    }
    std::cout << "freed\n";
} catch (const millpond::error &why) {
    std::cerr << "free: " << why << '\n';
    return 1;
}
