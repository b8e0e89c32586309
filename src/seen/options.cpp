#include "seen/options.hpp"

#include <algorithm>

#include "catalog/seen_caches.hpp"
#include "catalog/url_sets.hpp"
#include "crawl/url_layers.hpp"
#include "seen/link_status.hpp"
#include "util/option_words.hpp"
#include "util/text.hpp"

namespace garner::seen {

namespace {

Result<Peer> read_peer(std::string_view text) {
    Fault const fault{quoted_word(text) + " is not a host and port", "write it like 10.0.0.3:3132; separate several by commas"};
    auto const colon = text.rfind(':');
    if (colon == text.npos || colon == 0) return fault;
    auto host = text.substr(0, colon);
    bool const bracketed = host.starts_with('[') && host.ends_with(']');
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (host.empty() || bracketed != (host.find(':') != host.npos)) return fault;
    if (host.find_first_of("[]/@ \t\r\n") != host.npos) return fault;
    auto const port = parse_decimal(text.substr(colon + 1));
    if (!port || *port == 0 || *port > UINT16_MAX) return fault;
    return Peer{std::string(host), static_cast<std::uint16_t>(*port)};
}

Result<void> validate_address(Options const& options) {
    auto const address = parse_ip(options.address);
    if (!address)
        return Fault{quoted_word(options.address) + " is not an IP address", "write 127.0.0.1, or 0.0.0.0 for all addresses"};
    if (address->is_loopback() || !options.allow.empty()) return {};
    return Fault{"on " + options.address + " other machines can connect, but no network is allowed",
                 "allow their networks, such as 10.0.0.0/8"};
}

Result<void> validate_layers(Options const& options) {
    auto const layers = crawl::UrlLayers::read(options.layers);
    return layers ? Result<void>() : Fault{.what = layers.fault().what, .where = "layers"};
}

Result<void> validate_set(Options const& options) {
    if (options.set.empty()) return {};
    auto const* row = catalog::find_url_set(options.set);
    if (!row) return Fault{"no set " + quoted_word(options.set), "valid sets: " + catalog::url_set_names()};
    if (row->on_disk != options.directory.empty()) return {};
    auto const place = row->on_disk ? " is stored on disk" : row->elsewhere ? " is stored in Redis" : " is kept in memory";
    return Fault{"the set " + options.set + place,
                 row->on_disk ? "give its directory" : "remove the directory, or choose another set"};
}

/// Its other requirements are checked when it is made.
Result<void> validate_cache(Options const& options) {
    if (options.cache.empty()) return {};
    auto const spec = catalog::read_cache_spec(options.cache);
    if (!spec) return spec.fault();
    if (!spec->row->foresees) return {};
    return Fault{"the cache " + options.cache + " needs future requests, so it works only in simulations"};
}

Result<void> validate_partitions(Options const& options) {
    auto const& peers = options.peers;
    auto const own = std::to_string(options.partition), of = std::to_string(peers.size());
    if (peers.size() > partitions_max) return Fault{of + " partitions", "at most " + std::to_string(partitions_max)};
    if (!peers.empty() && options.partition >= peers.size())
        return Fault{"partition " + own + " of " + of, "partitions are numbered from 0"};
    for (auto peer = peers.begin(); peer != peers.end(); ++peer)
        if (auto const same = std::find(peers.begin(), peer, *peer); same != peer)
            return Fault{"partitions " + std::to_string(same - peers.begin()) + " and " + std::to_string(peer - peers.begin()) +
                             " both have the address " + peer->text(),
                         "give each partition its own process"};
    return {};
}

}   // namespace

std::string Peer::text() const {
    auto const name = host.find(':') == host.npos ? host : "[" + host + "]";
    return name + ":" + std::to_string(port);
}

Result<std::vector<Peer>> read_peers(std::string_view list) {
    std::vector<Peer> peers;
    for (auto const text : comma_parts(list)) {
        auto peer = read_peer(text);
        if (!peer) return peer.fault();
        peers.push_back(*std::move(peer));
    }
    return peers;
}

Result<void> validate(Options const& options) {
    for (auto* part : {validate_address, validate_layers, validate_set, validate_cache, validate_partitions})
        if (auto const fits = part(options); !fits) return fits;
    return {};
}

}   // namespace garner::seen
