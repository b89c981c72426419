// Checkpoints into the pond, out of it, and compared with what was loaded.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "detail/visit.hpp"
#include "model.hpp"
#include "pond.hpp"

namespace millpond {

/// A checkpoint to be loaded as a version: files of safetensors, a folder of them, an index, or what Hugging Face's cache calls it.
class load_spec {
public:
    load_spec(std::string model, std::string path) : model_(std::move(model)), paths_{std::move(path)} {}
    load_spec(std::string model, std::vector<std::string> paths) : model_(std::move(model)), paths_(std::move(paths)) {}

    /// The pond chooses the next number by default.
    load_spec &tag(std::string tag) & { return tag_ = std::move(tag), *this; }
    /// The tag of the version whose equal slabs are shared; the current one by default.
    load_spec &like(std::string tag) & { return like_ = std::move(tag), has_like_ = true, *this; }
    /// Shares with no other version.
    load_spec &alone() & { return like(""); }
    /// Which part of the checkpoint is loaded, as JSON.
    load_spec &plan(std::string json) & { return plan_ = std::move(json), *this; }
    load_spec &gpu(const uuid &id) & { return gpu_ = id, *this; }
    load_spec &share(audience with) & { return audience_ = with, *this; }
    /// It becomes the model's current version in the same step. A model's first version does in any case.
    load_spec &activate(bool wanted = true) & { return activate_ = wanted, *this; }
    load_spec &slab_bytes(std::uint64_t bytes) & { return slab_bytes_ = bytes, *this; }

    load_spec &&tag(std::string tag) && { return std::move(this->tag(std::move(tag))); }
    load_spec &&like(std::string tag) && { return std::move(like(std::move(tag))); }
    load_spec &&alone() && { return std::move(alone()); }
    load_spec &&plan(std::string json) && { return std::move(plan(std::move(json))); }
    load_spec &&gpu(const uuid &id) && { return std::move(gpu(id)); }
    load_spec &&share(audience with) && { return std::move(share(with)); }
    load_spec &&activate(bool wanted = true) && { return std::move(activate(wanted)); }
    load_spec &&slab_bytes(std::uint64_t bytes) && { return std::move(slab_bytes(bytes)); }

private:
    friend class pond;
    std::string model_, tag_, like_, plan_;
    std::vector<std::string> paths_;
    uuid gpu_;
    std::uint64_t slab_bytes_ = 0;
    audience audience_ = audience::user;
    bool has_like_ = false, activate_ = false;
};

/// What a load did.
struct loaded {
    version_info version;
    /// Read from files, with what was only compared; in slabs shared with another version; stored once for several names.
    std::uint64_t bytes_read = 0, bytes_shared = 0, bytes_tied = 0;
    std::chrono::milliseconds elapsed{0};
    /// Some of the files were not in the page cache.
    bool cold = false;
};

enum class load_phase : std::uint32_t { checking = 1, hashing = 2, loading = 3 };

/// Is told how far a load is, in the calling thread; false ends it with `errc::cancelled`.
using load_progress = std::function<bool(load_phase phase, std::uint64_t done, std::uint64_t total)>;

inline loaded pond::load(const load_spec &wanted, const load_progress &told) const { return try_load(wanted, told).value(); }
inline result<loaded> pond::try_load(const load_spec &wanted, const load_progress &told) const {
    std::vector<const char *> paths;
    for (const auto &path : wanted.paths_) paths.push_back(path.c_str());
    millpond_load_spec spec{};
    spec.model = wanted.model_.c_str();
    spec.paths = paths.data();
    spec.path_count = paths.size();
    spec.tag = wanted.tag_.empty() ? nullptr : wanted.tag_.c_str();
    spec.like = wanted.has_like_ ? wanted.like_.c_str() : nullptr;
    spec.plan = wanted.plan_.empty() ? nullptr : wanted.plan_.c_str();
    spec.gpu = detail::raw(wanted.gpu_);
    detail::set(spec.audience, wanted.audience_);
    spec.activate = wanted.activate_;
    spec.slab_bytes = wanted.slab_bytes_;
    millpond_loaded raw{};
    int code = 0;
    if (told) {
        detail::guarded<const load_progress> guard(told);
        code = millpond_model_load(
            handle_.get(), &spec,
            [](millpond_load_phase phase, std::uint64_t done, std::uint64_t total, void *data) -> std::uint32_t {
                return static_cast<decltype(guard) *>(data)->goes_on(static_cast<load_phase>(phase), done, total) ? 0 : 1;
            },
            guard.address(), &raw);
        guard.finish();
    } else {
        code = millpond_model_load(handle_.get(), &spec, nullptr, nullptr, &raw);
    }
    if (code != 0) return detail::last_error(code);
    loaded made;
    made.version = version_info(raw.info);
    made.bytes_read = raw.bytes_read;
    made.bytes_shared = raw.bytes_shared;
    made.bytes_tied = raw.bytes_tied;
    made.elapsed = std::chrono::milliseconds(raw.elapsed_ms);
    made.cold = raw.cold != 0;
    return made;
}
inline std::uint64_t pond::save(const std::string &version, const std::string &path, bool force, const progress &told) const {
    return try_save(version, path, force, told).value();
}
inline result<std::uint64_t> pond::try_save(const std::string &version, const std::string &path, bool force, const progress &told) const {
    std::uint64_t bytes = 0;
    const auto saved = detail::told(told, [&](auto callback, void *data) {
        return millpond_version_save(handle_.get(), version.c_str(), path.c_str(), 0, force ? 1 : 0, callback, data, &bytes);
    });
    if (!saved) return saved.error();
    return bytes;
}
inline std::vector<std::string> pond::verify(const std::string &version, const progress &told) const { return try_verify(version, told).value(); }
inline result<std::vector<std::string>> pond::try_verify(const std::string &version, const progress &told) const {
    millpond_text *names = nullptr;
    const auto compared = detail::told(told, [&](auto callback, void *data) {
        return millpond_version_verify(handle_.get(), version.c_str(), callback, data, nullptr, &names);
    });
    if (!compared) return compared.error();
    std::vector<std::string> differing;
    if (names == nullptr) return differing;
    const auto text = detail::taken(names);
    for (std::size_t from = 0, to = 0; from < text.size(); from = to + 1) {
        to = std::min(text.find('\n', from), text.size());
        if (to > from) differing.push_back(text.substr(from, to - from));
    }
    return differing;
}

}  // namespace millpond
