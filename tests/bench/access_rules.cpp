// The cost of a decision of the access rules, by the index and by a walk, and that of a long list of hosts.
//   access_rules [SECONDS]   measures each row for about SECONDS, 0.5 by default; prints ns of processor time
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "http/access_index.hpp"
#include "util/clock.hpp"

namespace {

using namespace garner;
using namespace garner::http;

double seconds_each = 0.5;
std::mt19937 random_numbers(7);

std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_numbers() % bound); }

std::string host_name(std::uint32_t number) {
    return "www" + std::to_string(number) + ".site" + std::to_string(number % 977) + ".example";
}

IpNetwork network() {
    return {IpAddress::v4(10, static_cast<std::uint8_t>(below(200)), static_cast<std::uint8_t>(below(256)), 0), 96 + 24};
}

AccessRule plain_rule(std::uint32_t number) {
    Matcher match;
    if (number % 2 == 0) match.source = {network(), network()};
    if (number % 2 == 1 || number % 4 == 0) match.host = {*HostPattern::parse("." + host_name(number))};
    return {number % 3 == 0, std::move(match), "rule"};
}

/// One in ten has a regular expression; others have ports, times, methods or parts of URLs.
AccessRule mixed_rule(std::uint32_t number) {
    auto rule = plain_rule(number);
    auto& match = rule.match;
    switch (number % 10) {
    case 0: match.url_matches = {*TextPattern::parse("/path" + std::to_string(number) + "/.*\\.(zip|exe)$")}; break;
    case 1: match.port = {{static_cast<std::uint16_t>(8'000 + below(900)), 9'000}}; break;
    case 2: match.time = {*TimeWindow::parse("Mon-Fri 08:00-12:00")}; break;
    case 3: match.method = {"POST", "PUT"}; break;
    case 4: match.url_contains = {"/part" + std::to_string(number) + "/"}; break;
    default: break;
    }
    if (number % 20 == 0) match.source = {}, match.host = {};   // only the expression
    return rule;
}

struct Asked {
    std::string host, url;
    RuleRequest facts;
};

std::vector<Asked> requests(std::uint32_t rules) {
    std::vector<Asked> all(512);
    for (auto& one : all) {
        one.host = host_name(below(rules * 2));
        one.url = "http://" + one.host + "/path" + std::to_string(below(2 * rules)) + "/some/file.html?session=0123456789";
        one.facts = {.client = IpAddress::v4(10, static_cast<std::uint8_t>(below(250)), static_cast<std::uint8_t>(below(256)), 9),
                     .host = one.host,
                     .url = one.url,
                     .now = wall_now()};
    }
    return all;
}

/// Nanoseconds of processor time for one call.
double measure(std::function<void(std::size_t)> const& call) {
    std::size_t calls = 0;
    auto const begin = thread_seconds();
    double taken = 0;
    for (; taken < seconds_each; taken = thread_seconds() - begin)
        for (int i = 0; i < 64; ++i) call(calls++);
    return taken * 1e9 / static_cast<double>(calls);
}

void measure_rules(char const* what, std::uint32_t count, AccessRule (*make)(std::uint32_t)) {
    std::vector<AccessRule> rules;
    for (std::uint32_t i = 0; i < count; ++i) rules.push_back(make(i));
    auto const before = thread_seconds();
    AccessIndex const index(rules);
    auto const built = thread_seconds() - before;
    auto const asked = requests(count);
    std::size_t sum = 0;
    auto const by_index = measure([&](auto i) { sum += index.find(rules, asked[i % asked.size()].facts, nullptr).rule; });
    auto const by_walk = measure([&](auto i) { sum += first_match_by_walk(rules, asked[i % asked.size()].facts, nullptr).rule; });
    std::printf("%5u %-18s index %7.0f ns, walk %8.0f ns; built in %.1f ms (%zu)\n", count, what, by_index, by_walk, built * 1e3,
                sum % 10);
}

/// A random read of memory that depends on the one before.
double dependent_read(std::size_t bytes) {
    std::vector<std::uint32_t> next(bytes / sizeof(std::uint32_t));
    for (std::uint32_t i = 0; i < next.size(); ++i) next[i] = i;
    for (auto i = next.size() - 1; i > 0; --i) std::swap(next[i], next[random_numbers() % i]);   // one cycle (Sattolo)
    std::uint32_t at = 0;
    auto const each = measure([&](auto) { at = next[at]; });
    return at == UINT32_MAX ? 0 : each;
}

void measure_list(std::uint32_t names) {
    std::vector<std::string> texts;
    for (std::uint32_t i = 0; i < names; ++i) texts.push_back(host_name(i));
    auto const before = thread_seconds();
    HostList list(names);
    for (auto const& text : texts) list.add(text);
    auto const built = thread_seconds() - before;
    std::vector<std::string> asked;
    for (std::size_t i = 0; i < 1'000'000; ++i) asked.push_back(host_name(below(2 * names)));
    std::size_t found = 0;
    auto const each = measure([&](auto i) { found += list.contains(asked[i % asked.size()]); });
    auto const only_texts = measure([&](auto i) { found += asked[i % asked.size()].size(); });
    std::printf("%u hosts: %.1f MB, built in %.2f s, look-up %.0f ns (of which the test's own text %.0f ns); a dependent read %.0f "
                "ns (%zu)\n",
                names, static_cast<double>(list.memory_bytes()) / 1e6, built, each, only_texts, dependent_read(list.memory_bytes()),
                found % 10);
}

}   // namespace

int main(int argc, char** argv) {
    if (argc > 1) seconds_each = std::atof(argv[1]);
    for (std::uint32_t const count : {4u, 8u, 16u, 100u, 1'000u, 4'000u}) measure_rules("sources and hosts", count, plain_rule);
    for (std::uint32_t const count : {8u, 16u, 100u, 1'000u}) measure_rules("mixed", count, mixed_rule);
    measure_list(1'000'000);
}
