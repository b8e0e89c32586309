// The hellos are those of OpenSSL, with changed bytes or parts of our own where it makes none of the kind.
#include "net/client_hello.hpp"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <memory>

#include "util/big_endian.hpp"

namespace garner::net {
namespace {

using namespace std::string_literals;
using State = ClientHelloReading::State;
using Texts = std::vector<std::string>;

struct HelloWish {
    char const* name = "www.example.org";           // nullptr: none
    std::string protocols = "\x02h2\x08http/1.1";   // the content of the ALPN extension
    int max_version = TLS1_3_VERSION;
    int min_version = TLS1_2_VERSION;
};

/// The first bytes that OpenSSL sends.
std::string real_hello(HelloWish const& wish = {}) {
    std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> const context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    SSL_CTX_set_max_proto_version(context.get(), wish.max_version);
    SSL_CTX_set_min_proto_version(context.get(), wish.min_version);
    std::unique_ptr<SSL, void (*)(SSL*)> const ssl(SSL_new(context.get()), SSL_free);
    if (wish.name) SSL_set_tlsext_host_name(ssl.get(), wish.name);
    auto const* const protocols = reinterpret_cast<unsigned char const*>(wish.protocols.data());
    if (!wish.protocols.empty()) SSL_set_alpn_protos(ssl.get(), protocols, static_cast<unsigned>(wish.protocols.size()));
    auto* const out = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl.get(), BIO_new(BIO_s_mem()), out);
    SSL_connect(ssl.get());
    char* bytes = nullptr;
    auto const size = BIO_get_mem_data(out, &bytes);
    return {bytes, static_cast<std::size_t>(size)};
}

std::string record(std::string_view content) {
    std::string out("\x16\x03\x01", 3);
    append_big_endian(static_cast<std::uint16_t>(content.size()), out);
    return out.append(content);
}

/// Divides `stream`, which must be one record, into records of at most `size` bytes of content.
std::string in_records_of(std::size_t size, std::string_view stream) {
    std::string out;
    for (auto rest = stream.substr(5); !rest.empty(); rest.remove_prefix(std::min(size, rest.size())))
        out += record(rest.substr(0, size));
    return out;
}

std::string extension(std::uint16_t type, std::string_view content) {
    std::string out;
    append_big_endian(type, out);
    append_big_endian(static_cast<std::uint16_t>(content.size()), out);
    return out.append(content);
}

std::string vector16(std::string_view content) {
    std::string out;
    append_big_endian(static_cast<std::uint16_t>(content.size()), out);
    return out.append(content);
}

std::string name_entry(std::string_view name) { return std::string(1, '\0') + vector16(name); }
std::string server_name(std::string_view name) { return extension(0, vector16(name_entry(name))); }

/// A hello of our own with these extensions.
std::string hello_with(std::string_view extensions, std::string body = {}) {
    if (body.empty()) {
        body =
            std::string("\x03\x03", 2) + std::string(32, 'r') + std::string(1, '\0') + std::string("\x00\x02\x13\x01\x01\x00", 6);
        if (!extensions.empty()) body += vector16(extensions);
    }
    std::string message("\x01\x00", 2);
    append_big_endian(static_cast<std::uint16_t>(body.size()), message);
    return record(message + body);
}

ClientHello hello_in(std::string_view bytes) {
    auto const reading = read_client_hello(bytes);
    EXPECT_EQ(reading.state, State::hello) << reading.reason;
    return reading.hello;
}

std::string fault_in(std::string_view bytes) {
    auto const reading = read_client_hello(bytes);
    EXPECT_EQ(reading.state, State::malformed);
    return reading.reason;
}

TEST(ServerName, is_found_in_its_extension) {
    EXPECT_EQ(server_name_in("\0\x0d\0\0\x0aproxy.test"s), "proxy.test");
    EXPECT_EQ(server_name_in("\0\x12\x07\0\x02xx\0\0\x0aproxy.test"s), "proxy.test");   // after a name of another type
}

TEST(ServerName, is_empty_in_a_malformed_extension) {
    for (auto const& malformed :
         {""s, "\0"s, "\0\0"s, "\0\x01\0"s, "\0\x0d\0\0\x0bproxy.test"s, "\0\x0c\0\0\x0aproxy.test"s, "\0\x0e\0\0\x0aproxy.test"s,
          "\0\x0d\0\0\x0aproxy.test!"s, "\0\x05\x07\0\x02xx"s, "\xff\xff\0\xff\xff"s})
        EXPECT_EQ(server_name_in(malformed), "") << testing::PrintToString(malformed);
}

TEST(ClientHello, of_tls_1_3_is_read) {
    auto const hello = hello_in(real_hello());
    EXPECT_EQ(hello.server_name, "www.example.org");
    EXPECT_EQ(hello.protocols, (Texts{"h2", "http/1.1"}));
    EXPECT_EQ(hello.versions, (std::vector<std::uint16_t>{0x0304, 0x0303}));
    EXPECT_FALSE(hello.has_ech);
    EXPECT_TRUE(hello.offers("h2"));
    EXPECT_FALSE(hello.offers("h3"));
}

TEST(ClientHello, of_tls_1_2_has_its_version_in_the_message) {
    auto const hello = hello_in(real_hello({.max_version = TLS1_2_VERSION}));
    EXPECT_EQ(hello.versions, std::vector<std::uint16_t>{0x0303});
    EXPECT_EQ(hello.server_name, "www.example.org");
}

TEST(ClientHello, without_name_and_protocols_is_a_hello) {
    auto const hello = hello_in(real_hello({.name = nullptr, .protocols = ""}));
    EXPECT_EQ(hello.server_name, "");
    EXPECT_TRUE(hello.protocols.empty());
    EXPECT_EQ(hello_in(hello_with("")).versions, std::vector<std::uint16_t>{0x0303}) << "without any extension";
}

TEST(ClientHello, names_are_in_lower_case_without_a_final_dot) {
    EXPECT_EQ(hello_in(hello_with(server_name("WWW.Example.ORG."))).server_name, "www.example.org");
    EXPECT_EQ(hello_in(hello_with(server_name("xn--bcher-kva.example"))).server_name, "xn--bcher-kva.example");
}

TEST(ClientHello, needs_more_until_its_last_byte) {
    auto const whole = real_hello();
    for (auto const& stream : {whole, in_records_of(100, whole), in_records_of(1, whole)}) {
        for (std::size_t size = 0; size < stream.size(); ++size)
            ASSERT_EQ(read_client_hello(std::string_view(stream).substr(0, size)).state, State::needs_more) << size;
        EXPECT_EQ(hello_in(stream), hello_in(whole));
    }
}

TEST(ClientHello, bytes_after_it_are_ignored) {
    auto const hello = real_hello();
    EXPECT_EQ(hello_in(hello + "\x17\x03\x03 early data"), hello_in(hello));
    EXPECT_EQ(hello_in(hello + std::string(client_hello_max, 'x')), hello_in(hello));
}

TEST(ClientHello, larger_than_a_record_is_read) {
    auto const large = hello_with(server_name("a.example") + extension(21, std::string(40'000, '\0')));
    auto const hello = hello_in(in_records_of(16'384, large));
    EXPECT_EQ(hello.server_name, "a.example");
    EXPECT_EQ(fault_in(large), "an invalid length of a record");
}

TEST(ClientHello, more_than_64_KiB_is_malformed_and_never_waited_for) {
    auto const large = hello_with(server_name("a.example") + extension(21, std::string(60'000, '\0')));
    auto const in_small_records = in_records_of(40, large);
    EXPECT_GT(in_small_records.size(), client_hello_max);
    EXPECT_EQ(fault_in(std::string_view(in_small_records).substr(0, client_hello_max)), "more than 64 KiB");
    EXPECT_EQ(read_client_hello(std::string_view(in_small_records).substr(0, client_hello_max - 1)).state, State::needs_more);
    EXPECT_EQ(fault_in(record(std::string("\x01\x01\x00\x00", 4))), "more than 64 KiB")
        << "the length field alone exceeds the limit";
}

TEST(ClientHello, other_streams_are_not_tls) {
    for (std::string_view const stream : {"GET / HTTP/1.1\r\n", "SSH-2.0-x", "\x80\x2e\x01\x03\x01", "\x17\x03\x03", "\x16\x02"})
        EXPECT_EQ(read_client_hello(stream).state, State::not_tls) << stream;
    EXPECT_EQ(read_client_hello("").state, State::needs_more);
    EXPECT_EQ(read_client_hello("\x16").state, State::needs_more);
}

TEST(ClientHello, broken_records_and_messages_are_malformed) {
    auto const whole = real_hello();
    EXPECT_EQ(fault_in(record(std::string("\x02\x00\x00\x00", 4))), "a message other than ClientHello");
    EXPECT_EQ(fault_in(std::string("\x16\x03\x01\x00\x00", 5)), "an invalid length of a record");
    EXPECT_EQ(fault_in(in_records_of(100, whole).replace(105, 1, "\x15")), "another record inside the message");
    EXPECT_EQ(fault_in(hello_with("", std::string("\x03\x03", 2) + std::string(32, 'r'))), "lengths that do not fit the message");
    EXPECT_EQ(fault_in(hello_with(extension(0, "x").substr(0, 4))), "an extension that is cut short");
}

TEST(ClientHello, ambiguous_names_and_protocols_are_malformed) {
    auto const two = extension(0, vector16(name_entry("a.example") + name_entry("b.example")));
    EXPECT_EQ(fault_in(hello_with(two)), "more than one server name");
    EXPECT_EQ(fault_in(hello_with(server_name("a.example") + server_name("b.example"))), "a repeated extension");
    for (std::string_view const name :
         {std::string_view("a\0b", 3), std::string_view(" a"), std::string_view("."), std::string_view("a/b")})
        EXPECT_EQ(fault_in(hello_with(server_name(name))), "an invalid server name") << name;
    EXPECT_EQ(fault_in(hello_with(server_name(std::string(256, 'a')))), "an invalid server name");
    EXPECT_EQ(fault_in(hello_with(extension(0, ""))), "an invalid list of server names");
    EXPECT_EQ(fault_in(hello_with(extension(16, vector16("")))), "an invalid list of protocols");
    EXPECT_EQ(fault_in(hello_with(extension(16, vector16(std::string_view("\x00", 1))))), "an invalid list of protocols");
    EXPECT_EQ(fault_in(hello_with(extension(43, std::string_view("\x03\x03\x04\x03", 4)))), "an invalid list of versions");
}

TEST(ClientHello, grease_is_no_version_and_ech_is_seen) {
    auto const hello = hello_in(hello_with(extension(43, std::string_view("\x04\x3a\x3a\x03\x04", 5)) + extension(0xfe0d, "x")));
    EXPECT_EQ(hello.versions, std::vector<std::uint16_t>{0x0304});
    EXPECT_TRUE(hello.has_ech);
}

TEST(ClientHello, every_changed_byte_of_a_real_one_is_read_without_harm) {
    auto const whole = real_hello();
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (int const change : {1, 0x80, 0xff}) {
            auto changed = std::make_unique<char[]>(whole.size());   // ends where its allocation ends
            whole.copy(changed.get(), whole.size());
            changed[at] = static_cast<char>(changed[at] ^ change);
            read_client_hello({changed.get(), whole.size()});
        }
}

}   // namespace
}   // namespace garner::net
