// Reads the golden messages and manifests with what flatc makes of the schemas, writes them again, and reads that.
//   protocol_golden FOLDER    the folder has requests.hex, replies.hex and manifests.hex
// Ends with "N passed, N failed".

#include "manifest_generated.h"
#include "wire_generated.h"

#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <vector>

namespace wire = millpond::wire;
using Bytes = std::vector<std::uint8_t>;

namespace {

int passed = 0, failed = 0;

void expect(bool so, const std::string &what) {
    ++(so ? passed : failed);
    if (!so) std::cout << "FAILED  " << what << '\n';
}

template <class Table> bool is_whole(const Bytes &data) {
    flatbuffers::Verifier verifier(data.data(), data.size());
    return verifier.VerifyBuffer<Table>(nullptr);
}

template <class Table> typename Table::NativeTableType read(const Bytes &data) {
    typename Table::NativeTableType read;
    flatbuffers::GetRoot<Table>(data.data())->UnPackTo(&read);
    return read;
}

template <class Table> Bytes write(const typename Table::NativeTableType &what) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(Table::Pack(builder, &what));
    return Bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

// Every line has a name and the bytes. `kind` says which member of the union a message is.
template <class Table, class Kind> std::set<int> check(const std::string &path, Kind kind) {
    std::set<int> kinds;
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        std::string name = line.substr(0, line.find(' ')), digits = line.substr(line.find(' ') + 1);
        Bytes data;
        for (std::size_t at = 0; at + 1 < digits.size(); at += 2)
            data.push_back(static_cast<std::uint8_t>(std::stoi(digits.substr(at, 2), nullptr, 16)));
        std::string what = path + ": " + name;
        if (!is_whole<Table>(data)) {
            expect(false, what + " cannot be read");
            continue;
        }
        auto message = read<Table>(data);
        Bytes again = write<Table>(message);
        bool same = is_whole<Table>(again) && kind(read<Table>(again)) == kind(message) && write<Table>(read<Table>(again)) == again;
        expect(same, what + " is another one when it is written again");
        kinds.insert(kind(message));
    }
    return kinds;
}

} // namespace

int main(int, char **words) {
    std::string folder = words[1];
    auto requests = check<wire::Request>(folder + "/requests.hex", [](const wire::RequestT &each) { return static_cast<int>(each.body.type); });
    auto replies = check<wire::Reply>(folder + "/replies.hex", [](const wire::ReplyT &each) { return static_cast<int>(each.body.type); });
    auto manifests = check<millpond::manifest::Manifest>(folder + "/manifests.hex", [](const auto &each) { return static_cast<int>(each.format); });
    expect(requests.size() == static_cast<std::size_t>(wire::RequestBody::MAX), "there is a sample of every request");
    expect(replies.size() == static_cast<std::size_t>(wire::ReplyBody::MAX), "there is a sample of every reply");
    expect(manifests == std::set<int>{1}, "manifests have the format 1");
    std::cout << passed << " passed, " << failed << " failed\n";
    return failed == 0 ? 0 : 1;
}
