#include "icp/digest_publisher.hpp"

#include "icp/digest_scan.hpp"
#include "icp/digest_times.hpp"
#include "icp/mesh.hpp"
#include "io/log.hpp"

namespace garner::icp {

namespace {

// A million URLs take about 1.5 s, a third of it CPU time.
constexpr microseconds slice{500};
constexpr milliseconds rest{1};

}   // namespace

net::awaitable<void> DigestPublisher::run() {
    auto const begun = steady_now();
    std::optional<SteadyTime> due;   // once there is a digest
    while (!stopped_) {
        auto const now = steady_now();
        auto const peer_table = mesh_.peer_table();
        auto const& options = peer_table->options;
        bool const wanted = mesh_.take_digest_wanted();
        bool const in_turn = due ? now >= *due : expects_readers(options);
        if (!options.digest.publish) {
            due.reset();
            mesh_.publish({});
        } else if (wanted || in_turn) {
            auto const life = life_of_digest(now - begun, options.digest.rebuild);
            due = now + life;
            co_await make(life);
        }
        if (!stopped_) co_await pause(interval_);
    }
}

/// Without configured peers or ports the digest is built at the first request for it.
bool DigestPublisher::expects_readers(Options const& options) { return !options.peers.empty() || options.has_own_ports(); }

net::awaitable<void> DigestPublisher::make(milliseconds life) {
    auto const begun = steady_now();
    auto const expires = wall_now() + life;
    DigestScan scan(mesh_.cache(), expires);
    bool more = true;
    while (more && !stopped_) {
        auto const until = steady_now() + slice;
        while (more && steady_now() < until) more = scan.step();
        if (more) co_await pause(rest);
    }
    co_await read_disk(scan);
    if (stopped_) co_return;
    auto const entries = scan.entries();
    auto digests = std::move(scan).finish();
    auto const took = std::chrono::duration_cast<milliseconds>(steady_now() - begun).count();
    spdlog::debug("cache digest built: {} URLs, {} bytes, in {} ms", entries, digests.all.size(), took);
    mesh_.publish({.digest = std::make_shared<std::string const>(std::move(digests.without_https)),
                   .with_https = std::make_shared<std::string const>(std::move(digests.all)),
                   .expires = expires});
}

/// The index holds no URLs: they are read from the disk, one segment at a time.
net::awaitable<void> DigestPublisher::read_disk(DigestScan& scan) {
    auto const disk = mesh_.cache().disk().store();
    std::vector<store::ObjectPtr> met;
    bool more = disk != nullptr;
    for (std::uint32_t segment = 0; more && !stopped_; ++segment) {
        more = co_await disk->heads(segment, met, worker_.io.get_executor());
        for (auto const& object : met) scan.add(*object);
        met.clear();
        co_await pause(rest);
    }
}

}   // namespace garner::icp
