// A connection that a client has opened to another server, and that the kernel has diverted to this proxy.
#pragma once
#include <optional>
#include <string>

#include "proxy/connection.hpp"
#include "proxy/hello_stream.hpp"
#include "proxy/request_places.hpp"

namespace garner::proxy {

/// By its first byte the client speaks TLS or HTTP. TLS is passed on to the address that the client has connected to, under the
/// access rules for a CONNECT to the server name of its ClientHello, and HTTP becomes an Http1Connection. Belongs to one worker.
class InterceptedConnection : public Connection {
public:
    InterceptedConnection(Services& services, Accepted accepted)
        : Connection(services, std::move(accepted)),
          drained_(
              services.worker.wheel, [](void* self) { static_cast<InterceptedConnection*>(self)->abort(); }, this) {}

    void drain() override;
    void abort() override;
    void name_pending(std::vector<std::string>& lines) const override;

private:
    using Begin = InterceptedBegin;
    net::awaitable<void> run() override;
    std::optional<IpEndpoint> destination();
    net::awaitable<Begin> read_begin();
    std::optional<Begin> look();
    std::optional<Begin> take_hello();
    void refuse_direct();
    void start_http(IpEndpoint const& destination);
    std::string authority(IpEndpoint const& destination) const;
    net::awaitable<void> pass_on(IpEndpoint const& destination);
    net::awaitable<void> end(std::uint16_t status);

    std::string hello_;         // the client's bytes, beginning with those of its ClientHello
    std::string server_name_;   // of SNI; empty: none
    std::optional<HelloStream> stream_;
    RequestPlaces::Lease place_;   // while the tunnel runs
    net::Deadline drained_;
};

}   // namespace garner::proxy
