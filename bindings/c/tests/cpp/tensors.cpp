// Tensors: made, got, read, written, published, shared with other libraries, and given back.
#include <millpond/millpond.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "check.hpp"
#include "own_pond.hpp"

// DLPack's own header would define this; a consumer knows it.
struct DLManagedTensorVersioned {
    struct {
        std::uint32_t major, minor;
    } version;
    void *manager_ctx;
    void (*deleter)(DLManagedTensorVersioned *);
    std::uint64_t flags;
    struct {
        void *data;
        struct {
            std::int32_t type, id;
        } device;
        std::int32_t ndim;
        struct {
            std::uint8_t code, bits;
            std::uint16_t lanes;
        } dtype;
        std::int64_t *shape, *strides;
        std::uint64_t byte_offset;
    } dl_tensor;
};

namespace tensors_tests {

using namespace std::chrono_literals;
using millpond::dtype;
using millpond::errc;
using millpond::spec;

static millpond::pond &pond() {
    static check::own_pond process;
    static millpond::pond connected = process.connect();
    return connected;
}

TEST("the code of the issue compiles and runs as it is written") {
    auto &pond = tensors_tests::pond();
    (void)pond.create(spec("acts/x", dtype::f32, {16}).zero());
    auto buf = pond.create(millpond::spec(64 << 20).gpu(pond.gpus()[0].uuid).ttl(10s).max_accesses(5).zero());
    auto view = pond.get(buf.id());
    auto t = pond.tensor("acts/x");
    float *p = t.data<float>();
    CHECK(p != nullptr);
    CHECK_EQUAL(view.bytes(), 64u << 20);
    CHECK(view.gpu() == pond.gpus()[0].uuid);
    CHECK(!view.writable());
    CHECK(t.writable());
    CHECK(view.data<const std::byte>() != nullptr);
}

TEST("handles move and are never copied") {
    static_assert(!std::is_copy_constructible_v<millpond::tensor> && !std::is_copy_assignable_v<millpond::tensor>);
    static_assert(std::is_nothrow_move_constructible_v<millpond::tensor> && std::is_nothrow_move_assignable_v<millpond::tensor>);
    auto a = pond().create(spec(100).zero());
    const auto id = a.id();
    auto b = std::move(a);
    CHECK(!a && b);
    CHECK(b.id() == id);
    CHECK_EQUAL(a.bytes(), 0u);
    CHECK(a.address() == 0);
    CHECK_REFUSED(errc::invalid_handle, a.publish());
    CHECK_EQUAL(a.try_publish().code(), errc::invalid_handle);
    b.reset();
    CHECK(!b);
    b.reset();
}

TEST("a lease ends with its value, and the buffer stays until it is removed") {
    auto id = millpond::uuid();
    {
        const auto buffer = pond().create(spec(1000).zero());
        id = buffer.id();
    }
    CHECK(pond().flush(10s));
    CHECK_EQUAL(pond().get(id).bytes(), 1000u);
    pond().remove_unused(id);
    CHECK_REFUSED(errc::not_found, pond().get(id));
}

TEST("bytes that are written are read, by another lease") {
    std::vector<float> numbers(1024);
    std::iota(numbers.begin(), numbers.end(), 0.5f);
    auto x = pond().create(spec("bytes/x", dtype::f32, {32, 32}));
    CHECK(!x.existed());
    x.copy_from_host<float>(numbers);
    CHECK_REFUSED(errc::not_ready, pond().get("bytes/x"));
    CHECK_EQUAL(x.publish(), 1u);
    CHECK_EQUAL(x.generation(), 1u);
    const auto y = pond().get("bytes/x");
    CHECK(y.to_vector<float>() == numbers);
    CHECK(y.id() == x.id());
    CHECK_EQUAL(y.name(), "bytes/x");
    CHECK(y.dtype() == dtype::f32);
    const auto shape = y.shape();
    CHECK(shape.size() == 2 && shape[0] == 32 && shape[1] == 32);
    std::vector<float> two(2);
    y.copy_to_host<float>(two, 3);
    CHECK(two[0] == 3.5f && two[1] == 4.5f);
    x.fill(std::byte{0});
    CHECK(y.to_vector<float>() == std::vector<float>(1024));
}

TEST("a dtype is checked where memory is handed out") {
    const auto x = pond().create(spec("typed/x", dtype::i64, {4}).zero());
    CHECK(x.data<std::int64_t>() != nullptr);
    CHECK(x.data<long long>() != nullptr);
    CHECK(x.data<const std::byte>() != nullptr);
    CHECK(x.data<void>() != nullptr);
    const auto why = CHECK_REFUSED(errc::invalid, x.data<double>());
    CHECK_EQUAL(why.message(), "tensor 'typed/x' is I64, not F64");
    CHECK_EQUAL(x.try_data<float>().code(), errc::invalid);
    std::vector<double> four(4);
    CHECK_REFUSED(errc::invalid, x.copy_to_host<double>(four));
}

TEST("what was got read-only is not written") {
    (void)pond().create(spec("ro/x", dtype::f32, {4}).zero());
    auto x = pond().get("ro/x");
    CHECK(!x.writable());
    CHECK(x.data<const float>() != nullptr);
    const auto why = CHECK_REFUSED(errc::invalid, x.data<float>());
    CHECK(why.hint().find("pond.tensor") != std::string::npos);
    CHECK_REFUSED(errc::invalid, x.fill(std::byte{1}));
    CHECK_EQUAL(CHECK_REFUSED(errc::invalid, x.publish()).hint(), "get it with pond.tensor()");
    const std::vector<float> four(4);
    CHECK_REFUSED(errc::invalid, x.copy_from_host<float>(four));
}

TEST("copies stay inside of the tensor") {
    auto x = pond().create(spec("bounds/x", dtype::f32, {4}).zero());
    std::vector<float> five(5);
    CHECK_REFUSED(errc::invalid, x.copy_from_host<float>(five));
    CHECK_REFUSED(errc::invalid, x.copy_to_host<float>(five));
    std::vector<float> one(1);
    CHECK_REFUSED(errc::invalid, x.copy_to_host<float>(one, 4));
    CHECK_REFUSED(errc::invalid, x.copy_to_host<float>(one, ~std::uint64_t{0}));
    x.copy_to_host<float>(one, 3);
}

TEST("a get waits until somebody publishes") {
    auto x = pond().create(spec("wait/x", dtype::u8, {8}));
    CHECK_REFUSED(errc::not_ready, pond().get("wait/x"));
    CHECK_EQUAL(pond().try_get("wait/none", 50ms).code(), errc::timeout);
    std::thread writer([&] { x.publish(); });
    const auto y = pond().get("wait/x", 30s);
    writer.join();
    CHECK_EQUAL(y.generation(), 1u);
}

TEST("a create finds what is there, and refuses what differs") {
    const auto first = pond().create(spec("same/x", dtype::f32, {4}).zero());
    const auto second = pond().create(spec("same/x", dtype::f32, {4}).zero());
    CHECK(second.existed() && first.id() == second.id());
    const auto why = CHECK_REFUSED(errc::exists, pond().create(spec("same/x", dtype::f32, {5}).zero()));
    CHECK(why.message().find("same/x") != std::string::npos);
}

TEST("an error names the thing and the way out") {
    (void)pond().create(spec("frames/left", dtype::u8, {4}).zero());
    const auto why = CHECK_REFUSED(errc::not_found, pond().get("frames/lef"));
    CHECK(why.message().find("frames/lef") != std::string::npos);
    CHECK(!why.hint().empty());
    CHECK(why.similar().size() == 1 && why.similar()[0] == "frames/left");
    CHECK(why.remedy() == millpond::remedy::change);
    const auto full = CHECK_REFUSED(errc::gpu_full, pond().create(spec(std::uint64_t{1} << 40)));
    CHECK_EQUAL(full.memory().requested_bytes >= std::uint64_t{1} << 40, true);
    CHECK(full.memory().capacity_bytes > 0);
}

TEST("specs that cannot be are refused") {
    CHECK_REFUSED(errc::invalid, pond().create(spec(0)));
    CHECK_REFUSED(errc::invalid, pond().create(spec("a b", dtype::f32, {1})));
    CHECK_REFUSED(errc::invalid, pond().create(spec("a", dtype::f32, {0})));
    CHECK_REFUSED(errc::invalid, pond().create(spec(std::string(1000, 'x'), dtype::f32, {1})));
    CHECK_REFUSED(errc::invalid, pond().create(spec("a", static_cast<dtype>(99), {1})));
    CHECK_REFUSED(errc::no_device, pond().create(spec(1).gpu(*millpond::uuid::parse("11111111-1111-1111-1111-111111111111"))));
    CHECK_REFUSED(errc::not_found, pond().get(millpond::uuid()));
}

TEST("a tensor is renamed, listed and removed") {
    const auto x = pond().create(spec("old/x", dtype::f32, {4}).zero());
    pond().rename("old/x", "new/x");
    CHECK_REFUSED(errc::not_found, pond().get("old/x"));
    CHECK(pond().get("new/x").id() == x.id());
    std::set<std::string> names;
    for (const auto &info : pond().list("new/")) names.insert(info.name);
    CHECK(names == std::set<std::string>{"new/x"});
    const auto info = pond().inspect("new/x");
    CHECK(info.id == x.id() && info.dtype == dtype::f32 && info.bytes == 16);
    CHECK(info.shape == std::vector<std::uint64_t>{4});
    CHECK(info.state == millpond::tensor_state::ready);
    pond().remove(x);
    CHECK_REFUSED(errc::not_found, pond().get("new/x"));
    CHECK_EQUAL(x.to_vector<float>().size(), 4u);
}

TEST("a DLPack export keeps the lease until its consumer is done") {
    auto x = pond().create(spec("dl/x", dtype::bf16, {2, 3, 4}).zero());
    const auto id = x.id();
    const auto address = x.address();
    DLManagedTensorVersioned *managed = x.dlpack();
    x.reset();
    CHECK(pond().flush(10s));
    CHECK_REFUSED(errc::in_use, pond().remove_unused(id));
    const auto &tensor = managed->dl_tensor;
    CHECK_EQUAL(managed->version.major, 1u);
    CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(tensor.data), address);
    CHECK(tensor.ndim == 3 && tensor.shape[0] == 2 && tensor.shape[2] == 4);
    CHECK(tensor.strides[0] == 12 && tensor.strides[1] == 4 && tensor.strides[2] == 1);
    CHECK(tensor.dtype.code == 4 && tensor.dtype.bits == 16 && tensor.dtype.lanes == 1);
    CHECK(tensor.byte_offset == 0 && managed->flags == 0);
    // Memory of the software driver is the host's.
    CHECK(tensor.device.type == 1 && tensor.device.id == 0);
    managed->deleter(managed);
    CHECK(pond().flush(10s));
    pond().remove_unused(id);
}

