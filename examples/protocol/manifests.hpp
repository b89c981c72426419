// The manifest of a version: made once by whoever commits it, checked by everybody who reads it.
#pragma once

#include "manifest_generated.h"
#include "messages.hpp"

#include <algorithm>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace protocol {

namespace manifest = millpond::manifest;

constexpr std::uint64_t SLAB_STEP = 2 << 20, TENSOR_STEP = 256;

// A tensor of a version, with its bytes.
struct Content {
    std::string name;
    std::uint8_t dtype;
    std::vector<std::uint64_t> shape;
    Bytes data;
};

// The sixteen bytes of an XXH3-128, big-endian.
using Digest = std::array<std::uint8_t, 16>;

Digest hash(const Bytes &data);
// Of a tensor: above 4 MiB over the hashes of its pieces.
Digest hash_of_tensor(const Bytes &data);

// How many bytes a tensor takes; nothing where dtype or shape is not possible.
std::optional<std::uint64_t> bytes_of_tensor(std::uint8_t dtype, const std::vector<std::uint64_t> &shape);

// What a commit repeats of its manifest.
struct Written {
    Fd memfd;
    Digest layout, content;
    std::uint64_t bytes = 0;
};

// `places` has slab and offset of each tensor; both are in the order of names.
Written write_manifest(const std::vector<std::uint64_t> &slabs, const std::vector<Content> &tensors,
                       const std::vector<std::pair<std::uint32_t, std::uint64_t>> &places, const std::string &source);

// Throws where something is not as it must be.
manifest::ManifestT read_manifest(const Fd &memfd, const std::vector<std::unique_ptr<wire::PartInfoT>> &parts);

bool same(const manifest::Hash &said, const Digest &found);

constexpr int SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
constexpr std::uint64_t PIECE = 4 << 20, MOST_MANIFEST = 256 << 20;
constexpr std::size_t MOST_TENSORS = 500'000;

// By the dtype's number; 0 is none.
constexpr std::uint8_t BITS[] = {0, 8, 4, 6, 6, 8, 8, 8, 8, 8, 8, 8, 16, 16, 16, 16, 32, 32, 32, 64, 64, 64, 64};

inline void append(Bytes &to, std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) to.push_back(static_cast<std::uint8_t>(number >> shift));
}

template <class Range> void append_all(Bytes &to, const Range &bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

// How a tensor is written into the hashes of layout and content.
inline void describe(Bytes &to, const Content &tensor) {
    append(to, tensor.name.size());
    append_all(to, tensor.name);
    append(to, tensor.dtype);
    append(to, tensor.shape.size());
    for (std::uint64_t dimension : tensor.shape) append(to, dimension);
}

inline std::uint64_t half(const Digest &digest, std::size_t at) {
    std::uint64_t number = 0;
    for (std::size_t index = at; index < at + 8; ++index) number = number << 8 | digest[index];
    return number;
}

inline manifest::Hash to_table(const Digest &digest) { return manifest::Hash(half(digest, 0), half(digest, 8)); }

inline Fd sealed(const Bytes &data) {
    Fd memfd(::memfd_create("manifest", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!memfd) system_failed("memfd_create");
    for (std::size_t done = 0; done < data.size();) {
        ssize_t written = ::write(memfd.get(), data.data() + done, data.size() - done);
        if (written < 0) system_failed("write to a memfd");
        done += static_cast<std::size_t>(written);
    }
    if (::fcntl(memfd.get(), F_ADD_SEALS, SEALS) != 0) system_failed("F_ADD_SEALS");
    return memfd;
}

inline void check_manifest(bool so, const char *what) {
    if (!so) throw std::runtime_error(std::string("a manifest that is wrong: ") + what);
}

inline Digest hash(const Bytes &data) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data.data(), data.size()));
    Digest digest;
    std::copy(std::begin(canonical.digest), std::end(canonical.digest), digest.begin());
    return digest;
}

inline Digest hash_of_tensor(const Bytes &data) {
    if (data.size() <= PIECE) return hash(data);
    Bytes pieces;
    for (std::size_t at = 0; at < data.size(); at += PIECE) {
        auto begin = data.begin() + static_cast<std::ptrdiff_t>(at);
        append_all(pieces, hash(Bytes(begin, begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(PIECE, data.size() - at)))));
    }
    return hash(pieces);
}

inline std::optional<std::uint64_t> bytes_of_tensor(std::uint8_t dtype, const std::vector<std::uint64_t> &shape) {
    if (dtype == 0 || dtype >= std::size(BITS)) return std::nullopt;
    std::uint64_t bits = BITS[dtype];
    for (std::uint64_t dimension : shape)
        if (__builtin_mul_overflow(bits, dimension, &bits)) return std::nullopt;
    if (bits % 8 != 0) return std::nullopt;
    return bits / 8;
}

