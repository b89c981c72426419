// Versions of models: mapped, followed, written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detail/visit.hpp"
#include "pond.hpp"
#include "tensor.hpp"

namespace millpond {

enum class version_state : std::uint32_t { staging = 1, ready = 2, draining = 3 };

/// What a pond says about a version of a model.
struct version_info {
    uuid id, gpu;
    /// The model's name inside its owner's scope, and the version's tag.
    std::string model, tag;
    std::uint32_t user = 0;
    version_state state = version_state::staging;
    millpond::audience audience = millpond::audience::user;
    /// Whether an attach of the model gets this one, and whether a rollback leads to it.
    bool current = false, previous = false;
    /// Its record survived but not its memory.
    bool lost = false;
    std::uint32_t slabs = 0, tensors = 0, readers = 0;
    /// The process that stages it; zero where none does.
    std::uint32_t stager_pid = 0;
    std::uint64_t bytes = 0, slab_bytes = 0, shared_bytes = 0;
    std::uint64_t created_unix_ms = 0;
    /// Zero before it is ready.
    std::uint64_t ready_unix_ms = 0;
    /// All zero before it is ready.
    std::array<std::uint8_t, 16> layout_hash{}, content_hash{};

    version_info() = default;
    explicit version_info(const millpond_version_info &raw)
        : id(detail::cooked(raw.id)), gpu(detail::cooked(raw.gpu)), model(detail::text(raw.model)), tag(detail::text(raw.tag)),
          user(raw.user), state(static_cast<version_state>(raw.state)), audience(static_cast<millpond::audience>(raw.audience)),
          current(raw.current != 0), previous(raw.previous != 0), lost(raw.lost != 0), slabs(raw.slabs), tensors(raw.tensors),
          readers(raw.readers), stager_pid(raw.stager_pid), bytes(raw.bytes), slab_bytes(raw.slab_bytes),
          shared_bytes(raw.shared_bytes), created_unix_ms(raw.created_unix_ms), ready_unix_ms(raw.ready_unix_ms) {
        std::memcpy(layout_hash.data(), raw.layout_hash, layout_hash.size());
        std::memcpy(content_hash.data(), raw.content_hash, content_hash.size());
    }

    friend std::ostream &operator<<(std::ostream &out, const version_info &which) { return out << which.model << '@' << which.tag; }
};

/// A tensor of a version, mapped read-only. Keeps the version, also when the model is refreshed or gone. Cheap to copy.
class model_tensor {
public:
    [[nodiscard]] const std::string &name() const noexcept { return name_; }
    [[nodiscard]] millpond::dtype dtype() const noexcept { return dtype_; }
    [[nodiscard]] const std::vector<std::uint64_t> &shape() const noexcept { return shape_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return bytes_ * 8 / bits(dtype_); }
    /// Where it begins in the version's arena.
    [[nodiscard]] std::uint64_t arena_offset() const noexcept { return arena_offset_; }
    /// Of its bytes.
    [[nodiscard]] const std::array<std::uint8_t, 16> &hash() const noexcept { return hash_; }
    [[nodiscard]] std::uintptr_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(data_); }

    /// A pointer for kernels. `T` is const, and its dtype or `std::byte` or `void`.
    template <class T>
    [[nodiscard]] T *data() const {
        return try_data<T>().value();
    }
    template <class T>
    [[nodiscard]] result<T *> try_data() const {
        static_assert(std::is_const_v<T>, "models are mapped read-only: ask for a const type");
        if (const auto fits = detail::fits<std::remove_const_t<T>>(dtype_, "'" + name_ + "'"); !fits) return fits.error();
        return static_cast<T *>(data_);
    }

