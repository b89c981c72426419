// A connection to a pond, and everything that is asked of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detail/call.hpp"
#include "detail/visit.hpp"
#include "spec.hpp"
#include "status.hpp"
#include "tensor.hpp"

namespace millpond {

class elastic;
class events;
class group_change;
class ipc_handle;
class load_spec;
class model;
class sink;
class source;
class stage_spec;
class staging;
struct loaded;
struct version_info;
enum class load_phase : std::uint32_t;

/// What a call is about: a name (`acts/x`), a name with its owner (`~alice/acts/x`), an identity, or a tensor.
class target {
public:
    target(const char *name) : name_(name == nullptr ? "" : name) {}
    target(std::string name) : name_(std::move(name)) {}
    target(std::string_view name) : name_(name) {}
    target(const uuid &id) : name_(id.text()) {}
    target(const tensor &which) : target(which.id()) {}
    target(const tensor_info &which) : target(which.id) {}

    [[nodiscard]] const char *c_str() const noexcept { return name_.c_str(); }

private:
    std::string name_;
};

/// Copies are the same connection. All threads may use one pond at once; a forked child connects anew with its first call.
class pond {
public:
    /// Finds the pond of this user or this machine. Ponds with the same folder and no other option share one connection.
    [[nodiscard]] static pond connect(const pond_options &options = {}) { return try_connect(options).value(); }
    [[nodiscard]] static result<pond> try_connect(const pond_options &options = {}) {
        const auto raw = options.raw();
        return detail::made<pond, millpond_pond>([&](auto *out) { return millpond_pond_connect(&raw, out); });
    }
    /// Takes a handle of the C ABI over.
    explicit pond(millpond_pond *handle) : handle_(handle, detail::freeing<millpond_pond_free>()) {}

    [[nodiscard]] millpond_pond *handle() const noexcept { return handle_.get(); }
    [[nodiscard]] bool operator==(const pond &other) const noexcept { return handle_ == other.handle_; }
    [[nodiscard]] bool operator!=(const pond &other) const noexcept { return !(*this == other); }

    // Tensors.

