// Another process that has a tensor: this program, started again as `main --hold RUNTIME_DIR TENSOR`.
#pragma once

#include <millpond/millpond.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "own_pond.hpp"

namespace check {

class holder {
public:
    /// Returns when the process has it.
    holder(const own_pond &pond, const millpond::uuid &id) {
        pond.use();
        int to_child[2], from_child[2];
        if (pipe2(to_child, O_CLOEXEC) != 0 || pipe2(from_child, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        const auto folder = pond.runtime_dir(), text = id.text();
        child_ = fork();
        if (child_ == 0) {
            dup2(to_child[0], 0);
            dup2(from_child[1], 1);
            execl("/proc/self/exe", "main", "--hold", folder.c_str(), text.c_str(), nullptr);
            _exit(127);
        }
        close(to_child[0]);
        close(from_child[1]);
        input_ = to_child[1];
        output_ = from_child[0];
        if (answer() != 'h') throw std::runtime_error("the other process has not got it");
    }
    holder(const holder &) = delete;
    holder &operator=(const holder &) = delete;
    ~holder() {
        finish();
        close(output_);
    }

    [[nodiscard]] pid_t pid() const { return child_; }

    /// The sum of the bytes as that process sees them now.
    std::uint64_t sum() {
        if (write(input_, "s", 1) != 1) throw std::runtime_error("the other process is gone");
        std::uint64_t found = 0;
        for (char digit = answer(); digit != '\n'; digit = answer()) found = found * 10 + static_cast<unsigned>(digit - '0');
        return found;
    }

    void kill_9() {
        kill(child_, SIGKILL);
        finish();
    }

    /// It gives back what it has, and ends.
    void finish() {
        if (child_ <= 0) return;
        close(input_);
        int status = 0;
        waitpid(child_, &status, 0);
        child_ = 0;
    }

    /// The other process.
    static int run(const char *folder, const char *text) try {
        const auto pond = millpond::pond::connect(millpond::pond_options().runtime_dir(folder));
        const auto held = pond.get(*millpond::uuid::parse(text));
        if (write(1, "h", 1) != 1) return 1;
        char word = 0;
        while (read(0, &word, 1) == 1) {
            std::uint64_t sum = 0;
            for (const auto byte : held.to_vector<std::byte>()) sum += std::to_integer<unsigned>(byte);
            const auto line = std::to_string(sum) + "\n";
            if (write(1, line.data(), line.size()) < 0) return 1;
        }
        return 0;
    } catch (const millpond::error &why) {
        std::cerr << "the other process: " << why << std::endl;
        return 1;
    }

private:
    char answer() {
        char word = 0;
        if (read(output_, &word, 1) != 1) throw std::runtime_error("the other process says nothing");
        return word;
    }

    pid_t child_ = 0;
    int input_ = -1, output_ = -1;
};

}  // namespace check
