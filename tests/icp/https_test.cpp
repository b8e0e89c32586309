// Which peers take part in https:// requests, and which of them may read the URLs.
#include "icp/https.hpp"

#include <gtest/gtest.h>

#include "icp/neighbours.hpp"

namespace garner::icp {
namespace {

using std::chrono::operator""ms;
using Direct = Question::Direct;

constexpr std::string_view secret = "https://www.example.edu/secret?q=1";

TEST(Https, has_a_default_by_type_and_TLS) {
    EXPECT_EQ(https_of(parent("p")), Https::tunnel);
    EXPECT_EQ(https_of(sibling("s")), Https::no);
    EXPECT_EQ(https_of(secured(parent("p"))), Https::ask);
    EXPECT_EQ(https_of(secured(sibling("s"))), Https::ask);
    EXPECT_EQ(https_of(with_https(secured(parent("p")), Https::tunnel)), Https::tunnel);
    EXPECT_EQ(https_of(with_https(sibling("s"), Https::clear)), Https::clear);
}

TEST(Https, URLs_are_named_in_clear_text_only_with_that_word) {
    for (auto const https : {Https::ask, Https::tunnel, Https::no, Https::clear})
        for (auto const& peer : {with_https(parent("p"), https), with_https(secured(parent("p")), https)}) {
            EXPECT_EQ(may_name(secret, peer), https == Https::clear);
            EXPECT_EQ(may_name("www.example.edu:443", peer), https == Https::clear) << "a CONNECT";
            EXPECT_TRUE(may_name("http://www.example.edu/", peer));
            EXPECT_EQ(may_keep(secret, peer), https == Https::clear || https == Https::ask);
            EXPECT_TRUE(may_keep("http://www.example.edu/", peer));
        }
}

TEST(Https, a_peer_has_a_URL_of_its_own) {
    auto peer = secured(parent("p"));
    EXPECT_EQ(own_url(peer), "http://10.0.0.3:3128/");
    peer.host = "2001:db8::3";
    peer.http = 80;
    EXPECT_EQ(own_url(peer), "http://[2001:db8::3]/");
    EXPECT_TRUE(may_name(own_url(peer), peer));
}

TEST(Https, the_way_to_a_peer_has_a_name) {
    EXPECT_EQ(reach_of(parent("p"), false), "clear");
    EXPECT_EQ(reach_of(parent("p"), true), "CONNECT");
    EXPECT_EQ(reach_of(secured(parent("p")), true), "TLS");
    EXPECT_EQ(reach_of(with_https(secured(parent("p")), Https::tunnel), true), "CONNECT over TLS");
    EXPECT_EQ(reach_of(with_https(secured(parent("p")), Https::tunnel), false), "TLS");
    EXPECT_EQ(reach_of(with_https(parent("p"), Https::clear), true), "clear");
}

// ---- the choice ----

struct HttpsChoices : testing::Test, Neighbours {
    HttpsChoices() { asked_for.https = true; }
    std::string asked() const { return names(plan(asked_for, views).ask); }
    std::string chosen(std::vector<Told> const& told = {}) const { return text_of(choose(asked_for, views, told)); }
    Question asked_for = question(secret);
};

TEST_F(HttpsChoices, only_peers_that_may_read_the_URL_in_clear_text_are_queried) {
    add(with_https(sibling("clear"), Https::clear));
    add(secured(sibling("ask")));
    add(parent("tunnel"));
    EXPECT_EQ(asked(), "clear");
    asked_for = question();
    EXPECT_EQ(asked(), "clear ask tunnel");
}

TEST_F(HttpsChoices, a_digest_is_looked_up_where_the_peer_reads_the_request) {
    add(secured(sibling("ask"))).has_digest = true;
    add(parent("tunnel")).has_digest = true;
    EXPECT_EQ(asked(), "ask");
    EXPECT_EQ(chosen({says("ask", ReplyKind::hit, 0ms, Protocol::digest)}), "CD_SIBLING_HIT ask, HIER_DIRECT");
}

TEST_F(HttpsChoices, a_peer_that_is_not_for_https_takes_no_part) {
    EXPECT_FALSE(takes_part(asked_for, sibling("s")));
    EXPECT_FALSE(takes_part(asked_for, with_https(parent("p"), Https::no)));
    EXPECT_TRUE(takes_part(asked_for, parent("p")));
    EXPECT_TRUE(takes_part(question(), sibling("s")));
}

TEST_F(HttpsChoices, a_parent_that_asks_is_used_without_a_query_and_one_that_tunnels_after_the_origin) {
    auto no_query = parent("tunnel");
    no_query.no_query = true;
    add(no_query);
    add(secured(parent("ask")));
    EXPECT_EQ(chosen(), "FIRSTUP_PARENT ask, HIER_DIRECT, FIRSTUP_PARENT tunnel");
    asked_for.direct = Direct::never;
    EXPECT_EQ(chosen(), "FIRSTUP_PARENT ask, FIRSTUP_PARENT tunnel");
}

TEST_F(HttpsChoices, a_digest_that_has_it_is_followed_by_parents_that_read_the_request) {
    add(secured(sibling("s"))).has_digest = true;
    add(parent("tunnel"));
    add(secured(parent("ask")));
    EXPECT_EQ(chosen({says("s", ReplyKind::hit, 0ms, Protocol::digest)}), "CD_SIBLING_HIT s, FIRSTUP_PARENT ask, HIER_DIRECT");
}

TEST_F(HttpsChoices, parents_that_only_tunnel_are_used_as_for_requests_without_queries) {
    auto by_default = parent("default");
    by_default.is_default = true;
    add(by_default);
    add(parent("other"));
    auto bound = parent("bound");
    bound.domains.push_back(domain(".edu"));
    add(bound);
    auto const hierarchical = chosen();
    asked_for.hierarchical = false;
    EXPECT_EQ(hierarchical, chosen());
    EXPECT_EQ(hierarchical, "SINGLE_PARENT bound, HIER_DIRECT, DEFAULT_PARENT default");
    asked_for.direct = Direct::never;
    EXPECT_EQ(chosen(), "SINGLE_PARENT bound, DEFAULT_PARENT default, FIRSTUP_PARENT other");
}

}   // namespace
}   // namespace garner::icp
