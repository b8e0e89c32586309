// The cost of the question whether a stored response is outdated: with nothing new, and for the first time after an invalidation.
//   invalidations [ROUNDS]   the best of ROUNDS passes over 10,000 responses, 7 by default; prints ns for each response
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "cache/invalidations.hpp"

namespace {

using namespace garner;

constexpr int responses = 10'000;
constexpr int tags_each = 3;
constexpr int entries_max = 1'000'000;
WallTime const now{seconds(1'700'000'000)};

std::string url(int number) { return "http://www.example.com/articles/2026/" + std::to_string(number); }

/// The head of a page of a content management system.
std::string head(int number) {
    std::string head = "HTTP/1.1 200 OK\r\nDate: Fri, 27 Nov 2026 12:00:00 GMT\r\nServer: Apache\r\nContent-Type: text/html; "
                       "charset=utf-8\r\nCache-Control: public, max-age=3600\r\nETag: \"5f3a-61b2c\"\r\nVary: Accept-Encoding\r\n"
                       "Surrogate-Key:";
    for (int tag = 0; tag < tags_each; ++tag) head += " node-" + std::to_string(number * tags_each + tag);
    return head + "\r\n";
}

std::vector<store::ObjectPtr> make_responses() {
    std::vector<store::ObjectPtr> all;
    for (int number = 0; number < responses; ++number) {
        std::string const key = "a" + url(number), text = head(number);
        store::Object::Parts parts;
        parts.key = key;
        parts.head = text;
        parts.sequence = 1;
        all.push_back(store::Object::make(parts, nullptr));
    }
    return all;
}

using Kind = cache::Invalidation::Kind;
constexpr Kind kinds[]{Kind::url, Kind::prefix, Kind::tag};

/// An invalidation of an object with this number, which has no response here.
cache::Invalidation invalidation(Kind kind, int number) {
    switch (kind) {
    case Kind::url: return *cache::url_invalidation(url(number), false);
    case Kind::prefix: return *cache::prefix_invalidation(url(number) + "/", false);
    default: return *cache::tag_invalidation("node-" + std::to_string(number * tags_each), "", false);
    }
}

/// ns for each response.
double judge_all(cache::Invalidations const& table, std::vector<store::ObjectPtr> const& all) {
    auto const begun = std::chrono::steady_clock::now();
    int outdated = 0;
    for (auto const& object : all) outdated += table.judge(*object) ? 1 : 0;
    auto const took = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begun).count();
    if (outdated != 0) std::abort();
    return took / static_cast<double>(all.size());
}

/// The best of `rounds`: once after a new invalidation, which concerns none of the responses, and then with nothing new.
std::pair<double, double> measure(cache::Invalidations& table, std::vector<store::ObjectPtr> const& all, Kind kind, int rounds) {
    double first = 1e300, again = 1e300;
    for (int round = 0; round < rounds; ++round) {
        table.accept(invalidation(kind, -1 - round), now);
        first = std::min(first, judge_all(table, all));
        again = std::min(again, judge_all(table, all));
    }
    return {first, again};
}

void measure(int entries, int rounds) {
    cache::Numbers numbers;
    cache::Invalidations table(numbers, 2 * entries_max);
    auto const all = make_responses();
    for (int number = 0; number < entries; ++number) table.accept(invalidation(kinds[number % 3], responses + number), now);
    judge_all(table, all);
    auto const [url, none] = measure(table, all, Kind::url, rounds);
    auto const [prefix, none_after_prefix] = measure(table, all, Kind::prefix, rounds);
    auto const [tag, none_after_tag] = measure(table, all, Kind::tag, rounds);
    std::printf("%13d %8.1f %8.1f %8.1f %12.1f\n", entries, url, prefix, tag, std::max({none, none_after_prefix, none_after_tag}));
}

}   // namespace

int main(int count, char** words) {
    int const rounds = count > 1 ? std::max(1, std::atoi(words[1])) : 7;
    std::printf("ns for a response; once after a new invalidation by\n%13s %8s %8s %8s %12s\n", "invalidations", "URL", "prefix",
                "tag", "nothing new");
    for (int const entries : {0, 1'000, 30'000, entries_max}) measure(entries, rounds);
}