    /// Copies elements out of it, from the element `first` on, and waits. `T` is `std::byte` unless it is named.
    template <class T = std::byte>
    void copy_to_host(span<detail::named_t<T>> target, std::uint64_t first = 0) const {
        try_copy_to_host<T>(target, first).value();
    }
    template <class T = std::byte>
    [[nodiscard]] result<void> try_copy_to_host(span<detail::named_t<T>> target, std::uint64_t first = 0) const {
        if (const auto fits = detail::fits<T>(dtype_, "'" + name_ + "'"); !fits) return fits;
        const auto offset = detail::offset_of<T>(first);
        if (!offset) return offset.error();
        if (target.empty()) return {};
        return detail::done(millpond_model_copy_to_host(version_.get(), name_.c_str(), *offset, target.data(), target.size_bytes()));
    }
    template <class T>
    [[nodiscard]] std::vector<T> to_vector() const {
        std::vector<T> all(static_cast<std::size_t>(bytes_ / sizeof(T)));
        copy_to_host<T>(all);
        return all;
    }

    /// For other libraries, as DLPack 1, marked read-only. Keeps the version until its deleter is called.
    [[nodiscard]] ::DLManagedTensorVersioned *dlpack() const { return try_dlpack().value(); }
    [[nodiscard]] result<::DLManagedTensorVersioned *> try_dlpack() const {
        ::DLManagedTensorVersioned *made = nullptr;
        if (const int code = millpond_model_dlpack(version_.get(), name_.c_str(), &made); code != 0) return detail::last_error(code);
        return made;
    }

private:
    friend class model;
    model_tensor(std::shared_ptr<millpond_model> version, const millpond_model_tensor &raw)
        : version_(std::move(version)), data_(raw.data), bytes_(raw.bytes), arena_offset_(raw.arena_offset),
          dtype_(static_cast<millpond::dtype>(raw.dtype)), shape_(raw.shape, raw.shape + raw.dimensions), name_(detail::text(raw.name)) {
        std::memcpy(hash_.data(), raw.hash, hash_.size());
    }

    std::shared_ptr<millpond_model> version_;
    void *data_;
    std::uint64_t bytes_, arena_offset_;
    millpond::dtype dtype_;
    std::vector<std::uint64_t> shape_;
    std::string name_;
    std::array<std::uint8_t, 16> hash_{};
};

/// A version of a model, mapped read-only as a whole. Move-only.
class model {
public:
    explicit model(millpond_model *handle) : handle_(handle, detail::freeing<millpond_model_free>()) {}
    model(model &&) noexcept = default;
    model &operator=(model &&) noexcept = default;
    model(const model &) = delete;
    model &operator=(const model &) = delete;

    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
    /// Lets go of it; tensors of it keep the version.
    void reset() noexcept { handle_.reset(); }
    [[nodiscard]] millpond_model *handle() const noexcept { return handle_.get(); }

    [[nodiscard]] version_info info() const { return try_info().value(); }
    [[nodiscard]] result<version_info> try_info() const {
        return detail::filled<version_info, millpond_version_info>([&](auto *out) { return millpond_model_get_info(handle_.get(), out); });
    }
    [[nodiscard]] std::string tag() const { return info().tag; }
    /// How many tensors it has.
    [[nodiscard]] std::size_t size() const noexcept { return millpond_model_tensor_count(handle_.get()); }

    [[nodiscard]] model_tensor tensor(const std::string &name) const { return try_tensor(name).value(); }
    [[nodiscard]] result<model_tensor> try_tensor(const std::string &name) const {
        return found([&](auto *out) { return millpond_model_tensor_find(handle_.get(), name.c_str(), out); });
    }
    /// By its place in the order of names.
    [[nodiscard]] model_tensor tensor_at(std::size_t place) const { return try_tensor_at(place).value(); }
    [[nodiscard]] result<model_tensor> try_tensor_at(std::size_t place) const {
        return found([&](auto *out) { return millpond_model_tensor_at(handle_.get(), place, out); });
    }

