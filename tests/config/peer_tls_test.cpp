// TLS to peers: keys, and the files that they name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support.hpp"
#include "support/child.hpp"
#include "support/issued_certificate.hpp"

namespace garner::config {
namespace {

using test::IssuedCertificate;
using testing::HasSubstr;

Loaded load_peer(std::string const& members, NamedFiles files = NamedFiles::believed) {
    return load_text("test.json",
                     R"({"user": "root", "peers": [{"name": "campus", "host": "10.0.0.3"}, {"name": "p", "host": "10.0.0.4", )" +
                         members + "}]}",
                     {}, files);
}
std::string fault_of(std::string const& members) { return told(load_peer(members)); }

TEST(PeerTls, all_keys_are_read) {
    auto const loaded = load_peer(R"("https": "tunnel", "tls": {"verify": false, "ca_file": "ca.pem", "server_name": "p.test",
                                     "chain": "own.pem", "key": "own.key"})");
    EXPECT_EQ(told(loaded), "");
    auto const& peers = loaded.config.mesh.peers;
    EXPECT_FALSE(peers[0].tls);
    EXPECT_FALSE(peers[0].https);
    EXPECT_EQ(peers[1].tls, (icp::PeerTls{false, "ca.pem", "p.test", "own.pem", "own.key"}));
    EXPECT_EQ(peers[1].https, icp::Https::tunnel);
    EXPECT_EQ(load_peer(R"("tls": {})").config.mesh.peers[1].tls, icp::PeerTls{});
}

TEST(PeerTls, https_requests_need_TLS_or_the_word_clear) {
    EXPECT_EQ(fault_of(R"("https": "ask")"),
              "test.json:1: peers[1].https: would send https:// requests in clear text: the peer has no tls "
              "(add \"tls\": {}, or write \"clear\" to allow that)\n");
    for (auto const* good : {R"("https": "clear")", R"("https": "ask", "tls": {})", R"("https": "no")", R"("https": "tunnel")"})
        EXPECT_EQ(fault_of(good), "") << good;
    EXPECT_THAT(fault_of(R"("https": "tunnel", "type": "sibling")"), HasSubstr("peers[1].https: a sibling opens no tunnels"));
    EXPECT_THAT(fault_of(R"("https": "maybe")"), HasSubstr("peers[1].https: "));
}

TEST(PeerTls, a_client_certificate_has_two_files) {
    EXPECT_THAT(fault_of(R"("tls": {"chain": "a.pem"})"), HasSubstr("peers[1].tls.key: is missing"));
    EXPECT_THAT(fault_of(R"("tls": {"key": "a.pem"})"), HasSubstr("peers[1].tls.chain: is missing"));
}

struct PeerFiles : testing::Test {
    std::string write(std::string const& name, std::string const& text) const {
        auto const path = dir.write(name, text);
        std::filesystem::permissions(path, std::filesystem::perms(0600));
        return path;
    }
    static Loaded check(std::string const& ca, std::string const& chain, std::string const& key) {
        return load_peer(R"("tls": {"ca_file": ")" + ca + R"(", "chain": ")" + chain + R"(", "key": ")" + key + R"("})",
                         NamedFiles::tried);
    }
    test::TempDir dir;
    IssuedCertificate own{{.common_name = "child.test"}};
    std::string const ca = write("ca.pem", own.pem());
    std::string const chain = write("own.pem", own.pem());
    std::string const key = write("own.key", own.key_pem());
};

TEST_F(PeerFiles, are_checked) {
    auto const good = check(ca, chain, key);
    EXPECT_EQ(told(good), "");
    EXPECT_TRUE(good.notices.empty());
    EXPECT_THAT(told(check("/missing.pem", chain, key)), HasSubstr("peers[1].tls.ca_file: "));
    EXPECT_THAT(told(check(ca, "/missing.pem", key)), HasSubstr("peers[1].tls.chain: /missing.pem: "));
    auto const other = write("other.key", IssuedCertificate({}).key_pem());
    EXPECT_THAT(told(check(ca, chain, other)), HasSubstr("peers[1].tls.key: " + other));
    auto const encrypted = write("encrypted.key", own.encrypted_key_pem());
    EXPECT_THAT(told(check(ca, chain, encrypted)), HasSubstr("peers[1].tls.key: " + encrypted));
}

TEST_F(PeerFiles, that_end_soon_or_are_open_to_all_are_told) {
    IssuedCertificate const old({.valid_until = 5 * 86'400 + 60});
    auto const loaded = check(ca, write("old.pem", old.pem()), write("old.key", old.key_pem()));
    EXPECT_EQ(told(loaded), "");
    ASSERT_EQ(loaded.notices.size(), 1u);
    EXPECT_THAT(text_of(loaded.notices[0]), HasSubstr("peers[1].tls.chain: "));
    std::filesystem::permissions(key, std::filesystem::perms(0644));
    auto const open = check(ca, chain, key);
    ASSERT_EQ(open.notices.size(), 1u);
    EXPECT_THAT(text_of(open.notices[0]), HasSubstr("peers[1].tls.key: "));
}

}   // namespace
}   // namespace garner::config
