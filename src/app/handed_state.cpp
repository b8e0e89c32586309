#include "app/handed_state.hpp"

#include <utility>

#include "app/state_members.hpp"

namespace garner::app {
namespace {

using cache::NegativeCache;
using takeover::bytes_of;
using takeover::Json;
using takeover::Reader;

constexpr std::size_t failures_a_message = 100, names_a_message = 100, peers_a_message = 100;   // each takes at most 600 bytes
constexpr std::size_t failures_most = 2'000, names_most = 2'000;                                // clients wait meanwhile

Json json_of(NegativeCache::Handed const& one) {
    return {{"key", one.key},
            {"second", one.second},
            {"failures", one.failures},
            {"of_head_only", one.of_head_only},
            {"left_ms", static_cast<std::uint64_t>(one.left.count())},
            {"counts_left_ms", static_cast<std::uint64_t>(one.counts_left.count())},
            {"status", one.failure.status},
            {"kind", static_cast<unsigned>(one.failure.kind)},
            {"reason", bytes_of(one.failure.reason)}};
}

NegativeCache::Handed failure_of(Reader& reader) {
    NegativeCache::Handed one;
    unsigned kind = 0;
    reader.bits("key", one.key);
    reader.bits("second", one.second);
    reader.number("failures", one.failures);
    reader.flag("of_head_only", one.of_head_only);
    reader.time("left_ms", one.left);
    reader.time("counts_left_ms", one.counts_left);
    reader.number("status", one.failure.status);
    reader.number("kind", kind);
    reader.text("reason", one.failure.reason);
    if (kind <= static_cast<unsigned>(cache::FailureKind::not_stored)) one.failure.kind = static_cast<cache::FailureKind>(kind);
    return one;
}

Json json_of(net::NameCache::HandedFailure const& one) {
    return {{"host", bytes_of(one.host)},
            {"failure", bytes_of(one.failure)},
            {"failures", one.failures},
            {"left_ms", static_cast<std::uint64_t>(one.left.count())}};
}

net::NameCache::HandedFailure name_of(Reader& reader) {
    net::NameCache::HandedFailure one;
    reader.text("host", one.host);
    reader.text("failure", one.failure);
    reader.number("failures", one.failures);
    reader.time("left_ms", one.left);
    return one;
}

void put(Json& json, char const* name, std::optional<double> const& value) {
    if (value && *value >= 0) json[name] = static_cast<std::uint64_t>(*value);
}

void take(Reader& reader, char const* name, std::optional<double>& into) {
    std::uint64_t value = 0;
    if (!reader.has(name)) return;
    reader.number(name, value);
    into = static_cast<double>(value);
}

Json json_of(icp::Peer const& peer, SteadyTime now) {
    auto const measured = peer.measured(now);
    auto const& liveness = measured.liveness;
    Json json{{"name", bytes_of(peer.options.name)},
              {"host", bytes_of(peer.options.host)},
              {"http", peer.options.http},
              {"expired", liveness.expired},
              {"overdue", liveness.overdue},
              {"refused", liveness.refused},
              {"probed_before_ms", static_cast<std::uint64_t>(liveness.probed_before.count())}};
    if (liveness.waits > 0) json["waits"] = liveness.waits;
    if (liveness.silent_for) json["silent_ms"] = static_cast<std::uint64_t>(liveness.silent_for->count());
    put(json, "query_rtt_us", measured.query_rtt);
    put(json, "connect_rtt_us", measured.connect_rtt);
    put(json, "throughput", measured.throughput);
    put(json, "first_byte_us", measured.first_byte);
    return json;
}

struct NamedPeer {
    std::string name, host;
    std::uint16_t http = 0;
    icp::Peer::Measured measured;
};

NamedPeer peer_of(Reader& reader) {
    NamedPeer one;
    auto& liveness = one.measured.liveness;
    reader.text("name", one.name);
    reader.text("host", one.host);
    reader.number("http", one.http);
    reader.number("expired", liveness.expired);
    reader.flag("overdue", liveness.overdue);
    reader.flag("refused", liveness.refused);
    reader.time("probed_before_ms", liveness.probed_before);
    if (reader.has("waits")) reader.number("waits", liveness.waits);
    if (reader.has("silent_ms")) reader.time("silent_ms", liveness.silent_for.emplace());
    take(reader, "query_rtt_us", one.measured.query_rtt);
    take(reader, "connect_rtt_us", one.measured.connect_rtt);
    take(reader, "throughput", one.measured.throughput);
    take(reader, "first_byte_us", one.measured.first_byte);
    return one;
}

void adopt_peers(std::vector<NamedPeer> const& measured, icp::PeerTable const& table, SteadyTime now) {
    for (auto const& peer : table.peers)
        for (auto const& one : measured)
            if (one.name == peer->options.name && one.host == peer->options.host && one.http == peer->options.http)
                peer->adopt(one.measured, now);
}

}   // namespace

std::vector<takeover::Json> state_messages(Parts const& parts, SteadyTime now) {
    std::vector<Json> messages, failures, names, peers;
    auto const& negative = std::as_const(parts.cache).memory().failures();
    for (auto const& one : negative.handed(now))
        if (failures.size() < failures_most) failures.push_back(json_of(one));
    split(messages, "failures", std::move(failures), failures_a_message, {{"seeds", negative.seeds()}});
    auto& cached = parts.server->network().names();
    for (auto const& one : cached.failures(now))
        if (names.size() < names_most) names.push_back(json_of(one));
    split(messages, "names", std::move(names), names_a_message, {{"servers", cached.servers()}});
    for (auto const& peer : parts.server->mesh().peer_table()->peers) peers.push_back(json_of(*peer, now));
    split(messages, "peers", std::move(peers), peers_a_message, Json::object());
    return messages;
}

Result<void> adopt_state(takeover::Json const& message, Parts& parts, SteadyTime now) {
    auto const failures = elements(message, "failures", failure_of);
    if (!failures) return failures.fault();
    auto const names = elements(message, "names", name_of);
    if (!names) return names.fault();
    auto const peers = elements(message, "peers", peer_of);
    if (!peers) return peers.fault();
    Reader reader(message);
    std::vector<std::uint64_t> seeds;
    std::vector<std::string> servers;
    if (!failures->empty()) reader.numbers("seeds", seeds);
    if (!names->empty()) reader.texts("servers", servers);
    if (!failures->empty() && seeds.size() != 2) reader.refuse("seeds");
    if (!reader.is_valid()) return reader.result(0).fault();
    if (!failures->empty()) parts.cache.memory().failures().adopt({seeds[0], seeds[1]}, *failures, now);
    auto& cached = parts.server->network().names();
    if (servers == cached.servers())   // others may know the names
        for (auto const& one : *names) cached.adopt(one, now);
    adopt_peers(*peers, *parts.server->mesh().peer_table(), now);
    return {};
}

}   // namespace garner::app