    /// Makes a tensor and maps it for writing. Where one of that name, dtype, shape and audience already exists, that is the one:
    /// `tensor::existed`. Others get it when it is published, which is done here for `spec(bytes)`, and by `zero()`.
    [[nodiscard]] millpond::tensor create(const spec &wanted) const { return try_create(wanted).value(); }
    [[nodiscard]] result<millpond::tensor> try_create(const spec &wanted) const {
        const auto raw = wanted.raw();
        if (!raw) return raw.error();
        std::uint32_t existed = 0;
        millpond_tensor *handle = nullptr;
        if (const int code = millpond_tensor_create(handle_.get(), &*raw, &existed, &handle); code != 0) return detail::last_error(code);
        millpond::tensor made(handle, existed != 0);
        if (wanted.publishes() && !made.existed()) {
            if (const auto published = made.try_publish(); !published) return published.error();
        }
        return made;
    }
    /// Makes a tensor without mapping it; needs no driver.
    tensor_info reserve(const spec &wanted) const { return try_reserve(wanted).value(); }
    [[nodiscard]] result<tensor_info> try_reserve(const spec &wanted) const {
        const auto raw = wanted.raw();
        if (!raw) return raw.error();
        return detail::filled<tensor_info, millpond_tensor_info>(
            [&](auto *out) { return millpond_tensor_reserve(handle_.get(), &*raw, nullptr, out); });
    }
    /// Maps a published tensor read-only, and waits for so long until it is there and published.
    [[nodiscard]] millpond::tensor get(const target &which, wait_time wait = {}) const { return try_get(which, wait).value(); }
    [[nodiscard]] result<millpond::tensor> try_get(const target &which, wait_time wait = {}) const {
        return got(which, MILLPOND_MODE_READ_ONLY, wait);
    }
    /// The same by identity, which costs no text.
    [[nodiscard]] millpond::tensor get(const uuid &id, wait_time wait = {}) const { return try_get(id, wait).value(); }
    [[nodiscard]] result<millpond::tensor> try_get(const uuid &id, wait_time wait = {}) const {
        return got(id, MILLPOND_MODE_READ_ONLY, wait);
    }
    /// Maps a published tensor for reading and writing.
    [[nodiscard]] millpond::tensor tensor(const target &which, wait_time wait = {}) const { return try_tensor(which, wait).value(); }
    [[nodiscard]] result<millpond::tensor> try_tensor(const target &which, wait_time wait = {}) const {
        return got(which, MILLPOND_MODE_READ_WRITE, wait);
    }
    [[nodiscard]] millpond::tensor tensor(const uuid &id, wait_time wait = {}) const { return try_tensor(id, wait).value(); }
    [[nodiscard]] result<millpond::tensor> try_tensor(const uuid &id, wait_time wait = {}) const {
        return got(id, MILLPOND_MODE_READ_WRITE, wait);
    }
    /// No new readers; the memory goes when the last lease has ended.
    void remove(const target &which) const { try_remove(which).value(); }
    [[nodiscard]] result<void> try_remove(const target &which) const {
        return detail::done(millpond_tensor_delete(handle_.get(), which.c_str()));
    }
    /// The same where nobody has it; otherwise `errc::in_use`, with the processes in `error::holders`, and nothing changes.
    void remove_unused(const target &which) const { try_remove_unused(which).value(); }
    [[nodiscard]] result<void> try_remove_unused(const target &which) const {
        return detail::done(millpond_tensor_delete_unused(handle_.get(), which.c_str()));
    }
    /// Leases and mappings stay.
    void rename(const target &which, const std::string &name) const { try_rename(which, name).value(); }
    [[nodiscard]] result<void> try_rename(const target &which, const std::string &name) const {
        return detail::done(millpond_tensor_rename(handle_.get(), which.c_str(), name.c_str()));
    }
    /// For a tensor that was filled with `upload` or `copy`. Answers the generation.
    std::uint64_t publish(const target &which) const { return try_publish(which).value(); }
    [[nodiscard]] result<std::uint64_t> try_publish(const target &which) const {
        std::uint64_t generation = 0;
        if (const int code = millpond_tensor_publish_unmapped(handle_.get(), which.c_str(), &generation); code != 0) return detail::last_error(code);
        return generation;
    }
    [[nodiscard]] tensor_info inspect(const target &which) const { return try_inspect(which).value(); }
    [[nodiscard]] result<tensor_info> try_inspect(const target &which) const {
        return detail::filled<tensor_info, millpond_tensor_info>(
            [&](auto *out) { return millpond_tensor_inspect(handle_.get(), which.c_str(), out); });
    }
    /// Every tensor shared with the caller whose name begins so; with nothing, also those without a name.
    [[nodiscard]] std::vector<tensor_info> list(const std::string &prefix = {}) const { return try_list(prefix).value(); }
    [[nodiscard]] result<std::vector<tensor_info>> try_list(const std::string &prefix = {}) const {
        std::vector<tensor_info> found;
        const auto keep = [&](const millpond_tensor_info *raw) { return found.emplace_back(*raw), true; };
        detail::guarded<decltype(keep)> guard(keep);
        const int code = millpond_tensor_list(
            handle_.get(), prefix.empty() ? nullptr : prefix.c_str(), 0,
            [](const millpond_tensor_info *raw, void *data) -> std::uint32_t {
                return static_cast<decltype(guard) *>(data)->goes_on(raw) ? 0 : 1;
            },
            guard.address());
        guard.finish();
        if (code != 0) return detail::last_error(code);
        return found;
    }

    /// For programs that know nothing but CUDA: of a tensor with `transport::ipc`, which is not mapped by this.
    [[nodiscard]] millpond::ipc_handle ipc_handle(const target &which, wait_time wait = {}) const;
    [[nodiscard]] result<millpond::ipc_handle> try_ipc_handle(const target &which, wait_time wait = {}) const;

    // Bytes without a mapping.

