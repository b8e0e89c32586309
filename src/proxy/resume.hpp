// Asks elsewhere for the rest of a stored body that broke off at a peer.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "http/remainder.hpp"
#include "proxy/nobody.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

/// What is needed to ask again when the client that began it may be gone: its request, and the sources that are left. The
/// pump's own; it costs no connection until something breaks off. Belongs to one worker.
class Resumption {
public:
    /// `at`: of `sources`, the peer that brings the body. `host`: for a request that has none. `body`: before it began.
    Resumption(Services& services, ClientStream const& client, std::string_view host, std::vector<icp::Source> sources,
               std::size_t at, http::BrokenBody body);

    /// Goes along the sources that are left until one has the rest of what grows there; each is asked once in all.
    /// `trouble`: how its body broke off.
    net::awaitable<Rest> find(std::shared_ptr<Options const> const& options, store::Object const& growing,
                              client::Trouble trouble);

    /// The worker is going down.
    void abort() {
        if (asking_) asking_->abort();
    }

private:
    Services& services_;
    std::string request_;
    IpEndpoint client_;
    std::uint16_t listener_;
    std::vector<icp::Source> sources_;
    std::size_t at_;
    http::BrokenBody body_;
    std::unique_ptr<Nobody> nobody_;   // made when something breaks off
    Scratch scratch_;
    Transaction* asking_ = nullptr;
};

}  // namespace garner::proxy
