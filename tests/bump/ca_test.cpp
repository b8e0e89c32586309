// The files of the CA: made, refused with their reasons, shown; openssl verifies them.
#include "bump/ca_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "bump/ca_text.hpp"
#include "ca_scene.hpp"

namespace garner::bump {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;
using CommandKind = CaCommand::Kind;

struct Ran {
    int code;
    std::string out, err;
};

Ran run(CaCommand const& command) {
    std::ostringstream out, err;
    auto const code = run_ca_command(command, out, err);
    return {code, out.str(), err.str()};
}

unsigned mode_of(std::string const& file) {
    struct stat status {};
    EXPECT_EQ(::stat(file.c_str(), &status), 0) << file;
    return status.st_mode & 07777u;
}

Rules rules_for(std::vector<std::string> const& hosts) {
    Rule rule{.action = Action::bump};
    std::vector<http::HostPattern> patterns;
    for (auto const& host : hosts) patterns.push_back(*http::HostPattern::parse(host));
    rule.match.host = http::HostSet(patterns);
    return {{rule}};
}

std::string openssl_text(std::string const& file) { return test::run({"openssl", "x509", "-noout", "-text", "-in", file}).output; }

TEST(CaInit, makes_a_root_and_a_constrained_signing_certificate) {
    CaScene const scene;
    auto const ran =
        run({.kind = CommandKind::init, .directory = scene.directory, .rules = rules_for({".example.org", "192.0.2.1"})});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, StartsWith("The CA may sign for: only example.org and names below it, 192.0.2.1\n"));
    EXPECT_THAT(ran.out, HasSubstr("\"ca_chain\": \"" + scene.paths.chain + "\", \"ca_key\": \"" + scene.paths.key + "\""));
    for (auto const& key : {scene.paths.key, scene.paths.root_key}) EXPECT_EQ(mode_of(key), 0600u);
    EXPECT_EQ(test::run({"openssl", "verify", "-x509_strict", "-CAfile", scene.paths.root, scene.paths.chain}).code, 0);
    auto const root = openssl_text(scene.paths.root), signing = openssl_text(scene.paths.chain);
    EXPECT_THAT(root, HasSubstr("CA:TRUE, pathlen:1"));
    EXPECT_THAT(root, Not(HasSubstr("Name Constraints")));
    for (auto const* line : {"CA:TRUE, pathlen:0", "X509v3 Name Constraints: critical", "DNS:example.org",
                             "IP:192.0.2.1/255.255.255.255", "TLS Web Server Authentication", "Certificate Sign, CRL Sign"})
        EXPECT_THAT(signing, HasSubstr(line));
}

TEST(CaInit, overwrites_nothing_and_leaves_nothing_half_made) {
    CaScene const scene;
    CaCommand const init{.kind = CommandKind::init, .directory = scene.directory, .any_host = true};
    ASSERT_EQ(run(init).code, 0);
    auto const root = test::read_file(scene.paths.root), key = test::read_file(scene.paths.root_key);
    EXPECT_EQ(run(init).err,
              "garner: " + scene.paths.chain + ": exists and is not overwritten; name another directory, or move this file away\n");
    std::filesystem::remove(scene.paths.chain);
    EXPECT_THAT(run(init).err, HasSubstr(scene.paths.key + ": exists"));
    std::filesystem::remove(scene.paths.key);

    // The root remains: a new signing certificate below it.
    ASSERT_EQ(run(init).code, 0);
    EXPECT_EQ(test::read_file(scene.paths.root), root);
    EXPECT_EQ(test::read_file(scene.paths.root_key), key);
    EXPECT_EQ(test::run({"openssl", "verify", "-CAfile", scene.paths.root, scene.paths.chain}).code, 0);

    for (auto const& file : {scene.paths.chain, scene.paths.key, scene.paths.root_key}) std::filesystem::remove(file);
    EXPECT_THAT(run(init).err, HasSubstr(scene.paths.root_key + ": cannot be read"));
    EXPECT_FALSE(std::filesystem::exists(scene.paths.chain));
    EXPECT_THAT(run({.kind = CommandKind::init, .directory = "/proc/none", .any_host = true}).err, HasSubstr("cannot be written"));
}

