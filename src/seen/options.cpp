#include "seen/options.hpp"

#include <algorithm>

#include "catalog/seen_caches.hpp"
#include "catalog/url_sets.hpp"
#include "crawl/url_layers.hpp"
#include "seen/answers.hpp"
#include "util/option_words.hpp"
#include "util/text.hpp"

namespace garner::seen {

namespace {

Peer read_peer(std::string_view text) {
    auto const colon = text.rfind(':');
    if (colon == text.npos || colon == 0) return {};
    auto host = text.substr(0, colon);
    bool const bracketed = host.starts_with('[') && host.ends_with(']');
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (host.empty() || bracketed != (host.find(':') != host.npos)) return {};
    if (host.find_first_of("[]/@ \t\r\n") != host.npos) return {};
    auto const port = parse_decimal(text.substr(colon + 1));
    if (!port || *port == 0 || *port > UINT16_MAX) return {};
    return {std::string(host), static_cast<std::uint16_t>(*port)};
}

std::string fault_of_set(Options const& options) {
    auto const* row = catalog::find_url_set(options.set);
    if (!row) return "no set " + quoted_word(options.set) + "; there are " + catalog::url_set_names();
    if (row->on_disk && options.directory.empty()) return "the set " + options.set + " lies on disk; name its directory";
    if (!row->on_disk && !options.directory.empty())
        return "the set " + options.set + (row->elsewhere ? " lies elsewhere" : " lies in memory") +
               "; leave out the directory, or the set";
    return {};
}

/// What it needs beside its name shows when it is made.
std::string fault_of_cache(Options const& options) {
    auto const spec = catalog::read_cache_spec(options.cache);
    if (!spec.row) return spec.fault;
    return spec.row->foresees ? "the cache " + options.cache + " knows the future, and serves simulations alone" : "";
}

std::string fault_of_partitions(Options const& options) {
    if (options.peers.size() > partitions_max)
        return std::to_string(options.peers.size()) + " partitions; at most " + std::to_string(partitions_max);
    if (!options.peers.empty() && options.partition >= options.peers.size())
        return "partition " + std::to_string(options.partition) + " of " + std::to_string(options.peers.size()) +
               "; they count from 0";
    for (std::size_t i = 0; i < options.peers.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (options.peers[i] == options.peers[j])
                return "partitions " + std::to_string(j) + " and " + std::to_string(i) + " are both " +
                       options.peers[i].text() + "; give each its own process";
    return {};
}

}  // namespace

std::string Peer::text() const {
    auto const name = host.find(':') == host.npos ? host : "[" + host + "]";
    return name + ":" + std::to_string(port);
}

std::vector<Peer> read_peers(std::string_view list, std::string& fault) {
    std::vector<Peer> peers;
    for (auto const text : comma_parts(list)) {
        auto peer = read_peer(text);
        if (peer.port == 0) {
            fault = quoted_word(text) + " is no host and port; write 10.0.0.3:3132, with a comma between two";
            return {};
        }
        peers.push_back(std::move(peer));
    }
    return peers;
}

std::string fault_of(Options const& options) {
    auto const address = parse_ip(options.address);
    if (!address) return quoted_word(options.address) + " is no IP address; write 127.0.0.1, or 0.0.0.0 for all";
    if (!address->is_loopback() && options.allow.empty())
        return "on " + options.address + " others may ask, and nobody is allowed to; name their networks, such as 10.0.0.0/8";
    if (auto fault = crawl::UrlLayers::read(options.layers).fault; !options.layers.empty() && !fault.empty())
        return "layers: " + fault;
    if (!options.set.empty())
        if (auto fault = fault_of_set(options); !fault.empty()) return fault;
    if (!options.cache.empty())
        if (auto fault = fault_of_cache(options); !fault.empty()) return fault;
    return fault_of_partitions(options);
}

}  // namespace garner::seen