    /// Makes a tensor that nobody sees before all of its bytes are there; `spec::replace` puts it in the place of another one.
    tensor_info put(const spec &wanted, const source &from, const progress &told = {}) const;
    [[nodiscard]] result<tensor_info> try_put(const spec &wanted, const source &from, const progress &told = {}) const;
    /// Fills a tensor. It is not published by this.
    void upload(const target &to, const source &from, const progress &told = {}) const;
    [[nodiscard]] result<void> try_upload(const target &to, const source &from, const progress &told = {}) const;
    /// Writes a published tensor out, and answers how many bytes it had.
    std::uint64_t download(const target &from, const sink &to, const progress &told = {}) const;
    [[nodiscard]] result<std::uint64_t> try_download(const target &from, const sink &to, const progress &told = {}) const;
    void copy(const target &from, const target &to, const progress &told = {}) const;
    [[nodiscard]] result<void> try_copy(const target &from, const target &to, const progress &told = {}) const;
    /// Fills it with zeroes.
    void zero(const target &which) const { try_zero(which).value(); }
    [[nodiscard]] result<void> try_zero(const target &which) const {
        return detail::done(millpond_tensor_zero(handle_.get(), which.c_str()));
    }

    // Models.

    /// Maps a version read-only: `llama` is whichever is current, `llama@v2`, `~alice/llama`, or an identity as text.
    [[nodiscard]] model attach(const std::string &version, wait_time wait = {}) const;
    [[nodiscard]] result<model> try_attach(const std::string &version, wait_time wait = {}) const;
    /// Begins a version that this process writes.
    [[nodiscard]] staging stage(const stage_spec &wanted) const;
    [[nodiscard]] result<staging> try_stage(const stage_spec &wanted) const;
    /// Loads a checkpoint as a version, which nobody gets before all of its bytes are there. Needs no driver.
    [[nodiscard]] loaded load(const load_spec &wanted, const std::function<bool(load_phase, std::uint64_t, std::uint64_t)> &told = {}) const;
    [[nodiscard]] result<loaded> try_load(const load_spec &wanted, const std::function<bool(load_phase, std::uint64_t, std::uint64_t)> &told = {}) const;
    /// Saves a version as safetensors, a file or a folder; with `force` in the place of what is there. Answers the bytes of its tensors.
    std::uint64_t save(const std::string &version, const std::string &path, bool force = false, const progress &told = {}) const;
    [[nodiscard]] result<std::uint64_t> try_save(const std::string &version, const std::string &path, bool force = false, const progress &told = {}) const;
    /// Hashes a version on its GPU, and answers the names of tensors that are not what was loaded.
    [[nodiscard]] std::vector<std::string> verify(const std::string &version, const progress &told = {}) const;
    [[nodiscard]] result<std::vector<std::string>> try_verify(const std::string &version, const progress &told = {}) const;
    /// Every version of every model whose name begins so.
    [[nodiscard]] std::vector<version_info> versions(const std::string &prefix = {}) const;
    [[nodiscard]] result<std::vector<version_info>> try_versions(const std::string &prefix = {}) const;
    [[nodiscard]] version_info version(const std::string &which) const;
    [[nodiscard]] result<version_info> try_version(const std::string &which) const;
    /// Makes another version current; whoever has the old one keeps it. Answers what is current now.
    version_info swap(const std::string &model, const std::string &tag) const;
    [[nodiscard]] result<version_info> try_swap(const std::string &model, const std::string &tag) const;
    /// Makes the one before current again.
    version_info rollback(const std::string &model) const;
    [[nodiscard]] result<version_info> try_rollback(const std::string &model) const;
    /// No new readers, and gone with the last one. Not for the current version.
    void retire(const std::string &version) const { try_retire(version).value(); }
    [[nodiscard]] result<void> try_retire(const std::string &version) const {
        return detail::done(millpond_version_retire(handle_.get(), version.c_str()));
    }
    /// The same, also for the current version.
    void remove_version(const std::string &version) const { try_remove_version(version).value(); }
    [[nodiscard]] result<void> try_remove_version(const std::string &version) const {
        return detail::done(millpond_version_remove(handle_.get(), version.c_str()));
    }
    void rename_model(const std::string &model, const std::string &name) const { try_rename_model(model, name).value(); }
    [[nodiscard]] result<void> try_rename_model(const std::string &model, const std::string &name) const {
        return detail::done(millpond_model_rename(handle_.get(), model.c_str(), name.c_str()));
    }
    /// Waits until the last reader of a version has left; false if the time was over before.
    bool wait_gone(const uuid &version, wait_time timeout = forever) const { return try_wait_gone(version, timeout).value(); }
    [[nodiscard]] result<bool> try_wait_gone(const uuid &version, wait_time timeout = forever) const {
        const auto raw = detail::raw(version);
        const int code = millpond_version_wait_gone(handle_.get(), &raw, timeout.ms());
        if (code == 0) return true;
        if (static_cast<errc>(code) == errc::timeout) return false;
        return detail::last_error(code);
    }