TEST(CaInit, needs_rules_or_the_word_of_the_operator) {
    CaScene const scene;
    EXPECT_THAT(run({.kind = CommandKind::init, .directory = scene.directory}).err, HasSubstr("or --any-host"));
    EXPECT_FALSE(std::filesystem::exists(scene.directory));
    ASSERT_EQ(run({.kind = CommandKind::init, .directory = scene.directory, .rules = {{{.action = Action::bump}}}}).code, 0);
    EXPECT_EQ(scene.authority()->constraints().text(), "any name") << "the rule bumps any host";
}

TEST(CaCommands, show_and_export_the_chain) {
    CaScene const scene;
    ASSERT_EQ(scene.init({".example.org"}).fault_text(), "");
    auto const by_directory = run({.kind = CommandKind::show, .directory = scene.directory});
    EXPECT_EQ(by_directory.code, 0) << by_directory.err;
    EXPECT_THAT(by_directory.out,
                MatchesRegex("certificate 1 of 2, which signs\n"
                             "  subject      O = Garner, CN = Garner interception CA of .*\n"
                             "  valid from   .* UTC\n"
                             "  valid until  .* UTC\n"
                             "  signs for    only example.org and names below it; no IPv4 addresses, IPv6 addresses\n"
                             "  may sign     servers only\n"
                             "  key          EC, prime256v1\n"
                             "  SHA-256      [0-9A-F:]{95}\n"
                             "certificate 2 of 2\n"
                             "  subject      O = Garner, CN = Garner root CA of .* \\(root\\)\n.*"));
    EXPECT_EQ(run({.kind = CommandKind::show, .chain = scene.paths.chain}).out, by_directory.out);
    auto const fingerprint = test::run({"openssl", "x509", "-noout", "-fingerprint", "-sha256", "-in", scene.paths.root}).output;
    EXPECT_THAT(by_directory.out, HasSubstr(fingerprint.substr(fingerprint.find('=') + 1)));

    EXPECT_EQ(run({.kind = CommandKind::export_root, .chain = scene.paths.chain}).out, test::read_file(scene.paths.root));
    auto const der = run({.kind = CommandKind::export_root, .directory = scene.directory, .der = true}).out;
    auto const back = test::run({"openssl", "x509", "-inform", "DER", "-in", scene.folder.write("root.der", der)}).output;
    EXPECT_EQ(back, test::read_file(scene.paths.root));
    EXPECT_EQ(run({.kind = CommandKind::show}).err,
              "garner: the configuration has no bump.ca_chain; name the directory of the CA, or pass --config FILE\n");
    EXPECT_EQ(run({.kind = CommandKind::show, .directory = "/nowhere"}).code, 1);
}

// ---- read_ca ----

std::string fault_of(Result<Ca> const& result) { return result.fault_text(); }

TEST(CaFiles, a_key_that_others_may_read_is_refused) {
    CaScene const scene;
    ASSERT_EQ(scene.init().fault_text(), "");
    for (auto const mode : {0640u, 0604u, 0644u, 0660u, 0601u}) {
        ASSERT_EQ(::chmod(scene.paths.key.c_str(), mode), 0);
        EXPECT_THAT(
            fault_of(read_ca(scene.paths.chain, scene.paths.key)),
            MatchesRegex(".*/ca.key: other users may read or change the CA's private key \\(mode 06..\\); chmod 0600 .*/ca.key"));
    }
    for (auto const mode : {0600u, 0400u}) {
        ASSERT_EQ(::chmod(scene.paths.key.c_str(), mode), 0);
        EXPECT_TRUE(read_ca(scene.paths.chain, scene.paths.key));
    }
}

/// Written with mode 0600.
std::string secret_file(CaScene const& scene, std::string const& name, std::string const& text) {
    auto file = scene.folder.write(name, text);
    EXPECT_EQ(::chmod(file.c_str(), 0600), 0);
    return file;
}

