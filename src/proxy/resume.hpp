// Asks another source for the rest of a stored body that a peer truncated.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "http/remainder.hpp"
#include "proxy/no_client.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

/// The request and the remaining sources, kept to ask again when the client may be gone. Owned by the pump; uses no
/// connection until a body is truncated. Belongs to one worker.
class Resumption {
public:
    /// `at`: index in `sources` of the peer that sends the body. `body`: before it began.
    Resumption(Request const& request, std::vector<icp::Source> sources, std::size_t at, http::BrokenBody body);

    /// Asks the remaining sources until one has the rest of the growing object; each is asked once in total. `trouble`: how
    /// the body was truncated.
    net::awaitable<Rest> find(std::shared_ptr<Options const> const& options, store::Object const& growing, client::Trouble trouble);

    /// The worker is stopping.
    void abort() {
        if (asking_) asking_->abort();
    }

private:
    Services& services_;
    std::string request_;
    std::shared_ptr<Client const> client_;
    std::vector<icp::Source> sources_;
    std::size_t at_;
    http::BrokenBody body_;
    std::unique_ptr<NoClient> no_client_;   // created when a body is truncated
    Scratch scratch_;
    Transaction* asking_ = nullptr;
};

}   // namespace garner::proxy