    // Limits, and memory under them.

    /// The group whose limit caches share. `set_group` makes one.
    [[nodiscard]] millpond::elastic elastic(const std::string &group) const;
    [[nodiscard]] result<millpond::elastic> try_elastic(const std::string &group) const;
    /// Makes or changes a group. For the operator and the user who runs the pond.
    void set_group(const std::string &name, const group_change &change) const;
    [[nodiscard]] result<void> try_set_group(const std::string &name, const group_change &change) const;
    /// Removes a group that has no processes.
    void remove_group(const std::string &name) const { try_remove_group(name).value(); }
    [[nodiscard]] result<void> try_remove_group(const std::string &name) const {
        return detail::done(millpond_group_remove(handle_.get(), name.c_str()));
    }

    // Listings as JSON, as the command line prints them with `--json`.

    [[nodiscard]] std::string groups_json() const { return try_groups_json().value(); }
    [[nodiscard]] result<std::string> try_groups_json() const {
        return written([&](auto *out) { return millpond_group_list_json(handle_.get(), out); });
    }
    [[nodiscard]] std::string group_json(const std::string &name) const { return try_group_json(name).value(); }
    [[nodiscard]] result<std::string> try_group_json(const std::string &name) const {
        return written([&](auto *out) { return millpond_group_inspect_json(handle_.get(), name.c_str(), out); });
    }
    [[nodiscard]] std::string clients_json() const { return try_clients_json().value(); }
    [[nodiscard]] result<std::string> try_clients_json() const {
        return written([&](auto *out) { return millpond_pond_clients_json(handle_.get(), out); });
    }
    [[nodiscard]] std::string accounts_json() const { return try_accounts_json().value(); }
    [[nodiscard]] result<std::string> try_accounts_json() const {
        return written([&](auto *out) { return millpond_pond_accounts_json(handle_.get(), out); });
    }
    /// Of one group, or of all.
    [[nodiscard]] std::string caches_json(const std::string &group = {}) const { return try_caches_json(group).value(); }
    [[nodiscard]] result<std::string> try_caches_json(const std::string &group = {}) const {
        return written([&](auto *out) { return millpond_pond_caches_json(handle_.get(), group.empty() ? nullptr : group.c_str(), out); });
    }

    // The pond.

    /// What happens, from that number on: 0 from now on, 1 all that the pond has kept.
    [[nodiscard]] millpond::events events(std::uint64_t from = 0) const;
    [[nodiscard]] result<millpond::events> try_events(std::uint64_t from = 0) const;

