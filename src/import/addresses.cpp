#include "import/addresses.hpp"

#include <algorithm>
#include <array>

#include "util/text.hpp"

namespace garner::importing {
namespace {

constexpr unsigned address_bits = 128;
constexpr unsigned v4_prefix = 96;

std::optional<IpAddress> next_of(IpAddress address) {
    for (std::size_t i = address.bytes.size(); i-- > 0;)
        if (++address.bytes[i] != 0) return address;
    return std::nullopt;
}

IpAddress previous_of(IpAddress address) {
    for (std::size_t i = address.bytes.size(); i-- > 0;)
        if (address.bytes[i]-- != 0) break;
    return address;
}

IpAddress with_bits_after(IpAddress address, unsigned prefix, bool value) {
    for (unsigned bit = prefix; bit < address_bits; ++bit) {
        auto const mask = static_cast<std::uint8_t>(0x80u >> bit % 8);
        auto& byte = address.bytes[bit / 8];
        byte = static_cast<std::uint8_t>(value ? byte | mask : byte & ~mask);
    }
    return address;
}

AddressRange range_of(IpNetwork const& network) {
    return {with_bits_after(network.address, network.prefix, false), with_bits_after(network.address, network.prefix, true)};
}

/// The number of leading ones; nothing if a one follows a zero.
std::optional<unsigned> prefix_of(IpAddress const& mask) {
    unsigned prefix = 0;
    while (prefix < address_bits && (mask.bytes[prefix / 8] >> (7 - prefix % 8)) & 1) ++prefix;
    if (with_bits_after(mask, prefix, false) != mask) return std::nullopt;
    return prefix;
}

/// The prefix of 128 bits for "8" and "255.0.0.0" behind an IPv4 address, and for "64" behind an IPv6 address.
std::optional<unsigned> parse_mask(std::string_view text, bool v4) {
    if (auto const bits = parse_decimal(text)) {
        if (*bits > (v4 ? 32u : address_bits)) return std::nullopt;
        return static_cast<unsigned>(*bits) + (v4 ? v4_prefix : 0);
    }
    auto mask = parse_ip(text);
    bool const dotted = text.find(':') == npos;
    if (!mask || dotted != v4) return std::nullopt;
    if (v4) std::fill_n(mask->bytes.begin(), v4_prefix / 8, 0xff);
    return prefix_of(*mask);
}

std::vector<AddressRange> ranges_of(std::initializer_list<std::string_view> networks) {
    std::vector<AddressRange> ranges;
    for (auto const text : networks) ranges.push_back(range_of(*parse_network(text)));
    return ranges;
}

}   // namespace

Result<std::vector<AddressRange>> parse_addresses(std::string_view text) {
    // Squid takes these for "all", and says so.
    constexpr std::array<std::string_view, 6> everything{
        "all", "0/0", "0.0.0.0/0", "0.0.0.0/0.0.0.0", "0.0.0.0-255.255.255.255", "0.0.0.0-0.0.0.0/0"};
    if (std::ranges::find(everything, text) != everything.end()) return std::vector<AddressRange>{{IpAddress{}, last_address}};
    if (text == "ipv4") return Fault{"matches no address in Squid 5", "write all, or 0.0.0.0/1 and 128.0.0.0/1"};
    if (text == "ipv6")
        return ranges_of({"1000::/4", "2000::/3", "4000::/2", "8000::/2", "c000::/3", "e000::/4", "fc00::/7", "fe80::/10"});

    auto const slash = text.find('/');
    auto const addresses = text.substr(0, slash);
    auto const dash = addresses.find('-');
    auto const first = parse_ip(addresses.substr(0, dash));
    auto const last = dash == npos ? first : parse_ip(addresses.substr(dash + 1));
    if (!first || !last) return Fault{"is not an address", "write the addresses of a name instead of the name"};
    if (first->is_v4() != last->is_v4()) return Fault{"is a range from one family of addresses to the other"};
    auto const prefix = slash == npos ? std::optional(address_bits) : parse_mask(text.substr(slash + 1), first->is_v4());
    if (prefix && *prefix == (first->is_v4() ? v4_prefix : 0))
        return Fault{"has a mask of 0 bits, with which Squid 5 matches no address", "write all"};
    if (!prefix) return Fault{"has a mask that is no prefix", "write the networks one by one"};
    AddressRange const range{with_bits_after(*first, *prefix, false), with_bits_after(*last, *prefix, true)};
    if (range.first > range.last) return Fault{"ends before it begins", "exchange the addresses"};
    return std::vector<AddressRange>{range};
}

std::vector<IpNetwork> networks_of(AddressRange const& range) {
    if (range.first == range.last) return {{range.first, address_bits}};
    std::vector<IpNetwork> networks;
    std::optional<IpAddress> from = range.first;
    while (from && *from <= range.last) {
        // The largest network that begins here and ends within the range.
        unsigned prefix = address_bits;
        while (prefix > 0 && with_bits_after(*from, prefix - 1, false) == *from &&
               with_bits_after(*from, prefix - 1, true) <= range.last)
            --prefix;
        networks.push_back({*from, static_cast<std::uint8_t>(prefix)});
        from = next_of(with_bits_after(*from, prefix, true));
    }
    return networks;
}

AddressSet::AddressSet(std::vector<AddressRange> ranges) {
    std::ranges::sort(ranges, {}, &AddressRange::first);
    for (auto const& range : ranges) {
        bool const joins = !ranges_.empty() && (range.first <= ranges_.back().last || next_of(ranges_.back().last) == range.first);
        if (joins)
            ranges_.back().last = std::max(ranges_.back().last, range.last);
        else
            ranges_.push_back(range);
    }
}

AddressSet AddressSet::united(AddressSet const& other) const {
    auto both = ranges_;
    both.insert(both.end(), other.ranges_.begin(), other.ranges_.end());
    return AddressSet(std::move(both));
}

AddressSet AddressSet::without(AddressSet const& other) const {
    std::vector<AddressRange> left;
    auto cut = other.ranges_.begin();
    for (auto range : ranges_) {
        while (cut != other.ranges_.end() && cut->last < range.first) ++cut;
        bool remains = true;
        for (auto next = cut; remains && next != other.ranges_.end() && next->first <= range.last; ++next) {
            if (next->first > range.first) left.push_back({range.first, previous_of(next->first)});
            auto const behind = next_of(next->last);
            remains = behind && *behind <= range.last;
            if (remains) range.first = *behind;
        }
        if (remains) left.push_back(range);
    }
    return AddressSet(std::move(left));
}

std::vector<IpNetwork> AddressSet::networks() const {
    std::vector<IpNetwork> networks;
    for (auto const& range : ranges_)
        for (auto const& network : networks_of(range)) networks.push_back(network);
    return networks;
}

std::vector<std::string> AddressSet::texts() const {
    std::vector<std::string> texts;
    for (auto const& network : networks()) texts.push_back(network.text());
    return texts;
}

}   // namespace garner::importing
