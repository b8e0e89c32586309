// Request smuggling needs two parsers that disagree: compares Garner's with Node's.
#include "hostile/hostile.hpp"
#include "support/child.hpp"
#include "support/places.hpp"
#include "support/programs.hpp"

namespace garner::test {

TEST(HostileParsers, garner_and_llhttp_read_alike_or_differ_as_documented) {
    NEEDS("node");
    auto const compared = run({"node", source("tests/parsers/compare.js"), built("request_verdicts"), "5000", "1"});
    EXPECT_EQ(compared.code, 0) << compared.output << compared.errors;
    EXPECT_THAT(compared.output, HasSubstr("read alike"));
    auto const documented = read_file(source("docs/results/conformance.md"));
    for (std::size_t at = compared.output.find('\n'); at + 1 < compared.output.size(); at = compared.output.find('\n', at + 1)) {
        auto const line = compared.output.substr(at + 1, compared.output.find('\n', at + 1) - at - 1);
        auto const name = line.substr(line.find_first_not_of(" 0123456789"));
        EXPECT_THAT(documented, HasSubstr("| " + name + " |"));
    }
}

namespace {

/// Spellings of /private that an origin may resolve to it.
char const* const spellings[] = {"/private",          "/x/../private",     "//private",       "/./private",   "/%2e/private",
                                 "/x/%2e%2e/private", "/x%2f..%2fprivate", "/%70rivate",      "/%2570rivate", "/x/..//private",
                                 "/x%252f../private", "/%252e/private",    "/x\\..\\private", "/%2fprivate",  "/x/y/../../private"};

/// How many of the spellings reach the origin.
unsigned reached(std::string const& deny, bool with_index) {
    auto rules = nlohmann::json::array();
    for (int i = 0; with_index && i < 20; ++i) rules.push_back({{"deny", {{deny, "/none" + std::to_string(i)}}}});
    rules.push_back({{"deny", {{deny, deny == "decoded_path_matches" ? "^/private" : "/private"}}}});
    rules.push_back({{"allow", {{"destination", "127.0.0.0/8"}}}});
    Origin origin;
    Proxy proxy(nlohmann::json{{"access", rules}}.dump());
    unsigned count = 0;
    for (std::string const path : spellings) {
        origin.answer(path, no_store("secret"));
        count += Client(proxy, origin).get(path).status() != 403;   // a refusal closes the connection
    }
    return count;
}

}   // namespace

TEST(HostileParsers, no_spelling_of_a_path_evades_a_deny_rule) {
    for (auto const* deny : {"url_contains", "url_matches", "decoded_url_matches", "decoded_path_matches"})
        for (bool const with_index : {false, true}) EXPECT_EQ(reached(deny, with_index), 0u) << deny << ", " << with_index;
}

TEST(HostileParsers, no_spelling_of_a_path_leaves_a_folder_that_a_rule_allows) {
    Origin origin;
    Proxy proxy(R"({"access": [{"allow": {"url_contains": "/public/", "destination": "127.0.0.0/8"}}, {"deny": "all"}]})");
    for (std::string const path : {"/public/../private", "/public/%2e%2e/private", "/public/..%2fprivate",
                                   "/public/x/../../private", "/public/%252e%252e/private", "/public/..%252fprivate"}) {
        origin.answer(path, no_store("secret"));
        EXPECT_EQ(Client(proxy, origin).get(path).status(), 403) << path;
    }
    for (std::string const path : {"/public/page", "/public/a%2fb", "/public//x", "/public/x/../page", "/public/a?b=../../c"}) {
        origin.answer(path, no_store("open"));
        EXPECT_EQ(Client(proxy, origin).get(path).body(), "open") << path;
    }
}

}   // namespace garner::test
