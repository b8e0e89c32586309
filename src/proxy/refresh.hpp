// Revalidates in the background what a client was given stale (RFC 5861 3).
#pragma once
#include <memory>

#include "proxy/nobody.hpp"
#include "proxy/services.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

/// A transaction whose client is nobody. Belongs to the worker, so that it outlives the client that caused it.
class Refresh : public Link {
public:
    /// Detached, and not before the caller has come to its next wait: its client's answer goes first.
    /// At most Shared::refreshes_max a worker: the caller looks. `host`: for a request that has none.
    static void start(Services& services, ClientStream const& client, std::string_view host,
                      AcceleratedOrigin const* origin, std::shared_ptr<Options const> options, cache::FillLease lead, store::ObjectPtr stale);

    ~Refresh();

    /// The worker is going down.
    void abort() {
        if (transaction_) transaction_->abort();
    }

private:
    Refresh(Services& services, ClientStream const& client, std::string_view host, AcceleratedOrigin const* origin);
    static net::awaitable<void> run(std::unique_ptr<Refresh> refresh, std::shared_ptr<Options const> options,
                                    cache::FillLease lead, store::ObjectPtr stale);

    Services& services_;
    Nobody nobody_;
    AcceleratedOrigin const* accelerates_;
    Scratch scratch_;
    Transaction* transaction_ = nullptr;   // once it runs
};

}  // namespace garner::proxy
