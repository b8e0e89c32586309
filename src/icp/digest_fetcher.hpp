// Keeps the peers' digests fresh: each is fetched from its peer, and again when it has expired.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "client/exchange.hpp"
#include "icp/peer.hpp"
#include "net/worker.hpp"

namespace garner::icp {

class Mesh;

/// When a peer's digest is asked for next, and how long it is believed. Pure: times are handed in.
class DigestTimes {
public:
    static constexpr milliseconds gap_min{10'000};        // between fetches from one peer, at the least
    static constexpr milliseconds life_default{3'600'000};
    static constexpr milliseconds delay_max{300'000};     // after it has expired, so that the next one is made
    static constexpr milliseconds retry_max{3'600'000};

    bool due(SteadyTime now) const { return now >= next_; }
    /// One came. `life`: as long as it is fresh yet; nothing when the peer does not say.
    void fetched(std::optional<milliseconds> life, SteadyTime now);
    /// None came. Asked again after gap_min, then after twice that, and so on.
    void failed(SteadyTime now);
    /// What came last is older than twice its life.
    bool outlived(SteadyTime now) const { return now >= forgotten_; }
    /// The last try failed.
    bool fails() const { return retry_ != gap_min; }

private:
    SteadyTime next_{};
    SteadyTime forgotten_ = SteadyTime::max();
    milliseconds retry_ = gap_min;
};

/// Runs on one worker; looks around every second.
class DigestFetcher {
public:
    DigestFetcher(Mesh& mesh, net::Worker& worker) : mesh_(mesh), worker_(worker), timer_(worker.io.get_executor()) {}
    /// Before the worker runs.
    void start();
    /// On the worker: ends what is under way.
    void stop();

private:
    struct Watch;
    struct Place;
    net::awaitable<void> run();
    void look();
    net::awaitable<void> renew(std::shared_ptr<Watch> watch);
    net::awaitable<void> fetch(Watch& watch, Place const& place);
    net::awaitable<void> receive(Watch& watch, Place const& place);
    static std::optional<Place> place_of(PeerOptions const&);

    Mesh& mesh_;
    net::Worker& worker_;
    net::Timer timer_;
    std::map<std::shared_ptr<Peer>, std::shared_ptr<Watch>> watches_;
    bool stopped_ = false;
};

}  // namespace garner::icp
