// The address of a Unix socket.
#pragma once
#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "util/result.hpp"

namespace garner::control {

/// A fault if the path is empty or too long.
inline Result<sockaddr_un> address_of(std::string const& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof(address.sun_path))
        return Fault{"the path of a socket has 1 to " + std::to_string(sizeof(address.sun_path) - 1) + " bytes",
                     "use a shorter path", path};
    path.copy(address.sun_path, path.size());
    return address;
}

}   // namespace garner::control
