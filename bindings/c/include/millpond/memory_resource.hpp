// Memory of the pond for CCCL 3.1 and later: `cuda::mr::resource_ref`, thrust, `cuda::mr::any_resource` from 3.2 on, and RMM from
// 26.06 on. Needs CUDA's headers, or those of `nvidia-cuda-cccl` and `nvidia-cuda-runtime` from PyPI. `millpond.hpp` includes it
// where it finds them, and they are new enough.
#pragma once

#include <cuda/version>

// Before 3.1 the concept of a resource was an experiment, with other names.
#if !defined(CCCL_VERSION) || CCCL_VERSION < 3001000
#error "millpond::memory_resource needs CCCL 3.1 or later: CUDA 13.1, or nvidia-cuda-cccl from PyPI, before CUDA's own with -I"
#else

/// Defined where the resources are.
#define MILLPOND_HAS_CCCL_RESOURCE 1

#include <cuda/memory_resource>
#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "pond.hpp"
#include "pool.hpp"

namespace millpond {

/// What a resource throws, as users of resources expect it. `why()` has all that an error has.
class bad_alloc : public std::bad_alloc {
public:
    explicit bad_alloc(error why) noexcept : why_(std::move(why)) {}
    [[nodiscard]] const char *what() const noexcept override { return why_.what(); }
    [[nodiscard]] const error &why() const noexcept { return why_; }

private:
    error why_;
};

/// A resource whose allocations are tensors: each has an identity by which other processes get it, counts for its owner, and ends
/// with its last lease or with this process. An allocation is a message to the pond; for many short-lived blocks use
/// `millpond::pool_resource`.
///
/// Copies are the same resource. All threads may use it at once.
class memory_resource {
public:
    memory_resource(const millpond::pond &from, const uuid &gpu) : shared_(std::make_shared<shared>(from, gpu)) {}
    memory_resource(const millpond::pond &from, const millpond::gpu &gpu) : memory_resource(from, gpu.uuid) {}

    // Written out, so that nvcc takes them for host functions.
    memory_resource(const memory_resource &other) noexcept : shared_(other.shared_) {}
    memory_resource &operator=(const memory_resource &other) noexcept { return shared_ = other.shared_, *this; }
    ~memory_resource() {}

    [[nodiscard]] void *allocate_sync(std::size_t bytes, std::size_t alignment = default_alignment) {
        if (bytes == 0) return nullptr;
        if (alignment > default_alignment || (alignment & (alignment - 1)) != 0) {
            detail::raise(bad_alloc(error(errc::invalid, "an alignment of " + std::to_string(alignment) + " bytes",
                                          "tensors are aligned to 256 bytes: ask for a power of two up to that")));
        }
        // Nobody can find it by name: it goes with its last lease.
        auto made = shared_->from.try_create(spec(bytes).gpu(shared_->gpu).while_leased());
        if (!made) detail::raise(bad_alloc(made.error()));
        void *at = made->data<void>();
        const std::lock_guard<std::mutex> guard(shared_->lock);
        shared_->live.emplace(at, *std::move(made));
        return at;
    }

    void deallocate_sync(void *at, std::size_t, std::size_t = default_alignment) noexcept {
        if (at == nullptr) return;
        tensor ended;
        const std::lock_guard<std::mutex> guard(shared_->lock);
        const auto found = shared_->live.find(at);
        if (found == shared_->live.end()) return;
        ended = std::move(found->second);
        shared_->live.erase(found);
    }

    /// Of use at once, to every stream.
    [[nodiscard]] void *allocate(::cuda::stream_ref, std::size_t bytes, std::size_t alignment = default_alignment) {
        return allocate_sync(bytes, alignment);
    }
    /// The memory stays mapped until the GPU has done all that was submitted before, on every stream.
    void deallocate(::cuda::stream_ref, void *at, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        deallocate_sync(at, bytes, alignment);
    }

