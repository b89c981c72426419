// Tests that are functions: TEST("what it shows") { CHECK(…); }. `check::run` runs those of one file, or those whose name
// contains a text, and prints a line for each and `N passed, N failed`.
#pragma once

#include <exception>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace check {

struct test {
    /// The file that it is in, without folder and ending.
    std::string file;
    std::string name;
    std::function<void()> body;
};

inline std::vector<test> &tests() {
    static std::vector<test> all;
    return all;
}

struct adder {
    adder(std::string path, std::string name, std::function<void()> body) {
        const auto from = path.find_last_of('/') + 1;
        tests().push_back({path.substr(from, path.find_last_of('.') - from), std::move(name), std::move(body)});
    }
};

template <class T>
std::string shown(const T &value) {
    std::ostringstream out;
    if constexpr (std::is_enum_v<T>) {
        out << static_cast<long long>(value);
    } else {
        out << value;
    }
    return out.str();
}

inline void fail(const char *file, int line, const std::string &what) {
    throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

template <class A, class B>
void equal(const A &found, const B &wanted, const char *text, const char *file, int line) {
    if (!(found == wanted)) fail(file, line, std::string(text) + " is " + shown(found) + " instead of " + shown(wanted));
}

inline int run(int count, char **words) {
    const std::string file = count > 1 ? words[1] : "all", wanted = count > 2 ? words[2] : "";
    int passed = 0, failed = 0;
    for (const auto &test : tests()) {
        if ((file != "all" && test.file != file) || test.name.find(wanted) == std::string::npos) continue;
        try {
            test.body();
            ++passed;
            std::cout << "ok      " << test.name << std::endl;
        } catch (const std::exception &why) {
            ++failed;
            std::cout << "FAILED  " << test.name << ": " << why.what() << std::endl;
        }
    }
    std::cout << passed << " passed, " << failed << " failed" << std::endl;
    return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace check

#define CHECK_JOIN2(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN2(a, b)
#define TEST(name)                                                                         \
    static void CHECK_JOIN(test_, __LINE__)();                                             \
    static const check::adder CHECK_JOIN(add_, __LINE__){__FILE__, name, CHECK_JOIN(test_, __LINE__)}; \
    static void CHECK_JOIN(test_, __LINE__)()
#define CHECK(condition) \
    do {                 \
        if (!(condition)) check::fail(__FILE__, __LINE__, "not so: " #condition); \
    } while (false)
#define CHECK_EQUAL(found, wanted) check::equal((found), (wanted), #found, __FILE__, __LINE__)
/// The error of that code that the expression throws.
#define CHECK_REFUSED(wanted, ...)                                                                              \
    [&]() -> millpond::error {                                                                                  \
        try {                                                                                                   \
            (void)(__VA_ARGS__);                                                                                \
        } catch (const millpond::error &refused) {                                                              \
            if (refused.code() != (wanted)) check::fail(__FILE__, __LINE__, #__VA_ARGS__ ": " + std::string(refused.what())); \
            return refused;                                                                                     \
        }                                                                                                       \
        check::fail(__FILE__, __LINE__, #__VA_ARGS__ " was not refused");                                       \
        throw;                                                                                                  \
    }()
