#include "proxy/replication.hpp"

#include <boost/asio/post.hpp>
#include <future>
#include <utility>

#include "proxy/group_offer.hpp"
#include "util/awaited.hpp"

namespace garner::proxy {

namespace {

// For a slow origin: the offer follows the head of its response.
constexpr milliseconds fetch_patience{60'000};

}   // namespace

void Replication::take(std::string const& url) {
    if (!is_replicable(url)) return group_.note_fetch(url, "not fetched: it is no http:// URL in normal form");
    add({.url = url, .offered = {}, .ended = [this, url](std::string state) { group_.note_fetch(url, std::move(state)); }});
}

group::SubmissionResult Replication::fetch_and_wait(std::string const& url) {
    auto answer = std::make_shared<std::promise<group::SubmissionResult>>();
    auto future = answer->get_future();
    add({.url = url,
         .offered = [answer = std::move(answer)](group::SubmissionResult const& result) { answer->set_value(result); },
         .ended = {}});
    auto result = awaited(future, fetch_patience + group_.patience());
    return result ? *std::move(result) : not_offered("the head of the response has not arrived in time, or this proxy shuts down");
}

void Replication::add(GroupFetch::Order order) {
    bool is_full = false;
    {
        MutexLock const lock(mutex_);
        is_full = waiting_.size() >= waiting_max;
        // An operator waits for the answer.
        if (!is_full && order.offered)
            waiting_.push_front(std::move(order));
        else if (!is_full)
            waiting_.push_back(std::move(order));
    }
    constexpr auto too_many = "not fetched: too many offers wait";
    if (is_full && order.offered) order.offered(not_offered(too_many));
    if (is_full && order.ended) order.ended(too_many);
    if (!is_full) start_next();
}

void Replication::start_next() {
    MutexLock const lock(mutex_);
    while (running_ < running_max && !waiting_.empty()) {
        ++running_;
        auto order = std::move(waiting_.front());
        waiting_.pop_front();
        auto* const services = workers_[turn_++ % workers_.size()];
        order.ended = [this, ended = std::move(order.ended)](std::string state) {
            if (ended) ended(std::move(state));
            {
                MutexLock const inner(mutex_);
                --running_;
            }
            start_next();
        };
        net::asio::post(services->worker.io,
                        [services, order = std::move(order)]() mutable { GroupFetch::start(*services, std::move(order)); });
    }
}

std::shared_ptr<icp::Peer> Replication::peer_at(IpEndpoint const& place) {
    auto const name = place.text();
    MutexLock const lock(peers_mutex_);
    if (auto const found = peers_.find(name); found != peers_.end()) return found->second;
    if (peers_.size() >= peers_max) peers_.clear();   // requests hold theirs
    icp::PeerOptions options;
    options.name = name;
    options.host = place.address.text();
    options.http = place.port;
    options.icp = 0;
    options.no_query = true;
    return peers_[name] = std::make_shared<icp::Peer>(std::move(options));
}

}   // namespace garner::proxy
