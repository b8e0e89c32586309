#include "net/proxy_protocol.hpp"

#include <algorithm>
#include <array>
#include <boost/crc.hpp>

#include "util/big_endian.hpp"
#include "util/bytes.hpp"
#include "util/text.hpp"

namespace garner::net {
namespace {

using HeaderState = ProxyHeaderParse::State;

constexpr std::string_view v1_begin = "PROXY ";
constexpr std::size_t v1_most = 107;
constexpr std::string_view v2_begin("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t v2_fixed = 16;
constexpr std::size_t v2_most = 4 * KiB;
constexpr std::size_t unique_id_most = 128;
constexpr std::size_t authority_most = 255;

ProxyHeaderParse refused(ProxyHeaderFault fault) { return {.state = HeaderState::refused, .fault = fault}; }

/// One of these begins with the other.
bool agree(std::string_view a, std::string_view b) {
    auto const length = std::min(a.size(), b.size());
    return a.substr(0, length) == b.substr(0, length);
}

// ---- version 1 ----

/// Removes and returns the word before the next single space.
std::string_view take_word(std::string_view& line) {
    auto const end = std::min(line.find(' '), line.size());
    auto const word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
}

std::optional<std::uint16_t> port_of(std::string_view word) {
    auto const number = parse_decimal(word);
    if (!number || *number > UINT16_MAX || word.size() > 5) return std::nullopt;
    return static_cast<std::uint16_t>(*number);
}

/// A sender that listens on :: for both families writes its IPv4 clients as TCP6 "::ffff:192.0.2.1".
std::optional<IpAddress> address_of(std::string_view word, bool v4) {
    bool const is_written_as_v4 = word.find(':') == word.npos;
    return is_written_as_v4 == v4 ? parse_ip(word) : std::nullopt;
}

/// "TCP4 192.0.2.1 198.51.100.1 40000 443"
ProxyHeaderParse parse_line(std::string_view line, std::size_t size) {
    ProxyHeaderParse parse{.state = HeaderState::complete, .size = size};
    auto const family = take_word(line);
    if (family == "UNKNOWN") return parse;
    if (family != "TCP4" && family != "TCP6") return refused(ProxyHeaderFault::malformed);
    auto const source = address_of(take_word(line), family == "TCP4");
    auto const destination = address_of(take_word(line), family == "TCP4");
    auto const source_port = port_of(take_word(line));
    auto const destination_port = port_of(line);
    if (!source || !destination || !source_port || !destination_port) return refused(ProxyHeaderFault::malformed);
    parse.header.source = IpEndpoint{*source, *source_port};
    return parse;
}

ProxyHeaderParse parse_v1(std::string_view bytes) {
    auto const end = bytes.substr(0, v1_most).find('\n');
    if (end == bytes.npos) return bytes.size() < v1_most ? ProxyHeaderParse() : refused(ProxyHeaderFault::too_long);
    if (bytes[end - 1] != '\r') return refused(ProxyHeaderFault::malformed);
    return parse_line(bytes.substr(v1_begin.size(), end - 1 - v1_begin.size()), end + 1);
}

// ---- version 2 ----

enum : std::uint8_t { unspecified = 0x00, tcp4 = 0x11, tcp6 = 0x21, unix_stream = 0x31 };
enum : std::uint8_t { type_authority = 0x02, type_crc32c = 0x03, type_unique_id = 0x05 };

std::optional<std::size_t> address_bytes(std::uint8_t family) {
    switch (family) {
    case unspecified: return 0;
    case tcp4: return 12;
    case tcp6: return 36;
    case unix_stream: return 216;
    default: return std::nullopt;
    }
}

std::optional<IpEndpoint> source_of(std::uint8_t family, std::string_view addresses) {
    if (family == tcp4)
        return IpEndpoint{IpAddress::v4(read_big_endian<std::uint32_t>(addresses)),
                          read_big_endian<std::uint16_t>(addresses.substr(8))};
    if (family != tcp6) return std::nullopt;
    std::array<std::uint8_t, 16> network_order{};
    std::copy_n(addresses.begin(), network_order.size(), network_order.begin());
    return IpEndpoint{IpAddress::v6(network_order), read_big_endian<std::uint16_t>(addresses.substr(32))};
}

/// CRC-32C of the whole header with zeros in place of the checksum, which is at `at`.
bool has_checksum(std::string_view header, std::size_t at) {
    boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> sum;
    constexpr std::array<char, 4> zeros{};
    sum.process_bytes(header.data(), at);
    sum.process_bytes(zeros.data(), zeros.size());
    sum.process_bytes(header.data() + at + zeros.size(), header.size() - at - zeros.size());
    return sum.checksum() == read_big_endian<std::uint32_t>(header.substr(at));
}

ProxyHeaderFault take_tlv(std::uint8_t type, std::string_view value, std::string_view header, ProxyHeader& into) {
    if (type == type_crc32c) {
        if (value.size() != sizeof(std::uint32_t)) return ProxyHeaderFault::malformed;
        auto const at = static_cast<std::size_t>(value.data() - header.data());
        return has_checksum(header, at) ? ProxyHeaderFault::none : ProxyHeaderFault::checksum;
    }
    if (type == type_authority && value.size() > authority_most) return ProxyHeaderFault::malformed;
    if (type == type_unique_id && value.size() > unique_id_most) return ProxyHeaderFault::malformed;
    if (type == type_authority) into.authority = value;
    if (type == type_unique_id) into.unique_id = value;
    return ProxyHeaderFault::none;
}

ProxyHeaderFault take_tlvs(std::string_view rest, std::string_view header, ProxyHeader& into) {
    while (!rest.empty()) {
        if (rest.size() < 3) return ProxyHeaderFault::malformed;
        auto const type = static_cast<std::uint8_t>(rest[0]);
        auto const length = read_big_endian<std::uint16_t>(rest.substr(1));
        if (rest.size() - 3 < length) return ProxyHeaderFault::malformed;
        auto const fault = take_tlv(type, rest.substr(3, length), header, into);
        if (fault != ProxyHeaderFault::none) return fault;
        rest.remove_prefix(3u + length);
    }
    return ProxyHeaderFault::none;
}

ProxyHeaderParse parse_v2(std::string_view bytes) {
    if (bytes.size() < v2_fixed) return {};
    auto const version_command = static_cast<std::uint8_t>(bytes[12]);
    auto const family = static_cast<std::uint8_t>(bytes[13]);
    auto const length = read_big_endian<std::uint16_t>(bytes.substr(14));
    bool const local = version_command == 0x20;
    auto const addresses = address_bytes(family);
    if (!local && (version_command != 0x21 || !addresses)) return refused(ProxyHeaderFault::malformed);
    if (length > v2_most) return refused(ProxyHeaderFault::too_long);
    if (!local && length < *addresses) return refused(ProxyHeaderFault::malformed);
    if (bytes.size() < v2_fixed + length) return {};
    ProxyHeaderParse parse{.state = HeaderState::complete, .size = v2_fixed + length};
    if (local) return parse;   // the sender's own connection: its addresses are to be ignored
    auto const header = bytes.substr(0, parse.size);
    parse.header.source = source_of(family, header.substr(v2_fixed));
    auto const fault = take_tlvs(header.substr(v2_fixed + *addresses), header, parse.header);
    return fault == ProxyHeaderFault::none ? parse : refused(fault);
}

}   // namespace

std::string_view text(ProxyHeaderFault fault) {
    static constexpr std::array<std::string_view, static_cast<std::size_t>(ProxyHeaderFault::count_)> texts{
        "ok", "absent", "malformed", "too_long", "checksum", "timed_out", "closed"};
    return texts[static_cast<std::size_t>(fault)];
}

ProxyHeaderParse parse_proxy_header(std::string_view bytes) {
    bool const may_be_v2 = agree(bytes, v2_begin), may_be_v1 = agree(bytes, v1_begin);
    if (!may_be_v1 && !may_be_v2) return refused(ProxyHeaderFault::absent);
    if (may_be_v2 && bytes.size() >= v2_begin.size()) return parse_v2(bytes);
    if (may_be_v1 && bytes.size() > v1_begin.size()) return parse_v1(bytes);
    return {};
}

// ---- writing ----

namespace {

std::string header_v1(IpEndpoint const& source, IpEndpoint const& destination) {
    return "PROXY " + std::string(source.address.is_v4() ? "TCP4 " : "TCP6 ") + source.address.text() + " " +
           destination.address.text() + " " + std::to_string(source.port) + " " + std::to_string(destination.port) + "\r\n";
}

void append_address(IpAddress const& address, std::string& out) {
    auto const bytes = std::string_view(reinterpret_cast<char const*>(address.bytes.data()), address.bytes.size());
    out += bytes.substr(address.is_v4() ? 12 : 0);
}

std::string header_v2(IpEndpoint const& source, IpEndpoint const& destination) {
    bool const v4 = source.address.is_v4();
    std::string out(v2_begin);
    out += '\x21';
    out += static_cast<char>(v4 ? tcp4 : tcp6);
    append_big_endian(static_cast<std::uint16_t>(v4 ? 12 : 36), out);
    for (auto const* end : {&source, &destination}) append_address(end->address, out);
    for (auto const* end : {&source, &destination}) append_big_endian(end->port, out);
    return out;
}

}   // namespace

bool begins_with_proxy_header(std::string_view bytes) {
    auto const begins = [bytes](std::string_view with) { return bytes.starts_with(with); };
    return begins("PROXY TCP") || begins("PROXY UNKNOWN") || begins(v2_begin);
}

std::string proxy_header(ProxyProtocol version, std::optional<IpEndpoint> const& source, IpEndpoint destination) {
    if (version == ProxyProtocol::off) return {};
    bool const v1 = version == ProxyProtocol::v1;
    if (!source) return v1 ? "PROXY UNKNOWN\r\n" : std::string(v2_begin) + std::string("\x20\0\0\0", 4);
    bool const v4 = source->address.is_v4();
    if (destination.address.is_v4() != v4) destination.address = v4 ? IpAddress::v4(0u) : IpAddress();
    return v1 ? header_v1(*source, destination) : header_v2(*source, destination);
}

}   // namespace garner::net
