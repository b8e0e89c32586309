// Fetches the objects that members of the group offer, a few at a time.
#pragma once
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "group/group.hpp"
#include "icp/peer.hpp"
#include "proxy/group_fetch.hpp"
#include "proxy/services.hpp"
#include "util/mutex.hpp"

namespace garner::proxy {

/// Thread-safe. The workers and the group outlive it, as far as they run.
class Replication {
public:
    static constexpr std::size_t running_max = 4;
    static constexpr std::size_t waiting_max = 1'024;
    static constexpr std::size_t peers_max = 1'024;

    Replication(std::vector<Services*> const& workers, group::Group& group) : workers_(workers), group_(group) {}

    /// Another member offers the object with this URL.
    void take(std::string const& url);
    /// For `garner group fetch`: fetches the object here, and offers it to the group when its head has arrived. Waits for that: a
    /// worker must not call it.
    /// The URL must be is_replicable().
    group::SubmissionResult fetch_and_wait(std::string const& url);

    /// The proxy of another member.
    std::shared_ptr<icp::Peer> peer_at(IpEndpoint const& place);

private:
    void add(GroupFetch::Order order) EXCLUDES(mutex_);
    void start_next() EXCLUDES(mutex_);

    std::vector<Services*> const& workers_;
    group::Group& group_;
    Mutex mutex_;
    std::deque<GroupFetch::Order> waiting_ GUARDED_BY(mutex_);
    std::size_t running_ GUARDED_BY(mutex_) = 0;
    std::size_t turn_ GUARDED_BY(mutex_) = 0;
    Mutex peers_mutex_;
    std::map<std::string, std::shared_ptr<icp::Peer>> peers_ GUARDED_BY(peers_mutex_);   // by address
};

}   // namespace garner::proxy