    /// The identity of an allocation, by which another process gets it; nil for an address that is none's.
    [[nodiscard]] uuid id_of(const void *at) const {
        const std::lock_guard<std::mutex> guard(shared_->lock);
        const auto found = shared_->live.find(const_cast<void *>(at));
        return found == shared_->live.end() ? uuid() : found->second.id();
    }
    [[nodiscard]] const millpond::pond &pond() const noexcept { return shared_->from; }
    [[nodiscard]] const uuid &gpu() const noexcept { return shared_->gpu; }

    friend bool operator==(const memory_resource &a, const memory_resource &b) noexcept { return a.shared_ == b.shared_; }
    friend bool operator!=(const memory_resource &a, const memory_resource &b) noexcept { return !(a == b); }
    friend void get_property(const memory_resource &, ::cuda::mr::device_accessible) noexcept {}

    /// Of every allocation.
    static constexpr std::size_t default_alignment = 256;

private:
    struct shared {
        shared(const millpond::pond &pond, const uuid &id) : from(pond), gpu(id) {}
        millpond::pond from;
        uuid gpu;
        std::mutex lock;
        std::unordered_map<void *, tensor> live;
    };

    std::shared_ptr<shared> shared_;
};

/// A resource whose allocations are blocks of a `millpond::pool`: fast, in the order of streams, under the limit of this program, and
/// without identities. Copies are the same resource.
class pool_resource {
public:
    pool_resource(const millpond::pond &from, const uuid &gpu) : pool_(std::make_shared<const pool>(from, gpu)) {}
    explicit pool_resource(pool &&from) : pool_(std::make_shared<const pool>(std::move(from))) {}
    pool_resource(const pool_resource &other) noexcept : pool_(other.pool_) {}
    pool_resource &operator=(const pool_resource &other) noexcept { return pool_ = other.pool_, *this; }
    ~pool_resource() {}

    [[nodiscard]] void *allocate(::cuda::stream_ref stream, std::size_t bytes, std::size_t alignment = default_alignment) {
        if (bytes == 0) return nullptr;
        if (alignment > default_alignment || (alignment & (alignment - 1)) != 0) {
            detail::raise(bad_alloc(error(errc::invalid, "an alignment of " + std::to_string(alignment) + " bytes",
                                          "blocks are aligned to 512 bytes: ask for a power of two up to that")));
        }
        auto made = pool_->try_allocate(bytes, stream.get());
        if (!made) detail::raise(bad_alloc(made.error()));
        return *made;
    }
    void deallocate(::cuda::stream_ref stream, void *at, std::size_t, std::size_t = default_alignment) noexcept {
        (void)millpond_pool_free_block(pool_->handle(), at, stream.get());
    }
    /// Of use to every stream, when this returns.
    [[nodiscard]] void *allocate_sync(std::size_t bytes, std::size_t alignment = default_alignment) {
        const ::cuda::stream_ref stream{::cudaStream_t{nullptr}};
        void *at = allocate(stream, bytes, alignment);
        stream.sync();
        return at;
    }
    /// Work that uses it must be done.
    void deallocate_sync(void *at, std::size_t bytes, std::size_t alignment = default_alignment) noexcept {
        deallocate(::cuda::stream_ref{::cudaStream_t{nullptr}}, at, bytes, alignment);
    }

    friend bool operator==(const pool_resource &a, const pool_resource &b) noexcept { return a.pool_ == b.pool_; }
    friend bool operator!=(const pool_resource &a, const pool_resource &b) noexcept { return !(a == b); }
    friend void get_property(const pool_resource &, ::cuda::mr::device_accessible) noexcept {}

    /// Of every block.
    static constexpr std::size_t default_alignment = 512;

private:
    std::shared_ptr<const pool> pool_;
};

static_assert(::cuda::mr::resource_with<memory_resource, ::cuda::mr::device_accessible>);
static_assert(::cuda::mr::resource_with<pool_resource, ::cuda::mr::device_accessible>);

}  // namespace millpond

#endif
