// TLS at listening addresses: keys, and the files that they name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "io/privileges.hpp"
#include "support.hpp"
#include "support/child.hpp"
#include "support/issued_certificate.hpp"

namespace garner::config {
namespace {

using test::IssuedCertificate;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char const* tls_listener = R"({"listen": [{"address": "127.0.0.1:3128"}, {"address": "127.0.0.1:3129", "tls":
    {"certificates": [{"chain": "a.pem", "key": "a.key"}, {"chain": "b.pem", "key": "b.key"}],
     "client_ca": "ca.pem", "client_required": false, "min_version": "1.3"}}]})";

/// Certificate and key files of one TLS listener; `leaf` is written as both, readable by its owner.
struct TlsFiles {
    explicit TlsFiles(IssuedCertificate const& leaf) {
        write(chain, leaf.pem());
        write(key, leaf.key_pem());
    }
    void write(std::string const& path, std::string const& text) const {
        dir.write(std::filesystem::path(path).filename(), text);
        std::filesystem::permissions(path, std::filesystem::perms(0600));
    }
    /// The result of a check of the files. The client CA is used if its file exists.
    Loaded check(std::string const& user = "root") const {
        std::string const ca = std::filesystem::exists(client_ca) ? client_ca : "";
        return load_text("test.json",
                         R"({"user": ")" + user + R"(", "listen": [{"address": ":3129", "tls": {"certificates": [{"chain": ")" +
                             chain + R"(", "key": ")" + key + R"("}], "client_ca": ")" + ca + R"("}}]})",
                         {}, NamedFiles::tried);
    }
    std::string notices() const {
        auto const loaded = check();
        EXPECT_EQ(told(loaded), "");
        std::string out;
        for (auto const& notice : loaded.notices) out += text_of(notice) + "\n";
        return out;
    }

    test::TempDir dir;
    std::string chain = dir.path("chain.pem");
    std::string key = dir.path("key.pem");
    std::string client_ca = dir.path("clients.pem");
};

TEST(ListenTls, all_keys_are_read) {
    auto const loaded = load(tls_listener);
    EXPECT_EQ(told(loaded), "");
    auto const& listen = loaded.config.proxy.listen;
    ASSERT_EQ(listen.size(), 2u);
    EXPECT_FALSE(listen[0].tls);
    EXPECT_TRUE(listen[0].http2);
    net::ListenTls const expected{{{"a.pem", "a.key"}, {"b.pem", "b.key"}}, "ca.pem", false, net::ListenTls::MinVersion::tls_1_3};
    EXPECT_EQ(listen[1].tls, expected);
    auto const plain = load(tls_listener, {"listen[1].http2=false"});
    EXPECT_FALSE(plain.config.proxy.listen[1].http2);
}

TEST(ListenTls, the_least_that_is_needed_is_one_certificate) {
    auto const loaded = load(R"({"listen": [{"address": ":1", "tls": {"certificates": [{"chain": "a", "key": "b"}]}}]})");
    EXPECT_EQ(told(loaded), "");
    EXPECT_EQ(loaded.config.proxy.listen[0].tls, (net::ListenTls{{{"a", "b"}}, "", true, net::ListenTls::MinVersion::tls_1_2}));
    auto const fault = [](std::string const& tls) { return told(load(R"({"listen": [{"address": ":1", "tls": )" + tls + "}]}")); };
    EXPECT_EQ(fault("{}"), "test.json:1: listen[0].tls: has no certificates (add it)\n");
    EXPECT_EQ(fault(R"({"certificates": []})"),
              "test.json:1: listen[0].tls.certificates: no certificate (add { \"chain\": \"FILE\", \"key\": \"FILE\" })\n");
    EXPECT_EQ(fault(R"({"certificates": [{"chain": "a"}]})"), "test.json:1: listen[0].tls.certificates[0]: has no key (add it)\n");
    EXPECT_EQ(fault(R"({"certificates": [{"chain": "", "key": "b"}]})"),
              "test.json:1: listen[0].tls.certificates[0].chain: \"\" is not a file name (name a PEM file)\n");
    EXPECT_THAT(fault(R"({"certificates": [{"chain": "a", "key": "b"}], "min_version": "1.1"})"),
                StartsWith("test.json:1: listen[0].tls.min_version: "));
}

