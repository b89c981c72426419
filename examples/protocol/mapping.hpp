// Memory of the pond in this process: each slab once, however many tensors are in it.
#pragma once

#include "driver.hpp"
#include "messages.hpp"

#include <map>
#include <tuple>

namespace protocol {

// Where a slab comes from: a reply's `info` and `backing`, or a part of a version.
struct SlabSource {
    wire::Id slab;
    std::uint64_t bytes;
    std::uint8_t mode;
    Bytes device;
    std::uint8_t transport = TRANSPORT_VMM;
    Bytes data;
    Fd fd;
};

class Card;

// A slab that is mapped, whole. It is unmapped with the last tensor in it, after all work of the device.
class Slab {
  public:
    Slab(Card &card, const SlabSource &source);
    ~Slab();
    Slab(const Slab &) = delete;
    Slab &operator=(const Slab &) = delete;

    void write(std::uint64_t offset, const Bytes &data);
    Bytes read(std::uint64_t offset, std::uint64_t bytes) const;

  private:
    void map_descriptor(const SlabSource &source, int device);
    void import_from_pool(const SlabSource &source);
    void close();
    void check(std::uint64_t offset, std::uint64_t bytes) const;

    Card &card_;
    void *context_;
    std::uint8_t transport_;
    std::uint64_t bytes_;
    cuda::Address address_ = 0;
    void *pool_ = nullptr;
};

// A tensor in its slab.
class Mapped {
  public:
    Mapped() = default;
    Mapped(std::shared_ptr<Slab> slab, std::uint64_t offset, std::uint64_t bytes)
        : slab_(std::move(slab)), offset_(offset), bytes_(bytes) {}

    void write(const Bytes &data) { slab_->write(offset_, data); }
    Bytes read() const { return slab_->read(offset_, bytes_); }
    std::uint64_t bytes() const { return bytes_; }
    // To be called before the lease is released.
    void unmap() { slab_.reset(); }

  private:
    std::shared_ptr<Slab> slab_;
    std::uint64_t offset_ = 0, bytes_ = 0;
};

class Card {
  public:
    // Opens `libcuda.so.1`, once for the process.
    static Card &open();

    std::shared_ptr<Slab> map(SlabSource source);
    // What a reply with a lease brought.
    Mapped map(Answer &answer);
    // Opens the event of an `ipc` tensor, and closes it again.
    void try_event(const Bytes &device, const Bytes &handle);

  private:
    friend class Slab;

    Card();
    int device_of(const Bytes &uuid) const;
    void *enter(int device);

    std::unique_ptr<cuda::Driver> driver_;
    std::map<int, void *> contexts_;
    // While somebody uses it. Only descriptors of memory have modes; other memory can be opened once.
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint8_t>, std::weak_ptr<Slab>> slabs_;
};

// A slab

inline Slab::Slab(Card &card, const SlabSource &source) : card_(card), transport_(source.transport), bytes_(source.bytes) {
    const cuda::Driver &driver = *card_.driver_;
    int device = card.device_of(source.device);
    context_ = card.enter(device);
    if (transport_ == TRANSPORT_VMM) {
        map_descriptor(source, device);
        return;
    }
    if (transport_ == TRANSPORT_MEMPOOL) import_from_pool(source);
    else if (transport_ == TRANSPORT_IPC)
        driver.must(driver.ipc_open(&address_, cuda::handle_of(source.data), cuda::LAZY_PEER_ACCESS), "cuIpcOpenMemHandle");
    else throw std::runtime_error("transport " + std::to_string(transport_) + " cannot be mapped here");
    // What is opened has a size of its own; addresses are made from the one that was said.
    cuda::Address base = 0;
    std::size_t there = 0;
    int code = driver.range(&base, &there, address_);
    if (code != 0 || there < bytes_) {
        close();
        driver.must(code, "cuMemGetAddressRange");
        throw std::runtime_error("a slab that is smaller than was said");
    }
}

inline void Slab::map_descriptor(const SlabSource &source, int device) {
    const cuda::Driver &driver = *card_.driver_;
    cuda::Address handle = 0;
    cuda::Access access{{cuda::ON_DEVICE, device}, source.mode == RW ? cuda::READ_WRITE : cuda::READ};
    driver.must(driver.import(&handle, cuda::descriptor(source.fd.get()), cuda::POSIX_FD), "cuMemImportFromShareableHandle");
    int code = driver.reserve(&address_, bytes_, 0, 0, 0);
    if (code == 0) {
        code = driver.map(address_, bytes_, 0, handle, 0);
        if (code != 0) driver.unreserve(address_, bytes_);
    }
    // The mapping keeps the memory.
    driver.let_go(handle);
    driver.must(code, "mapping a slab");
    code = driver.set_access(address_, bytes_, &access, 1);
    if (code != 0) close();
    driver.must(code, "cuMemSetAccess");
}

inline void Slab::import_from_pool(const SlabSource &source) {
    const cuda::Driver &driver = *card_.driver_;
    cuda::Handle pointer = cuda::handle_of(source.data);
    driver.must(driver.pool_import(&pool_, cuda::descriptor(source.fd.get()), cuda::POSIX_FD, 0), "cuMemPoolImportFromShareableHandle");
    int code = driver.pool_pointer(&address_, pool_, &pointer);
    if (code != 0) driver.pool_destroy(pool_);
    driver.must(code, "cuMemPoolImportPointer");
}

inline Slab::~Slab() {
    card_.driver_->set_current(context_);
    card_.driver_->synchronize();
    close();
}

inline void Slab::close() {
    const cuda::Driver &driver = *card_.driver_;
    if (transport_ == TRANSPORT_IPC) {
        driver.ipc_close(address_);
    } else if (transport_ == TRANSPORT_MEMPOOL) {
        driver.free(address_);
        driver.pool_destroy(pool_);
    } else {
        driver.unmap(address_, bytes_);
        driver.unreserve(address_, bytes_);
    }
}

inline void Slab::check(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > bytes_ || bytes > bytes_ - offset) throw std::runtime_error("a tensor that does not lie in its slab");
}

