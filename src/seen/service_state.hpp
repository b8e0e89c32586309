// The state that all conversations share: the set, the other partitions, limits and counters.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "seen/batch.hpp"
#include "seen/options.hpp"
#include "seen/peer_link.hpp"
#include "seen/set_keeper.hpp"
#include "util/clock.hpp"

namespace garner::seen {

/// Counts since the start.
struct Counters {
    std::uint64_t batches = 0, links = 0;                // answered
    std::uint64_t fresh = 0, repeated = 0;               // links by answer
    std::array<std::uint64_t, not_text + 1> refused{};   // by answer
    std::uint64_t unreachable = 0;
    std::uint64_t kept_home = 0;                                // links of other partitions that were answered from AnsweredCache
    std::uint64_t forwarded_batches = 0, forwarded_links = 0;   // the part of these that other partitions sent
    std::uint64_t durable_batches = 0;
    std::uint64_t not_durable = 0;   // new links without durability; not counted in `fresh`
    std::uint64_t overloads = 0;     // batches refused with 503
    std::uint64_t too_large = 0;     // with 413
    std::uint64_t unreadable = 0;    // with any other 4xx
    std::uint64_t connections = 0;   // accepted
};

/// Used on the loop's thread.
class ServiceState {
public:
    /// `io` outlives it. Fails as SetKeeper::open.
    static Result<std::unique_ptr<ServiceState>> open(Options const&, net::asio::io_context& io);

    Options const& options() const { return options_; }
    Sorting const& sorting() const { return sorting_; }
    std::uint32_t partitions() const { return sorting_.splitter.partitions(); }
    std::string const& own_words() const { return own_words_; }   // the forwarded_field of batches for this process
    net::asio::io_context& io() { return io_; }
    SetKeeper& keeper() { return *keeper_; }
    /// By partition; nullptr for our own.
    std::vector<std::unique_ptr<PeerLink>> const& links() const { return links_; }

    bool allows(IpAddress const& client) const;
    /// Whether the set and the other partitions take the batch now.
    bool has_room(Batch const&) const;
    /// A batch that held `before` bytes now holds `after`; false when all together hold too much.
    bool hold(Bytes before, Bytes after);
    /// Counts the answers of a batch.
    void count(Batch const&, bool forwarded, bool durable);

    Counters counters;
    std::uint32_t connections_now = 0;
    Bytes held_bytes() const { return held_; }
    seconds uptime() const { return std::chrono::floor<seconds>(steady_now() - started_); }

private:
    ServiceState(Options const& options, net::asio::io_context& io) : options_(options), io_(io) {}

    Options const options_;
    net::asio::io_context& io_;
    SteadyTime const started_ = steady_now();
    Sorting sorting_;
    std::string own_words_;
    std::optional<AnsweredCache> answered_;
    std::unique_ptr<SetKeeper> keeper_;
    std::vector<std::unique_ptr<PeerLink>> links_;
    Bytes held_ = 0;
};

}   // namespace garner::seen
