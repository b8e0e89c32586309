// Headers as proxy-protocol.txt of HAProxy defines them, whole, cut at each byte, and changed.
#include "net/proxy_protocol.hpp"

#include <gtest/gtest.h>

#include <boost/crc.hpp>
#include <random>

#include "util/big_endian.hpp"

namespace garner::net {
namespace {

using namespace std::string_literals;
using HeaderState = ProxyHeaderParse::State;

std::string const signature = "\r\n\r\n\0\r\nQUIT\n"s;
std::string const tcp4 = "\xc0\x00\x02\x07\xc6\x33\x64\x01\x9c\x40\x01\xbb"s;   // 192.0.2.7:40000 to 198.51.100.1:443

std::string v2(char version_command, char family, std::string const& rest) {
    std::string header = signature + version_command + family;
    append_big_endian(static_cast<std::uint16_t>(rest.size()), header);
    return header + rest;
}

std::string tlv(char type, std::string const& value) {
    std::string bytes(1, type);
    append_big_endian(static_cast<std::uint16_t>(value.size()), bytes);
    return bytes + value;
}

/// With a CRC32C behind all else.
std::string with_checksum(std::string const& rest) {
    auto header = v2('\x21', '\x11', rest + tlv('\x03', "\0\0\0\0"s));
    boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> sum;
    sum.process_bytes(header.data(), header.size());
    write_big_endian(static_cast<std::uint32_t>(sum.checksum()), header, header.size() - 4);
    return header;
}

std::string source_of(std::string const& bytes) {
    auto const parse = parse_proxy_header(bytes);
    if (parse.state == HeaderState::incomplete) return "incomplete";
    if (parse.state == HeaderState::refused) return std::string(text(parse.fault));
    return parse.header.source ? parse.header.source->text() : "sender";
}

/// Whole headers, and the client that each names.
std::vector<std::pair<std::string, std::string>> const whole{
    {"PROXY TCP4 192.0.2.7 198.51.100.1 40000 443\r\n", "192.0.2.7:40000"},
    {"PROXY TCP6 2001:db8::7 2001:db8::1 1 65535\r\n", "[2001:db8::7]:1"},
    {"PROXY UNKNOWN\r\n", "sender"},
    {"PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n", "sender"},
    {v2('\x21', '\x11', tcp4), "192.0.2.7:40000"},
    {v2('\x21', '\x21', "\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x07" + std::string(16, '\1') + "\x9c\x40\x01\xbb"s),
     "[2001:db8::7]:40000"},
    {"PROXY TCP6 ::ffff:192.0.2.7 ::ffff:198.51.100.1 40000 443\r\n", "192.0.2.7:40000"},
    {v2('\x21', '\x21', std::string(10, '\0') + "\xff\xff\xc0\x00\x02\x07"s + std::string(16, '\1') + "\x9c\x40\x01\xbb"s),
     "192.0.2.7:40000"},
    {v2('\x20', '\0', ""), "sender"},
    {v2('\x20', '\x11', tcp4), "sender"},
    {v2('\x21', '\0', ""), "sender"},
    {v2('\x21', '\x31', std::string(216, 'u')), "sender"},
    {v2('\x21', '\x11', tcp4 + tlv('\x02', "www.example.org") + tlv('\x04', "")), "192.0.2.7:40000"},
    {with_checksum(tcp4 + tlv('\x02', "www.example.org")), "192.0.2.7:40000"},
};

TEST(ProxyHeader, is_told_from_a_request_by_its_first_bytes) {
    for (auto const& header : {"PROXY TCP4 192.0.2.7 "s, "PROXY TCP6 "s, "PROXY UNKNOWN\r\n"s, v2('\x21', '\x11', tcp4)})
        EXPECT_TRUE(begins_with_proxy_header(header)) << header;
    for (auto const& request :
         {""s, "PROXY "s, "PROXY http://a/ HTTP/1.1\r\n"s, "GET / HTTP/1.1\r\n"s, "\r\n\r\nGET / HTTP/1.1\r\n"s})
        EXPECT_FALSE(begins_with_proxy_header(request)) << request;
}

}   // namespace

TEST(ProxyHeader, names_the_client) {
    for (auto const& [header, client] : whole) EXPECT_EQ(source_of(header), client) << header;
}

TEST(ProxyHeader, is_incomplete_until_its_last_byte_and_leaves_what_follows) {
    for (auto const& [header, client] : whole) {
        for (std::size_t size = 0; size < header.size(); ++size)
            EXPECT_EQ(source_of(header.substr(0, size)), "incomplete") << size << " of " << header;
        auto const parse = parse_proxy_header(header + "\x16\x03\x01GET / HTTP/1.1\r\n\r\n");
        EXPECT_EQ(parse.size, header.size());
        EXPECT_EQ(parse.state, HeaderState::complete);
    }
}

TEST(ProxyHeader, has_authority_and_unique_id) {
    auto const parse = parse_proxy_header(with_checksum(tcp4 + tlv('\x02', "www.example.org") + tlv('\x05', "id\0 7"s)));
    EXPECT_EQ(parse.header.authority, "www.example.org");
    EXPECT_EQ(parse.header.unique_id, "id\0 7"s);
}

TEST(ProxyHeader, refuses_what_is_none) {
    std::vector<std::pair<std::string, std::string>> const refused{
        {"GET / HTTP/1.1\r\n\r\n", "absent"},
        {"\x16\x03\x01\x02", "absent"},
        {"\r\n\r\nX", "absent"},
        {"PROXY TCP4 192.0.2.7 198.51.100.1 40000 443\n", "malformed"},
        {"PROXY TCP4 192.0.2.7 198.51.100.1 40000\r\n", "malformed"},
        {"PROXY TCP4 192.0.2.7 198.51.100.1 40000 65536\r\n", "malformed"},
        {"PROXY TCP4 192.0.2.7  198.51.100.1 40000 443\r\n", "malformed"},
        {"PROXY TCP4 192.0.2.7 198.51.100.1 40000 443 \r\n", "malformed"},
        {"PROXY TCP4 2001:db8::7 2001:db8::1 1 2\r\n", "malformed"},
        {"PROXY TCP6 192.0.2.7 198.51.100.1 40000 443\r\n", "malformed"},
        {"PROXY TCP4 ::ffff:192.0.2.7 ::ffff:198.51.100.1 40000 443\r\n", "malformed"},
        {"PROXY UDP4 192.0.2.7 198.51.100.1 40000 443\r\n", "malformed"},
        {"PROXY TCP4 " + std::string(96, '1'), "too_long"},
        {v2('\x11', '\x11', tcp4), "malformed"},
        {v2('\x22', '\x11', tcp4), "malformed"},
        {v2('\x21', '\x12', tcp4), "malformed"},
        {v2('\x21', '\x11', tcp4.substr(1)), "malformed"},
        {v2('\x21', '\x11', tcp4 + "\x02"), "malformed"},
        {v2('\x21', '\x11', tcp4 + "\x02\x00\x02z"s), "malformed"},
        {v2('\x21', '\x11', tcp4 + tlv('\x05', std::string(129, 'i'))), "malformed"},
        {v2('\x21', '\x11', tcp4 + tlv('\x03', "abc")), "malformed"},
        {v2('\x21', '\x11', tcp4 + tlv('\x03', "abcd")), "checksum"},
        {v2('\x21', '\x11', std::string(4097, 'x')).substr(0, 16), "too_long"},
    };
    for (auto const& [bytes, reason] : refused) EXPECT_EQ(source_of(bytes), reason) << bytes;
}

TEST(ProxyHeader, with_any_changed_byte_fails_its_checksum_or_is_malformed) {
    auto const header = with_checksum(tcp4 + tlv('\x02', "www.example.org"));
    std::mt19937 random(7);
    for (std::size_t at = 0; at < header.size(); ++at) {
        auto changed = header;
        changed[at] = static_cast<char>(changed[at] ^ (1u << random() % 8));
        // A changed type may hide the checksum, and LOCAL has no addresses: neither can be told.
        bool const is_hidden = at == header.size() - 7 || (at == 12 && changed[at] == '\x20');
        auto const source = source_of(changed);
        if (!is_hidden) EXPECT_NE(source, "192.0.2.7:40000") << at;
        EXPECT_TRUE(is_hidden || source == "incomplete" || source == "absent" || source == "malformed" || source == "too_long" ||
                    source == "checksum")
            << at << " " << source;
    }
}

TEST(ProxyHeader, that_is_written_is_read) {
    IpEndpoint const v4{*parse_ip("192.0.2.7"), 40'000}, v6{*parse_ip("2001:db8::7"), 40'001}, own{*parse_ip("198.51.100.1"), 443};
    for (auto const version : {ProxyProtocol::v1, ProxyProtocol::v2})
        for (auto const& source : {v4, v6}) {
            auto const header = proxy_header(version, source, own);
            auto const parse = parse_proxy_header(header);
            ASSERT_EQ(parse.state, ProxyHeaderParse::State::complete) << header;
            EXPECT_EQ(parse.size, header.size());
            EXPECT_EQ(parse.header.source, source);
        }
    EXPECT_EQ(proxy_header(ProxyProtocol::v1, v4, own), "PROXY TCP4 192.0.2.7 198.51.100.1 40000 443\r\n");
    EXPECT_EQ(proxy_header(ProxyProtocol::v1, v6, own), "PROXY TCP6 2001:db8::7 :: 40001 443\r\n") << "of one family";
    EXPECT_EQ(proxy_header(ProxyProtocol::v1, v4, {*parse_ip("2001:db8::1"), 443}), "PROXY TCP4 192.0.2.7 0.0.0.0 40000 443\r\n");
    EXPECT_EQ(proxy_header(ProxyProtocol::off, v4, own), "");
}

TEST(ProxyHeader, of_a_connection_without_a_client_names_none) {
    for (auto const version : {ProxyProtocol::v1, ProxyProtocol::v2}) {
        auto const header = proxy_header(version, std::nullopt, {});
        auto const parse = parse_proxy_header(header);
        EXPECT_EQ(parse.state, ProxyHeaderParse::State::complete);
        EXPECT_EQ(parse.size, header.size());
        EXPECT_FALSE(parse.header.source);
    }
}

}   // namespace garner::net
