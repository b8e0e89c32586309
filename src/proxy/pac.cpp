#include "proxy/pac.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace garner::proxy {

namespace {

// The language is that of 1999: some programs that evaluate PAC files know no other. `bits` writes IPv4 as IPv6 (::ffff:0:0/96).
constexpr std::string_view tests_of_direct = R"(
function isDirect(h) {
  var i, b = bits(h);
  for (i = 0; i < hosts.length; i++)
    if (hosts[i].charAt(0) == "." ? ("." + h).slice(-hosts[i].length) == hosts[i] : h == hosts[i]) return true;
  for (i = 0; b && i < networks.length; i++)
    if (isIn(b, networks[i].split("/"))) return true;
  return false;
}

function isIn(b, network) {
  var p = bits(network[0]);
  if (network.length > 1) p = p.slice(0, Number(network[1]) + (network[0].indexOf(":") < 0 ? 96 : 0));
  return b.slice(0, p.length) == p;
}

function bits(h) {
  var i, v4 = /^\d+\.\d+\.\d+\.\d+$/.test(h), ends = h.split("::"), parts = ends[0].split(/[:.]/), last, all = "";
  if (!v4 && h.indexOf(":") < 0) return "";
  if (ends.length > 1) {
    last = ends[1] ? ends[1].split(":") : [];
    parts = ends[0] ? parts : [];
    while (parts.length + last.length < 8) parts.push("0");
    parts = parts.concat(last);
  }
  for (i = 0; i < parts.length; i++)
    all += v4 ? (256 + Number(parts[i])).toString(2).slice(-8) : (65536 + parseInt(parts[i], 16)).toString(2).slice(-16);
  return v4 ? new Array(81).join("0") + "1111111111111111" + all : all;
}
)";

// Rendezvous hashing: FNV-1a with the last steps of MurmurHash3, on 32 bits. `times` multiplies without losing bits.
constexpr std::string_view order_by_host = R"(
function order(h) {
  var i, all = [], names = [];
  for (i = 0; i < proxies.length; i++) all.push({ name: proxies[i], score: score(h + " " + proxies[i]) });
  all.sort(function (a, b) { return b.score - a.score || (a.name < b.name ? -1 : 1); });
  for (i = 0; i < all.length; i++) names.push(all[i].name);
  return names;
}

function score(text) {
  var i, n = 2166136261;
  for (i = 0; i < text.length; i++) n = times(n ^ text.charCodeAt(i), 16777619);
  n = times(n ^ (n >>> 16), 2246822507);
  n = times(n ^ (n >>> 13), 3266489909);
  return (n ^ (n >>> 16)) >>> 0;
}

function times(a, b) {
  return ((a & 65535) * b + ((((a >>> 16) * b) & 65535) << 16)) | 0;
}
)";

std::string js_text(std::string_view text) {
    std::string out = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

std::string array_of(std::string_view name, std::span<std::string const> texts) {
    std::string out = "var " + std::string(name) + " = [";
    for (auto const& text : texts) out += (out.ends_with('[') ? "" : ", ") + js_text(text);
    return out + "];\n";
}

/// "HTTPS gate1.example:3129"
std::string entry_of(PacProxy const& proxy) {
    bool const ipv6 = proxy.host.find(':') != npos;
    auto const host = ipv6 ? "[" + proxy.host + "]" : proxy.host;
    return (proxy.secure ? "HTTPS " : "PROXY ") + host + ":" + std::to_string(proxy.port);
}

std::string lists_of_direct(std::span<PacDirect const> direct) {
    std::vector<std::string> hosts, networks;
    for (auto const& one : direct) (one.network ? networks : hosts).push_back(one.network ? one.network->text() : one.host);
    return array_of("hosts", hosts) + array_of("networks", networks);
}

}   // namespace

std::string pac_text(PacOptions const& options, std::span<PacProxy const> proxies) {
    std::vector<std::string> entries;
    for (auto const& proxy : proxies) entries.push_back(entry_of(proxy));
    bool const has_direct = !options.direct.empty(), in_order = !options.spread || entries.size() < 2;
    auto text = array_of("proxies", entries);
    if (has_direct) text += lists_of_direct(options.direct);
    text += "\nfunction FindProxyForURL(url, host) {\n";
    if (has_direct || !in_order)
        text += R"(  var h = host.toLowerCase().replace(/^\[|\]$/g, "").replace(/\.$/, "");)"
                "\n";
    if (has_direct) text += "  if (isDirect(h)) return \"DIRECT\";\n";
    text.append("  return ").append(in_order ? "proxies" : "order(h)");
    text.append(options.last_direct ? ".concat(\"DIRECT\")" : "").append(".join(\"; \");\n}\n");
    if (has_direct) text += tests_of_direct;
    if (!in_order) text += order_by_host;
    return text;
}

Bytes largest_pac(PacOptions const& options) {
    constexpr std::size_t host_max = 255;
    std::vector<PacProxy> const reached{{true, std::string(host_max, 'a'), 65'535}};
    return pac_text(options, options.proxies.empty() ? reached : options.proxies).size();
}

std::vector<PacProxy> usable_proxies(std::vector<PacProxy> all, std::vector<bool> const& out, bool last_direct) {
    std::vector<PacProxy> left;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!out[i]) left.push_back(all[i]);
    return left.empty() && !last_direct ? all : left;
}

PacProxy reached_proxy(std::string_view host, std::uint16_t port, bool secure, IpEndpoint const& fallback) {
    if (!is_pac_host(host)) return {secure, fallback.address.text(), fallback.port};
    return {secure, lower_case(host), port};
}

bool is_pac_host(std::string_view host) {
    constexpr std::string_view good = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:";
    return !host.empty() && host.find_first_not_of(good) == npos;
}

}   // namespace garner::proxy
