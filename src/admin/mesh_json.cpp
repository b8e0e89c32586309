#include "admin/mesh_json.hpp"

namespace garner::admin {

using Json = nlohmann::ordered_json;

namespace {

Json millis(std::optional<microseconds> time) {
    return time ? Json(static_cast<double>(time->count()) / 1e3) : Json(nullptr);
}

Json peer_json(icp::PeerStats const& peer) {
    auto const& options = peer.options;
    return {{"name", options.name},
            {"type", name_of(options.type)},
            {"host", options.host},
            {"http", options.http},
            {"state", name_of(peer.health)},
            {"address", peer.address.empty() ? Json(nullptr) : Json(peer.address)},
            {"query_rtt_ms", millis(peer.query_rtt)},
            {"connect_rtt_ms", millis(peer.connect_rtt)},
            {"bytes_per_second", peer.throughput ? Json(*peer.throughput) : Json(nullptr)},
            {"connections", peer.connections},
            {"queries", peer.queries},
            {"answers", peer.answers},
            {"hits", peer.hits},
            {"misses", peer.misses},
            {"nofetch", peer.nofetch},
            {"denied", peer.denied},
            {"errors", peer.errors},
            {"expired", peer.expired},
            {"late", peer.late},
            {"fetches", peer.fetches},
            {"false_hits", peer.false_hits},
            {"connect_failures", peer.connect_failures},
            {"bytes", peer.bytes},
            {"bytes_saved", peer.saved},
            {"digest_entries", peer.has_digest ? Json(peer.digest_entries) : Json(nullptr)}};
}

}  // namespace

std::string_view name_of(icp::Health health) {
    switch (health) {
    case icp::Health::alive: return "alive";
    case icp::Health::suspect: return "suspect";
    case icp::Health::dead: return "dead";
    }
    return "";
}

std::string_view name_of(icp::PeerOptions::Type type) {
    return type == icp::PeerOptions::Type::parent ? "parent" : "sibling";
}

Json peers_json(std::vector<icp::PeerStats> const& peers) {
    Json all = Json::array();
    for (auto const& peer : peers) all.push_back(peer_json(peer));
    return all;
}

Json icp_json(icp::AgentFigures const& figures) {
    return {{"questions", figures.questions},   {"timed_out", figures.timed_out}, {"unexpected", figures.unexpected},
            {"moved", figures.moved},           {"queries", figures.queries},     {"hits", figures.hits},
            {"misses", figures.misses},         {"nofetch", figures.nofetch},     {"denied", figures.denied},
            {"errors", figures.errors},         {"silenced", figures.silenced},   {"limited", figures.limited},
            {"malformed", figures.malformed},   {"cleared", figures.cleared},     {"refused_clears", figures.refused_clears}};
}

}  // namespace garner::admin