TEST(CaFiles, faults_name_the_file_and_the_fix) {
    CaScene const scene, other;
    ASSERT_EQ(scene.init().fault_text(), "");
    ASSERT_EQ(other.init().fault_text(), "");
    auto const& chain = scene.paths.chain;
    EXPECT_THAT(fault_of(read_ca("/nowhere/chain.pem", scene.paths.key)), StartsWith("/nowhere/chain.pem: cannot be read"));
    EXPECT_THAT(fault_of(read_ca(chain, "/nowhere/ca.key")), StartsWith("/nowhere/ca.key: cannot be read: No such file"));
    EXPECT_THAT(fault_of(read_ca(chain, scene.directory)), HasSubstr(": is not a file"));
    EXPECT_THAT(
        fault_of(read_ca(chain, other.paths.key)),
        MatchesRegex(
            ".*ca.key: is not the key of the first certificate \\(O = Garner, CN = Garner interception CA of .*\\) of .*chain.pem; "
            "name the key that belongs to it"));
    EXPECT_THAT(fault_of(read_ca(chain, secret_file(scene, "none", "no key"))), HasSubstr("no private key"));
    EXPECT_THAT(fault_of(read_ca(chain, secret_file(scene, "huge", std::string(70'000, 'x')))), HasSubstr("longer than 64 KiB"));

    test::IssuedCertificate const ed25519({.is_ca = true, .key = "ED25519"}), small({.is_ca = true, .key = "RSA-1024"}), leaf({}),
        odd({.is_ca = true, .key = "secp256k1"});
    struct Row {
        test::IssuedCertificate const& certificate;
        char const* fault;
    };
    for (auto const& row : {Row{ed25519, "has a key that is neither RSA nor EC"}, Row{small, "has an RSA key of 1024 bits"},
                            Row{leaf, "may not sign certificates (it is no CA)"}, Row{odd, "on the curve secp256k1"}}) {
        auto const file = scene.folder.write("chain", row.certificate.pem());
        EXPECT_THAT(fault_of(read_ca(file, secret_file(scene, "key", row.certificate.key_pem()))), HasSubstr(row.fault));
    }
    auto const broken = scene.folder.write("broken", test::read_file(chain).substr(0, 30) + "\n");
    EXPECT_THAT(fault_of(read_ca(broken, scene.paths.key)), StartsWith(broken + ": "));
    auto const signing = test::read_file(chain).substr(0, test::read_file(chain).rfind("-----BEGIN"));
    auto const foreign = scene.folder.write("foreign", signing + test::read_file(other.paths.root));
    EXPECT_THAT(fault_of(read_ca(foreign, scene.paths.key)), HasSubstr("broken chain: certificate 2 "));
    auto const alone = scene.folder.write("alone", signing);
    EXPECT_TRUE(read_ca(alone, scene.paths.key)) << "a chain without the root is valid";
    EXPECT_THAT(run({.kind = CommandKind::export_root, .chain = alone}).err, HasSubstr("does not end with a root"));
}

TEST(CaFiles, an_end_within_fourteen_days_is_noticed) {
    test::IssuedCertificate const soon({.common_name = "Soon", .is_ca = true, .valid_until = 86'400 * 9 + 60});
    test::IssuedCertificate const past({.common_name = "Past", .is_ca = true, .valid_until = -60});
    std::vector<std::shared_ptr<X509>> chain;
    for (auto const* one : {&soon, &past}) chain.emplace_back(X509_dup(one->x509()), &X509_free);
    auto const notices = expiry_notices(chain, "chain.pem", wall_now());
    ASSERT_EQ(notices.size(), 2u);
    EXPECT_THAT(notices[0].text(), StartsWith("chain.pem: certificate 1 (CN = Soon) expires in 9 days"));
    EXPECT_THAT(notices[1].text(), HasSubstr("certificate 2 (CN = Past) expired on "));
    CaScene const scene;
    ASSERT_EQ(scene.init().fault_text(), "");
    EXPECT_TRUE(expiry_notices(read_ca(scene.paths.chain, scene.paths.key)->chain, scene.paths.chain, wall_now()).empty());
}

}   // namespace
}   // namespace garner::bump
