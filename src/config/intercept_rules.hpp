// The firewall for listeners that intercept: rules of nftables, and routes for tproxy. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/options.hpp"
#include "util/ip.hpp"

namespace garner::config {

/// One family of addresses, and the listener that gets its connections.
struct InterceptedFamily {
    bool is_v4 = true;
    net::Intercept how = net::Intercept::redirect;
    IpEndpoint to = {};          // unspecified: an address of this machine
    std::string listener = {};   // "listen[1]"
};

/// IPv4 and IPv6, as far as a listener intercepts them. The first listener gets the connections of a family.
std::vector<InterceptedFamily> intercepted_families(std::span<proxy::Listen const>);

/// The lines of the table `inet garner`, in the form in which nft lists them, each with its indentation. `interfaces`: those of the
/// clients; none: all.
std::vector<std::string> nft_table(std::span<InterceptedFamily const>, std::span<std::string const> interfaces);

/// A shell script that sets table and routes, in place of former ones.
std::string intercept_script(std::span<InterceptedFamily const>, std::span<std::string const> interfaces);

/// A rule or route that must be there.
struct WantedLine {
    std::string line;      // a part of one line that `command` prints
    std::string command;   // "ip -6 rule show"
    std::string mend;      // "ip -6 rule add fwmark 0x6761 lookup 26465"
};
std::vector<WantedLine> wanted_lines(std::span<InterceptedFamily const>, std::span<std::string const> interfaces);

/// True if a line of `output` has this line in it, whatever the spaces around it.
bool has_line(std::string_view output, std::string_view line);

}   // namespace garner::config
