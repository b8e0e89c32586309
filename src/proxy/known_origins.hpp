// Origins that requests have named recently, read once: most requests name one of a few.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "http/uri.hpp"
#include "util/hash.hpp"
#include "util/ip.hpp"

namespace garner::proxy {

/// A valid origin. Its texts are as in Target.
struct KnownOrigin {
    std::string written;              // by a client: "http://Example.com:80"
    std::string key_text;             // "fhttp://example.com"
    std::size_t host_at = 0;          // the host's place in it
    http::Authority authority = {};   // its host is in `key_text`
    std::optional<IpAddress> literal = {};
};

/// Origins of a forward proxy's requests. A new one takes the place of another one. Not thread-safe: one for each worker.
class KnownOrigins {
public:
    /// The pointer is valid until the next keep().
    KnownOrigin const* find(std::string_view written) const {
        auto const& place = places_[index_of(written)];
        return place.written == written ? &place : nullptr;
    }
    /// `key_text` begins with the normal form, which ends with `host_field`.
    void keep(std::string_view written, std::string_view key_text, std::string_view host_field, http::Authority const& authority,
              std::optional<IpAddress> const& literal);

private:
    static constexpr std::size_t places = 64;   // an origin takes at most 1 KiB: hosts are limited to 255 bytes
    std::size_t index_of(std::string_view written) const { return hash_(written) % places; }
    KeyedHash hash_;
    std::array<KnownOrigin, places> places_;
};

}   // namespace garner::proxy
