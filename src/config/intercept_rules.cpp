#include "config/intercept_rules.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace garner::config {
namespace {

using net::Intercept;

// One number marks packets of tproxy and names the table of their route: 0x6761 is "ga".
constexpr std::string_view mark = "0x00006761";   // in the form in which nft lists it
constexpr std::string_view mark_of_rule = "0x6761";
constexpr std::string_view route_table = "26465";

constexpr std::string_view list_table = "nft list table inet garner";
constexpr std::string_view mend_of_table = "garner intercept --print writes a script that sets all of them";

bool serves(IpAddress const& address, bool v4) {
    bool const is_dual = !address.is_v4() && address.is_unspecified();
    return is_dual || address.is_v4() == v4;
}

/// A redirected packet from another machine does not reach loopback.
bool can_receive(proxy::Listen const& listen, IpAddress const& address) {
    return listen.intercept == Intercept::tproxy || (listen.intercept == Intercept::redirect && !address.is_loopback());
}

bool any_by(std::span<InterceptedFamily const> families, Intercept how) {
    return std::ranges::any_of(families, [&](auto const& one) { return one.how == how; });
}

/// ":3129", "10.0.0.1:3129", "[2001:db8::1]:3129"
std::string place(IpEndpoint const& to) { return to.address.is_unspecified() ? ":" + std::to_string(to.port) : to.text(); }

/// The statement that diverts a connection of the family.
std::string diversion(InterceptedFamily const& family) {
    std::string const ip = family.is_v4 ? "ip" : "ip6";
    if (family.how == Intercept::tproxy)
        return "tproxy " + ip + " to " + place(family.to) + " meta mark set " + std::string(mark) + " accept";
    return family.to.address.is_unspecified() ? "redirect to " + place(family.to) : "dnat " + ip + " to " + place(family.to);
}

void add_rules(std::vector<std::string>& lines, InterceptedFamily const& family, std::span<std::string const> interfaces) {
    std::string const rule =
        std::string("meta nfproto ") + (family.is_v4 ? "ipv4" : "ipv6") + " tcp dport { 80, 443 } " + diversion(family);
    if (interfaces.empty()) lines.push_back("\t\t" + rule);
    for (auto const& name : interfaces) lines.push_back("\t\tiifname \"" + name + "\" " + rule);
}

void add_chain(std::vector<std::string>& lines, std::span<InterceptedFamily const> families, Intercept how,
               std::span<std::string const> interfaces) {
    if (!any_by(families, how)) return;
    bool const by_tproxy = how == Intercept::tproxy;
    lines.push_back(by_tproxy ? "\tchain tproxy_clients {" : "\tchain redirect_clients {");
    lines.push_back(std::string("\t\ttype ") + (by_tproxy ? "filter" : "nat") + " hook prerouting priority " +
                    (by_tproxy ? "mangle" : "dstnat") + "; policy accept;");
    // Packets of accepted connections come first: their destination is no address of this machine, either.
    if (by_tproxy) lines.push_back("\t\tmeta l4proto tcp socket transparent 1 meta mark set " + std::string(mark) + " accept");
    lines.push_back("\t\tfib daddr type local return");
    for (auto const& family : families)
        if (family.how == how) add_rules(lines, family, interfaces);
    lines.push_back("\t}");
}

/// "ip -4", "ip -6"
std::string ip_of(InterceptedFamily const& family) { return family.is_v4 ? "ip -4" : "ip -6"; }
std::string rule_text() { return "fwmark " + std::string(mark_of_rule) + " lookup " + std::string(route_table); }
std::string route_text() { return "local default dev lo table " + std::string(route_table); }

}   // namespace

std::vector<InterceptedFamily> intercepted_families(std::span<proxy::Listen const> all) {
    std::vector<InterceptedFamily> families;
    for (bool const v4 : {true, false})
        for (std::size_t i = 0; i < all.size(); ++i) {
            auto const address = parse_ip(all[i].address);
            if (!address || !serves(*address, v4) || !can_receive(all[i], *address)) continue;
            families.push_back({v4, all[i].intercept, {*address, all[i].port}, "listen[" + std::to_string(i) + "]"});
            break;
        }
    return families;
}

std::vector<std::string> nft_table(std::span<InterceptedFamily const> families, std::span<std::string const> interfaces) {
    std::vector<std::string> lines{"table inet garner {"};
    for (auto const how : {Intercept::redirect, Intercept::tproxy}) add_chain(lines, families, how, interfaces);
    lines.emplace_back("}");
    return lines;
}

std::string intercept_script(std::span<InterceptedFamily const> families, std::span<std::string const> interfaces) {
    std::string script = "#!/bin/sh\n# Written by garner intercept --print. Run it as root.\nset -e\n";
    script += "nft -f - <<'END'\ntable inet garner {\n}\ndelete table inet garner\n";
    for (auto const& line : nft_table(families, interfaces)) script += line + "\n";
    script += "END\n";
    for (auto const& family : families) {
        if (family.how != Intercept::tproxy) continue;
        auto const ip = ip_of(family);
        script += ip + " rule del " + rule_text() + " 2>/dev/null || true\n";
        script += ip + " rule add " + rule_text() + "\n";
        script += ip + " route replace " + route_text() + "\n";
    }
    return script;
}

std::vector<WantedLine> wanted_lines(std::span<InterceptedFamily const> families, std::span<std::string const> interfaces) {
    std::vector<WantedLine> wanted;
    for (auto const& line : nft_table(families, interfaces))
        if (line != "\t}" && line != "}")
            wanted.push_back({std::string(trim(line)), std::string(list_table), std::string(mend_of_table)});
    for (auto const& family : families) {
        if (family.how != Intercept::tproxy) continue;
        auto const ip = ip_of(family);
        wanted.push_back({rule_text(), ip + " rule show", ip + " rule add " + rule_text()});
        wanted.push_back(
            {"local default dev lo", ip + " route show table " + std::string(route_table), ip + " route add " + route_text()});
    }
    return wanted;
}

bool has_line(std::string_view output, std::string_view line) {
    while (!output.empty()) {
        auto const one = output.substr(0, output.find('\n'));
        auto const at = one.find(line);
        if (at != npos && (at + line.size() == one.size() || one[at + line.size()] == ' ')) return true;   // no prefix of a port
        output.remove_prefix(std::min(one.size() + 1, output.size()));
    }
    return false;
}

}   // namespace garner::config
