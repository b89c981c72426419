// Errors of CUDA's own calls, as errors of this library that name the call. CUDA's headers are not needed here: what they
// define is found when a check is used.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "result.hpp"

namespace millpond {

/// A call of CUDA that failed: `code()` is `errc::driver`, or `errc::gpu_full` where memory is short.
class cuda_error : public error {
public:
    cuda_error(int status, std::string name, std::string call, const char *file, int line)
        : error(status == out_of_memory ? errc::gpu_full : errc::driver,
                call + " failed with " + name + " (" + std::to_string(status) + ") at " + file + ":" + std::to_string(line),
                status == out_of_memory ? "free GPU memory, or see who has it: millpond status; millpond ps" : ""),
          status_(status), name_(std::move(name)), call_(std::move(call)) {}

    /// The number that CUDA returned.
    [[nodiscard]] int status() const noexcept { return status_; }
    /// Its name, such as `cudaErrorInvalidValue`.
    [[nodiscard]] const std::string &name() const noexcept { return name_; }
    /// The text of the call.
    [[nodiscard]] const std::string &call() const noexcept { return call_; }

private:
    // The same number in the runtime and in the driver.
    static constexpr int out_of_memory = 2;

    int status_;
    std::string name_, call_;
};

namespace detail {

// The functions are found by the type of their argument when a template is used, so that the order of headers does not matter.
template <class Status>
auto cuda_name(Status status, int) -> decltype(std::string(cudaGetErrorName(status))) {
    return cudaGetErrorName(status);
}
template <class Status>
auto cuda_name(Status status, long) -> decltype(cuGetErrorName(status, nullptr), std::string()) {
    const char *name = nullptr;
    (void)cuGetErrorName(status, &name);
    return name == nullptr ? "an unknown CUresult" : name;
}
template <class Status>
auto cuda_name(Status status, ...) -> std::string {
    return "status " + std::to_string(static_cast<int>(status));
}

template <class Status>
result<void> cuda_checked(Status status, const char *call, const char *file, int line) {
    static_assert(std::is_enum_v<Status> || std::is_integral_v<Status>, "a status of CUDA: cudaError_t, CUresult, cublasStatus_t, …");
    const int number = static_cast<int>(status);
    if (number == 0) return {};
    return cuda_error(number, cuda_name(status, 0), call, file, line);
}

template <class Status>
void cuda_check(Status status, const char *call, const char *file, int line) {
    static_assert(std::is_enum_v<Status> || std::is_integral_v<Status>, "a status of CUDA: cudaError_t, CUresult, cublasStatus_t, …");
    const int number = static_cast<int>(status);
    if (number != 0) raise(cuda_error(number, cuda_name(status, 0), call, file, line));
}

}  // namespace detail
}  // namespace millpond

/// Throws `millpond::cuda_error`, with the text of the call, if the call does not answer success.
#define MILLPOND_CUDA_CHECK(call) ::millpond::detail::cuda_check((call), #call, __FILE__, __LINE__)
/// The same as a `millpond::result<void>`.
#define MILLPOND_CUDA_TRY(call) ::millpond::detail::cuda_checked((call), #call, __FILE__, __LINE__)
