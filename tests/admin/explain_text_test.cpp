#include "admin/explain_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "admin/explain_json.hpp"
#include "icp/peer.hpp"

namespace garner::admin {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

proxy::Explanation stale_page() {
    proxy::Explanation explained;
    explained.now = from_unix_seconds(1'000'100);
    explained.method = "GET";
    explained.url = "http://example.com/page";
    explained.listener.address = "127.0.0.1:3128";
    explained.access.verdict = http::Decision::Verdict::allow;
    explained.access.rule = "default: clients on loopback";
    store::Object::Parts parts;
    parts.bytes = "body";
    parts.sequence = 17;
    auto& terms = parts.terms;
    terms.response_time = from_unix_seconds(1'000'000);
    terms.date_value = 999'990;
    terms.age_value = 5;
    terms.initial_age = 10;
    terms.lifetime = 60;
    terms.source = http::LifetimeSource::max_age;
    terms.stale_while_revalidate = 600;
    explained.stored_head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60, stale-while-revalidate=600\r\n\r\n";
    explained.found.object = store::Object::make(parts, nullptr);
    explained.found.answer = http::may_reuse(terms, {}, explained.now);
    explained.outcome = proxy::Outcome::stale;
    explained.why = explained.found.answer.why();
    return explained;
}

TEST(Explain, the_sum_is_told_in_numbers) {
    auto const text = explain_text(explain_json(stale_page()));
    EXPECT_EQ(text, "GET http://example.com/page\n"
                    "  verdict     stale: stale-while-revalidate\n"
                    "              served stale from the cache\n"
                    "  listener    127.0.0.1:3128, forward proxy\n"
                    "  access      allowed by default: clients on loopback\n"
                    "  stored      in memory, status 200, body 4 B, uses 0 B, sequence 17\n"
                    "              since Mon, 12 Jan 1970 13:46:40 GMT\n"
                    "  fields      Cache-Control: max-age=60, stale-while-revalidate=600\n"
                    "  age         Date Mon, 12 Jan 1970 13:46:30 GMT, apparent age 10 s, Age field 5 s\n"
                    "              corrected initial age 10 s + resident time 100 s = 110 s\n"
                    "  lifetime    60 s from max-age\n"
                    "              60 s - 110 s = stale for 50 s\n"
                    "  when stale  served during revalidation for 600 s (10 min 0 s) past the lifetime\n"
                    "              has no validator: fetched again in full\n");
}

TEST(Explain, who_was_asked_and_where_it_goes_is_told) {
    auto const json = Json::parse(R"({"outcome": "miss", "sources": {
        "direct": "may", "hierarchical": true, "undecided": false, "timed_out": true, "took_ms": 2000.5,
        "asked": [
            {"peer": "campus", "type": "parent", "protocol": "ICP", "said": "MISS", "took_ms": 0.812},
            {"peer": "next door", "type": "sibling", "protocol": "HTCP", "said": "HIT", "took_ms": 0.4},
            {"peer": "far", "type": "sibling", "protocol": "ICP", "said": "no answer", "took_ms": null}],
        "order": [{"why": "SIBLING_HIT", "peer": "next door"}, {"why": "HIER_DIRECT", "peer": null}]}})");
    EXPECT_THAT(explain_text(json),
                HasSubstr("\n  peers       campus (parent, ICP) MISS in 0.8 ms; next door (sibling, HTCP) HIT in 0.4 ms; "
                          "far (sibling, ICP) no reply\n"
                          "              a peer that was waited for did not reply in time\n"
                          "  source      SIBLING_HIT/next door, then HIER_DIRECT\n"));
    EXPECT_THAT(explain_text(json), HasSubstr("\n              fetched from peer next door\n"));
}

TEST(Explain, the_verdict_names_the_source_that_comes_first) {
    auto const told = [](char const* outcome, char const* sources) {
        return explain_text(Json{{"outcome", outcome}, {"sources", Json::parse(sources)}});
    };
    constexpr auto by_campus =
        R"({"order": [{"why": "FIRST_PARENT_MISS", "peer": "campus"}, {"why": "HIER_DIRECT", "peer": null}]})";
    EXPECT_THAT(told("miss", by_campus), HasSubstr("fetched from peer campus\n"));
    EXPECT_THAT(told("passed", by_campus), HasSubstr("bypasses the cache: fetched from peer campus\n"));
    EXPECT_THAT(told("revalidate", by_campus), HasSubstr("stored; peer campus is asked to revalidate it\n"));
    EXPECT_THAT(told("miss", R"({"order": [{"why": "HIER_DIRECT", "peer": null}]})"), HasSubstr("fetched from the origin\n"));
    EXPECT_THAT(told("miss", R"({"order": [{"why": "NO_DIRECT_FAIL", "peer": null}]})"),
                HasSubstr("direct.never forbids the origin"));
    EXPECT_THAT(told("miss", R"({"order": []})"), HasSubstr("fetched from a peer or the origin\n"));
    EXPECT_THAT(told("miss", "null"), HasSubstr("fetched from the origin\n"));
}

