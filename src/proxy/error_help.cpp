#include "proxy/error_help.hpp"

#include <algorithm>

namespace garner::proxy {

using cache::FailureKind;

namespace {

constexpr std::string_view name_mark = "{}";
constexpr std::string_view try_later = "Try again in a few minutes.";
constexpr std::string_view tell_operator = "If the error stays, give the operator the request id below.";
constexpr std::string_view tell_server = "If only this address fails, tell the operator of that server.";

struct HelpEntry {
    std::string_view heading;   // name_mark: the server's name
    std::array<std::string_view, 2> hints;
};

HelpEntry of_server(FailureKind kind) {
    switch (kind) {
    case FailureKind::name:
        return {"The server {} could not be found",
                {"Check the name in the address for typing errors.",
                 "The domain may no longer exist, or its name servers may fail. Try again in a few minutes."}};
    case FailureKind::refused:
        return {"The server {} refused the connection",
                {"The web server may be stopped or restarting. Try again in a few minutes.",
                 "Check the port number if the address has one."}};
    case FailureKind::unreachable:
        return {"The server {} could not be reached",
                {"The server or its network may be down. Try again in a few minutes.",
                 "If other sites fail too, check the network connection of the proxy."}};
    case FailureKind::connect_timeout:
        return {"The server {} did not accept the connection in time",
                {"The server may be overloaded or switched off. Try again in a few minutes.",
                 "A firewall may block the port. Check the port number if the address has one."}};
    case FailureKind::tls:
        return {"No secure connection to the server {} is possible",
                {"The certificate of the server may have expired, or may be for another name.",
                 "If a private authority issued the certificate, the operator can add that authority to tls.ca_file."}};
    case FailureKind::closed:
        return {"The server {} closed the connection without a response", {"Load the page again.", tell_server}};
    case FailureKind::timeout:
        return {"The server {} did not respond in time",
                {"The server may be overloaded. Try again in a few minutes.", tell_server}};
    case FailureKind::invalid:
        return {"The server {} sent an invalid response", {"The error is in the web server. Try again later.", tell_server}};
    case FailureKind::origin_error:
        return {"The server {} reported an error",
                {"Another client has just received this error from the server. Try again in a few seconds.", tell_server}};
    case FailureKind::peer: return {"The next proxy on the way to the server {} failed", {try_later, tell_operator}};
    default: return {};
    }
}

HelpEntry of_refusal(RefusedFor subject) {
    constexpr std::string_view heading = "This request is not allowed";
    switch (subject) {
    case RefusedFor::time:
        return {"This request is not allowed at this time",
                {"The rule depends on the time of day or the day of the week. Try again at another time.",
                 "If it should be allowed now, give the operator the request id below."}};
    case RefusedFor::client:
        return {heading,
                {"The rule is about your user name, your group or your computer, not about the address.",
                 "If you should have access, give the operator the request id below."}};
    case RefusedFor::port:
        return {heading,
                {"The port is blocked unless a rule opens it. Check the port number if the address has one.",
                 "The operator can open it by a rule of access that allows this port (key port)."}};
    case RefusedFor::address: break;
    }
    return {heading,
            {"Check the address for typing errors.", "If this address should be allowed, give the operator the request id below."}};
}

HelpEntry of_status(std::uint16_t status) {
    switch (status) {
    case 400:
        return {
            "The request is not valid",
            {"Check the address for typing errors.", "If the address is right, the program that sent the request has an error."}};
    case 407:
        return {"This proxy requires a login",
                {"Log in with your user name and password.", "If the login was refused, check both for typing errors."}};
    case 429:
        return {"Too many logins have failed",
                {"Wait a minute, then log in again.", "Check which program on this computer sends an old password."}};
    case 404: return {"Nothing was found for this address", {"Check the address for typing errors.", tell_operator}};
    case 408:
        return {"The request did not arrive in time",
                {"Send the request again.", "The network connection may be slow or interrupted."}};
    case 414: return {"The address is too long", {"Shorten the address.", "A form with much text may have to be sent with POST."}};
    case 431:
        return {"The request has too many or too large header fields",
                {"Delete the cookies of this site, and load the page again.", tell_operator}};
    case 501:
    case 505:
        return {"The request uses a feature that this proxy does not support",
                {"Use an http or https address, HTTP/1.1, and a method without special features.", tell_operator}};
    case 503: return {"The proxy cannot answer this request now", {try_later, tell_operator}};
    case 508:
        return {"The request runs in a loop between proxies",
                {"Check whether two proxies forward requests to each other.", tell_operator}};
    default: return {"The page could not be fetched", {try_later, tell_operator}};
    }
}

HelpEntry entry_for(std::uint16_t status, FailureKind kind, RefusedFor subject) {
    switch (kind) {
    case FailureKind::other: return status == 403 ? of_refusal(subject) : of_status(status);
    case FailureKind::resources: return {"The proxy has no resources left for this request", {try_later, tell_operator}};
    case FailureKind::not_stored:
        return {"This page is not in the cache",
                {"Only a stored response is allowed for this request, and no fresh one is stored.",
                 "Request the page again when another client has loaded it."}};
    case FailureKind::quota:
        return {"Your quota is used up",
                {"Pages that the proxy has stored can still be loaded.",
                 "The address /quota of this proxy shows what you have used, and when it begins anew."}};
    default: return of_server(kind);
    }
}

}   // namespace

RefusedFor refused_for(http::Matcher const& match) {
    auto const used = [](http::NamedMatcher const& one) { return refused_for(*one.matcher); };
    auto const any = [&](RefusedFor subject) {
        return std::ranges::count(match.is, subject, used) + std::ranges::count(match.is_not, subject, used) > 0;
    };
    if (!match.time.empty() || any(RefusedFor::time)) return RefusedFor::time;
    bool const names_client = !match.source.empty() || !match.user.empty() || !match.group.empty() || !match.certificate.empty();
    bool const names_address = !match.host.empty() || !match.destination.empty() || !match.url_contains.empty() ||
                               !match.url_matches.empty() || !match.host_matches.empty() || !match.decoded_url_matches.empty() ||
                               !match.decoded_path_matches.empty();
    return !names_address && (names_client || any(RefusedFor::client)) ? RefusedFor::client : RefusedFor::address;
}

ErrorHelp error_help(std::uint16_t status, FailureKind kind, std::string_view host, RefusedFor subject) {
    auto entry = entry_for(status, kind, subject);
    auto const at = entry.heading.find(name_mark);
    if (at == std::string_view::npos) return {std::string(entry.heading), entry.hints};
    // Without a name the reader is a visitor, and can check neither the name nor the network.
    if (host.empty()) entry.hints = {try_later, tell_operator};
    std::string heading(entry.heading);
    heading.replace(at, name_mark.size(), host.empty() ? "of this site" : host);
    return {heading, entry.hints};
}

}   // namespace garner::proxy