TEST(ListenTls, usable_files_pass_the_check) { EXPECT_EQ(TlsFiles(IssuedCertificate({})).notices(), ""); }

TEST(ListenTls, a_faulty_file_is_named_with_its_key) {
    IssuedCertificate const leaf({}), other({});
    TlsFiles const files(leaf);
    std::string const at = "test.json:1: listen[0].tls.certificates[0].";
    files.write(files.key, other.key_pem());
    EXPECT_EQ(told(files.check()), at + "key: " + files.key + ": the key does not belong to certificate 1 (CN = leaf) of " +
                                       files.chain + " (name the key that this certificate was requested with)\n");
    std::filesystem::remove(files.key);
    EXPECT_EQ(told(files.check()), at + "key: " + files.key + ": cannot be read: No such file or directory " +
                                       "(correct its path, or give the user that runs garner read access)\n");
    files.write(files.chain, "");
    EXPECT_THAT(told(files.check()), StartsWith(at + "chain: " + files.chain + ": no certificate in PEM format ("));
}

TEST(ListenTls, a_faulty_client_ca_is_named) {
    TlsFiles const files(IssuedCertificate({}));
    files.write(files.client_ca, "nothing");
    EXPECT_THAT(told(files.check()),
                StartsWith("test.json:1: listen[0].tls.client_ca: " + files.client_ca + ": no certificate in PEM format ("));
}

TEST(ListenTls, certificates_that_end_soon_are_noticed) {
    TlsFiles const files(IssuedCertificate({.valid_until = 3 * 86'400 + 60}));
    EXPECT_THAT(files.notices(), StartsWith("test.json:1: listen[0].tls.certificates[0].chain: " + files.chain +
                                            ": the certificate expires in 3 days, on "));
    TlsFiles const expired(IssuedCertificate({.valid_until = -1}));
    EXPECT_THAT(expired.notices(), HasSubstr(": the certificate expired on "));
    TlsFiles const clients(IssuedCertificate({}));
    clients.write(clients.client_ca, IssuedCertificate({.common_name = "authority", .is_ca = true, .valid_until = -1}).pem());
    EXPECT_THAT(clients.notices(),
                StartsWith("test.json:1: listen[0].tls.client_ca: " + clients.client_ca + ": CN = authority expired on "));
}

TEST(ListenTls, a_key_that_every_user_may_read_is_a_notice) {
    TlsFiles const files(IssuedCertificate({}));
    std::filesystem::permissions(files.key, std::filesystem::perms(0644));
    EXPECT_EQ(files.notices(),
              "test.json:1: listen[0].tls.certificates[0].key: " + files.key +
                  ": every user of this machine may read or change the private key (mode 0644) (chmod o= " + files.key + ")\n");
}

TEST(ListenTls, files_that_only_root_may_read_are_noticed) {
    if (!io::is_root() || !io::find_account("nobody")) GTEST_SKIP() << "only root becomes another user";
    TlsFiles const files(IssuedCertificate({}));
    auto const loaded = files.check("nobody");
    EXPECT_EQ(told(loaded), "") << "the start reads them as root";
    ASSERT_EQ(loaded.notices.size(), 2u);
    EXPECT_EQ(text_of(loaded.notices[1]), "test.json:1: listen[0].tls.certificates[0].key: \"" + files.key +
                                              "\" cannot be read by a reload: Permission denied for user nobody (give this user "
                                              "read access, such as by chgrp and chmod g+r; until then SIGHUP changes nothing)");
}

TEST(ListenTls, client_required_without_a_client_ca_is_a_notice) {
    auto const loaded =
        load(R"({"listen": [{"address": ":1", "tls": {"certificates": [{"chain": "a", "key": "b"}], "client_required": true}}]})");
    ASSERT_EQ(loaded.notices.size(), 1u);
    EXPECT_EQ(text_of(loaded.notices[0]), "test.json:1: listen[0].tls.client_required: has no effect without client_ca "
                                          "(name the CA file of the clients, or remove this key)");
}

}   // namespace
}   // namespace garner::config
