// The servers that a request may be sent to: the origin and the peers, best first.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "icp/source.hpp"
#include "proxy/request.hpp"

namespace garner::proxy {

/// Belongs to one request.
class Sources {
public:
    explicit Sources(Request& request) : request_(request), sources_(request.scratch.sources) {}
    ~Sources() { sources_.clear(); }
    Sources(Sources const&) = delete;

    /// Asks the mesh, unless the sources are known. Two seconds at the most.
    net::awaitable<void> choose();
    /// True when choose() would wait. Without peers the origin is the only source.
    bool needs_choice();
    /// Those of an earlier request; `at` is the current one.
    void assign(std::span<icp::Source const> sources, std::size_t at);
    /// Peers may be asked whether they have the response. Before choose().
    void ask_who_has_it() { hierarchical_ = true; }
    /// How many bytes are wanted, for the choice by measured throughput.
    void expect_bytes(Bytes bytes) { size_ = bytes; }

    std::vector<icp::Source> const& all() const { return sources_; }
    std::size_t at() const { return at_; }
    icp::Source const& current() const { return sources_[at_]; }
    icp::Peer* peer() const { return sources_[at_].peer.get(); }
    bool has_next() const { return at_ + 1 < sources_.size(); }
    void go_to_next() { ++at_; }
    /// For the log and Cache-Status.
    void note_current();

    /// "The parent campus", "The origin"
    std::string name() const { return current().peer ? "The " + peer_name() : "The origin"; }
    std::string peer_name() const;
    /// An https request through a parent: CONNECT, and TLS with the origin inside. The parent sees host and port alone.
    bool is_tunnelled() const;
    /// True when a rule for destinations lets this client use peers. Resolves the origin's name where a rule needs its address.
    net::awaitable<bool> may_use_peers();
    /// If caches are parents of each other, each may wait for the other's fetch of one URL: a loop that no Via shows until
    /// one of them goes on by itself.
    bool may_be_in_a_circle() const;
    /// The origin's own address, where a rule wanted to know it; else unspecified.
    IpAddress const& destination() const { return destination_; }

private:
    bool is_lonely() const;
    icp::Question question() const;

    Request& request_;
    std::vector<icp::Source>& sources_;   // its memory serves the connection's next request, too
    std::size_t at_ = 0;
    bool hierarchical_ = false;           // peers may be asked who has the response
    bool all_forbidden_ = false;          // each of the origin's addresses is, to this client
    IpAddress destination_;
    std::optional<Bytes> size_;
};

}  // namespace garner::proxy
