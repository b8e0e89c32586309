// One client's connection: requests one after the other, until one side has had enough.
#pragma once
#include <memory>

#include "proxy/client_stream.hpp"
#include "proxy/services.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

class Connection : public Link {
public:
    Connection(Services& services, std::unique_ptr<net::Transport> transport, IpEndpoint peer,
               std::uint16_t listener, AcceleratedOrigin const* origin);
    ~Connection();

    /// Runs it to its end, detached.
    static void start(std::unique_ptr<Connection> connection);

    /// Ends it between requests: at once when it is idle, else after the running answer.
    void drain();
    /// Ends it now.
    void abort() {
        drain();
        transaction_.abort();
    }

private:
    static net::awaitable<void> run_and_destroy(std::unique_ptr<Connection> connection);
    net::awaitable<void> run();
    net::awaitable<void> refuse(ClientStream::Arrival arrival);
    net::awaitable<void> linger();

    Services& services_;
    ClientStream stream_;
    Transaction transaction_;
    bool idle_ = false;
};

}  // namespace garner::proxy
