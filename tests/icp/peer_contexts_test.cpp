// The files of the peers' TLS.
#include "icp/peer_contexts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "icp/neighbours.hpp"
#include "support/certificate.hpp"
#include "support/child.hpp"

namespace garner::icp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct PeerContextFiles : testing::Test {
    test::TempDir dir;
    test::Certificate certificate;
    std::string const chain = dir.write("chain.pem", certificate.pem());
    std::string const key = dir.write("key.pem", certificate.key_pem());

    /// The second of two peers has this TLS.
    Result<PeerContexts> contexts(PeerTls const& tls) const {
        std::vector<PeerOptions> peers{parent("plain"), parent("secure")};
        peers.back().tls = tls;
        return make_peer_contexts(peers);
    }
};

TEST_F(PeerContextFiles, make_a_context_for_each_peer_with_TLS) {
    auto const made = test::made(contexts({.ca_file = chain, .chain = chain, .key = key}));
    ASSERT_EQ(made.size(), 2u);
    EXPECT_FALSE(made[0]);
    EXPECT_TRUE(made[1]);
    EXPECT_NE(made[1]->id(), test::made(contexts({}))[1]->id());
}

TEST_F(PeerContextFiles, are_named_with_their_key_if_they_are_faulty) {
    auto const missing = dir.path("missing.pem").string();
    EXPECT_THAT(contexts({.ca_file = missing}).fault_text(), StartsWith("peers[1].tls.ca_file: "));
    EXPECT_THAT(contexts({.ca_file = missing}).fault_text(), HasSubstr(missing));
    EXPECT_THAT(contexts({.chain = missing, .key = key}).fault_text(), StartsWith("peers[1].tls.chain: " + missing));
    EXPECT_THAT(contexts({.chain = chain, .key = missing}).fault_text(), StartsWith("peers[1].tls.key: " + missing));
    auto const other = dir.write("other.pem", test::Certificate().key_pem());
    EXPECT_THAT(contexts({.chain = chain, .key = other}).fault_text(), StartsWith("peers[1].tls.key: " + other));
}

}   // namespace
}   // namespace garner::icp