    [[nodiscard]] millpond::status status() const { return try_status().value(); }
    [[nodiscard]] result<millpond::status> try_status() const {
        millpond_status *handle = nullptr;
        if (const int code = millpond_pond_status(handle_.get(), &handle); code != 0) return detail::last_error(code);
        const detail::owned<millpond_status, millpond_status_free> kept(handle);
        millpond_pond_info info{};
        if (const int code = millpond_status_info(handle, &info); code != 0) return detail::last_error(code);
        millpond::status made;
        made.pond = detail::cooked(info.pond);
        made.epoch = info.epoch;
        made.started_unix_ms = info.started_unix_ms;
        made.daemon_pid = info.daemon_pid;
        made.keeper_pid = info.keeper_pid;
        made.clients = info.clients;
        made.leases = info.leases;
        made.driver_ready = info.driver_ready != 0;
        made.software = info.software != 0;
        made.version = detail::text(info.version);
        made.driver = detail::text(info.driver);
        for (std::size_t at = 0, count = millpond_status_gpu_count(handle); at < count; ++at) {
            millpond_gpu raw{};
            if (const int code = millpond_status_gpu_at(handle, at, &raw); code != 0) return detail::last_error(code);
            made.gpus.emplace_back(raw);
        }
        millpond_text *json = nullptr;
        if (const int code = millpond_status_json(handle, &json); code != 0) return detail::last_error(code);
        made.json = detail::taken(json);
        return made;
    }
    /// The GPUs with their accounts, asked anew. Waits for the driver of a pond that has just begun.
    [[nodiscard]] std::vector<gpu> gpus() const { return try_gpus().value(); }
    [[nodiscard]] result<std::vector<gpu>> try_gpus() const {
        auto found = try_status();
        if (!found) return found.error();
        if (found->gpus.empty() && !found->driver_ready) {
            return error(errc::driver, "the pond's driver is still starting", "see `millpond logs`");
        }
        return std::move(found->gpus);
    }
    /// One round trip.
    void ping() const { try_ping().value(); }
    [[nodiscard]] result<void> try_ping() const { return detail::done(millpond_pond_ping(handle_.get())); }
    /// Waits until every lease that was given up is unmapped and the pond knows; false if the time was over before.
    bool flush(wait_time timeout = forever) const { return try_flush(timeout).value(); }
    [[nodiscard]] result<bool> try_flush(wait_time timeout = forever) const {
        const int code = millpond_pond_flush(handle_.get(), timeout.ms());
        if (code == 0) return true;
        if (static_cast<errc>(code) == errc::timeout) return false;
        return detail::last_error(code);
    }
    [[nodiscard]] std::string runtime_dir() const { return try_runtime_dir().value(); }
    [[nodiscard]] result<std::string> try_runtime_dir() const {
        return written([&](auto *out) { return millpond_pond_runtime_dir(handle_.get(), out); });
    }
    /// How the pond knows this process.
    [[nodiscard]] uuid client_id() const { return try_client_id().value(); }
    [[nodiscard]] result<uuid> try_client_id() const {
        millpond_uuid id{};
        if (const int code = millpond_pond_client_id(handle_.get(), &id); code != 0) return detail::last_error(code);
        return detail::cooked(id);
    }
    /// Leases of this process, with those on their way back.
    [[nodiscard]] std::uint64_t live_leases() const noexcept {
        std::uint64_t leases = 0;
        (void)millpond_pond_live(handle_.get(), &leases, nullptr);
        return leases;
    }
    [[nodiscard]] std::uint64_t live_bytes() const noexcept {
        std::uint64_t bytes = 0;
        (void)millpond_pond_live(handle_.get(), nullptr, &bytes);
        return bytes;
    }
    /// Waits for what was given up, and says goodbye. Refused while tensors or models are in use; all copies are closed then.
    void close() { try_close().value(); }
    [[nodiscard]] result<void> try_close() { return detail::done(millpond_pond_close(handle_.get())); }

private:
    template <class Call>
    [[nodiscard]] static result<std::string> written(Call &&call) {
        millpond_text *text = nullptr;
        if (const int code = call(&text); code != 0) return detail::last_error(code);
        return detail::taken(text);
    }
    [[nodiscard]] static millpond_get_options options(std::uint32_t mode, wait_time wait) noexcept {
        millpond_get_options made{};
        detail::set(made.mode, mode);
        made.wait_ms = wait.ms();
        return made;
    }
    [[nodiscard]] result<millpond::tensor> got(const target &which, std::uint32_t mode, wait_time wait) const {
        const auto options = pond::options(mode, wait);
        return detail::made<millpond::tensor, millpond_tensor>(
            [&](auto *out) { return millpond_tensor_get(handle_.get(), which.c_str(), &options, out); });
    }
    [[nodiscard]] result<millpond::tensor> got(const uuid &id, std::uint32_t mode, wait_time wait) const {
        const auto options = pond::options(mode, wait);
        const auto raw = detail::raw(id);
        return detail::made<millpond::tensor, millpond_tensor>(
            [&](auto *out) { return millpond_tensor_get_by_id(handle_.get(), &raw, &options, out); });
    }

    std::shared_ptr<millpond_pond> handle_;
};

}  // namespace millpond
