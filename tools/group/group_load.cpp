// Members that submit invalidations as fast as the group takes them. tools/group_speed builds and starts it.
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cache/cache.hpp"
#include "group/group.hpp"
#include "util/bytes.hpp"
#include "util/ip.hpp"

namespace {

using namespace garner;

struct Arguments {
    group::Options group;
    std::size_t members = 2;
    std::uint64_t count = 100'000;    // invalidations, of all members together
    std::ptrdiff_t waiting = 4'000;   // each member has at most so many that are not everywhere yet
};

[[noreturn]] void usage() {
    std::fputs("group_load NAME SECRET LEASE_MS MEMBERS COUNT ADDRESS:PORT...   the last ones are the voters\n", stderr);
    std::exit(2);
}

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0) usage();
    return value;
}

IpEndpoint endpoint(std::string_view text) {
    auto const colon = text.rfind(':');
    auto const address = parse_ip(text.substr(0, colon));
    if (colon == text.npos || !address) usage();
    return {.address = *address, .port = static_cast<std::uint16_t>(number(text.substr(colon + 1)))};
}

Arguments parse(int count, char** words) {
    if (count < 7) usage();
    Arguments all;
    all.group.name = words[1];
    all.group.secret = words[2];
    all.group.lease = milliseconds(number(words[3]));
    all.members = number(words[4]);
    all.count = number(words[5]);
    for (int at = 6; at < count; ++at) all.group.voters.push_back(endpoint(words[at]));
    return all;
}

class Member {
public:
    Member(Arguments const& all, std::size_t place) : all_(all), cache_(small_cache()), free_(all.waiting) {
        auto options = all.group;
        options.member = "load" + std::to_string(place);
        auto opened = group::Group::open(options, cache_, "");
        if (!opened) {
            std::fprintf(stderr, "group_load: %s\n", opened.fault().text().c_str());
            std::exit(1);
        }
        group_ = *std::move(opened);
        group_->start();
    }

    bool becomes_current() const {
        for (int turn = 0; turn < 3'000; ++turn) {
            if (auto const state = group_->state(); state && state->current) return true;
            std::this_thread::sleep_for(milliseconds(10));
        }
        return false;
    }

    /// Returns when all are everywhere. The program ends at the first one that is not accepted.
    void submit(std::uint64_t first, std::uint64_t count) {
        for (auto one = first; one < first + count; ++one) {
            auto const what = cache::url_invalidation("http://www.example.com/articles/" + std::to_string(one), false);
            free_.acquire();
            group_->submit(*what, &Member::end_unless_accepted, [this](group::SubmissionResult const&) { free_.release(); });
        }
        for (std::ptrdiff_t i = 0; i < all_.waiting; ++i) free_.acquire();
    }

private:
    static void end_unless_accepted(group::SubmissionResult const& result) {
        if (result.accepted) return;
        std::fprintf(stderr, "group_load: %s\n", result.text().c_str());
        std::_Exit(1);
    }

    static cache::Options small_cache() {
        cache::Options options;
        options.size = 1 * MiB;
        options.shards = 1;
        return options;
    }

    Arguments const& all_;
    cache::Cache cache_;
    std::counting_semaphore<> free_;
    std::unique_ptr<group::Group> group_;   // ends before what it calls
};

}   // namespace

int main(int count, char** words) {
    auto const all = parse(count, words);
    std::vector<std::unique_ptr<Member>> members;
    for (std::size_t i = 0; i < all.members; ++i) members.push_back(std::make_unique<Member>(all, i));
    for (auto const& member : members)
        if (!member->becomes_current()) return std::fputs("group_load: no majority of the voters answers\n", stderr), 1;

    auto const begun = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> threads;
        auto const each = all.count / all.members;
        for (std::size_t i = 0; i < all.members; ++i) threads.emplace_back([&, i] { members[i]->submit(i * each, each); });
    }
    auto const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    auto const accepted = all.count / all.members * all.members;
    std::printf("{\"accepted\": %llu, \"seconds\": %.3f}\n", static_cast<unsigned long long>(accepted), took);
}