    /// Whether another version is current. Costs no message where nothing has happened to the model.
    [[nodiscard]] bool stale() const { return try_stale().value(); }
    [[nodiscard]] result<bool> try_stale() const {
        std::uint32_t stale = 0;
        if (const int code = millpond_model_is_stale(handle_.get(), &stale); code != 0) return detail::last_error(code);
        return stale != 0;
    }
    /// Maps the current version, at new addresses, where that is another one; answers whether it was. Tensors from before keep the old one.
    bool refresh() { return try_refresh().value(); }
    [[nodiscard]] result<bool> try_refresh() {
        millpond_model *second = nullptr;
        if (const int code = millpond_model_clone(handle_.get(), &second); code != 0) return detail::last_error(code);
        std::shared_ptr<millpond_model> next(second, detail::freeing<millpond_model_free>());
        std::uint32_t changed = 0;
        if (const int code = millpond_model_refresh(second, &changed); code != 0) return detail::last_error(code);
        handle_ = std::move(next);
        return changed != 0;
    }
    /// The same at the same addresses, so that captured graphs stay valid: tensors from before see the new bytes. `errc::invalid` where the
    /// layouts differ. Nobody may submit work on the model until this returns.
    bool refresh_in_place() { return try_refresh_in_place().value(); }
    [[nodiscard]] result<bool> try_refresh_in_place() {
        std::uint32_t changed = 0;
        if (const int code = millpond_model_refresh_in_place(handle_.get(), &changed); code != 0) return detail::last_error(code);
        return changed != 0;
    }
    /// Whether another pond has taken the pond's place. The memory stays.
    [[nodiscard]] bool lost() const noexcept { return millpond_model_is_lost(handle_.get()) != 0; }

private:
    template <class Call>
    [[nodiscard]] result<model_tensor> found(Call &&call) const {
        millpond_model_tensor raw{};
        if (const int code = call(&raw); code != 0) return detail::last_error(code);
        return model_tensor(handle_, raw);
    }

    std::shared_ptr<millpond_model> handle_;
};

/// A version to be written. Either `like`, or tensors.
class stage_spec {
public:
    explicit stage_spec(std::string model) : model_(std::move(model)) {}

    /// The pond chooses the next number by default.
    stage_spec &tag(std::string tag) & { return tag_ = std::move(tag), *this; }
    /// Begins with the bytes of that version; only what is written costs memory.
    stage_spec &like(std::string version) & { return like_ = std::move(version), *this; }
    stage_spec &tensor(std::string name, millpond::dtype type, std::vector<std::uint64_t> shape) & {
        return tensors_.push_back({std::move(name), {}, type, std::move(shape)}), *this;
    }
    /// A further name of another tensor.
    stage_spec &tied(std::string name, std::string to) & {
        return tensors_.push_back({std::move(name), std::move(to), {}, {}}), *this;
    }
    stage_spec &gpu(const uuid &id) & { return gpu_ = id, *this; }
    stage_spec &share(audience with) & { return audience_ = static_cast<std::uint32_t>(with), *this; }
    stage_spec &slab_bytes(std::uint64_t bytes) & { return slab_bytes_ = bytes, *this; }
    /// Where its bytes came from, for people.
    stage_spec &source(std::string text) & { return source_ = std::move(text), *this; }
    stage_spec &metadata(std::string name, std::string value) & {
        return metadata_.emplace_back(std::move(name), std::move(value)), *this;
    }

    stage_spec &&tag(std::string tag) && { return std::move(this->tag(std::move(tag))); }
    stage_spec &&like(std::string version) && { return std::move(like(std::move(version))); }
    stage_spec &&tensor(std::string name, millpond::dtype type, std::vector<std::uint64_t> shape) && {
        return std::move(tensor(std::move(name), type, std::move(shape)));
    }
    stage_spec &&tied(std::string name, std::string to) && { return std::move(tied(std::move(name), std::move(to))); }
    stage_spec &&gpu(const uuid &id) && { return std::move(gpu(id)); }
    stage_spec &&share(audience with) && { return std::move(share(with)); }
    stage_spec &&slab_bytes(std::uint64_t bytes) && { return std::move(slab_bytes(bytes)); }
    stage_spec &&source(std::string text) && { return std::move(source(std::move(text))); }
    stage_spec &&metadata(std::string name, std::string value) && { return std::move(metadata(std::move(name), std::move(value))); }

private:
    friend class pond;
    struct entry {
        std::string name, tied_to;
        millpond::dtype type;
        std::vector<std::uint64_t> shape;
    };

    std::string model_, tag_, like_, source_;
    std::vector<entry> tensors_;
    std::vector<std::pair<std::string, std::string>> metadata_;
    uuid gpu_;
    std::uint64_t slab_bytes_ = 0;
    std::uint32_t audience_ = 0;
};

