// Where a pond is, and whether it may be trusted.
#pragma once

#include "fd.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <vector>

namespace protocol {

// A socket that was looked at before anybody connects to it.
struct Door {
    std::string path;
    uid_t owner;
};

// The pond of this environment. Throws `std::system_error` with ENOENT where there is none.
Door find_pond();

// Connects, and refuses a peer that is not whom the socket belongs to.
Fd enter(const Door &door);

inline std::string variable(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

// Anybody can make a folder in /dev/shm, so this one counts only if nobody else can have made or changed it.
inline bool is_own_folder(const std::string &path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() &&
           (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

inline std::vector<std::string> candidates() {
    std::string named = variable("MILLPOND_RUNTIME_DIR");
    if (!named.empty()) return {named};
    std::vector<std::string> folders;
    std::string runtime = variable("XDG_RUNTIME_DIR"), own = "/dev/shm/millpond-" + std::to_string(::geteuid());
    if (!runtime.empty() && runtime[0] == '/') folders.push_back(runtime + "/millpond");
    if (is_own_folder(own)) folders.push_back(own + "/pond");
    folders.push_back("/run/millpond");
    return folders;
}

inline bool is_my_group(gid_t group) {
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
    if (!groups.empty() && ::getgroups(static_cast<int>(groups.size()), groups.data()) < 0) system_failed("getgroups");
    return group == ::getegid() || std::count(groups.begin(), groups.end(), group) > 0;
}

// A pond of another user, who lets a group in.
inline bool is_open_to_my_group(const std::string &folder, const struct stat &sock) {
    struct stat around {};
    return (sock.st_mode & 07777) == 0660 && is_my_group(sock.st_gid) && ::stat(folder.c_str(), &around) == 0 &&
           (around.st_uid == sock.st_uid || around.st_uid == 0) && (around.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

inline Door find_pond() {
    for (const std::string &folder : candidates()) {
        std::string path = folder + "/sock";
        struct stat found {};
        if (::stat(path.c_str(), &found) != 0) continue;
        bool trusted = found.st_uid == ::geteuid() || found.st_uid == 0 || is_open_to_my_group(folder, found);
        if (!S_ISSOCK(found.st_mode) || !trusted) throw std::runtime_error("'" + path + "' is not to be trusted");
        return {path, found.st_uid};
    }
    errno = ENOENT;
    system_failed("no pond; start one with: millpond serve --driver soft");
}

inline Fd enter(const Door &door) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (door.path.size() >= sizeof address.sun_path) throw std::runtime_error("'" + door.path + "' is longer than 107 bytes");
    std::memcpy(address.sun_path, door.path.c_str(), door.path.size());
    Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!socket) system_failed("socket");
    if (::connect(socket.get(), reinterpret_cast<sockaddr *>(&address), sizeof address) != 0) system_failed(door.path);
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) system_failed("SO_PEERCRED");
    if (peer.uid == 65534) throw std::runtime_error("the user who serves '" + door.path + "' has no number here");
    bool mine = door.owner == ::geteuid() || door.owner == 0;
    if (mine ? peer.uid != ::geteuid() && peer.uid != 0 : peer.uid != door.owner)
        throw std::runtime_error("user " + std::to_string(peer.uid) + " serves '" + door.path + "'");
    return socket;
}

} // namespace protocol
