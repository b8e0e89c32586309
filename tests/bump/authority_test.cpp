// Certificates are verified by the openssl program, by OpenSSL's client in a handshake, and by their own bytes.
#include "bump/authority.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <fstream>
#include <set>
#include <thread>

#include "ca_scene.hpp"
#include "net/certificate_text.hpp"

namespace garner::bump {
namespace {

using testing::HasSubstr;
using Names = std::vector<std::string>;

std::string serial_of(X509* certificate) {
    auto const* const number = X509_get0_serialNumber(certificate);
    return {reinterpret_cast<char const*>(ASN1_STRING_get0_data(number)), static_cast<std::size_t>(ASN1_STRING_length(number))};
}

std::string printed(CaScene const& scene, X509* certificate) {
    return test::run({"openssl", "x509", "-noout", "-text", "-in", scene.folder.write("printed.pem", test::to_pem(certificate))})
        .output;
}

/// Moves all bytes from one end of a connection to the other.
void carry(SSL* from, SSL* to) {
    char* bytes = nullptr;
    auto const size = BIO_get_mem_data(SSL_get_wbio(from), &bytes);
    BIO_write(SSL_get_rbio(to), bytes, static_cast<int>(size));
    BIO_reset(SSL_get_wbio(from));
}

/// The result of the client's verification after a handshake, as text. The client trusts the root alone.
std::string handshake(CaScene const& scene, net::Certificate const& certificate, std::string const& host) {
    std::unique_ptr<SSL_CTX, Release<SSL_CTX_free>> const ours(SSL_CTX_new(TLS_server_method())),
        theirs(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_load_verify_locations(theirs.get(), scene.paths.root.c_str(), nullptr);
    SSL_CTX_set_verify(theirs.get(), SSL_VERIFY_NONE, nullptr);
    std::unique_ptr<SSL, Release<SSL_free>> const server(SSL_new(ours.get())), client(SSL_new(theirs.get()));
    for (auto* const end : {server.get(), client.get()}) SSL_set_bio(end, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    EXPECT_EQ(certificate.use(server.get()), 1);
    SSL_set1_host(client.get(), host.c_str());
    SSL_set_connect_state(client.get());
    SSL_set_accept_state(server.get());
    for (int i = 0; i < 4; ++i) {
        SSL_do_handshake(client.get());
        carry(client.get(), server.get());
        SSL_do_handshake(server.get());
        carry(server.get(), client.get());
    }
    EXPECT_TRUE(SSL_is_init_finished(client.get()) && SSL_is_init_finished(server.get()));
    return X509_verify_cert_error_string(SSL_get_verify_result(client.get()));
}

TEST(Authority, mints_certificates_that_clients_with_its_root_accept) {
    CaScene const scene;
    ASSERT_EQ(scene.init().fault_text(), "");
    auto const authority = scene.authority();
    auto const minted =
        authority->mint(likeness_for({"www.example.org", "*.example.net", "192.0.2.1", "2001:db8::1"}), Signer::ca, wall_now());
    auto const leaf = leaf_of(*minted);
    for (auto const* host : {"www.example.org", "a.example.net", "192.0.2.1", "2001:db8::1"})
        EXPECT_EQ(scene.verdict(leaf.get(), host), "OK");
    EXPECT_EQ(scene.verdict(leaf.get(), "example.com"), "hostname mismatch");
    EXPECT_EQ(handshake(scene, *minted, "www.example.org"), "ok");
    EXPECT_EQ(handshake(scene, *minted, "example.com"), "hostname mismatch");
    EXPECT_EQ(minted->names(), (Names{"www.example.org", "*.example.net", "192.0.2.1", "2001:db8::1"}));
}

TEST(Authority, the_certificate_has_the_fields_that_browsers_require) {
    CaScene const scene;
    ASSERT_EQ(scene.init().fault_text(), "");
    auto const leaf = leaf_of(*scene.authority()->mint(likeness_for({"www.example.org"}), Signer::ca, wall_now()));
    auto const text = printed(scene, leaf.get());
    for (auto const* line :
         {"Version: 3", "Subject: CN = www.example.org", "Signature Algorithm: ecdsa-with-SHA256", "NIST CURVE: P-256", "CA:FALSE",
          "Digital Signature\n", "TLS Web Server Authentication", "DNS:www.example.org", "X509v3 Authority Key Identifier"})
        EXPECT_THAT(text, HasSubstr(line));
    EXPECT_EQ(ASN1_STRING_length(X509_get0_serialNumber(leaf.get())), 16);
}

TEST(Authority, long_and_many_names_fit) {
    CaScene const scene;
    ASSERT_EQ(scene.init().fault_text(), "");
    Names names{std::string(60, 'a') + "." + std::string(60, 'b') + ".example"};
    for (std::size_t i = 1; i < Likeness::names_max; ++i)
        names.push_back("host-" + std::to_string(i) + ".some-longer-domain.example");
    auto const leaf = leaf_of(*scene.authority()->mint(likeness_for(names), Signer::ca, wall_now()));
    EXPECT_EQ(net::server_names(leaf.get()), names);
    EXPECT_EQ(net::subject_of(leaf.get()), "CN = host-1.some-longer-domain.example") << "a CN has at most 64 bytes";
    EXPECT_EQ(scene.verdict(leaf.get(), names.front()), "OK");
    EXPECT_EQ(scene.verdict(leaf.get(), names.back()), "OK");
}

TEST(Authority, serial_numbers_differ_for_the_same_contents) {
    CaScene const scene;
    ASSERT_EQ(scene.init().fault_text(), "");
    auto const authority = scene.authority();
    auto const likeness = likeness_for({"www.example.org"});
    std::set<std::string> serials;
    std::vector<std::thread> threads;
    Mutex mutex;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int j = 0; j < 50; ++j) {
                auto const leaf = leaf_of(*authority->mint(likeness, j % 8 ? Signer::ca : Signer::throwaway, wall_now()));
                MutexLock const lock(mutex);
                serials.insert(serial_of(leaf.get()));
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(serials.size(), 200u);
}

TEST(Authority, the_leaf_key_is_new_each_day) {
    CaScene const scene;
    ASSERT_EQ(scene.init().fault_text(), "");
    auto const authority = scene.authority();
    auto const now = wall_now();
    auto const key_at = [&](WallTime moment) {
        auto const leaf = leaf_of(*authority->mint(likeness_for({"www.example.org"}), Signer::ca, moment));
        return std::shared_ptr<EVP_PKEY>(X509_get_pubkey(leaf.get()), &EVP_PKEY_free);
    };
    auto const first = key_at(now), second = key_at(now), next_day = key_at(now + std::chrono::days(1));
    EXPECT_EQ(EVP_PKEY_eq(first.get(), second.get()), 1);
    EXPECT_EQ(EVP_PKEY_eq(first.get(), next_day.get()), 0);
}

TEST(Authority, ends_certificates_before_its_own) {
    CaScene const scene;
    ASSERT_EQ(scene.init().fault_text(), "");
    auto const authority = scene.authority();
    auto const ca_end = net::not_after(authority->chain().front().get());
    auto likeness = likeness_for({"www.example.org"});
    likeness.end = ca_end + std::chrono::days(100);
    EXPECT_EQ(authority->mint(likeness, Signer::ca, wall_now())->not_after(), ca_end);
    EXPECT_GT(authority->mint(likeness, Signer::throwaway, wall_now())->not_after(), ca_end);
}

TEST(Authority, a_throwaway_key_signs_certificates_that_clients_refuse) {
    CaScene const scene;
    ASSERT_EQ(scene.init().fault_text(), "");
    auto const minted = scene.authority()->mint(likeness_for({"www.example.org"}), Signer::throwaway, wall_now());
    EXPECT_EQ(scene.verdict(leaf_of(*minted).get(), "www.example.org"), "unable to get local issuer certificate");
    EXPECT_EQ(handshake(scene, *minted, "www.example.org"), "unable to get local issuer certificate");
}

TEST(Authority, an_RSA_key_signs_too) {
    test::IssuedCertificate const root({.common_name = "RSA root", .is_ca = true, .key = "RSA-2048"});
    CaScene const scene;
    std::filesystem::create_directory(scene.directory);
    std::ofstream(scene.paths.root) << root.pem();
    std::ofstream(scene.paths.chain) << root.pem();
    std::shared_ptr<X509> const certificate(X509_dup(root.x509()), &X509_free);
    std::shared_ptr<EVP_PKEY> const key(root.private_key(), [](EVP_PKEY*) {});
    Authority authority({certificate}, key);
    EXPECT_EQ(handshake(scene, *authority.mint(likeness_for({"www.example.org"}), Signer::ca, wall_now()), "www.example.org"),
              "ok");
}

TEST(NameConstraints, are_kept_by_openssl_as_by_Garner) {
    CaScene const scene;
    ASSERT_EQ(scene.init({".example.org", "www.example.net", "192.0.2.7"}).fault_text(), "");
    auto const authority = scene.authority();
    EXPECT_EQ(authority->constraints().text(),
              "only example.org and names below it, www.example.net and names below it, 192.0.2.7");
    for (auto const& [name, permitted] :
         {std::pair("example.org", true), std::pair("a.b.example.org", true), std::pair("*.example.org", true),
          std::pair("notexample.org", false), std::pair("org", false), std::pair("www.example.net", true),
          std::pair("example.net", false), std::pair("*.example.net", false), std::pair("192.0.2.7", true),
          std::pair("192.0.2.8", false), std::pair("2001:db8::1", false)}) {
        EXPECT_EQ(authority->constraints().permits(name), permitted) << name;
        auto const leaf = leaf_of(*authority->mint(likeness_for({name}), Signer::ca, wall_now()));
        auto host = std::string(name);
        if (host.starts_with('*')) host.replace(0, 1, "label");
        EXPECT_EQ(scene.verdict(leaf.get(), host), permitted ? "OK" : "permitted subtree violation") << name;
    }
}

TEST(NameConstraints, of_names_alone_exclude_all_addresses_and_the_reverse) {
    CaScene const names, addresses;
    ASSERT_EQ(names.init({".example.org"}).fault_text(), "");
    ASSERT_EQ(addresses.init({"2001:db8::1"}).fault_text(), "");
    auto const by_name = names.authority(), by_address = addresses.authority();
    EXPECT_EQ(by_name->constraints().text(), "only example.org and names below it; no IPv4 addresses, IPv6 addresses");
    for (auto const* address : {"192.0.2.7", "2001:db8::1"}) {
        EXPECT_FALSE(by_name->constraints().permits(address));
        EXPECT_EQ(names.verdict(leaf_of(*by_name->mint(likeness_for({address}), Signer::ca, wall_now())).get(), address),
                  "excluded subtree violation");
    }
    EXPECT_TRUE(by_address->constraints().permits("2001:db8::1"));
    EXPECT_FALSE(by_address->constraints().permits("example.org"));
    auto const mint = [&](char const* name) { return leaf_of(*by_address->mint(likeness_for({name}), Signer::ca, wall_now())); };
    EXPECT_EQ(addresses.verdict(mint("2001:db8::1").get(), "2001:db8::1"), "OK");
    EXPECT_EQ(addresses.verdict(mint("example.org").get(), "example.org"), "permitted subtree violation");
    EXPECT_TRUE(NameConstraints().permits("example.org"));
    EXPECT_EQ(NameConstraints().text(), "any name");
}

}   // namespace
}   // namespace garner::bump
