// What is asked for: a tensor to be made, and how a pond is connected to.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detail/call.hpp"
#include "dtype.hpp"
#include "span.hpp"

namespace millpond {

/// With whom something is shared.
enum class audience : std::uint32_t { user = 1, group = 2, everybody = 3 };
/// How other processes reach memory.
enum class transport : std::uint32_t { vmm = 1, mempool = 2, ipc = 3, fabric = 4 };
/// Which of a pond's sockets is used.
enum class door : std::uint32_t { users = 0, watch = 1, operators = 2 };

/// A tensor to be made. A name makes it findable by name; without one it has its identity alone. Everything is checked by the call
/// that takes it.
class spec {
public:
    /// A buffer of so many bytes: `u8` with one dimension. Nobody has to publish it: `pond::create` does.
    explicit spec(std::uint64_t bytes) : spec(std::string_view(), dtype::u8, {bytes}) { publish_ = true; }
    /// A tensor without a name.
    spec(millpond::dtype type, std::initializer_list<std::uint64_t> shape) : spec(std::string_view(), type, shape) {}
    spec(std::string_view name, millpond::dtype type, std::initializer_list<std::uint64_t> shape)
        : spec(name, type, span<const std::uint64_t>(shape.begin(), shape.size())) {}
    spec(std::string_view name, millpond::dtype type, span<const std::uint64_t> shape)
        : shape_(shape.begin(), shape.end()), name_(name), dtype_(type) {}

    spec &name(std::string_view name) & { return name_ = name, *this; }
    /// On which GPU; the pond's first one by default.
    spec &gpu(const uuid &id) & { return gpu_ = id, *this; }
    /// No new readers after so long from its creation. Whoever has it keeps it.
    spec &ttl(wait_time time) & { return ttl_ms_ = time.ms(), *this; }
    /// Deleted after so long without a lease.
    spec &linger(wait_time time) & { return linger_ms_ = time.ms(), *this; }
    /// No new readers after so many gets. The creator's own access does not count.
    spec &max_accesses(std::uint64_t count) & { return max_accesses_ = count, *this; }
    /// Filled with zeroes, complete before anybody has it, and ready at once.
    spec &zero(bool wanted = true) & { return zero_ = wanted, *this; }
    /// Ends with this process instead of when it is removed.
    spec &ephemeral(bool wanted = true) & { return ephemeral_ = wanted, *this; }
    /// Ends with its last lease, and with this process.
    spec &while_leased() & { return ephemeral_ = 2, *this; }
    /// For `pond::put` alone: takes the place of a tensor that has this name.
    spec &replace(bool wanted = true) & { return replace_ = wanted, *this; }
    spec &share(audience with) & { return audience_ = with, *this; }
    spec &transport(millpond::transport how) & { return transport_ = how, *this; }

    spec &&name(std::string_view name) && { return std::move(this->name(name)); }
    spec &&gpu(const uuid &id) && { return std::move(gpu(id)); }
    spec &&ttl(wait_time time) && { return std::move(ttl(time)); }
    spec &&linger(wait_time time) && { return std::move(linger(time)); }
    spec &&max_accesses(std::uint64_t count) && { return std::move(max_accesses(count)); }
    spec &&zero(bool wanted = true) && { return std::move(zero(wanted)); }
    spec &&ephemeral(bool wanted = true) && { return std::move(ephemeral(wanted)); }
    spec &&while_leased() && { return std::move(while_leased()); }
    spec &&replace(bool wanted = true) && { return std::move(replace(wanted)); }
    spec &&share(audience with) && { return std::move(share(with)); }
    spec &&transport(millpond::transport how) && { return std::move(transport(how)); }

    /// Whether `pond::create` publishes it.
    [[nodiscard]] bool publishes() const noexcept { return publish_ && !zero_; }

    /// As the C ABI has it; the name is this value's.
    [[nodiscard]] result<millpond_tensor_spec> raw() const {
        millpond_tensor_spec made{};
        if (shape_.size() > MILLPOND_MAX_DIMENSIONS) {
            return error(errc::invalid, std::to_string(shape_.size()) + " dimensions; at most " +
                                            std::to_string(MILLPOND_MAX_DIMENSIONS));
        }
        if (name_.find('\0') != std::string::npos) return error(errc::invalid, "a name with a zero byte");
        made.name = name_.empty() ? nullptr : name_.c_str();
        detail::set(made.dtype, dtype_);
        detail::set(made.dimensions, shape_.size());
        for (std::size_t at = 0; at < shape_.size(); ++at) made.shape[at] = shape_[at];
        made.gpu = detail::raw(gpu_);
        detail::set(made.audience, audience_);
        detail::set(made.transport, transport_);
        made.zero = zero_;
        made.ephemeral = ephemeral_;
        made.replace = replace_;
        made.ttl_ms = ttl_ms_;
        made.linger_ms = linger_ms_;
        made.max_accesses = max_accesses_;
        return made;
    }

private:
    std::vector<std::uint64_t> shape_;
    std::string name_;
    uuid gpu_;
    std::uint64_t ttl_ms_ = 0, linger_ms_ = 0, max_accesses_ = 0;
    millpond::dtype dtype_;
    audience audience_ = audience::user;
    millpond::transport transport_ = millpond::transport::vmm;
    std::uint32_t ephemeral_ = 0;
    bool zero_ = false, replace_ = false, publish_ = false;
};

/// How a pond is connected to. The defaults are those of every client.
class pond_options {
public:
    /// The pond's folder; by default MILLPOND_RUNTIME_DIR, then the user's own pond, then the machine's.
    pond_options &runtime_dir(std::string folder) { return runtime_dir_ = std::move(folder), *this; }
    /// What `millpond ps` calls this process; the name of its executable by default.
    pond_options &program(std::string name) { return program_ = std::move(name), *this; }
    /// How long a call waits for a daemon that restarts; 15 seconds by default.
    pond_options &reconnect_timeout(wait_time time) { return reconnect_ms_ = time.ms(), *this; }
    /// How long a call waits for its answer, beside what it asks to wait; a minute by default.
    pond_options &request_timeout(wait_time time) { return request_ms_ = time.ms(), *this; }
    pond_options &door(millpond::door which) { return door_ = which, *this; }
    /// The first call connects, and says then if there is no pond.
    pond_options &lazy(bool wanted = true) { return lazy_ = wanted, *this; }

    /// As the C ABI has it; the texts are this value's.
    [[nodiscard]] millpond_connect_options raw() const noexcept {
        millpond_connect_options made{};
        made.runtime_dir = runtime_dir_.empty() ? nullptr : runtime_dir_.c_str();
        made.program = program_.empty() ? nullptr : program_.c_str();
        made.reconnect_timeout_ms = reconnect_ms_;
        made.request_timeout_ms = request_ms_;
        detail::set(made.door, door_);
        made.lazy = lazy_;
        return made;
    }

private:
    std::string runtime_dir_, program_;
    std::uint64_t reconnect_ms_ = 0, request_ms_ = 0;
    millpond::door door_ = millpond::door::users;
    bool lazy_ = false;
};

}  // namespace millpond
