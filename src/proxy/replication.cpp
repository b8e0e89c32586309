#include "proxy/replication.hpp"

#include <atomic>
#include <boost/asio/post.hpp>
#include <future>
#include <utility>

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
    struct Waiting {
        std::promise<group::SubmissionResult> answer;
        std::atomic<bool> is_told{false};
        void tell(group::SubmissionResult const& result) {
            if (!is_told.exchange(true)) answer.set_value(result);
        }
    };
    auto const waiting = std::make_shared<Waiting>();
    auto future = waiting->answer.get_future();
    auto const tell = [waiting](group::SubmissionResult const& result) { waiting->tell(result); };
    auto const fail = [waiting](std::string state) {
        group::SubmissionResult failed;
        failed.why = std::move(state);
        waiting->tell(failed);
    };
    add({.url = url, .offered = tell, .ended = fail});
    if (future.wait_for(fetch_patience + group_.patience()) == std::future_status::ready) return future.get();
    group::SubmissionResult silent;
    silent.why = "the head of the response has not arrived in time";
    return silent;
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
    if (is_full) return order.ended("not fetched: too many offers wait");
    start_next();
}

void Replication::start_next() {
    MutexLock const lock(mutex_);
    while (running_ < running_max && !waiting_.empty()) {
        ++running_;
        auto order = std::move(waiting_.front());
        waiting_.pop_front();
        auto* const services = workers_[turn_++ % workers_.size()];
        order.ended = [this, ended = std::move(order.ended)](std::string state) {
            ended(std::move(state));
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
