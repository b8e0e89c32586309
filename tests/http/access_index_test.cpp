#include "http/access_index.hpp"

#include <gtest/gtest.h>

#include <random>

#include "http/dates.hpp"
#include "support/rounds.hpp"

namespace garner::http {
namespace {

/// Random rules and requests from few values, so that rules overlap and match.
class Dice {
public:
    explicit Dice(unsigned seed) : random_(seed) {}

    bool chance(unsigned of) { return random_() % of == 0; }
    unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

    std::string host() {
        std::string text;
        for (unsigned labels = 1 + below(3), i = 0; i < labels; ++i) text += (i ? "." : "") + std::string(1, "ABcd"[below(4)]);
        return chance(8) ? "10.0.0." + std::to_string(below(3)) : text + ".test";
    }
    IpAddress address() {
        return chance(6) ? *parse_ip("fd00::7")
                         : IpAddress::v4(10, 0, static_cast<std::uint8_t>(below(3)), static_cast<std::uint8_t>(below(8)));
    }
    std::string letters() { return {"abcd"[below(4)], "abcd"[below(4)]}; }

    Matcher matcher(unsigned depth = 0) {
        Matcher match;
        if (chance(3)) match.source = networks();
        if (chance(9)) match.destination = networks();
        if (chance(4)) match.host = hosts();
        if (chance(8)) match.port = {ports()};
        if (chance(12)) match.listener = {ports()};
        if (chance(9)) match.method = {method()};
        if (chance(9)) match.time = {*TimeWindow::parse(chance(2) ? "Mon-Thu 06:00-12:00" : "Fri,Sat 22:00-05:00")};
        if (chance(14)) match.user = {chance(3) ? "*" : "anna"};
        if (chance(14)) match.group = {"staff"};
        if (chance(60)) match.never = "host";
        if (depth < 2 && chance(5)) match.is = {named(depth)};
        if (depth < 2 && chance(8)) match.is_not = {named(depth)};
        if (!has_texts_) return match;
        if (chance(6)) match.url_contains = {letters(), letters()};
        if (chance(7)) match.url_matches = {pattern()};
        if (chance(9)) match.host_matches = {pattern()};
        if (chance(9)) match.decoded_url_matches = {pattern(), pattern()};
        if (chance(9)) match.decoded_path_matches = {pattern()};
        return match;
    }

    std::vector<AccessRule> rules() {
        has_texts_ = chance(12);   // to build the automata takes most of the time
        std::vector<AccessRule> all(1 + below(chance(20) ? 150 : 30));
        for (auto& rule : all) rule = {chance(2), matcher(), "rule"};
        return all;
    }

private:
    NetworkSet networks() {
        std::vector<IpNetwork> all;
        for (unsigned count = 1 + below(chance(5) ? 8 : 2), i = 0; i < count; ++i) {
            auto const address = this->address();
            unsigned const bits = 20 + below(13);
            all.push_back(address.is_v4() ? IpNetwork{first_bits(address, bits, 0), static_cast<std::uint8_t>(96 + bits)}
                                          : IpNetwork{first_bits(address, 0, bits), static_cast<std::uint8_t>(bits)});
        }
        return all;
    }
    HostPattern pattern_of_host() {
        auto const text = host();
        return *HostPattern::parse((chance(2) && !parse_ip(text) ? "." : "") + text);
    }
    HostSet hosts() {
        std::vector<HostPattern> all;
        for (unsigned count = 1 + below(chance(6) ? 12 : 3), i = 0; i < count; ++i) all.push_back(pattern_of_host());
        if (!chance(8)) return all;
        auto list = std::make_shared<HostList>(2);
        list->add(pattern_of_host().text());
        return HostSet(all, {list});
    }
    PortRange ports() {
        auto const first = static_cast<std::uint16_t>(80 + below(4));
        return {first, static_cast<std::uint16_t>(first + below(3))};
    }
    std::string method() { return chance(2) ? "GET" : chance(2) ? "pOsT" : "M" + std::to_string(below(40)); }
    /// One of few: RE2 takes longer to read an expression than all else here.
    TextPattern pattern() {
        static std::vector<TextPattern> const all = [] {
            Dice dice(99);
            std::vector<TextPattern> made;
            for (int i = 0; i < 60; ++i) made.push_back(dice.new_pattern());
            return made;
        }();
        return all[below(static_cast<unsigned>(all.size()))];
    }
    TextPattern new_pattern() {
        auto const text = letters() + (chance(2) ? ".*" + letters() : "[a-c]?") + (chance(4) ? "$" : "");
        return *TextPattern::parse(text, chance(3) ? TextPattern::Case::ignored : TextPattern::Case::matters);
    }
    NamedMatcher named(unsigned depth) { return {"named", std::make_shared<Matcher const>(matcher(depth + 1))}; }

