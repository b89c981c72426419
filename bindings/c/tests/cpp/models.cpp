// Models: staged, committed, attached, followed.
#include <millpond/millpond.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "check.hpp"
#include "own_pond.hpp"

namespace models_tests {

using namespace std::chrono_literals;
using millpond::dtype;
using millpond::errc;
using millpond::stage_spec;

static millpond::pond &pond() {
    static check::own_pond process;
    static millpond::pond connected = process.connect();
    return connected;
}

static std::vector<float> filled(float value) { return std::vector<float>(1024, value); }

static millpond::version_info commit(const std::string &model, const std::string &tag, float head, bool activate = true) {
    auto next = pond().stage(stage_spec(model).tag(tag).tensor("head", dtype::f32, {32, 32}).tensor("tail", dtype::i64, {8}));
    next.tensor("head").copy_from_host<float>(filled(head));
    next.tensor("tail").fill(std::byte{0});
    return next.commit(activate);
}

TEST("a version is staged, committed and attached") {
    const auto made = commit("first", "v1", 1.5f);
    CHECK_EQUAL(made.model, "first");
    CHECK_EQUAL(made.tag, "v1");
    CHECK(made.current && made.state == millpond::version_state::ready);
    const auto model = pond().attach("first");
    CHECK_EQUAL(model.tag(), "v1");
    CHECK_EQUAL(model.size(), 2u);
    const auto head = model.tensor("head");
    CHECK(head.dtype() == dtype::f32 && head.shape() == std::vector<std::uint64_t>({32, 32}) && head.bytes() == 4096);
    CHECK(head.to_vector<float>() == filled(1.5f));
    CHECK(head.data<const float>() != nullptr);
    CHECK_REFUSED(errc::invalid, head.data<const double>());
    CHECK_EQUAL(model.tensor_at(1).name(), "tail");
    CHECK_REFUSED(errc::not_found, model.tensor("none"));
    CHECK(!model.stale());
    CHECK(!model.lost());
}

TEST("a tensor keeps its version when the model moves on") {
    (void)commit("moves", "v1", 1);
    auto model = pond().attach("moves");
    const auto old = model.tensor("head");
    const auto first = model.info().id;
    const auto second = commit("moves", "v2", 2);
    CHECK(model.stale());
    CHECK(model.refresh());
    CHECK(!model.refresh());
    CHECK(model.info().id == second.id);
    CHECK(model.tensor("head").to_vector<float>() == filled(2));
    CHECK(old.to_vector<float>() == filled(1));
    pond().retire("moves@v1");
    CHECK(!pond().wait_gone(first, 50ms));
    CHECK(old.to_vector<float>() == filled(1));
}

TEST("a version is gone when its last tensor is") {
    const auto first = commit("gone", "v1", 1);
    {
        const auto tensor = pond().attach("gone").tensor("head");
        (void)commit("gone", "v2", 2);
        pond().retire("gone@v1");
        CHECK(!pond().wait_gone(first.id, 20ms));
        CHECK(tensor.to_vector<float>() == filled(1));
    }
    CHECK(pond().wait_gone(first.id, 30s));
    CHECK_REFUSED(errc::not_found, pond().attach("gone@v1"));
}

TEST("a model is refreshed in place, and its addresses stay") {
    (void)commit("place", "v1", 1);
    auto model = pond().attach("place");
    const auto head = model.tensor("head");
    (void)commit("place", "v2", 2);
    CHECK(model.refresh_in_place());
    CHECK(head.address() == model.tensor("head").address());
    CHECK(head.to_vector<float>() == filled(2));
}

TEST("a version like another one shares what is not written") {
    (void)commit("like", "v1", 1);
    auto next = pond().stage(stage_spec("like").tag("v2").like("like@v1").source("a test").metadata("step", "7"));
    next.tensor("head").copy_from_host<float>(std::vector<float>(1, 9), 3);
    (void)next.commit(false);
    auto wanted = filled(1);
    wanted[3] = 9;
    CHECK(pond().attach("like@v2").tensor("head").to_vector<float>() == wanted);
    CHECK_EQUAL(pond().attach("like").tag(), "v1");
    CHECK_EQUAL(pond().swap("like", "v2").tag, "v2");
    CHECK_EQUAL(pond().attach("like").tag(), "v2");
    CHECK_EQUAL(pond().rollback("like").tag, "v1");
    CHECK_EQUAL(pond().versions("like").size(), 2u);
    CHECK(pond().version("like@v2").previous);
}

TEST("a staging that ends without a commit leaves nothing") {
    millpond::uuid id;
    {
        auto next = pond().stage(stage_spec("abandoned").tag("v1").tensor("x", dtype::f32, {4}));
        id = next.info().id;
        next.tensor("x").fill(std::byte{1});
        CHECK_REFUSED(errc::not_found, next.tensor("y"));
    }
    CHECK(pond().wait_gone(id, 30s));
    CHECK(pond().versions("abandoned").empty());
}

TEST("what was committed is not written any more") {
    auto next = pond().stage(stage_spec("over").tag("v1").tensor("x", dtype::f32, {4}));
    const auto x = next.tensor("x");
    x.fill(std::byte{0});
    (void)next.commit();
    CHECK(!next);
    CHECK_REFUSED(errc::invalid_handle, x.fill(std::byte{1}));
    CHECK_REFUSED(errc::invalid_handle, next.info());
}

TEST("wrong specs and wrong names are refused") {
    CHECK_REFUSED(errc::invalid, pond().stage(stage_spec("none")));
    CHECK_REFUSED(errc::not_found, pond().stage(stage_spec("none").like("none@v1")));
    CHECK_REFUSED(errc::not_found, pond().attach("none"));
    CHECK_REFUSED(errc::timeout, pond().attach("none", 20ms));
    CHECK_REFUSED(errc::invalid, pond().attach(""));
    std::vector<std::uint64_t> many(17, 1);
    CHECK_REFUSED(errc::invalid, pond().stage(stage_spec("none").tensor("x", dtype::f32, many)));
    static_assert(!std::is_copy_constructible_v<millpond::model> && !std::is_copy_constructible_v<millpond::staging>);
}

TEST("a version is saved, loaded and compared") {
    (void)commit("saved", "v1", 4);
    const auto file = std::filesystem::temp_directory_path() / "saved.safetensors";
    CHECK_EQUAL(pond().save("saved@v1", file.string(), true), 4096u + 64u);
    CHECK_REFUSED(errc::file, pond().save("saved@v1", file.string()));
    bool told = false;
    const auto made = pond().load(millpond::load_spec("loaded", file.string()).tag("first").activate(),
                                  [&](millpond::load_phase, std::uint64_t done, std::uint64_t total) { return told = true, done <= total; });
    CHECK(told && made.version.tag == "first" && made.version.current && made.bytes_read > 0);
    CHECK(pond().attach("loaded").tensor("head").to_vector<float>() == filled(4));
    CHECK(pond().verify("loaded@first").empty());
    CHECK_REFUSED(errc::file, pond().load(millpond::load_spec("loaded", "/nowhere")));
    std::filesystem::remove(file);
}

TEST("a model has another name, and its readers stay") {
    (void)commit("named", "v1", 3);
    const auto model = pond().attach("named");
    pond().rename_model("named", "renamed");
    CHECK_REFUSED(errc::not_found, pond().attach("named"));
    CHECK(pond().attach("renamed").info().id == model.info().id);
    pond().remove_version("renamed@v1");
    CHECK(model.tensor("head").to_vector<float>() == filled(3));
}

}  // namespace models_tests
