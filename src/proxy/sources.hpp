// The servers that a request may be sent to: origin and peers, best first.
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

    /// Asks the mesh, unless the sources are known. Takes at most 2 s.
    net::awaitable<void> choose();
    /// True when choose() would wait. Without peers the origin is the only source.
    bool needs_choice();
    /// Takes over the sources of an earlier request; `at` is the current one.
    void assign(std::span<icp::Source const> sources, std::size_t at);
    /// Peers may be queried for the response. Before choose().
    void ask_who_has_it() { hierarchical_ = true; }
    /// The expected size, for the choice by measured throughput.
    void expect_bytes(Bytes bytes) { size_ = bytes; }

    std::vector<icp::Source> const& all() const { return sources_; }
    std::size_t at() const { return at_; }
    icp::Source const& current() const { return sources_[at_]; }
    icp::Peer* peer() const { return sources_[at_].peer.get(); }
    /// A response from a sibling does not go over the line.
    bool is_on_line() const { return !peer() || peer()->options.type != icp::PeerOptions::Type::sibling; }
    bool has_next() const { return at_ + 1 < sources_.size(); }
    void go_to_next() { ++at_; }
    /// A peer that was left has responded: it is the current source again. `interrupts`: the present one is the next then.
    void come_back(icp::Source source, bool interrupts);
    /// For the log and Cache-Status.
    void note_current();

    /// "The parent campus", "The origin"
    std::string name() const { return current().peer ? "The " + peer_name() : "The origin"; }
    std::string peer_name() const;
    /// An https request through a parent: CONNECT, and TLS with the origin inside. The parent sees only host and port.
    bool is_tunnelled() const;
    /// True when a destination rule lets this client use peers. Resolves the origin's name if a rule needs its address.
    net::awaitable<bool> may_use_peers();
    /// Caches that are parents of each other may each wait for the other's fetch of one URL. Via shows this loop only after
    /// one of them has continued alone.
    bool may_be_in_a_loop() const;
    /// The origin's own address, if a rule needed it; else unspecified.
    IpAddress const& destination() const { return destination_; }

private:
    bool has_no_peers() const;
    bool is_of_offer() const;
    void add_group_parents();
    icp::Question question() const;

    Request& request_;
    std::vector<icp::Source>& sources_;   // memory reused by the connection's next request
    std::size_t at_ = 0;
    bool hierarchical_ = false;    // peers may be queried for the response
    bool all_forbidden_ = false;   // each of the origin's addresses is forbidden to this client
    IpAddress destination_;
    std::optional<Bytes> size_;
};

}   // namespace garner::proxy
