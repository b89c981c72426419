// What needs no pond: identities, dtypes, ranges, results, errors.
#include <millpond/millpond.hpp>

#include <array>
#include <cctype>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

#include "check.hpp"

namespace values_tests {

using millpond::dtype;
using millpond::errc;
using millpond::uuid;

TEST("a UUID is printed as it is parsed") {
    const std::string text = "123e4567-e89b-12d3-a456-426614174000";
    const auto id = uuid::parse(text);
    CHECK(id.has_value());
    CHECK_EQUAL(id->text(), text);
    CHECK_EQUAL(id->gpu_text(), "GPU-" + text);
    CHECK(uuid::parse("GPU-" + text) == id);
    CHECK(uuid::parse("123E4567E89B12D3A456426614174000") == id);
    CHECK_EQUAL(id->bytes()[0], 0x12);
    CHECK_EQUAL(id->bytes()[15], 0x00);
    CHECK(uuid::from_bytes(id->data()) == *id);
    std::ostringstream out;
    out << *id;
    CHECK_EQUAL(out.str(), text);
}

TEST("what is no UUID is refused") {
    for (const char *text : {"", "GPU-", "x", "123e4567-e89b-12d3-a456-42661417400", "123e4567-e89b-12d3-a456-4266141740000",
                             "123e4567-e89b-12d3-a456_426614174000", "g23e4567-e89b-12d3-a456-426614174000",
                             "123e4567e89b-12d3-a456-4266-14174000"}) {
        CHECK(!uuid::parse(text));
    }
}

TEST("UUIDs are keys of sets") {
    const auto a = *uuid::parse("00000000-0000-0000-0000-000000000001"), b = *uuid::parse("01000000-0000-0000-0000-000000000000");
    CHECK(a < b);
    CHECK(a != b);
    CHECK(uuid().is_nil() && !a.is_nil());
    CHECK_EQUAL(std::unordered_set<uuid>({a, b, a}).size(), 2u);
    CHECK_EQUAL(std::set<uuid>({b, a, b}).size(), 2u);
}

// The numbers of the header, in its order. tests/cpp.sh looks that none is missing.
#define SAME(word) CHECK_EQUAL(std::string(millpond::name(static_cast<dtype>(MILLPOND_DTYPE_##word))), std::string(#word))
TEST("dtypes are those of the C ABI") {
    SAME(BOOL); SAME(F4); SAME(F6_E2M3); SAME(F6_E3M2); SAME(U8); SAME(I8); SAME(F8_E5M2); SAME(F8_E4M3);
    SAME(F8_E8M0); SAME(F8_E4M3FNUZ); SAME(F8_E5M2FNUZ); SAME(I16); SAME(U16); SAME(F16); SAME(BF16); SAME(I32);
    SAME(U32); SAME(F32); SAME(C64); SAME(F64); SAME(I64); SAME(U64);
    for (unsigned code = 1; code < millpond::detail::dtype_count; ++code) {
        const auto type = static_cast<dtype>(code);
        CHECK(millpond::parse_dtype(millpond::name(type)) == type);
    }
    CHECK(!millpond::parse_dtype("F33"));
    CHECK(!millpond::parse_dtype(""));
}
#undef SAME

#define SAME(word) CHECK_EQUAL(lower(#word), std::string(millpond::name(static_cast<millpond::event_kind>(MILLPOND_EVENT_##word))))
static std::string lower(std::string word) {
    for (char &letter : word) letter = static_cast<char>(std::tolower(letter));
    return word;
}
TEST("kinds of events are those of the C ABI") {
    SAME(TENSOR_CREATED); SAME(TENSOR_PUBLISHED); SAME(TENSOR_DELETED); SAME(TENSOR_FREED); SAME(CLIENT_CONNECTED);
    SAME(CLIENT_SILENT); SAME(CLIENT_GONE); SAME(RECOVERED); SAME(DRAINING); SAME(KEEPER_REPLACED); SAME(GAP);
    SAME(MOVER_STARTED); SAME(MOVER_STOPPED); SAME(MOVER_LOST); SAME(LIMIT_REACHED); SAME(UPGRADING); SAME(COLLECTED);
    SAME(VERSION_STAGED); SAME(VERSION_READY); SAME(MODEL_SWAPPED); SAME(VERSION_DRAINING); SAME(VERSION_GONE);
    SAME(GROUP_SET); SAME(GROUP_OVER); SAME(GROUP_LYING); SAME(GROUP_STUCK); SAME(GROUP_GONE); SAME(RENAMED);
    SAME(START_FAILED); SAME(CACHE_OPENED); SAME(CACHE_CLOSED); SAME(CACHE_PRESSED); SAME(CACHE_GAVE);
    SAME(CACHE_GOT); SAME(CACHE_ENDED); SAME(HOST_STARTED); SAME(HOST_STOPPED); SAME(HOST_LOST); SAME(TENSOR_ADOPTED);
    SAME(TENSOR_ORPHANED); SAME(HOLD_ENDED);
    CHECK_EQUAL(std::string(millpond::name(static_cast<millpond::event_kind>(9999))), "unknown");
}
#undef SAME

TEST("types of C++ have dtypes") {
    static_assert(millpond::dtype_of<float>::value == dtype::f32);
    static_assert(millpond::dtype_of<double>::value == dtype::f64);
    static_assert(millpond::dtype_of<bool>::value == dtype::boolean);
    static_assert(millpond::dtype_of<long>::value == dtype::i64);
    static_assert(millpond::dtype_of<long long>::value == dtype::i64);
    static_assert(millpond::dtype_of<unsigned long long>::value == dtype::u64);
    static_assert(millpond::dtype_of<std::int8_t>::value == dtype::i8);
    static_assert(millpond::dtype_of<std::uint16_t>::value == dtype::u16);
    static_assert(millpond::dtype_of<__half>::value == dtype::f16);
    static_assert(!millpond::detail::has_dtype<char>);
    static_assert(!millpond::detail::has_dtype<std::string>);
    std::ostringstream out;
    out << dtype::bf16;
    CHECK_EQUAL(out.str(), "BF16");
}

TEST("codes of errors are those of the C ABI") {
    for (const auto &[code, name] : {std::pair(errc::ok, "ok"), {errc::internal, "internal"}, {errc::invalid, "invalid"},
                                     {errc::not_found, "not_found"}, {errc::exists, "exists"}, {errc::denied, "denied"},
                                     {errc::not_ready, "not_ready"}, {errc::gpu_full, "gpu_full"}, {errc::too_many, "too_many"},
                                     {errc::later, "later"}, {errc::draining, "draining"}, {errc::lost, "lost"},
                                     {errc::driver, "driver"}, {errc::protocol, "protocol"}, {errc::unknown_kind, "unknown_kind"},
                                     {errc::no_pond, "no_pond"}, {errc::untrusted, "untrusted"}, {errc::timeout, "timeout"},
                                     {errc::no_device, "no_device"}, {errc::file, "file"}, {errc::mover, "mover"},
                                     {errc::retired, "retired"}, {errc::in_use, "in_use"}, {errc::unsupported, "unsupported"},
                                     {errc::invalid_handle, "invalid_handle"}, {errc::null_pointer, "null_pointer"},
                                     {errc::forked, "forked"}, {errc::cancelled, "cancelled"}, {errc::closed, "closed"},
                                     {errc::too_small, "too_small"}, {errc::panic, "panic"}}) {
        CHECK_EQUAL(std::string(millpond::name(code)), std::string(name));
    }
}

TEST("an error has a code, a message and a hint") {
    const millpond::error why(errc::not_found, "tensor 'x' not found", "millpond tensor ls");
    const millpond::error copy = why;
    CHECK_EQUAL(copy.code(), errc::not_found);
    CHECK_EQUAL(copy.message(), "tensor 'x' not found");
    CHECK_EQUAL(copy.hint(), "millpond tensor ls");
    CHECK_EQUAL(std::string(copy.what()), "tensor 'x' not found\nhint: millpond tensor ls");
    CHECK_EQUAL(std::string(millpond::error(errc::invalid, "no").what()), "no");
    static_assert(std::is_nothrow_copy_constructible_v<millpond::error>);
}

TEST("a result is a value or an error") {
    millpond::result<int> seven = 7;
    CHECK(seven && *seven == 7 && seven.value() == 7 && seven.code() == errc::ok);
    const millpond::result<int> none = millpond::error(errc::timeout, "late");
    CHECK(!none && none.code() == errc::timeout && none.error().message() == "late");
    CHECK_EQUAL(millpond::result<int>(none).value_or(3), 3);
    CHECK_REFUSED(errc::timeout, none.value());
    const millpond::result<void> done;
    CHECK(done);
    done.value();
    const millpond::result<void> undone = millpond::error(errc::lost, "gone");
    CHECK(!undone && undone.code() == errc::lost);
    CHECK_REFUSED(errc::lost, undone.value());
    millpond::result<std::unique_ptr<int>> moved = std::make_unique<int>(4);
    CHECK_EQUAL(*std::move(moved).value(), 4);
}

TEST("a span is a view of anything in one piece") {
    std::vector<int> numbers = {1, 2, 3};
    const millpond::span<const int> all = numbers;
    CHECK_EQUAL(all.size(), 3u);
    CHECK_EQUAL(all.size_bytes(), 12u);
    CHECK_EQUAL(all[2], 3);
    CHECK_EQUAL(all.subspan(1, 2).front(), 2);
    CHECK_EQUAL(millpond::as_bytes(all).size(), 12u);
    std::array<char, 2> pair = {'a', 'b'};
    const millpond::span<char> writable = pair;
    writable[0] = 'c';
    CHECK_EQUAL(pair[0], 'c');
    CHECK(millpond::span<int>().empty());
}

// What CUDA's headers would define.
enum stand_in_status { stand_in_success = 0, stand_in_out_of_memory = 2, stand_in_invalid = 1 };
static const char *cudaGetErrorName(stand_in_status status) {
    return status == stand_in_invalid ? "cudaErrorInvalidValue" : "cudaErrorMemoryAllocation";
}
static stand_in_status answers(stand_in_status status) { return status; }

TEST("an error of CUDA names its call") {
    MILLPOND_CUDA_CHECK(answers(stand_in_success));
    try {
        MILLPOND_CUDA_CHECK(answers(stand_in_invalid));
        CHECK(false);
    } catch (const millpond::cuda_error &why) {
        CHECK_EQUAL(why.code(), errc::driver);
        CHECK_EQUAL(why.status(), 1);
        CHECK_EQUAL(why.name(), "cudaErrorInvalidValue");
        CHECK_EQUAL(why.call(), "answers(stand_in_invalid)");
        CHECK(why.message().find("answers(stand_in_invalid) failed with cudaErrorInvalidValue (1) at ") == 0);
    }
    CHECK_EQUAL(MILLPOND_CUDA_TRY(answers(stand_in_out_of_memory)).code(), errc::gpu_full);
    CHECK(MILLPOND_CUDA_TRY(answers(stand_in_success)));
    // A library with statuses of its own, such as cuBLAS.
    CHECK(MILLPOND_CUDA_TRY(7).error().message().find("status 7") != std::string::npos);
}

}  // namespace values_tests