inline bool same(const manifest::Hash &said, const Digest &found) { return said.high() == half(found, 0) && said.low() == half(found, 8); }

inline Written write_manifest(const std::vector<std::uint64_t> &slabs, const std::vector<Content> &tensors,
                       const std::vector<std::pair<std::uint32_t, std::uint64_t>> &places, const std::string &source) {
    Written written;
    manifest::ManifestT made;
    made.format = 1;
    made.source = source;
    Bytes layout, content;
    std::vector<Bytes> of_slabs(slabs.size());
    append(layout, slabs.size());
    for (std::uint64_t bytes : slabs) append(layout, bytes);
    for (std::size_t at = 0; at < tensors.size(); ++at) {
        const Content &tensor = tensors[at];
        Digest digest = hash_of_tensor(tensor.data);
        auto one = std::make_unique<manifest::TensorT>();
        one->name = tensor.name, one->dtype = tensor.dtype, one->shape = tensor.shape;
        one->slab = places[at].first, one->offset = places[at].second, one->bytes = tensor.data.size();
        one->hash = std::make_unique<manifest::Hash>(to_table(digest));
        made.tensors.push_back(std::move(one));
        describe(layout, tensor);
        append(layout, places[at].first);
        append(layout, places[at].second);
        describe(content, tensor);
        append_all(content, digest);
        append_all(of_slabs[places[at].first], digest);
        written.bytes += tensor.data.size();
    }
    std::uint64_t arena = 0;
    for (std::size_t at = 0; at < slabs.size(); ++at) {
        made.slabs.emplace_back(arena, slabs[at], to_table(hash(of_slabs[at])));
        arena += slabs[at];
    }
    flatbuffers::FlatBufferBuilder builder(4096);
    builder.Finish(manifest::Manifest::Pack(builder, &made));
    written.memfd = sealed(Bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()));
    written.layout = hash(layout), written.content = hash(content);
    return written;
}

inline manifest::ManifestT read_manifest(const Fd &memfd, const std::vector<std::unique_ptr<wire::PartInfoT>> &parts) {
    struct stat found {};
    int seals = ::fcntl(memfd.get(), F_GET_SEALS);
    check_manifest(seals >= 0 && (seals & SEALS) == SEALS && ::fstat(memfd.get(), &found) == 0, "it is not sealed");
    auto size = static_cast<std::size_t>(found.st_size);
    check_manifest(size > 0 && size <= MOST_MANIFEST, "its size");
    Bytes data(size);
    for (std::size_t done = 0; done < size;) {
        ssize_t more = ::pread(memfd.get(), data.data() + done, size - done, static_cast<off_t>(done));
        if (more <= 0) system_failed("pread of a manifest");
        done += static_cast<std::size_t>(more);
    }
    flatbuffers::Verifier verifier(data.data(), size);
    check_manifest(verifier.VerifyBuffer<manifest::Manifest>(nullptr), "it cannot be read");
    manifest::ManifestT read;
    flatbuffers::GetRoot<manifest::Manifest>(data.data())->UnPackTo(&read);

    check_manifest(read.format == 1, "its format");
    check_manifest(read.slabs.size() == parts.size() && read.tensors.size() <= MOST_TENSORS, "how many slabs or tensors it has");
    std::uint64_t arena = 0;
    for (std::size_t at = 0; at < parts.size(); ++at) {
        check_manifest(read.slabs[at].bytes() == parts[at]->bytes && parts[at]->bytes % SLAB_STEP == 0, "the size of a slab");
        check_manifest(read.slabs[at].arena_offset() == arena, "the place of a slab");
        arena += parts[at]->bytes;
    }
    const std::string *before = nullptr;
    std::vector<Bytes> of_slabs(read.slabs.size());
    for (const auto &tensor : read.tensors) {
        check_manifest(tensor->name.size() <= 255 && (!before || *before < tensor->name), "the order of names");
        check_manifest(bytes_of_tensor(tensor->dtype, tensor->shape) == tensor->bytes, "the size of a tensor");
        check_manifest(tensor->slab < read.slabs.size() && tensor->offset % TENSOR_STEP == 0, "the place of a tensor");
        std::uint64_t slab = read.slabs[tensor->slab].bytes();
        check_manifest(tensor->offset <= slab && tensor->bytes <= slab - tensor->offset, "the end of a tensor");
        check_manifest(tensor->hash != nullptr, "a tensor without a hash");
        for (std::uint64_t number : {tensor->hash->high(), tensor->hash->low()})
            for (int shift = 56; shift >= 0; shift -= 8) of_slabs[tensor->slab].push_back(static_cast<std::uint8_t>(number >> shift));
        before = &tensor->name;
    }
    for (std::size_t at = 0; at < of_slabs.size(); ++at) check_manifest(same(read.slabs[at].hash(), hash(of_slabs[at])), "the hash of a slab");
    return read;
}

} // namespace protocol
