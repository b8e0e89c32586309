// Bound sockets of the process whose place this one takes.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/ip.hpp"

namespace garner::net {

/// A socket that a process hands over, and keeps itself.
struct NamedSocket {
    std::string name;   // "listen/127.0.0.1:3128/0": the kind, the endpoint, and a number within both
    int descriptor;
};
NamedSocket named_socket(std::string_view kind, IpEndpoint const& at, std::size_t number, int descriptor);

/// The endpoint to which an IP socket is bound; nothing for other descriptors.
std::optional<IpEndpoint> bound_endpoint(int descriptor);

/// Used on one thread, at the start.
class HandedSockets {
public:
    HandedSockets() = default;
    HandedSockets(HandedSockets const&) = delete;
    ~HandedSockets();

    /// Owns the descriptor from now on.
    void add(NamedSocket const& socket);

    /// The endpoint of sockets of this kind that fits `wanted`; nothing if there is none. Port 0 fits any port of the address,
    /// once.
    std::optional<IpEndpoint> claim(std::string_view kind, IpEndpoint const& wanted);
    /// Addresses to which the sockets of this kind are bound, claimed or not.
    std::vector<IpEndpoint> endpoints(std::string_view kind) const;
    /// Duplicates of the sockets at a claimed endpoint that this one of `workers` polls: each worker polls at least one, and each
    /// socket is polled, because the kernel distributes clients over all of them. The caller owns the duplicates.
    std::vector<int> copies(std::string_view kind, IpEndpoint const& claimed, std::size_t worker, std::size_t workers) const;
    /// A duplicate of the socket with this name; -1 if there is none.
    int copy(std::string_view name) const;

private:
    struct Socket {
        std::string name;
        std::string kind;
        int descriptor;
        std::optional<IpEndpoint> at;   // of an IP socket
        bool claimed = false;
    };
    std::vector<Socket> sockets_;
};

/// The sockets of worker `worker` among `sockets`, by their indexes. Pure.
std::vector<std::size_t> share_of(std::size_t worker, std::size_t workers, std::size_t sockets);

}   // namespace garner::net
