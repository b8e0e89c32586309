#include "net/handed_sockets.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/address.hpp"

namespace garner::net {
namespace {

int duplicate(int descriptor) { return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

}   // namespace

NamedSocket named_socket(std::string_view kind, IpEndpoint const& at, std::size_t number, int descriptor) {
    return {std::string(kind) + "/" + at.text() + "/" + std::to_string(number), descriptor};
}

std::optional<IpEndpoint> bound_endpoint(int descriptor) {
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return std::nullopt;
    return to_endpoint(reinterpret_cast<sockaddr const&>(bound));
}

std::vector<std::size_t> share_of(std::size_t worker, std::size_t workers, std::size_t sockets) {
    std::vector<std::size_t> share;
    for (auto index = worker; index < sockets; index += workers) share.push_back(index);
    if (share.empty() && sockets > 0) share.push_back(worker % sockets);
    return share;
}

HandedSockets::~HandedSockets() {
    for (auto const& socket : sockets_) ::close(socket.descriptor);
}

void HandedSockets::add(NamedSocket const& socket) {
    sockets_.push_back(
        {socket.name, socket.name.substr(0, socket.name.find('/')), socket.descriptor, bound_endpoint(socket.descriptor)});
}

std::vector<IpEndpoint> HandedSockets::endpoints(std::string_view kind) const {
    std::vector<IpEndpoint> all;
    for (auto const& socket : sockets_)
        if (socket.kind == kind && socket.at) all.push_back(*socket.at);
    return all;
}

std::optional<IpEndpoint> HandedSockets::claim(std::string_view kind, IpEndpoint const& wanted) {
    std::optional<IpEndpoint> found;
    for (auto const& socket : sockets_) {
        if (socket.kind != kind || !socket.at || socket.at->address != wanted.address) continue;
        if (wanted.port == 0 ? socket.claimed : socket.at->port != wanted.port) continue;
        found = socket.at;
        break;
    }
    for (auto& socket : sockets_)
        if (found && socket.kind == kind && socket.at == found) socket.claimed = true;
    return found;
}

std::vector<int> HandedSockets::copies(std::string_view kind, IpEndpoint const& claimed, std::size_t worker,
                                       std::size_t workers) const {
    std::vector<int> there, copies;
    for (auto const& socket : sockets_)
        if (socket.kind == kind && socket.at == claimed) there.push_back(socket.descriptor);
    for (auto const index : share_of(worker, workers, there.size())) copies.push_back(duplicate(there[index]));
    return copies;
}

int HandedSockets::copy(std::string_view name) const {
    for (auto const& socket : sockets_)
        if (socket.name == name) return duplicate(socket.descriptor);
    return -1;
}

}   // namespace garner::net