TEST(Explain, sources_are_told_with_times_and_reasons) {
    icp::PeerOptions options;
    options.name = "next door";
    options.type = icp::PeerOptions::Type::sibling;
    auto const next_door = std::make_shared<icp::Peer>(options);
    options.name = "campus";
    options.type = icp::PeerOptions::Type::parent;
    auto const campus = std::make_shared<icp::Peer>(options);

    auto explained = stale_page();
    auto& told = explained.sources.emplace();
    told.hierarchical = told.answered = true;
    told.resolution.words = {{next_door, icp::ReplyKind::hit, icp::Protocol::htcp, microseconds{400}}, {campus}};
    told.resolution.sources = {{next_door, icp::Hierarchy::sibling_hit}, {nullptr, icp::Hierarchy::direct}};
    told.resolution.took = microseconds{450};
    auto const json = explain_json(explained)["sources"];
    EXPECT_EQ(json["direct"], "may");
    EXPECT_EQ(json["took_ms"], 0.45);
    EXPECT_EQ(json["asked"][0]["took_ms"], 0.4);
    EXPECT_EQ(json["asked"][0]["said"], "HIT");
    EXPECT_TRUE(json["asked"][1]["took_ms"].is_null());
    EXPECT_EQ(json["order"][0]["why"], "SIBLING_HIT");
    EXPECT_EQ(json["order"][0]["peer"], "next door");
    EXPECT_TRUE(json["order"][1]["peer"].is_null());
    EXPECT_THAT(explain_text(explain_json(explained)),
                HasSubstr("\n  peers       next door (sibling, HTCP) HIT in 0.4 ms; campus (parent, ICP) not waited for\n"
                          "  source      SIBLING_HIT/next door, then HIER_DIRECT\n"));
}

TEST(Explain, the_way_to_each_peer_is_told) {
    icp::PeerOptions options;
    options.name = "campus";
    options.https = icp::Https::tunnel;
    auto explained = stale_page();
    auto& told = explained.sources.emplace();
    told.hierarchical = told.answered = true;
    told.resolution.sources = {{std::make_shared<icp::Peer>(options), icp::Hierarchy::default_parent}};
    auto const ends_with_source = [&](char const* source) {
        return HasSubstr(std::string("\n  source      DEFAULT_PARENT/campus") + source + "\n");
    };
    EXPECT_EQ(explain_json(explained)["sources"]["order"][0]["reach"], "clear");
    EXPECT_THAT(explain_text(explain_json(explained)), ends_with_source(""));
    explained.url = "https://www.example.org/";
    EXPECT_EQ(explain_json(explained)["sources"]["order"][0]["reach"], "CONNECT");
    auto const text = explain_text(explain_json(explained));
    EXPECT_THAT(text, ends_with_source(" (CONNECT)"));
    EXPECT_THAT(text, HasSubstr("no peer is queried: queries are sent in clear text"));
}

TEST(Explain, why_nobody_was_asked_is_told) {
    struct Row {
        char const* direct;
        bool hierarchical;
        char const* told;
    };
    for (auto const& row :
         {Row{"always", true, "no peer is queried: direct.always"},
          Row{"may", false, "no peer is queried: queries are sent only for a GET"}, Row{"may", true, "no peer is queried: none"}}) {
        Json const json{{"outcome", "miss"},
                        {"sources", {{"direct", row.direct}, {"hierarchical", row.hierarchical}, {"took_ms", 0.0}}}};
        EXPECT_THAT(explain_text(json), HasSubstr(row.told));
    }
}

TEST(Explain, what_an_origin_wrote_commands_no_terminal) {
    Json json{{"outcome", "hit"}, {"why", "\x1b[31m\u009b2J\a"}};
    auto const text = explain_text(json);
    EXPECT_THAT(text, HasSubstr("hit: ?[31m??2J?"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(Explain, another_versions_answer_is_told_as_far_as_it_goes) {
    for (auto const* answer : {R"({"outcome": "hit"})", R"({"outcome": 1, "freshness": [], "vary": 7, "fetches": {}})",
                               R"({"outcome": "x", "caching_rules": [1, {"name": 2}], "freshness": {"ttl_seconds": "x"}})"})
        EXPECT_THAT(explain_text(Json::parse(answer)), HasSubstr("verdict")) << answer;
}

}   // namespace
}   // namespace garner::admin
