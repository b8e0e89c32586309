// Addresses of squid.conf: single ones, networks, masks and ranges, as networks.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/ip.hpp"
#include "util/result.hpp"

namespace garner::importing {

/// Addresses from `first` to `last`, both included.
struct AddressRange {
    IpAddress first;
    IpAddress last;
    friend bool operator==(AddressRange const&, AddressRange const&) = default;
};

inline constexpr IpAddress last_address{{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}};

/// A value of `src` or `dst`: "10.0.0.1", "10.0.0.0/8", "10.0.0.0/255.0.0.0", "10.0.0.1-10.0.0.9/32", "all", "ipv6".
/// Host bits behind the mask do not count. A fault for a name, for a mask with gaps, and for what matches nothing in Squid.
Result<std::vector<AddressRange>> parse_addresses(std::string_view text);

/// The networks that together have exactly the addresses of the range.
std::vector<IpNetwork> networks_of(AddressRange const&);

/// A set of addresses, of both families.
class AddressSet {
public:
    static AddressSet all() { return AddressSet({{IpAddress{}, last_address}}); }
    AddressSet() = default;
    explicit AddressSet(std::vector<AddressRange> ranges);

    AddressSet united(AddressSet const&) const;
    AddressSet without(AddressSet const&) const;
    AddressSet common(AddressSet const& other) const { return without(all().without(other)); }
    bool empty() const { return ranges_.empty(); }
    bool is_all() const { return ranges_ == all().ranges_; }

    std::vector<IpNetwork> networks() const;
    /// "10.0.0.0/8", as Garner writes networks.
    std::vector<std::string> texts() const;

private:
    std::vector<AddressRange> ranges_;   // in order, without overlap and adjacent ones joined
};

}   // namespace garner::importing