class staging;

/// A tensor of a version that is being written. Of use until the staging is committed or ends.
class staged_tensor {
public:
    [[nodiscard]] const std::string &name() const noexcept { return name_; }
    [[nodiscard]] millpond::dtype dtype() const noexcept { return dtype_; }
    [[nodiscard]] const std::vector<std::uint64_t> &shape() const noexcept { return shape_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return bytes_ * 8 / bits(dtype_); }

    template <class T>
    [[nodiscard]] T *data() const {
        return try_data<T>().value();
    }
    template <class T>
    [[nodiscard]] result<T *> try_data() const {
        if (const auto fits = detail::fits<T>(dtype_, "'" + name_ + "'"); !fits) return fits.error();
        return static_cast<T *>(data_);
    }
    /// Copies elements into it, from the element `first` on, and waits. `T` is `std::byte` unless it is named.
    template <class T = std::byte>
    void copy_from_host(span<const detail::named_t<T>> source, std::uint64_t first = 0) const {
        try_copy_from_host<T>(source, first).value();
    }
    template <class T = std::byte>
    [[nodiscard]] result<void> try_copy_from_host(span<const detail::named_t<T>> source, std::uint64_t first = 0) const {
        if (const auto fits = detail::fits<T>(dtype_, "'" + name_ + "'"); !fits) return fits;
        const auto offset = detail::offset_of<T>(first);
        if (!offset) return offset.error();
        if (source.empty()) return {};
        return detail::done(millpond_staging_copy_from_host(staging_, name_.c_str(), *offset, source.data(), source.size_bytes()));
    }
    void fill(std::byte byte) const { try_fill(byte).value(); }
    [[nodiscard]] result<void> try_fill(std::byte byte) const {
        return detail::done(millpond_staging_fill(staging_, name_.c_str(), std::to_integer<std::uint8_t>(byte)));
    }

private:
    friend class staging;
    staged_tensor(millpond_staging *staging, std::string name, const millpond_model_tensor &raw)
        : staging_(staging), data_(raw.data), bytes_(raw.bytes), dtype_(static_cast<millpond::dtype>(raw.dtype)),
          shape_(raw.shape, raw.shape + raw.dimensions), name_(std::move(name)) {}

    // The library refuses a handle that is not alive any more.
    millpond_staging *staging_;
    void *data_;
    std::uint64_t bytes_;
    millpond::dtype dtype_;
    std::vector<std::uint64_t> shape_;
    std::string name_;
};

/// A version that this process is writing, which nobody else has. Its end without a commit leaves nothing of it. Move-only.
class staging {
public:
    explicit staging(millpond_staging *handle) noexcept : handle_(handle) {}

    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
    /// Gives the version up.
    void reset() noexcept { handle_.reset(); }

    [[nodiscard]] version_info info() const { return try_info().value(); }
    [[nodiscard]] result<version_info> try_info() const {
        return detail::filled<version_info, millpond_version_info>([&](auto *out) { return millpond_staging_get_info(handle_.get(), out); });
    }
    /// Mapped for writing. The first tensor of a slab that is shared with `like` makes the slab this version's own.
    [[nodiscard]] staged_tensor tensor(const std::string &name) { return try_tensor(name).value(); }
    [[nodiscard]] result<staged_tensor> try_tensor(const std::string &name) {
        millpond_model_tensor raw{};
        if (const int code = millpond_staging_tensor(handle_.get(), name.c_str(), &raw); code != 0) return detail::last_error(code);
        return staged_tensor(handle_.get(), name, raw);
    }
    /// Waits for the work of the CUDA context, and makes the version ready; and current, unless told not to. If it fails, nothing is left.
    version_info commit(bool activate = true) { return try_commit(activate).value(); }
    [[nodiscard]] result<version_info> try_commit(bool activate = true) {
        auto done = detail::filled<version_info, millpond_version_info>(
            [&](auto *out) { return millpond_staging_commit(handle_.get(), activate ? 1 : 0, out); });
        if (done) handle_.reset();
        return done;
    }

private:
    detail::owned<millpond_staging, millpond_staging_free> handle_;
};

