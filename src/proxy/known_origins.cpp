#include "proxy/known_origins.hpp"

namespace garner::proxy {

void KnownOrigins::keep(std::string_view written, std::string_view key_text, std::string_view host_field,
                        http::Authority const& authority, std::optional<IpAddress> const& literal) {
    auto const host_at = static_cast<std::size_t>(host_field.data() - key_text.data());
    auto& place = places_[index_of(written)];
    place.written = written;
    place.key_text = key_text.substr(0, host_at + host_field.size());
    place.host_at = host_at;
    place.authority = authority;
    place.authority.host = std::string_view(place.key_text).substr(host_at + (authority.ipv6 ? 1 : 0), authority.host.size());
    place.literal = literal;
}

}   // namespace garner::proxy
