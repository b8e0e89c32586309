// The process at the other end of a Unix socket.
#pragma once
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

namespace garner::control {

/// SO_PEERCRED: the process that has connected, or the one that listens.
inline std::optional<ucred> peer_of(int descriptor) {
    ucred peer{};
    socklen_t size = sizeof(peer);
    return ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? std::optional(peer) : std::nullopt;
}

inline bool is_root_or_this_user(ucred const& peer) { return peer.uid == 0 || peer.uid == ::geteuid(); }

}   // namespace garner::control
