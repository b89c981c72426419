// Versions of models: what is in their slabs, and how that is written down and checked.
#pragma once

#include "manifests.hpp"
#include "mapping.hpp"
#include "session.hpp"

#include <algorithm>

namespace protocol {

// A version on which there is a lease, with its slabs mapped and its manifest checked.
class Attached {
  public:
    Attached(Session &session, const std::string &model, std::uint64_t wait_ms);

    const wire::VersionInfoT &info() const { return *reply().info; }
    std::vector<std::string> names() const;
    // The bytes of a tensor, compared with its hash.
    Bytes read(const std::string &name) const;
    void release();

  private:
    const wire::VersionReplyT &reply() const { return *static_cast<const wire::VersionReplyT *>(answer_.reply.body.value); }

    Session &session_;
    Answer answer_;
    manifest::ManifestT manifest_;
    std::vector<std::shared_ptr<Slab>> slabs_;
};

// Stages a version of a model, writes these tensors, and makes it the current one.
wire::VersionInfoT commit(Session &session, const std::string &model, std::vector<Content> tensors);

inline std::uint64_t round_up(std::uint64_t number, std::uint64_t step) { return (number + step - 1) / step * step; }

inline SlabSource source_of(const wire::PartInfoT &part, const wire::VersionInfoT &info, std::uint8_t mode, Fd fd) {
    SlabSource source{*part.tensor, part.bytes, mode, info.device, TRANSPORT_VMM, {}, std::move(fd)};
    if (part.backing) source.transport = part.backing->transport, source.data = part.backing->data;
    return source;
}

// All slabs of a version that there is a lease on. A reply has so many descriptors at most, so the rest is asked for.
inline std::vector<std::shared_ptr<Slab>> map_slabs(Session &session, Answer &answer) {
    auto &reply = answer.as<wire::VersionReplyT>();
    std::size_t first = reply.manifest ? 1 : 0;
    if (answer.fds.size() != first + reply.slabs) throw std::runtime_error("a version with another number of descriptors than it says");
    std::vector<Fd> fds;
    std::move(answer.fds.begin() + static_cast<std::ptrdiff_t>(first), answer.fds.end(), std::back_inserter(fds));
    while (fds.size() < reply.parts.size()) {
        wire::VersionSlabsT more;
        more.version = copy_of(*reply.info->version);
        more.lease = reply.lease;
        more.first = static_cast<std::uint32_t>(fds.size());
        more.count = static_cast<std::uint32_t>(reply.parts.size() - fds.size());
        Answer next = session.ask(std::move(more));
        auto &slabs = next.as<wire::SlabsT>();
        if (slabs.first != fds.size() || slabs.count != next.fds.size() || slabs.count == 0)
            throw std::runtime_error("other slabs than were asked for");
        std::move(next.fds.begin(), next.fds.end(), std::back_inserter(fds));
    }
    std::vector<std::shared_ptr<Slab>> slabs;
    for (std::size_t at = 0; at < fds.size(); ++at)
        slabs.push_back(Card::open().map(source_of(*reply.parts[at], *reply.info, reply.mode, std::move(fds[at]))));
    return slabs;
}

inline Attached::Attached(Session &session, const std::string &model, std::uint64_t wait_ms) : session_(session) {
    wire::VersionGetT get;
    get.model = model;
    get.lease = session.new_lease();
    get.mode = RO;
    get.wait_ms = wait_ms;
    answer_ = session.ask(std::move(get));
    auto &reply = answer_.as<wire::VersionReplyT>();
    if (!reply.manifest || answer_.fds.empty()) throw std::runtime_error("a version without a manifest");
    manifest_ = read_manifest(answer_.fds.front(), reply.parts);
    slabs_ = map_slabs(session, answer_);
}

inline std::vector<std::string> Attached::names() const {
    std::vector<std::string> names;
    for (const auto &tensor : manifest_.tensors) names.push_back(tensor->name);
    return names;
}

inline Bytes Attached::read(const std::string &name) const {
    auto found = std::find_if(manifest_.tensors.begin(), manifest_.tensors.end(), [&](const auto &each) { return each->name == name; });
    if (found == manifest_.tensors.end()) throw std::runtime_error("the version has no tensor '" + name + "'");
    Bytes data = slabs_[(*found)->slab]->read((*found)->offset, (*found)->bytes);
    if (!same(*(*found)->hash, hash_of_tensor(data))) throw std::runtime_error("'" + name + "' is not what was committed");
    return data;
}

inline void Attached::release() {
    slabs_.clear();
    session_.release(reply().lease);
}

inline wire::VersionInfoT commit(Session &session, const std::string &model, std::vector<Content> tensors) {
    std::sort(tensors.begin(), tensors.end(), [](const Content &one, const Content &other) { return one.name < other.name; });
    // One after the other; a tensor that does not fit gets a slab of its own.
    std::vector<std::uint64_t> sizes;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> places;
    std::uint64_t end = 0;
    for (const Content &tensor : tensors) {
        std::uint64_t offset = round_up(end, TENSOR_STEP);
        if (sizes.empty() || offset + tensor.data.size() > sizes.back()) {
            sizes.push_back(std::max(SLAB_STEP, round_up(tensor.data.size(), SLAB_STEP)));
            offset = 0;
        }
        places.emplace_back(static_cast<std::uint32_t>(sizes.size() - 1), offset);
        end = offset + tensor.data.size();
    }

    wire::Id version = random_id();
    wire::VersionStageT stage;
    stage.version = copy_of(version);
    stage.model = model;
    stage.audience = FOR_USER;
    for (std::uint64_t bytes : sizes) {
        auto part = std::make_unique<wire::PartSpecT>();
        part->bytes = bytes;
        stage.parts.push_back(std::move(part));
    }
    std::uint64_t lease = stage.lease = session.new_lease();
    Answer staged = session.ask(std::move(stage));
    std::vector<std::shared_ptr<Slab>> slabs = map_slabs(session, staged);
    for (std::size_t at = 0; at < tensors.size(); ++at) slabs[places[at].first]->write(places[at].second, tensors[at].data);

    Written written = write_manifest(sizes, tensors, places, "examples/protocol");
    wire::VersionCommitT commit;
    commit.version = copy_of(version);
    commit.token = copy_of(random_id());
    commit.layout.assign(written.layout.begin(), written.layout.end());
    commit.content.assign(written.content.begin(), written.content.end());
    commit.tensors = static_cast<std::uint32_t>(tensors.size());
    commit.bytes = written.bytes;
    commit.source = "examples/protocol";
    commit.activate = true;
    Answer ready = session.ask(std::move(commit), written.memfd.get());
    slabs.clear();
    session.release(lease);
    return *ready.as<wire::VersionReplyT>().info;
}

} // namespace protocol
