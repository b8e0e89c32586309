#include "admin/explain_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "admin/explain_json.hpp"

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
    explained.listener = "127.0.0.1:3128";
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
    EXPECT_EQ(text,
              "GET http://example.com/page\n"
              "  verdict     stale: stale-while-revalidate\n"
              "              it is answered from the store although stale\n"
              "  listener    127.0.0.1:3128, forward proxy\n"
              "  access      allowed by default: clients on loopback\n"
              "  stored      in memory, status 200, body 4 B, costs 0 B, sequence 17\n"
              "              since Mon, 12 Jan 1970 13:46:40 GMT\n"
              "  fields      Cache-Control: max-age=60, stale-while-revalidate=600\n"
              "  age         Date Mon, 12 Jan 1970 13:46:30 GMT, apparent age 10 s, Age field 5 s\n"
              "              corrected 10 s on arrival + 100 s here = 110 s\n"
              "  lifetime    60 s from max-age\n"
              "              60 s - 110 s = stale for 50 s\n"
              "  when stale  served while revalidated for 600 s (10 min 0 s) past the lifetime\n"
              "              has no validator: fetched anew\n");
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

}  // namespace
}  // namespace garner::admin
