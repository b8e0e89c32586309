#include "app/greeting.hpp"

#include <algorithm>

namespace garner::app {
namespace {

/// Clients that are configured for the proxy use this address.
bool is_for_clients(proxy::ListenAddress const& place) { return !place.origin && place.intercept == net::Intercept::off; }

/// How a browser and curl use the first forward proxy of this kind; empty if there is none.
std::string use_of(proxy::Server const& server, bool secure) {
    auto const& places = server.listen_addresses();
    auto const place = std::ranges::find_if(places, [&](auto const& one) { return is_for_clients(one) && one.secure() == secure; });
    if (place == places.end()) return {};
    auto const port = place->address.substr(place->address.rfind(':'));
    bool const all_addresses = place->address == "[::]" + port || place->address == "0.0.0.0" + port;
    if (!secure)
        return "; set your browser's HTTP and HTTPS proxy to it, or: curl -x http://" +
               (all_addresses ? "127.0.0.1" + port : place->address) + " http://example.com/";
    return "; proxy over TLS: chromium --proxy-server=https://NAME" + port + ", or \"HTTPS NAME" + port +
           "\" in a PAC file, or: curl -x https://NAME" + port + " http://example.com/, where NAME is in its certificate";
}

/// The hosts that are bumped, and the address of the root certificate; empty if none is.
std::string interception_of(proxy::Server const& server) {
    auto const options = server.options();
    auto const bumped = options->bump.rules.text_of_bumped();
    if (bumped.empty()) return {};
    auto const& places = server.listen_addresses();
    auto const place = std::ranges::find_if(places, is_for_clients);
    if (place == places.end()) return {};
    auto const scheme = place->secure() ? "https://" : "http://";
    return "; decrypts HTTPS " + bumped + ", for clients that trust its CA: " + scheme + place->address +
           std::string(proxy::root_path);
}

char const* intercepts(proxy::ListenAddress const& place) {
    switch (place.intercept) {
    case net::Intercept::off: return "";
    case net::Intercept::redirect: return " (intercepts by redirect)";
    case net::Intercept::tproxy: return " (intercepts by tproxy)";
    }
    return "";
}

}   // namespace

std::string greeting(proxy::Server const& server, std::string const& admin, std::string const& seen) {
    std::string places;
    for (auto const& place : server.listen_addresses())
        places += (places.empty() ? "" : ", ") + place.address + (place.secure() ? " (TLS)" : "") + intercepts(place);
    std::string const use = use_of(server, false) + use_of(server, true) + interception_of(server);
    std::string figures = admin.empty() ? "" : "; admin page: http://" + admin + "/";
    if (!seen.empty()) figures += "; URL-seen service: http://" + seen + "/";
    return "garner listens on " + places + use + figures + "; stop it with Ctrl-C\n";
}

std::string listening_text(proxy::Server const& server) {
    std::string places;
    auto const all = server.listen_addresses();
    for (auto const& place : all) places += (places.empty() ? "listens on " : ", ") + place.address;
    return places;
}

}   // namespace garner::app
