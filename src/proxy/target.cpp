#include "proxy/target.hpp"

#include "proxy/internal.hpp"
#include "util/text.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;

namespace {

constexpr std::string_view http_scheme = "http://";

/// "http://Example.com:80" for an absolute-form target with a path; empty for any other target.
std::string_view origin_part(std::string_view target) {
    if (!target.starts_with(http_scheme)) return {};
    auto const ends_authority = [](char c) { return c == '/' || c == '?' || c == '#'; };
    auto end = http_scheme.size();
    while (end < target.size() && !ends_authority(target[end])) ++end;
    bool const has_path = end < target.size() && target[end] == '/';
    return has_path ? target.substr(0, end) : std::string_view();
}

/// RFC 9112 3.2: exactly one valid Host with HTTP/1.1; also when absolute-form overrides it. An authority of the target, in
/// `origin`, is parsed by the same rules: one validation covers both.
char const* fault_of_host(http::RequestHead const& request, std::string_view origin) {
    auto count = request.fields.count(Name::host);
    if (count > 1) return "more than one Host field";
    if (count == 0) return request.version == http::Version::http_1_1 ? "Host field missing" : nullptr;
    auto value = request.fields.first(Name::host);
    bool const is_same = !origin.empty() && origin.substr(http_scheme.size()) == value;
    http::UriError error;
    return value.empty() || is_same || http::parse_authority(value, error) ? nullptr : "invalid Host field";
}

/// Origin, DNS and rules must see the spelling of the cache key.
void use_spelling(http::Authority& authority, std::string_view written) {
    authority.host = authority.ipv6 ? written.substr(1, written.find(']') - 1) : written.substr(0, written.find(':'));
}

/// The other forms of the URL, for rules.
void note_forms(Target& target) {
    if (http::may_be_resolved(target.path)) target.resolved.assign(target.url, target.url.size() - target.path.size());
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
    auto& text = target.key_text;
    text.assign(1, static_cast<char>(target.partition()));
    http::append_host(*authority, text);
    text.append(":").append(std::to_string(authority->port));
    target.url = std::string_view(text).substr(1);
    use_spelling(target.uri.authority, target.url);
    target.literal = parse_ip(target.uri.authority.host);
    return nullptr;
}

/// `key_text` has the origin, whose host begins at `host_at`. Appends the path.
void append_path(http::RequestHead const& request, std::size_t host_at, Target& target) {
    auto& uri = target.uri;
    auto& text = target.key_text;
    auto const path_at = text.size();
    if (uri.bare_query) text += '/';
    text += uri.path_and_query;
    std::string_view const whole = text;
    target.url = whole.substr(1);
    target.host_field = whole.substr(host_at, path_at - host_at);
    target.path = whole.substr(path_at);
    use_spelling(uri.authority, target.host_field);
    note_forms(target);
    // RFC 9112 3.2.4: OPTIONS for a URI without path and query is about the server as a whole.
    if (request.method == Method::options && target.path == "/" && !request.target.ends_with('/')) target.path = "*";
}

void finish(http::RequestHead const& request, Target& target) {
    auto& text = target.key_text;
    text.assign(1, static_cast<char>(target.partition())).append(http::text(target.uri.scheme)).append("://");
    auto const host_at = text.size();
    http::append_host(target.uri, text);
    append_path(request, host_at, target);
    target.literal = parse_ip(target.uri.authority.host);
}

/// An absolute-form target of a forward proxy. `origin`: its origin_part().
char const* read_absolute(http::RequestHead const& request, std::string_view origin, Target& target) {
    bool const may_be_known = target.known && !origin.empty();
    auto const path = request.target.substr(origin.size());
    if (auto const* known = may_be_known ? target.known->find(origin) : nullptr; known && http::is_origin_form(path)) {
        target.uri = {.scheme = http::Scheme::http, .authority = known->authority, .path_and_query = path};
        target.literal = known->literal;
        target.key_text = known->key_text;
        append_path(request, known->host_at, target);
        return nullptr;
    }
    http::UriError error;
    auto const uri = http::parse_absolute(request.target, error);
    if (!uri) return error.refusal;
    target.uri = *uri;
    finish(request, target);
    if (may_be_known) target.known->keep(origin, target.key_text, target.host_field, target.uri.authority, target.literal);
    return nullptr;
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

/// Origin-form, or absolute-form: an accelerator takes no authority from the client.
char const* read_for_origin(http::RequestHead const& request, FixedOrigin const& origin, Target& target) {
    if (http::is_origin_form(request.target)) {
        target.uri = {.scheme = origin.uri.scheme, .authority = origin.uri.authority, .path_and_query = request.target};
    } else {
        http::UriError error;
        auto const uri = http::parse_absolute(request.target, error);
        if (!uri) return error.refusal;
        target.uri = *uri;
        target.uri.scheme = origin.uri.scheme;
        target.uri.authority = origin.uri.authority;
    }
    finish(request, target);
    return nullptr;
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

void Target::clear() {
    key_text.clear();
    plain_url.clear();
    resolved.clear();
    url = host_field = path = {};
    literal.reset();
}

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
    target.resolved.clear();
    auto const written = origin_part(request.target);
    if (auto const* fault = fault_of_host(request, written)) return fault;
    if (intercepted) return read_intercepted(request, *origin, target);
    if (request.method == Method::connect) {
        if (origin) return bumped ? "CONNECT inside a tunnel" : "CONNECT to an accelerator";
        return read_connect(request, target);
    }
    if (request.method == Method::options && request.target == "*") {
        target.url = target.key_text = "*";
        target.uri = origin ? origin->uri : http::Uri{};
        if (!origin) return nullptr;
        target.uri.path_and_query = "*";
        finish(request, target);
        return nullptr;
    }
    if (origin) return read_for_origin(request, *origin, target);
    if (is_internal_path(request.target) && read_own_path(request, target)) return nullptr;
    if (http::is_origin_form(request.target)) return "a forward proxy needs an absolute URI (http://host/path), not a path";
    return read_absolute(request, written, target);
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
