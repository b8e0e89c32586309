// The target of a request: its URI, from absolute-form or an accelerator's origin, or a tunnel's authority.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cache/key.hpp"
#include "http/message.hpp"
#include "http/uri.hpp"
#include "http/url_text.hpp"
#include "net/name_history.hpp"
#include "net/options.hpp"
#include "proxy/known_origins.hpp"
#include "util/ip.hpp"

namespace garner::proxy {

/// The only origin of a connection's requests: that of an accelerator's listener, that of a tunnel that Garner decrypts, or the
/// address that a client of an intercepted connection has connected to. Owns its text.
struct FixedOrigin : std::enable_shared_from_this<FixedOrigin> {
    enum class Kind : std::uint8_t {
        accelerated,
        bumped,       // requests count as those of a forward proxy for https:// URLs
        intercepted   // requests count as those of a forward proxy; the client chooses the name of the origin, not its address
    };
    struct Refusal {
        std::uint16_t status = 403;
        std::string what;
        std::string rule;
        std::string because = {};       // the rule's reason
        std::string logged_rule = {};   // for the log; empty: no access rule
    };
    std::string text;   // "http://127.0.0.1:8000"
    http::Uri uri;      // into text
    Kind kind = Kind::accelerated;
    net::ProxyProtocol proxy_protocol = net::ProxyProtocol::off;   // of connections to it
    // Only if it is bumped:
    /// The client has accepted the origin's certificate with this error, X509_V_ERR_... Responses are not stored, and connections
    /// not pooled. 0: the certificate is valid, or must be.
    long accepted_fault = 0;
    std::optional<Refusal> refusal = std::nullopt;   // answers each request
    // Only if it is intercepted:
    IpEndpoint destination = {};   // the host and port of `uri`
};

/// "http://192.0.2.7:80". With https the client's bytes are passed on as in a tunnel.
std::shared_ptr<FixedOrigin const> intercepted_origin(http::Scheme scheme, IpEndpoint const& destination);

using cache::Partition;

/// Filled again for each request; its strings keep their memory. The views live as long as the request's head and this
/// object, until clear().
struct Target {
    Target() = default;
    Target(Target const&) = delete;
    http::Uri uri;   // its host in lower case, without escapes of unreserved characters
    bool accelerated = false;
    bool secure = false;                         // the client speaks TLS; set by the request
    bool to_us = false;                          // a path of this proxy (proxy/internal), requested in origin-form
    std::optional<IpAddress> destination = {};   // of an intercepted connection; it is connected to, whatever the host
    /// That the host leads to `destination`; set by the request.
    net::DnsProof proof = net::DnsProof::recent;
    bool is_unverified() const { return proof == net::DnsProof::none; }
    /// An address that the host led to yesterday may have another owner now, whose responses must not reach other clients.
    bool may_use_store() const { return proof == net::DnsProof::recent; }
    /// An accelerator tells its origin the client's scheme, and the response may depend on it.
    Partition partition() const {
        if (!accelerated) return Partition::forward;
        return secure ? Partition::secure_accelerator : Partition::accelerator;
    }
    std::optional<IpAddress> literal = {};   // the host, if it is an address
    std::string key_text;                    // partition and URL: the text of the cache key
    std::string_view url;                    // its normal form, for rules and log; "host:port" for CONNECT; a part of key_text
    std::string plain_url;                   // http::append_unescaped(url), if it differs; else empty
    http::ResolvedUrls resolved;             // of url
    std::string_view host_field;             // the Host field's value for the origin; a part of `url`
    std::string_view path;                   // origin-form for the origin, a part of `url`; "*" for OPTIONS without a path
    KnownOrigins* known = nullptr;           // of the worker; may be null
    /// "http://example.com", the beginning of `url`; empty for CONNECT.
    std::string_view origin() const {
        if (host_field.empty()) return {};
        return url.substr(0, static_cast<std::size_t>(host_field.data() + host_field.size() - url.data()));
    }

    /// Before the target of a request is read.
    void clear();
};

/// The error in the request's target or Host, a literal; nullptr when `target` is filled in (RFC 9112 3.2).
char const* read_target(http::RequestHead const&, FixedOrigin const*, Target& target);

/// True if the request is for another origin than the one of its bumped tunnel (RFC 9110 7.4, 15.5.20). Its target is valid.
bool is_misdirected(http::RequestHead const&, FixedOrigin const& bumped);

}   // namespace garner::proxy
