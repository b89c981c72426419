// A pond of a test's own, on the software driver: a `millpond serve` that ends with the test.
//   MILLPOND_BIN   the `millpond` program
#pragma once

#include <millpond/millpond.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace check {

/// Waits until something is so. Time decides nothing: it only ends what hangs.
template <class Question>
void eventually(const char *what, Question so) {
    for (int turn = 0; turn < 1200; ++turn) {
        if (so()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    throw std::runtime_error(std::string("never became so: ") + what);
}

inline std::string variable(const char *name) {
    const char *value = std::getenv(name);
    if (value == nullptr) throw std::runtime_error(std::string(name) + " is not set");
    return value;
}

/// The software driver of a process reads its settings once, so all ponds of a test have the same two GPUs.
inline const std::string &software_gpus() {
    static const struct folder {
        std::string path = (std::filesystem::temp_directory_path() / "millpond-gpu-XXXXXX").string();
        folder() {
            if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no folder for software GPUs");
        }
        ~folder() {
            std::error_code ignored;
            std::filesystem::remove_all(path, ignored);
        }
    } made;
    return made.path;
}

class own_pond {
public:
    using environment = std::map<std::string, std::string>;

    explicit own_pond(environment more = {}, const std::string &config = "") {
        std::string pattern = (std::filesystem::temp_directory_path() / "millpond-cpp-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for a pond");
        folder_ = pattern;
        write_config(config);
        environment_ = {{"MILLPOND_DRIVER", "soft"},
                        {"MILLPOND_SOFT_DIR", software_gpus()},
                        {"MILLPOND_SOFT_MEMORY", "512M"},
                        {"MILLPOND_SOFT_DEVICES", "2"},
                        {"MILLPOND_RUNTIME_DIR", (folder_ / "pond").string()},
                        {"MILLPOND_CONFIG", (folder_ / "config.toml").string()}};
        for (auto &[name, value] : more) environment_[name] = value;
        serve();
    }
    own_pond(const own_pond &) = delete;
    own_pond &operator=(const own_pond &) = delete;
    ~own_pond() {
        stop();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    [[nodiscard]] const std::filesystem::path &folder() const { return folder_; }
    [[nodiscard]] std::string runtime_dir() const { return (folder_ / "pond").string(); }

    void write_config(const std::string &text) { std::ofstream(folder_ / "config.toml") << text; }

    void serve() {
        keeper_ = start({"serve"}, "log");
        eventually("the pond serves", [&] {
            // A pond that was killed may not be gone yet; one that begins meanwhile is refused.
            int status = 0;
            if (waitpid(keeper_, &status, WNOHANG) == keeper_) keeper_ = start({"serve"}, "log");
            // It answers before its driver is open; GPUs and limits in bytes are there afterwards.
            return run({"status", "--json"}) == 0 && said().find("\"driver_ready\": true") != std::string::npos;
        });
    }

    void stop() {
        if (keeper_ <= 0) return;
        (void)run({"stop"});
        kill(keeper_, SIGTERM);
        int status = 0;
        waitpid(keeper_, &status, 0);
        keeper_ = 0;
    }

    /// As kill -9 of both at once, which loses everything.
    void kill_everything(const millpond::pond &pond) {
        // Either would start the other again, and may have done so before it died: until nobody answers.
        auto status = pond.try_status();
        do {
            if (!status) continue;
            kill(static_cast<pid_t>(status->daemon_pid), SIGSTOP);
            kill(static_cast<pid_t>(status->keeper_pid), SIGKILL);
            kill(static_cast<pid_t>(status->daemon_pid), SIGKILL);
        } while (run({"status"}) == 0 && (status = pond.try_status(), true));
        kill(keeper_, SIGKILL);
        int code = 0;
        waitpid(keeper_, &code, 0);
        keeper_ = 0;
    }

    /// `millpond WORDS...`, and its exit code.
    int run(const std::vector<std::string> &words) const {
        int status = 0;
        waitpid(start(words, "said"), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    /// What the last `run` printed.
    [[nodiscard]] std::string said() const {
        std::ifstream file(folder_ / "said");
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// A connection of this process. The driver is the one that the pond has.
    [[nodiscard]] millpond::pond connect(millpond::pond_options options = {}) const {
        use();
        return millpond::pond::connect(options.runtime_dir(runtime_dir()));
    }

    /// Sets this process's environment to the pond's.
    void use() const {
        for (const auto &[name, value] : environment_) setenv(name.c_str(), value.c_str(), 1);
    }

private:
    pid_t start(const std::vector<std::string> &words, const char *output) const {
        const auto program = variable("MILLPOND_BIN");
        const auto log = (folder_ / output).string();
        std::vector<std::string> settings;
        for (char **entry = environ; *entry != nullptr; ++entry) {
            const std::string line = *entry;
            if (environment_.count(line.substr(0, line.find('='))) == 0) settings.push_back(line);
        }
        for (const auto &[name, value] : environment_) settings.push_back(name + "=" + value);
        std::vector<char *> arguments = {const_cast<char *>(program.c_str())}, variables;
        for (const auto &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
        for (auto &line : settings) variables.push_back(line.data());
        arguments.push_back(nullptr);
        variables.push_back(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
            dup2(file, 1);
            dup2(file, 2);
            execve(program.c_str(), arguments.data(), variables.data());
            _exit(127);
        }
        return child;
    }

    std::filesystem::path folder_;
    environment environment_;
    pid_t keeper_ = 0;
};

}  // namespace check
