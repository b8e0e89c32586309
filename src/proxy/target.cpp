#include "proxy/target.hpp"

#include "proxy/internal.hpp"
#include "util/text.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;

namespace {

/// True for the absolute-form target's authority, which is parsed by the same rules as Host: one validation covers both.
bool is_authority_of(std::string_view target, std::string_view host) {
    constexpr std::string_view scheme = "http://";
    if (!target.starts_with(scheme)) return false;
    target.remove_prefix(scheme.size());
    return target.substr(0, target.find_first_of("/?#")) == host;
}

/// RFC 9112 3.2: exactly one valid Host with HTTP/1.1; also when absolute-form overrides it.
char const* fault_of_host(http::RequestHead const& request) {
    auto count = request.fields.count(Name::host);
    if (count > 1) return "more than one Host field";
    if (count == 0) return request.version == http::Version::http_1_1 ? "Host field missing" : nullptr;
    auto value = request.fields.first(Name::host);
    http::UriError error;
    if (!value.empty() && !is_authority_of(request.target, value) && !http::parse_authority(value, error))
        return "invalid Host field";
    return nullptr;
}

/// Origin, DNS and rules must see the spelling of the cache key.
void use_spelling(http::Authority& authority, std::string_view written) {
    authority.host = authority.ipv6 ? written.substr(1, written.find(']') - 1) : written.substr(0, written.find(':'));
}

void unescape(Target& target) {
    if (target.url.find('%') == npos) return;
    http::append_unescaped(target.url, target.plain_url);
    if (target.plain_url == target.url) target.plain_url.clear();
}

char const* read_connect(http::RequestHead const& request, Target& target) {
    http::UriError error;
    auto authority = http::parse_authority(request.target, error);
    if (!authority) return error.refusal;
    if (authority->port == 0) return "CONNECT without a port";
    target.uri.scheme = http::Scheme::https;
    target.uri.authority = *authority;
    target.uri.path_and_query = {};
    target.url.clear();
    http::append_host(*authority, target.url);
    target.url += ':';
    target.url += std::to_string(authority->port);
    use_spelling(target.uri.authority, target.url);
    return nullptr;
}

void finish(http::RequestHead const& request, Target& target) {
    auto& uri = target.uri;
    target.host_field.clear();
    http::append_host(uri, target.host_field);
    use_spelling(uri.authority, target.host_field);
    target.path.assign(uri.bare_query ? "/" : "").append(uri.path_and_query);
    target.url.assign(http::text(uri.scheme)).append("://").append(target.host_field).append(target.path);
    unescape(target);
    // RFC 9112 3.2.4: OPTIONS for a URI without path and query is about the server as a whole.
    if (request.method == Method::options && target.path == "/" && !request.target.ends_with('/')) target.path = "*";
}

/// Origin-form sent to a forward proxy: the authority comes from Host.
bool read_own_path(http::RequestHead const& request, Target& target) {
    http::UriError error;
    auto const authority = http::parse_authority(request.fields.first(Name::host), error);
    if (!authority) return false;
    target.to_us = true;
    target.uri = {.authority = *authority, .path_and_query = request.target};
    if (target.uri.authority.port == 0) target.uri.authority.port = http::default_port(http::Scheme::http);
    finish(request, target);
    return true;
}

/// Replaces the host of `uri` by the name that the request gives it. The port is that of the connection, like the address.
char const* take_name(http::RequestHead const& request, http::Uri& uri) {
    http::UriError error;
    if (http::is_origin_form(request.target)) {
        uri.path_and_query = request.target;
    } else if (request.target == "*" && request.method == Method::options) {
        uri.path_and_query = "*";
    } else {
        auto const absolute = http::parse_absolute(request.target, error);
        if (!absolute) return error.refusal;
        if (absolute->scheme != uri.scheme) return "another scheme than that of the intercepted connection";
        auto const port = uri.authority.port;
        uri = *absolute;
        uri.authority.port = port;
        return nullptr;
    }
    auto const host = http::parse_authority(request.fields.first(Name::host), error);   // valid or empty: fault_of_host()
    if (!host) return nullptr;
    uri.authority.host = host->host;
    uri.authority.ipv6 = host->ipv6;
    return nullptr;
}

/// A request on an intercepted connection, or the CONNECT that stands for its TLS.
char const* read_intercepted(http::RequestHead const& request, FixedOrigin const& origin, Target& target) {
    target.destination = origin.destination.address;
    bool const is_tunnel = origin.uri.scheme == http::Scheme::https;
    if (is_tunnel) return read_connect(request, target);
    if (request.method == Method::connect) return "CONNECT on an intercepted connection";
    auto uri = origin.uri;
    if (auto const* fault = take_name(request, uri)) return fault;
    target.uri = uri;
    finish(request, target);
    return nullptr;
}

}   // namespace

