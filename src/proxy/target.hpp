// The target of a request: its URI, from absolute-form or an accelerator's origin, or a tunnel's authority.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/key.hpp"
#include "http/message.hpp"
#include "http/uri.hpp"

namespace garner::proxy {

/// The origin of an accelerator's listener. Owns its text.
struct AcceleratedOrigin {
    std::string text;   // "http://127.0.0.1:8000"
    http::Uri uri;      // into text
};

using cache::Partition;

/// Filled again for each request; its strings keep their memory. The views live as long as the request's head and this
/// object.
struct Target {
    Target() = default;
    Target(Target const&) = delete;
    http::Uri uri;   // its host in lower case, without escapes of unreserved characters
    bool accelerated = false;
    bool secure = false;   // the client speaks TLS; set by the request
    bool to_us = false;    // a path of this proxy (proxy/internal), requested in origin-form
    /// An accelerator tells its origin the client's scheme, and the response may depend on it.
    Partition partition() const {
        if (!accelerated) return Partition::forward;
        return secure ? Partition::secure_accelerator : Partition::accelerator;
    }
    std::string url;          // normal form, for rules, key and log; "host:port" for CONNECT
    std::string plain_url;    // http::append_unescaped(url), if it differs; else empty
    std::string host_field;   // the Host field's value for the origin
    std::string path;         // origin-form for the origin; "*" for OPTIONS without a path
};

/// The error in the request's target or Host, a literal; nullptr when `target` is filled in (RFC 9112 3.2).
char const* read_target(http::RequestHead const&, AcceleratedOrigin const*, Target& target);

}   // namespace garner::proxy