TEST("a DLPack export says that memory is read-only, and what DLPack lacks is refused") {
    (void)pond().create(spec("dl/ro", dtype::f32, {4}).zero());
    const auto x = pond().get("dl/ro");
    auto *managed = x.dlpack();
    CHECK_EQUAL(managed->flags & 1, 1u);
    managed->deleter(managed);
    CHECK_REFUSED(errc::invalid, pond().create(spec("dl/f6", dtype::f6_e2m3, {4}).zero()).dlpack());
    // Readers of the older format do not know read-only memory.
    CHECK_REFUSED(errc::unsupported, x.dlpack_legacy());
}

TEST("many threads use one pond") {
    std::vector<std::thread> threads;
    std::vector<int> done(8);
    for (int thread = 0; thread < 8; ++thread) {
        threads.emplace_back([&, thread] {
            for (int turn = 0; turn < 20; ++turn) {
                const auto name = "threads/" + std::to_string(thread) + "/" + std::to_string(turn);
                auto x = pond().create(spec(name, dtype::u8, {64}));
                x.fill(static_cast<std::byte>(turn));
                x.publish();
                if (pond().get(name).to_vector<std::uint8_t>()[63] == turn) ++done[static_cast<std::size_t>(thread)];
                pond().remove(x);
                // The error of one thread is not that of another.
                const auto missing = pond().try_get(name);
                if (missing || missing.error().message().find(name) == std::string::npos) --done[static_cast<std::size_t>(thread)];
            }
        });
    }
    for (auto &thread : threads) thread.join();
    CHECK_EQUAL(std::accumulate(done.begin(), done.end(), 0), 160);
}

TEST("values are printed") {
    const auto x = pond().create(spec("shown/x", dtype::f32, {4, 2}).zero());
    std::ostringstream out;
    out << x;
    CHECK_EQUAL(out.str(), "shown/x: F32 [4, 2]");
}

}  // namespace tensors_tests