    std::mt19937 random_;
    bool has_texts_ = true;
};

struct Asked {
    std::string host, url, plain_url, method;
    ResolvedUrls resolved;
    Identity identity;
    RuleRequest facts;
    std::optional<IpAddress> destination;

    explicit Asked(Dice& dice) {
        host = dice.host() + (dice.chance(9) ? "." : "");
        std::string path = "/" + dice.letters() + "/" + dice.letters() + dice.letters();
        bool const is_tunnel = dice.chance(6);
        url = is_tunnel ? host + ":443" : "http://" + host + path;
        if (!is_tunnel && dice.chance(3)) url += "%61%62", plain_url = "http://" + host + path + "ab";
        if (!is_tunnel && dice.chance(3)) {
            auto const origin = "http://" + host;
            url = origin + std::string(dice.chance(2) ? "/a/../" : "//") + dice.letters() + "%2f" + dice.letters() + "%2561";
            plain_url = origin + url.substr(origin.size());
            resolved.assign(url, origin.size());
        }
        method = is_tunnel ? "CONNECT" : dice.chance(2) ? "GET" : dice.chance(4) ? "Post" : "m" + std::to_string(dice.below(45));
        identity.user = dice.chance(2) ? "Anna" : "bob";
        if (dice.chance(2)) identity.groups = {"staff"};
        identity.groups_known = !dice.chance(4);
        facts.client = dice.address();
        facts.method_text = method;
        facts.host = host;
        facts.port = static_cast<std::uint16_t>(79 + dice.below(7));
        facts.url = url;
        facts.plain_url = plain_url;
        facts.resolved = &resolved;
        facts.now = from_unix_seconds(1'700'000'000 + 1'800 * dice.below(400));
        facts.listener = static_cast<std::uint16_t>(79 + dice.below(7));
        facts.accelerated = dice.chance(9);
        facts.unverified = dice.chance(5);
        if (dice.chance(2)) facts.identity = &identity;
        if (dice.chance(2)) destination = dice.address();
    }
    IpAddress const* address() const { return destination ? &*destination : nullptr; }
};

TEST(AccessIndex, finds_what_a_walk_finds_in_10000_random_sets_of_rules) {
    auto const sets = test::rounds(10'000);
    std::size_t matched = 0, undecided = 0;
    for (unsigned seed = 0; seed < sets; ++seed) {
        Dice dice(seed);
        auto const rules = dice.rules();
        AccessIndex const index(rules);
        for (int i = 0; i < 10; ++i) {
            Asked const asked(dice);
            auto const expected = first_match_by_walk(rules, asked.facts, asked.address());
            auto const found = index.find(rules, asked.facts, asked.address());
            ASSERT_EQ(found, expected) << "seed " << seed << ": rule " << found.rule << " for " << expected.rule << ", "
                                       << asked.url;
            matched += expected.result == Matcher::Result::yes;
            undecided += expected.rule != SIZE_MAX && expected.result != Matcher::Result::yes;
        }
    }
    EXPECT_GT(matched, sets);
    EXPECT_GT(undecided, sets / 10);
}

TEST(AccessIndex, of_no_rules_finds_nothing) {
    std::vector<AccessRule> const none;
    AccessIndex const index(none);
    EXPECT_EQ(index.find({}, {}, nullptr), FirstMatch{});
}

TEST(AccessIndex, many_rules_of_one_kind_are_found_in_order) {
    std::vector<AccessRule> rules;
    for (std::uint8_t i = 0; i < 200; ++i)
        rules.push_back({i % 2 == 0, {.source = {IpNetwork{IpAddress::v4(10, 0, i, 0), 96 + 24}}}, "rule"});
    AccessIndex const index(rules);
    for (std::uint8_t i = 0; i < 200; ++i) {
        RuleRequest asked{.client = IpAddress::v4(10, 0, i, 9)};
        EXPECT_EQ(index.find(rules, asked, nullptr).rule, i);
    }
    EXPECT_EQ(index.find(rules, {.client = IpAddress::v4(10, 0, 200, 1)}, nullptr).rule, SIZE_MAX);
    EXPECT_EQ(index.find(rules, {.client = IpAddress::v4(9, 255, 255, 255)}, nullptr).rule, SIZE_MAX);
}

}   // namespace
}   // namespace garner::http
