// Certificates read from PEM files, and the errors in them.
#include "net/certificate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/x509.h>

#include <filesystem>

#include "net/pem.hpp"
#include "support/child.hpp"
#include "support/issued_certificate.hpp"
#include "support/made.hpp"

namespace garner::net {
namespace {

using test::CertificateRequest;
using test::IssuedCertificate;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A root, an intermediate that it issued, and a leaf that the intermediate issued. Made once: keys take time.
struct CertificateFamily {
    IssuedCertificate root{{.common_name = "root", .is_ca = true}};
    IssuedCertificate middle{{.common_name = "middle", .is_ca = true}, &root};
    IssuedCertificate leaf{{.common_name = "leaf", .names = "DNS:Proxy.test,DNS:*.wild.test,IP:127.0.0.1"}, &middle};
};

CertificateFamily const& family() {
    static CertificateFamily const one;
    return one;
}

struct PemFiles {
    PemFiles(std::string const& chain, std::string const& key) : names{dir.write("chain.pem", chain), dir.write("key.pem", key)} {}

    /// The fault's text without the folder; empty if there is none.
    std::string fault() const {
        auto text = read_certificate(names).fault_text();
        auto const folder = dir.path().string() + "/";
        for (auto at = text.find(folder); at != text.npos; at = text.find(folder)) text.erase(at, folder.size());
        return text;
    }

