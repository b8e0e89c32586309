#include "net/acceptor.hpp"

namespace garner::net {

namespace {

namespace ops = asio::detail::socket_ops;

/// Asio has no function for these flags; the member is protected, and its type has public fields.
struct Opened : TcpSocket {
    static ops::state_type& state_of(TcpSocket& socket) { return (socket.*(&Opened::impl_)).get_implementation().state_; }
};

}   // namespace

void note_sole_owner(TcpSocket& socket) {
    auto& state = Opened::state_of(socket);
    state = static_cast<ops::state_type>((state | ops::internal_non_blocking) & ~ops::possible_dup);
}

}   // namespace garner::net
