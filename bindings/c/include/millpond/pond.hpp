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
#include "spec.hpp"
#include "status.hpp"
#include "tensor.hpp"

namespace millpond {

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
    /// For a tensor that was made with `reserve`, and filled.
    std::uint64_t publish(const uuid &id) const { return try_publish(id).value(); }
    [[nodiscard]] result<std::uint64_t> try_publish(const uuid &id) const {
        const auto raw = detail::raw(id);
        std::uint64_t generation = 0;
        if (const int code = millpond_tensor_publish_reserved(handle_.get(), &raw, &generation); code != 0) return detail::last_error(code);
        return generation;
    }
    [[nodiscard]] tensor_info inspect(const target &which) const { return try_inspect(which).value(); }
    [[nodiscard]] result<tensor_info> try_inspect(const target &which) const {
        return detail::filled<tensor_info, millpond_tensor_info>(
            [&](auto *out) { return millpond_tensor_inspect(handle_.get(), which.c_str(), out); });
    }

    // The pond.

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
    /// The GPUs with their accounts, asked anew.
    [[nodiscard]] std::vector<gpu> gpus() const { return try_gpus().value(); }
    [[nodiscard]] result<std::vector<gpu>> try_gpus() const {
        auto found = try_status();
        if (!found) return found.error();
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
        millpond_text *text = nullptr;
        if (const int code = millpond_pond_runtime_dir(handle_.get(), &text); code != 0) return detail::last_error(code);
        return detail::taken(text);
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
