// Fetches an object of the group for the store, without a client.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "group/state.hpp"
#include "proxy/no_client.hpp"
#include "proxy/services.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

/// True for an http:// URL in normal form. The URL may come from another member.
bool is_replicable(std::string const& url);

/// Belongs to the worker that it runs on.
class GroupFetch : public Link {
public:
    struct Order {
        std::string url;   // http://, in normal form
        /// Set: the object is offered to the group as soon as its head is stored, and this is called with the result, on any thread.
        /// Otherwise another member offers it.
        std::function<void(group::SubmissionResult const&)> offered = {};
        /// The end, in words for the operator. Called on the worker, once, unless the worker is stopping.
        std::function<void(std::string state)> ended = {};
    };
    /// Runs detached. Call on that worker's thread. The URL must be is_replicable().
    static void start(Services& services, Order order);

    /// The worker is stopping.
    void abort();

private:
    GroupFetch(Services& services, Order order);
    static net::awaitable<void> run(std::unique_ptr<GroupFetch> fetch);
    net::awaitable<std::string> fetch();
    net::awaitable<bool> wait_for_spread();
    net::awaitable<void> wait_for(milliseconds time);
    milliseconds time_for_news() const;
    bool is_stopping() const { return aborted_ || services_.drain.begun; }
    bool is_wanted() const;

    Services& services_;
    Order const order_;
    std::shared_ptr<Options const> const options_;
    NoClient no_client_;
    Scratch scratch_;
    net::WakeHandle waiting_;
    Transaction* transaction_ = nullptr;   // set while it runs
    bool aborted_ = false;
};

}   // namespace garner::proxy