inline void Slab::write(std::uint64_t offset, const Bytes &data) {
    check(offset, data.size());
    const cuda::Driver &driver = *card_.driver_;
    driver.must(driver.set_current(context_), "cuCtxSetCurrent");
    if (!data.empty()) driver.must(driver.to_device(address_ + offset, data.data(), data.size()), "cuMemcpyHtoD");
    // Nobody is told before the bytes are there.
    driver.must(driver.synchronize(), "cuCtxSynchronize");
}

inline Bytes Slab::read(std::uint64_t offset, std::uint64_t bytes) const {
    check(offset, bytes);
    const cuda::Driver &driver = *card_.driver_;
    Bytes data(bytes);
    driver.must(driver.set_current(context_), "cuCtxSetCurrent");
    if (bytes > 0) driver.must(driver.to_host(data.data(), address_ + offset, bytes), "cuMemcpyDtoH");
    return data;
}

// The card

inline Card::Card() : driver_(std::make_unique<cuda::Driver>()) {}

inline Card &Card::open() {
    static Card card;
    return card;
}

// GPUs have other numbers in other processes, so they are told apart by their UUIDs.
inline int Card::device_of(const Bytes &uuid) const {
    int count = 0;
    driver_->must(driver_->count(&count), "cuDeviceGetCount");
    for (int index = 0; index < count; ++index) {
        int device = 0;
        cuda::Uuid found{};
        driver_->must(driver_->device(&device, index), "cuDeviceGet");
        driver_->must(driver_->uuid(&found, device), "cuDeviceGetUuid");
        if (uuid.size() == sizeof found && std::memcmp(&found, uuid.data(), sizeof found) == 0) return device;
    }
    throw std::runtime_error("this process does not see the GPU of the tensor");
}

inline void *Card::enter(int device) {
    void *&context = contexts_[device];
    if (!context) driver_->must(driver_->retain(&context, device), "cuDevicePrimaryCtxRetain");
    driver_->must(driver_->set_current(context), "cuCtxSetCurrent");
    return context;
}

inline std::shared_ptr<Slab> Card::map(SlabSource source) {
    std::weak_ptr<Slab> &known = slabs_[{source.slab.high(), source.slab.low(), source.transport == TRANSPORT_VMM ? source.mode : std::uint8_t{0}}];
    std::shared_ptr<Slab> slab = known.lock();
    if (!slab) {
        slab = std::make_shared<Slab>(*this, source);
        known = slab;
    }
    return slab;
}

inline Mapped Card::map(Answer &answer) {
    auto &reply = answer.as<wire::TensorReplyT>();
    const wire::TensorInfoT &info = *reply.info;
    if (info.offset > info.slab_bytes || info.bytes > info.slab_bytes - info.offset)
        throw std::runtime_error("a tensor that does not lie in its slab");
    SlabSource source{*info.slab, info.slab_bytes, reply.mode, info.device, TRANSPORT_VMM, {}, Fd()};
    if (reply.backing) source.transport = reply.backing->transport, source.data = reply.backing->data;
    if (!answer.fds.empty()) source.fd = std::move(answer.fds.front());
    return Mapped(map(std::move(source)), info.offset, info.bytes);
}

inline void Card::try_event(const Bytes &device, const Bytes &handle) {
    enter(device_of(device));
    void *event = nullptr;
    driver_->must(driver_->event_open(&event, cuda::handle_of(handle)), "cuIpcOpenEventHandle");
    driver_->must(driver_->event_close(event), "cuEventDestroy");
}

} // namespace protocol