std::shared_ptr<FixedOrigin const> intercepted_origin(http::Scheme scheme, IpEndpoint const& destination) {
    auto origin = std::make_shared<FixedOrigin>();
    origin->kind = FixedOrigin::Kind::intercepted;
    origin->destination = destination;
    origin->text = std::string(http::text(scheme)) + "://" + destination.text();
    http::UriError error;
    origin->uri = http::parse_absolute(origin->text, error).value();
    return origin;
}

char const* read_target(http::RequestHead const& request, FixedOrigin const* origin, Target& target) {
    bool const bumped = origin && origin->kind == FixedOrigin::Kind::bumped;
    bool const intercepted = origin && origin->kind == FixedOrigin::Kind::intercepted;
    target.accelerated = origin && origin->kind == FixedOrigin::Kind::accelerated;
    target.to_us = false;
    target.proof = net::DnsProof::recent;
    target.destination.reset();
    target.plain_url.clear();
    if (auto const* fault = fault_of_host(request)) return fault;
    if (intercepted) return read_intercepted(request, *origin, target);
    if (request.method == Method::connect) {
        if (origin) return bumped ? "CONNECT inside a tunnel" : "CONNECT to an accelerator";
        return read_connect(request, target);
    }
    if (request.method == Method::options && request.target == "*") {
        target.url = "*";
        target.uri = origin ? origin->uri : http::Uri{};
        if (!origin) return nullptr;
        target.uri.path_and_query = "*";
        finish(request, target);
        return nullptr;
    }
    if (origin && http::is_origin_form(request.target)) {
        target.uri = origin->uri;
        target.uri.path_and_query = request.target;
        target.uri.bare_query = false;
        finish(request, target);
        return nullptr;
    }
    if (!origin && is_internal_path(request.target) && read_own_path(request, target)) return nullptr;
    if (!origin && http::is_origin_form(request.target))
        return "a forward proxy needs an absolute URI (http://host/path), not a path";
    http::UriError error;
    auto uri = http::parse_absolute(request.target, error);
    if (!uri) return error.refusal;
    target.uri = *uri;
    if (origin) {
        // An accelerator takes no authority from the client.
        target.uri.scheme = origin->uri.scheme;
        target.uri.authority = origin->uri.authority;
    }
    finish(request, target);
    return nullptr;
}

bool is_misdirected(http::RequestHead const& request, FixedOrigin const& bumped) {
    http::UriError error;
    auto const& authority = bumped.uri.authority;
    auto const uri = http::parse_absolute(request.target, error);
    if (uri && !http::same_origin(*uri, bumped.uri)) return true;
    auto const value = request.fields.first(Name::host);
    auto host = http::parse_authority(value, error);
    if (!host) return !value.empty();
    if (host->port == 0) host->port = http::default_port(http::Scheme::https);
    std::string written;
    http::append_host(*host, written);
    use_spelling(*host, written);
    return host->port != authority.port || !equals_ignoring_case(host->host, authority.host);
}

}   // namespace garner::proxy
