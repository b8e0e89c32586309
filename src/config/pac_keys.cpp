// The keys of the proxy auto-configuration file.
#include "config/address_form.hpp"
#include "config/key_parts.hpp"
#include "http/uri.hpp"
#include "proxy/pac.hpp"
#include "util/units.hpp"

namespace garner::config {
namespace {

Form<proxy::PacProxy> pac_proxy() {
    auto parse = [](std::string const& text, proxy::PacProxy& into, std::string& why) {
        auto const uri = parse_server_url(text, why);
        if (!uri) return false;
        if (!proxy::is_pac_host(uri->authority.host)) return why = "has a host that PAC files cannot name", false;
        into.secure = uri->scheme == http::Scheme::https;
        into.host.clear();
        http::append_host(uri->authority, into.host);
        if (uri->authority.ipv6) into.host = into.host.substr(1, into.host.size() - 2);
        into.port = uri->authority.port;
        return true;
    };
    return parsed<proxy::PacProxy>("URL", "the URL of a proxy",
                                   R"(write it like "https://gate1.example:3129" or "http://10.0.0.1:3128", without a path)",
                                   parse);
}

bool looks_like_network(std::string const& text) { return text.find('/') != text.npos || parse_ip(text).has_value(); }

Form<proxy::PacDirect> pac_direct() {
    auto read = [host = host_pattern(), network = network()](Reader& reader, Json const& value, proxy::PacDirect& into) {
        if (value.is_string() && looks_like_network(value.get_ref<std::string const&>()))
            return network.read(reader, value, into.network.emplace());
        http::HostPattern pattern;
        if (!host.read(reader, value, pattern)) return false;
        into.host = pattern.text();
        return true;
    };
    return {"host or network", described_as("string"), std::move(read), nullptr};
}

void check_size(Reader& reader, Json const&, proxy::PacOptions& pac) {
    auto const size = proxy::largest_pac(pac);
    if (size <= proxy::pac_max) return;
    reader.fault({pac.direct.empty() ? "proxies" : "direct"},
                 "makes a PAC file of " + std::to_string(size) + " bytes, more than " + size_text(proxy::pac_max),
                 pac.direct.empty() ? "name fewer proxies" : "name domains and wider networks instead of single hosts");
}

}   // namespace

Form<proxy::PacOptions> pac() {
    using T = proxy::PacOptions;
    return object_of<T>(
        {
            key<T>(
                "proxies", &T::proxies, list_of(pac_proxy()),
                "The proxies that browsers use, in this order: `https://` for a listener with `tls`. Each is tried every 2 s; the "
                "file leaves out those that cannot be reached. Empty: the address at which the client has reached this proxy."),
            key<T>("direct", &T::direct, list_of(pac_direct()),
                   "Hosts that browsers reach without a proxy: names, domains (`.campus.example`) and networks. A network matches "
                   "hosts that are written as addresses; names are not resolved."),
            key<T>("last", &T::last_direct, one_of<bool>({{"none", false}, {"direct", true}}),
                   "`direct`: browsers go without a proxy if none can be reached."),
            key<T>("spread", &T::spread, flag(),
                   "`true`: divides the hosts among the proxies. Each host has its own order of all proxies (rendezvous hashing)."),
            key<T>("max_age", &T::max_age, time(seconds{1}, 7 * day), "Time after which browsers read the file again."),
            key<T>("wpad", &T::wpad, flag(),
                   "`true`: the file is also at `/wpad.dat`, where browsers look for it at the host `wpad` if a listener has port "
                   "80."),
        },
        check_size);
}

}   // namespace garner::config
