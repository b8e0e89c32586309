// Revalidates in the background a response that was served stale (RFC 5861 3).
#pragma once
#include <memory>

#include "proxy/no_client.hpp"
#include "proxy/services.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

/// A transaction without a client. Belongs to the worker, so that it outlives the client that caused it.
class Refresh : public Link {
public:
    /// Runs detached, and starts only when the caller next waits: the client's response goes first. The caller must respect
    /// Shared::refreshes_max of the worker.
    static void start(Request const& request, cache::FillLease lead, store::ObjectPtr stale);

    ~Refresh();

    /// The worker is stopping.
    void abort() {
        if (transaction_) transaction_->abort();
    }

private:
    explicit Refresh(Request const& request);
    static net::awaitable<void> run(std::unique_ptr<Refresh> refresh, std::shared_ptr<Options const> options, cache::FillLease lead,
                                    store::ObjectPtr stale);

    Services& services_;
    NoClient no_client_;
    FixedOrigin const* origin_;
    std::shared_ptr<FixedOrigin const> kept_;   // origin_: its listener or tunnel may end before the refresh
    Scratch scratch_;
    Transaction* transaction_ = nullptr;   // set once it runs
};

}   // namespace garner::proxy