inline model pond::attach(const std::string &version, wait_time wait) const { return try_attach(version, wait).value(); }
inline result<model> pond::try_attach(const std::string &version, wait_time wait) const {
    return detail::made<model, millpond_model>(
        [&](auto *out) { return millpond_model_attach(handle_.get(), version.c_str(), wait.ms(), out); });
}
inline staging pond::stage(const stage_spec &wanted) const { return try_stage(wanted).value(); }
inline result<staging> pond::try_stage(const stage_spec &wanted) const {
    const auto text = [](const std::string &from) { return from.empty() ? nullptr : from.c_str(); };
    std::vector<millpond_stage_tensor> tensors;
    for (const auto &entry : wanted.tensors_) {
        millpond_stage_tensor raw{};
        raw.name = entry.name.c_str();
        raw.tied_to = text(entry.tied_to);
        detail::set(raw.dtype, entry.type);
        if (entry.shape.size() > MILLPOND_MAX_DIMENSIONS) {
            return error(errc::invalid, "'" + entry.name + "' has " + std::to_string(entry.shape.size()) + " dimensions; at most " +
                                            std::to_string(MILLPOND_MAX_DIMENSIONS));
        }
        detail::set(raw.dimensions, entry.shape.size());
        for (std::size_t at = 0; at < entry.shape.size(); ++at) raw.shape[at] = entry.shape[at];
        tensors.push_back(raw);
    }
    std::vector<millpond_pair> metadata;
    for (const auto &[name, value] : wanted.metadata_) metadata.push_back({name.c_str(), value.c_str()});
    millpond_stage_spec spec{};
    spec.model = wanted.model_.c_str();
    spec.tag = text(wanted.tag_);
    spec.like = text(wanted.like_);
    spec.source = text(wanted.source_);
    spec.tensors = tensors.data();
    spec.tensor_count = tensors.size();
    spec.metadata = metadata.data();
    spec.metadata_count = metadata.size();
    spec.gpu = detail::raw(wanted.gpu_);
    detail::set(spec.audience, wanted.audience_);
    spec.slab_bytes = wanted.slab_bytes_;
    return detail::made<staging, millpond_staging>([&](auto *out) { return millpond_staging_begin(handle_.get(), &spec, out); });
}
inline std::vector<version_info> pond::versions(const std::string &prefix) const { return try_versions(prefix).value(); }
inline result<std::vector<version_info>> pond::try_versions(const std::string &prefix) const {
    std::vector<version_info> found;
    const auto keep = [&](const millpond_version_info *raw) { return found.emplace_back(*raw), true; };
    detail::guarded<decltype(keep)> guard(keep);
    const int code = millpond_model_list(
        handle_.get(), prefix.empty() ? nullptr : prefix.c_str(),
        [](const millpond_version_info *raw, void *data) -> std::uint32_t {
            return static_cast<decltype(guard) *>(data)->goes_on(raw) ? 0 : 1;
        },
        guard.address());
    guard.finish();
    if (code != 0) return detail::last_error(code);
    return found;
}
inline version_info pond::version(const std::string &which) const { return try_version(which).value(); }
inline result<version_info> pond::try_version(const std::string &which) const {
    return detail::filled<version_info, millpond_version_info>(
        [&](auto *out) { return millpond_version_inspect(handle_.get(), which.c_str(), out); });
}
inline version_info pond::swap(const std::string &model, const std::string &tag) const { return try_swap(model, tag).value(); }
inline result<version_info> pond::try_swap(const std::string &model, const std::string &tag) const {
    return detail::filled<version_info, millpond_version_info>(
        [&](auto *out) { return millpond_model_swap(handle_.get(), model.c_str(), tag.c_str(), out); });
}
inline version_info pond::rollback(const std::string &model) const { return try_rollback(model).value(); }
inline result<version_info> pond::try_rollback(const std::string &model) const {
    return detail::filled<version_info, millpond_version_info>(
        [&](auto *out) { return millpond_model_rollback(handle_.get(), model.c_str(), out); });
}

}  // namespace millpond