    test::TempDir dir;
    CertificateFiles names;
};

std::string fault_of(std::string const& chain, std::string const& key) { return PemFiles(chain, key).fault(); }

/// The fault of a self-signed certificate with such a key.
std::string fault_of_key(std::string const& kind) {
    IssuedCertificate const one({.key = kind});
    return fault_of(one.pem(), one.key_pem());
}

std::vector<std::string> identity_of(CertificateRequest const& request) {
    return identity_names(IssuedCertificate(request).x509());
}

TEST(Certificate, a_chain_and_its_key_are_read) {
    auto const before = wall_now();
    IssuedCertificate const leaf({.common_name = "leaf", .names = "DNS:Proxy.test,IP:127.0.0.1,IP:::1", .valid_until = 3'600},
                                 &family().middle);
    PemFiles const files(leaf.pem() + family().middle.pem() + family().root.pem(), leaf.key_pem());
    auto const certificate = test::made(read_certificate(files.names));
    EXPECT_THAT(certificate->names(), ElementsAre("proxy.test", "127.0.0.1", "::1"));
    EXPECT_EQ(certificate->subject(), "CN = leaf");
    EXPECT_GE(certificate->not_after(), before + seconds{3'598});
    EXPECT_LE(certificate->not_after(), wall_now() + seconds{3'600});
}

TEST(Certificate, another_intermediate_changes_the_fingerprint) {
    auto const& [root, middle, leaf] = family();
    PemFiles const alone(leaf.pem(), leaf.key_pem()), chain(leaf.pem() + middle.pem(), leaf.key_pem());
    auto const fingerprint = [](PemFiles const& files) { return test::made(read_certificate(files.names))->fingerprint(); };
    EXPECT_EQ(fingerprint(chain), fingerprint(chain));
    EXPECT_NE(fingerprint(chain), fingerprint(alone));
}

TEST(Certificate, without_a_subject_has_its_first_name) {
    IssuedCertificate const one({.common_name = "", .names = "DNS:Proxy.test,DNS:other.test"});
    EXPECT_EQ(subject_of(one.x509()), "without subject, proxy.test");
}

TEST(Certificate, chain_and_key_may_be_in_one_file) {
    auto const& all = family();
    auto const both = all.leaf.key_pem() + all.leaf.pem() + all.middle.pem();
    EXPECT_EQ(fault_of(both, both), "");
}

TEST(Certificate, without_alternative_names_the_common_name_counts) {
    IssuedCertificate const plain({.common_name = "Old.Example"});
    PemFiles const files(plain.pem(), plain.key_pem());
    EXPECT_THAT(test::made(read_certificate(files.names))->names(), ElementsAre("old.example"));
}

TEST(Certificate, an_asterisk_matches_one_label) {
    PemFiles const files(family().leaf.pem(), family().leaf.key_pem());
    auto const certificate = test::made(read_certificate(files.names));
    for (auto const* name : {"proxy.test", "PROXY.test", "a.wild.test", "127.0.0.1"})
        EXPECT_TRUE(certificate->matches(name)) << name;
    for (auto const* name : {"", ".", "wild.test", ".wild.test", "a.b.wild.test", "www.proxy.test", "proxy.test.", "test"})
        EXPECT_FALSE(certificate->matches(name)) << name;
}

TEST(Certificate, unreadable_files_are_errors) {
    auto const& leaf = family().leaf;
    PemFiles files(leaf.pem(), leaf.key_pem());
    files.names.key += ".gone";
    EXPECT_EQ(files.fault(), "key.pem.gone: cannot be read: No such file or directory; "
                             "correct its path, or give the user that runs garner read access");
    EXPECT_EQ(read_certificate(files.names).fault().where, files.names.key);
    files.names.chain = "/";
    EXPECT_THAT(files.fault(), HasSubstr("cannot be read: Is a directory; "));
    EXPECT_EQ(read_certificate(files.names).fault().where, "/");
    files.names.chain = "/dev/zero";
    EXPECT_EQ(files.fault(), "/dev/zero: larger than 4 MiB; name a PEM file");
}

TEST(Certificate, a_file_without_a_certificate_is_an_error) {
    auto const& leaf = family().leaf;
    auto const text = "chain.pem: no certificate in PEM format; name a file with a line -----BEGIN CERTIFICATE-----; "
                      "convert DER with: openssl x509 -in chain.pem -out chain.pem.pem";
    EXPECT_EQ(fault_of("", leaf.key_pem()), text);
    EXPECT_EQ(fault_of("\x30\x82\x01\x02", leaf.key_pem()), text);
    EXPECT_EQ(fault_of(leaf.key_pem(), leaf.key_pem()), text);
    auto damaged = leaf.pem();
    damaged.replace(100, 1, "!");
    EXPECT_EQ(fault_of(family().leaf.pem() + damaged, leaf.key_pem()),
              "chain.pem: certificate 2 is damaged; copy the file again from its source");
}

TEST(Certificate, a_file_without_a_usable_key_is_an_error) {
    auto const& leaf = family().leaf;
    EXPECT_EQ(fault_of(leaf.pem(), leaf.pem()),
              "key.pem: no private key in PEM format; name a file with a line -----BEGIN PRIVATE KEY-----");
    EXPECT_EQ(fault_of(leaf.pem(), leaf.encrypted_key_pem()),
              "key.pem: the private key is encrypted; decrypt it: openssl pkey -in key.pem -out key.pem.decrypted");
    auto damaged = leaf.key_pem();
    damaged.replace(40, 1, "!");
    EXPECT_EQ(fault_of(leaf.pem(), damaged),
              "key.pem: the private key is damaged or of an unknown type; copy the file again from its source");
    EXPECT_EQ(fault_of(leaf.pem(), family().root.key_pem()),
              "key.pem: the key does not belong to certificate 1 (CN = leaf) of chain.pem; "
              "name the key that this certificate was requested with");
}

TEST(Certificate, a_chain_must_be_in_the_order_of_issue) {
    auto const& [root, middle, leaf] = family();
    auto const mend = "; write the server's certificate first, then each intermediate after the certificate it issued";
    EXPECT_EQ(fault_of(leaf.pem() + middle.pem() + root.pem(), leaf.key_pem()), "");
    EXPECT_EQ(fault_of(middle.pem() + leaf.pem(), leaf.key_pem()),
              std::string("chain.pem: wrong order: the key belongs to certificate 2 (CN = leaf)") + mend);
    EXPECT_EQ(fault_of(leaf.pem() + root.pem() + middle.pem(), leaf.key_pem()),
              std::string("chain.pem: wrong order: certificate 3 (CN = middle) issued certificate 1 (CN = leaf) "
                          "but does not follow it") +
                  mend);
}

TEST(Certificate, a_certificate_that_issued_nothing_breaks_the_chain) {
    auto const& [root, middle, leaf] = family();
    auto const mend = "; append the intermediates that the CA publishes for the server's certificate, and no others";
    EXPECT_EQ(fault_of(leaf.pem() + root.pem(), leaf.key_pem()),
              std::string("chain.pem: broken chain: certificate 2 (CN = root) did not issue certificate 1 (CN = leaf)") + mend);
    // The name alone does not make an issuer.
    IssuedCertificate const impostor({.common_name = "middle", .is_ca = true}, &root);
    EXPECT_EQ(fault_of(leaf.pem() + impostor.pem(), leaf.key_pem()),
              std::string("chain.pem: broken chain: certificate 2 (CN = middle) did not issue certificate 1 (CN = leaf)") + mend);
}

TEST(Certificate, keys_that_tls_refuses_are_errors) {
    EXPECT_THAT(fault_of_key("RSA-1024"), HasSubstr("chain.pem: RSA key of 1024 bits; TLS needs at least 2048; request a "));
    EXPECT_THAT(fault_of_key("secp256k1"), HasSubstr("chain.pem: EC key on the curve secp256k1, which TLS 1.3 does not have; "));
    for (auto const* kind : {"RSA-2048", "P-256", "P-384", "P-521", "ED25519"}) EXPECT_EQ(fault_of_key(kind), "") << kind;
    IssuedCertificate const weak({.common_name = "weak", .is_ca = true, .key = "RSA-1024"}, &family().root);
    IssuedCertificate const leaf({}, &weak);
    EXPECT_EQ(fault_of(leaf.pem() + weak.pem(), leaf.key_pem()),
              "chain.pem: OpenSSL refuses the certificate or its chain: ca key too small; "
              "request one with keys of at least 2048 (RSA) or 256 (EC) bits, signed with SHA-256 or stronger");
}

TEST(Certificate, the_names_of_a_client_are_its_alternative_names) {
    EXPECT_THAT(identity_of({.common_name = "Jo", .names = "DNS:Cache.Example,URI:spiffe://Example/a,email:Jo@example.org"}),
                ElementsAre("cache.example", "spiffe://Example/a", "Jo@example.org"));
    EXPECT_THAT(identity_of({.common_name = "Jo Doe"}), ElementsAre("Jo Doe"));
    EXPECT_THAT(identity_of({.common_name = "Jo", .names = "IP:10.0.0.1"}), ElementsAre("Jo"));
    EXPECT_THAT(identity_of({.common_name = ""}), IsEmpty());
}

TEST(Certificate, names_that_could_be_mistaken_are_left_out) {
    EXPECT_THAT(identity_of({.common_name = "a\nb"}), IsEmpty());
    EXPECT_THAT(identity_of({.common_name = "Jo", .names = "email:admin.example,URI:admin.example"}), ElementsAre("Jo"));
}

TEST(Certificate, an_end_within_14_days_is_noticed) {
    auto const end = from_unix_seconds(1'764'849'600);   // 2025-12-04T12:00:00Z
    using std::chrono::days;
    using std::chrono::hours;
    EXPECT_EQ(expiry_notice(end, end - days{14} - milliseconds{1}), std::nullopt);
    EXPECT_EQ(expiry_notice(end, end - days{14}), "expires in 14 days, on 2025-12-04");
    EXPECT_EQ(expiry_notice(end, end - hours{47}), "expires in 1 day, on 2025-12-04");
    EXPECT_EQ(expiry_notice(end, end - hours{23}), "expires in 23 hours, on 2025-12-04");
    EXPECT_EQ(expiry_notice(end, end - hours{1}), "expires in 1 hour, on 2025-12-04");
    EXPECT_EQ(expiry_notice(end, end - seconds{1}), "expires in less than an hour, on 2025-12-04");
    EXPECT_EQ(expiry_notice(end, end), "expired on 2025-12-04");
    EXPECT_EQ(expiry_notice(end, end + days{400}), "expired on 2025-12-04");
}

TEST(Certificate, a_key_that_every_user_may_read_is_noticed) {
    PemFiles const files(family().leaf.pem(), family().leaf.key_pem());
    auto const set = [&](unsigned mode) { std::filesystem::permissions(files.names.key, std::filesystem::perms(mode)); };
    for (unsigned const mode : {0600u, 0640u, 0660u}) {
        set(mode);
        EXPECT_FALSE(key_file_notice(files.names.key)) << mode;
    }
    set(0644);
    auto const notice = key_file_notice(files.names.key);
    ASSERT_TRUE(notice);
    EXPECT_EQ(notice->text(),
              files.names.key +
                  ": every user of this machine may read or change the private key (mode 0644); chmod o= " + files.names.key);
    EXPECT_FALSE(key_file_notice("/nonexistent"));
}

}   // namespace
}   // namespace garner::net
