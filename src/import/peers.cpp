// cache_peer and cache_peer_access.
#include <algorithm>

#include "import/context.hpp"
#include "import/squid_units.hpp"
#include "import/words.hpp"
#include "util/ip.hpp"
#include "util/text.hpp"
#include "util/units.hpp"

namespace garner::importing {
namespace {

std::optional<std::uint64_t> port_of(std::string const& text) {
    auto const port = parse_decimal(text);
    return port && *port <= 65'535 ? port : std::nullopt;
}

/// Reads the options of one peer.
class PeerOptions {
public:
    PeerOptions(Context& context, Line const& line, Json& peer, bool parent)
        : context_(context), line_(line), peer_(peer), parent_(parent) {}

    void take(std::string const& word) {
        auto const equals = word.find('=');
        auto const name = word.substr(0, equals), value = equals == npos ? "" : word.substr(equals + 1);
        if (name == "name") return;
        if (name == "no-query") return flag("no_query");
        if (name == "proxy-only") return flag("proxy_only");
        if (name == "default") return parents_only([&] { flag("default"); });
        if (name == "round-robin" || name == "weighted-round-robin") return parents_only([&] { flag("round_robin"); });
        if (name == "carp" || name == "sourcehash" || name == "userhash")
            return parents_only([&] { peer_["group"] = Json::string("carp"); });
        if (name == "weight") return number("weight", value, 1, 1'000);
        if (name == "max-conn") return number("connections_max", value, 0, 1'000'000);
        if (name == "connect-timeout") return connect_timeout(value);
        if (name == "login") return login(value);
        if (name == "htcp" || name.starts_with("htcp=")) return htcp();
        if (name == "ssl" || name == "tls" || name.starts_with("ssl") || name.starts_with("tls"))
            return context_.report.needs_you(line_, "is connected to by TLS; see `peers` of docs/reference/configuration.md");
        if (name == "forceddomain") return context_.report.needs_you(line_, "changes the Host field, which Garner does not");
        static constexpr std::string_view without_effect[]{"no-digest",
                                                           "no-netdb-exchange",
                                                           "no-delay",
                                                           "background-ping",
                                                           "closest-only",
                                                           "connect-fail-limit",
                                                           "standby",
                                                           "allow-miss",
                                                           "no-tproxy",
                                                           "basetime",
                                                           "ttl",
                                                           "digest-url",
                                                           "monitorurl",
                                                           "monitorsize",
                                                           "monitorinterval",
                                                           "monitortimeout",
                                                           "auth-no-keytab",
                                                           "multicast-responder",
                                                           "http11"};
        if (std::ranges::count(without_effect, name) == 0)
            context_.report.drop(line_, "the option " + printable(word) + " has no equivalent");
    }

private:
    void flag(char const* key) { peer_[key] = Json::flag(true); }
    template <class Set>
    void parents_only(Set&& set) {
        if (parent_) set();
    }
    void number(char const* key, std::string const& value, std::uint64_t min, std::uint64_t max) {
        auto const number = parse_decimal(value);
        if (number && *number >= min && *number <= max)
            peer_[key] = Json::number(*number);
        else
            context_.report.drop(line_, printable(value) + " is out of range for peers[]." + key);
    }
    void connect_timeout(std::string const& value) {
        auto const time = squid_time({value});
        if (time && *time >= milliseconds{10} && *time <= milliseconds{60'000})
            peer_["connect_timeout"] = Json::string(time_text(*time));
        else
            context_.report.drop(line_, "connect-timeout is out of range for peers[].connect_timeout");
    }
    void login(std::string const& value) {
        bool const is_plain = value.find(':') != npos && value.front() != '*' && printable(value) == value;
        if (value == "PASS" || value == "PASSTHRU")
            peer_["login"] = Json::string("pass");
        else if (is_plain)
            peer_["login"] = Json::string(value);
        else
            context_.report.needs_you(line_, "login=" + printable(value) + " is not user:password or PASS; see peers[].login");
    }
    /// The port of the directive is then HTCP's.
    void htcp() {
        if (auto const* const port = peer_.find("icp_port")) peer_["htcp_port"] = *port;
        peer_["icp_port"] = Json::number(0);
    }

    Context& context_;
    Line const& line_;
    Json& peer_;
    bool parent_;
};

bool is_host_name(std::string_view host) {
    auto const fits = [](char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; };
    return parse_ip(host) || (std::ranges::all_of(host, fits) && !host.starts_with('.') && !host.ends_with('.'));
}

}   // namespace

void take_cache_peer(Context& context, Line const& line, Directive const&) {
    auto const words = split(line.rest);
    if (words.size() < 4) return context.report.needs_you(line, "write cache_peer HOST TYPE HTTP_PORT ICP_PORT");
    bool const parent = words[1] == "parent";
    if (!parent && words[1] != "sibling")
        return context.report.needs_you(line, "is neither parent nor sibling; Garner queries no multicast groups");
    auto const http = port_of(words[2]), icp = port_of(words[3]);
    auto host = words[0];
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (!http || *http == 0 || !icp || !is_host_name(host)) return context.report.needs_you(line, "has no valid host or port");
    // A peer would get the requests of all clients.
    if (std::ranges::count(words, "originserver") > 0)
        return context.report.needs_you(line,
                                        "is an origin server; write a listener with `origin`, as in docs/guides/accelerator.md");
    std::string name = words[0];
    for (auto const& word : words)
        if (word.starts_with("name=")) name = word.substr(5);
    if (printable(name) != name) return context.report.needs_you(line, "has a name that is not text");
    if (std::ranges::count(context.peers, name, &Peer::name) > 0)
        return context.report.needs_you(line, "another peer has this name; add name=");
    auto peer = Json::object();
    peer["name"] = Json::string(name);
    peer["type"] = Json::string(words[1]);
    peer["host"] = Json::string(host);
    peer["http_port"] = Json::number(*http);
    peer["icp_port"] = Json::number(*icp);
    PeerOptions options(context, line, peer, parent);
    for (std::size_t i = 4; i < words.size(); ++i) options.take(words[i]);
    context.peers.push_back({name, std::move(peer)});
}

void take_peer_access(Context& context, Line const& line, Directive const&) {
    auto const words = split(line.rest);
    if (words.empty()) return context.report.drop(line, "names no peer");
    if (auto access = read_access_line(line, words, 1, context.report)) context.peer_access[words.front()].push_back(*access);
}

/// cache_peer_domain of Squid 3: hosts behind the peer's name.
void take_peer_domain(Context& context, Line const& line, Directive const&) {
    auto const words = split(line.rest);
    auto const peer = words.empty() ? context.peers.end() : std::ranges::find(context.peers, words.front(), &Peer::name);
    bool const valid = peer != context.peers.end() && words.size() > 1 &&
                       std::ranges::all_of(words.begin() + 1, words.end(), [](std::string_view word) {
                           if (word.starts_with('!')) word.remove_prefix(1);
                           if (word.starts_with('.')) word.remove_prefix(1);
                           return !word.empty() && is_host_name(word);
                       });
    if (!valid) return context.report.needs_you(line, "names no peer before it, or no hosts; write peers[].domains");
    peer->json["domains"] = Json::strings({words.begin() + 1, words.end()});
}

}   // namespace garner::importing
