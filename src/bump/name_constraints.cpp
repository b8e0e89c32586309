#include "bump/name_constraints.hpp"

#include <openssl/x509v3.h>

#include <algorithm>
#include <optional>

#include "bump/openssl.hpp"
#include "util/text.hpp"

namespace garner::bump {
namespace {

using ConstraintsPointer = std::unique_ptr<NAME_CONSTRAINTS, Release<NAME_CONSTRAINTS_free>>;

constexpr char const* no_address = "excluded;IP:0.0.0.0/0.0.0.0,excluded;IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0";
constexpr char const* no_name = "permitted;DNS:invalid";   // RFC 6761 6.4: names below "invalid" do not exist

/// The octets of a subtree are an address and a mask of the same size.
std::optional<AddressRange> range_of(std::string_view octets) {
    if (octets.size() != 8 && octets.size() != 32) return std::nullopt;
    auto const half = octets.size() / 2;
    auto const at = [&](std::string_view part, IpAddress address) {
        std::ranges::copy(part, address.bytes.end() - static_cast<std::ptrdiff_t>(half));
        return address;
    };
    IpAddress all_bits;
    all_bits.bytes.fill(0xff);
    auto const v4 = IpAddress::v4(0);
    return AddressRange{at(octets.substr(0, half), half == 4 ? v4 : IpAddress{}),
                        at(octets.substr(half), half == 4 ? all_bits : IpAddress{})};
}

Subtrees subtrees_of(STACK_OF(GENERAL_SUBTREE) * all) {
    Subtrees subtrees;
    for (int i = 0; i < sk_GENERAL_SUBTREE_num(all); ++i) {
        auto const* const base = sk_GENERAL_SUBTREE_value(all, i)->base;
        if (base->type != GEN_DNS && base->type != GEN_IPADD) continue;
        auto const* const value = base->type == GEN_DNS ? base->d.dNSName : base->d.iPAddress;
        std::string_view const bytes(reinterpret_cast<char const*>(ASN1_STRING_get0_data(value)),
                                     static_cast<std::size_t>(ASN1_STRING_length(value)));
        if (base->type == GEN_DNS)
            subtrees.names.push_back(lower_case(bytes));
        else if (auto const range = range_of(bytes))
            subtrees.ranges.push_back(*range);
    }
    return subtrees;
}

bool is_in_subtree(std::string_view name, std::string_view base) {
    if (base.empty()) return true;
    if (name.size() < base.size() || !equals_ignoring_case(name.substr(name.size() - base.size()), base)) return false;
    bool const is_whole = name.size() == base.size();
    return base[0] == '.' ? !is_whole : is_whole || name[name.size() - base.size() - 1] == '.';
}

void append(std::string& list, std::string const& item, char const* separator) { list += (list.empty() ? "" : separator) + item; }

}   // namespace

bool AddressRange::contains(IpAddress const& other) const {
    for (std::size_t i = 0; i < mask.bytes.size(); ++i)
        if ((other.bytes[i] & mask.bytes[i]) != (address.bytes[i] & mask.bytes[i])) return false;
    return true;
}

std::string AddressRange::text() const {
    unsigned bits = 0;
    for (auto const byte : mask.bytes) bits += static_cast<unsigned>(std::popcount(byte));
    if (bits == 0) return "IPv6 addresses";
    if (bits == 96 && address.is_v4()) return "IPv4 addresses";
    return IpNetwork{address, static_cast<std::uint8_t>(bits)}.text();
}

bool Subtrees::contains(std::string_view name) const {
    if (auto const address = parse_ip(name))
        return std::ranges::any_of(ranges, [&](auto const& range) { return range.contains(*address); });
    return std::ranges::any_of(names, [&](auto const& base) { return is_in_subtree(name, base); });
}

std::string Subtrees::text() const {
    std::string list;
    for (auto const& name : names)
        append(list, name.empty() ? "all names" : name + (name[0] == '.' ? "" : " and names below it"), ", ");
    for (auto const& range : ranges) append(list, range.text(), ", ");
    return list;
}

NameConstraints::NameConstraints(std::vector<std::shared_ptr<X509>> const& chain) {
    for (auto const& certificate : chain) {
        ConstraintsPointer const constraints(
            static_cast<NAME_CONSTRAINTS*>(X509_get_ext_d2i(certificate.get(), NID_name_constraints, nullptr, nullptr)));
        if (!constraints) continue;
        certificates_.push_back({subtrees_of(constraints->permittedSubtrees), subtrees_of(constraints->excludedSubtrees)});
    }
}

bool NameConstraints::OfCertificate::permits(std::string_view name) const {
    // A kind of name without permitted subtrees is not restricted by those of the other kind.
    bool const is_open = parse_ip(name) ? permitted.ranges.empty() : permitted.names.empty();
    return (is_open || permitted.contains(name)) && !excluded.contains(name);
}

bool NameConstraints::permits(std::string_view name) const {
    return std::ranges::all_of(certificates_, [&](auto const& one) { return one.permits(name); });
}

std::string NameConstraints::text() const {
    std::string list;
    for (auto const& one : certificates_) {
        if (auto const only = one.permitted.text(); !only.empty()) append(list, "only " + only, "; ");
        if (auto const never = one.excluded.text(); !never.empty()) append(list, "no " + never, "; ");
    }
    return list.empty() ? "any name" : list;
}

std::string constraints_for(std::vector<http::HostPattern> const& hosts) {
    std::string names, addresses;
    for (auto const& host : hosts) {
        auto const& text = host.text();
        auto const address = parse_ip(text);
        if (!address)
            append(names, "permitted;DNS:" + text.substr(text.starts_with('.') ? 1 : 0), ",");
        else if (address->is_v4())
            append(addresses, "permitted;IP:" + address->text() + "/255.255.255.255", ",");
        else
            append(addresses, "permitted;IP:" + address->text() + "/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ",");
    }
    return "critical," + (names.empty() ? no_name : names) + "," + (addresses.empty() ? no_address : addresses);
}

}   // namespace garner::bump
