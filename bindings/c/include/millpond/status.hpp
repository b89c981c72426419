// What a pond says about itself, its GPUs and its tensors.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "detail/call.hpp"
#include "dtype.hpp"
#include "spec.hpp"

namespace millpond {

/// One GPU of a pond, and its accounts.
struct gpu {
    millpond::uuid uuid;
    /// What the driver calls it.
    std::string name;
    /// Place in the pond's list, for people only; programs use the UUID.
    std::uint32_t index = 0;
    std::uint32_t tensors = 0, slabs = 0;
    /// Host memory of the software driver.
    bool software = false;
    std::uint64_t total_bytes = 0;
    /// What the pond may take.
    std::uint64_t capacity_bytes = 0;
    std::uint64_t slab_bytes = 0, tensor_bytes = 0;
    /// Of slabs without a tensor, kept for their owner.
    std::uint64_t recycled_bytes = 0;
    /// The driver's own reading, all programs together; UINT64_MAX where it is not known.
    std::uint64_t physical_used_bytes = 0;

    gpu() = default;
    explicit gpu(const millpond_gpu &raw)
        : uuid(detail::cooked(raw.uuid)), name(detail::text(raw.name)), index(raw.index), tensors(raw.tensors), slabs(raw.slabs),
          software(raw.software != 0), total_bytes(raw.total_bytes), capacity_bytes(raw.capacity_bytes), slab_bytes(raw.slab_bytes),
          tensor_bytes(raw.tensor_bytes), recycled_bytes(raw.recycled_bytes), physical_used_bytes(raw.physical_used_bytes) {}

    friend std::ostream &operator<<(std::ostream &out, const gpu &which) {
        return out << which.uuid.gpu_text() << ' ' << which.name << ": " << which.tensors << " tensors, " << which.tensor_bytes
                   << " of " << which.capacity_bytes << " bytes";
    }
};

/// A pond at one moment.
struct status {
    uuid pond;
    /// Counts the daemons of the pond.
    std::uint64_t epoch = 0;
    std::uint64_t started_unix_ms = 0;
    std::uint32_t daemon_pid = 0, keeper_pid = 0;
    std::uint32_t clients = 0, leases = 0;
    bool driver_ready = false;
    /// The pond's GPUs are those of the software driver.
    bool software = false;
    std::string version, driver;
    std::vector<gpu> gpus;
    /// Everything, as `millpond status --json` prints it.
    std::string json;
};

enum class tensor_state : std::uint32_t { writing = 1, ready = 2, deleted = 3, orphan = 4 };
enum class survives : std::uint32_t { everything = 1, host = 2, owner = 3 };

/// What a pond says about one tensor.
struct tensor_info {
    uuid id, gpu, slab;
    /// Empty for a tensor that has none.
    std::string name;
    millpond::dtype dtype = millpond::dtype::u8;
    std::vector<std::uint64_t> shape;
    std::uint64_t bytes = 0, slab_offset_bytes = 0, slab_bytes = 0;
    /// Counts publishes.
    std::uint64_t generation = 0;
    std::uint64_t created_unix_ms = 0;
    /// UINT64_MAX where no such end was set.
    std::uint64_t ttl_left_ms = 0, linger_ms = 0, accesses_left = 0, holds = 0;
    std::uint32_t user = 0, leases = 0;
    tensor_state state = tensor_state::writing;
    millpond::audience audience = millpond::audience::user;
    millpond::transport transport = millpond::transport::vmm;
    millpond::survives survives = millpond::survives::everything;
    bool ephemeral = false, adopted = false;
    /// The process that keeps its memory; zero where descriptors do.
    std::uint32_t home_pid = 0;

    tensor_info() = default;
    explicit tensor_info(const millpond_tensor_info &raw)
        : id(detail::cooked(raw.id)), gpu(detail::cooked(raw.gpu)), slab(detail::cooked(raw.slab)), name(detail::text(raw.name)),
          dtype(static_cast<millpond::dtype>(raw.dtype)), shape(raw.shape, raw.shape + raw.dimensions), bytes(raw.bytes),
          slab_offset_bytes(raw.slab_offset_bytes), slab_bytes(raw.slab_bytes), generation(raw.generation),
          created_unix_ms(raw.created_unix_ms), ttl_left_ms(raw.ttl_left_ms), linger_ms(raw.linger_ms),
          accesses_left(raw.accesses_left), holds(raw.holds), user(raw.user), leases(raw.leases),
          state(static_cast<tensor_state>(raw.state)), audience(static_cast<millpond::audience>(raw.audience)),
          transport(static_cast<millpond::transport>(raw.transport)), survives(static_cast<millpond::survives>(raw.survives)),
          ephemeral(raw.ephemeral != 0), adopted(raw.adopted != 0), home_pid(raw.home_pid) {}
};

}  // namespace millpond
