// Figures of two peers, for the tests that display them.
#pragma once
#include "admin/report.hpp"

namespace garner::admin {

inline icp::PeerStats a_peer(std::string name, icp::PeerOptions::Type type) {
    icp::PeerStats peer;
    peer.options.name = std::move(name);
    peer.options.type = type;
    peer.options.host = "cache.example";
    return peer;
}

/// A live parent and a dead sibling.
inline Report report_with_peers() {
    auto campus = a_peer("campus", icp::PeerOptions::Type::parent);
    campus.address = "10.0.0.3";
    campus.query_rtt = microseconds{812};
    campus.connect_rtt = microseconds{1'250};
    campus.queries = 12'345;
    campus.answers = 12'340;
    campus.hits = 700;
    campus.misses = 11'640;
    campus.false_hits = 3;
    campus.fetches = 9'000;
    campus.saved = 5 * MiB;
    campus.options.login = "user:secret";
    campus.options.tls.emplace();
    campus.options.https = icp::Https::tunnel;
    auto next_door = a_peer("next door", icp::PeerOptions::Type::sibling);
    next_door.health = icp::Health::dead;
    Report report;
    report.figures.peers = {campus, next_door};
    report.figures.icp.queries = 4'321;
    report.figures.icp.hits = 21;
    return report;
}

}   // namespace garner::admin
