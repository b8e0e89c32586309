// Simulates groups by the code of the product. tools/group_sim builds and starts it.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "group/scenes.hpp"
#include "group/voter.hpp"
#include "group/world.hpp"
#include "util/clock.hpp"

namespace {

using namespace garner;
using namespace garner::group;
using namespace garner::group::simulated;

struct Arguments {
    Options options;
    std::uint64_t first = 1, seeds = 200, jobs = 1;
    bool trace = false, healthy = false, load = false;
};

[[noreturn]] void usage() {
    std::fputs("options: --first N --seeds N --members N --seconds N --voters N --jobs N --mutant N --trace --healthy --loss PPM "
               "--central --load\n",
               stderr);
    std::exit(2);
}

Arguments parse(int count, char** words) {
    Arguments all;
    all.options.members = 1'000;
    all.options.length = 120 * second;
    auto const number = [&](int& at) {
        std::string_view const text = ++at < count ? words[at] : "";
        std::int64_t value = -1;
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || value < 0) usage();
        return value;
    };
    for (int at = 1; at < count; ++at) {
        std::string_view const word = words[at];
        if (word == "--first")
            all.first = static_cast<std::uint64_t>(number(at));
        else if (word == "--seeds")
            all.seeds = static_cast<std::uint64_t>(number(at));
        else if (word == "--jobs")
            all.jobs = static_cast<std::uint64_t>(std::clamp<std::int64_t>(number(at), 1, 256));
        else if (word == "--members")
            all.options.members = static_cast<unsigned>(std::max<std::int64_t>(5, number(at)));
        else if (word == "--seconds")
            all.options.length = number(at) * second;
        else if (word == "--voters")
            all.options.voters = static_cast<unsigned>(number(at));
        else if (word == "--mutant")
            mutant = static_cast<Mutant>(number(at));
        else if (word == "--loss")
            all.options.network.loss_ppm = number(at);
        else if (word == "--central")
            all.options.central_voters = true;
        else if (word == "--trace")
            all.trace = true;
        else if (word == "--healthy")
            all.healthy = true;
        else if (word == "--load")
            all.load = true;
        else
            usage();
    }
    if (all.trace) all.jobs = 1;
    return all;
}

/// One seed. `done`: the thread that has run it writes nothing more.
struct Run {
    std::atomic<bool> done{false};
    std::string violation;
    Figures figures;
};

void run(Arguments const& all, std::uint64_t seed, Run& run) {
    auto options = all.options;
    options.seed = seed;
    if (all.healthy) options.fault_every = options.client_every = 0;
    if (all.trace) options.trace = [](std::string const& line) { std::puts(line.c_str()); };
    World world(options);
    run.violation = world.run();
    run.figures = world.figures();
    run.done = true;
    run.done.notify_all();
}

/// One line on standard error each ten seconds.
class Progress {
public:
    explicit Progress(std::uint64_t seeds) : seeds_(seeds) {}
    void show(std::uint64_t done, std::uint64_t violations) {
        auto const now = Clock::now();
        if (now - shown_ < std::chrono::seconds(10)) return;
        shown_ = now;
        auto const hours = std::chrono::duration<double, std::ratio<3600>>(now - begun_).count();
        std::fprintf(stderr, "%llu of %llu seeds, %llu violations, %.2f h, about %.2f h left\n",
                     static_cast<unsigned long long>(done), static_cast<unsigned long long>(seeds_),
                     static_cast<unsigned long long>(violations), hours,
                     hours / static_cast<double>(done) * static_cast<double>(seeds_ - done));
    }

private:
    using Clock = std::chrono::steady_clock;
    std::uint64_t const seeds_;
    Clock::time_point const begun_ = Clock::now();
    Clock::time_point shown_ = begun_;
};

double in_ms(std::vector<Moment> all, std::size_t percent) {
    std::ranges::sort(all);
    return all.empty() ? 0 : static_cast<double>(all[all.size() * percent / 100]) / ms;
}

/// 0 without a violation.
int simulate(Arguments const& all) {
    Figures sum;
    std::uint64_t violations = 0;
    std::vector<Run> runs(all.seeds);
    std::atomic<std::uint64_t> next{0};
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < all.jobs; ++i)
        threads.emplace_back([&] {
            for (auto number = next++; number < all.seeds; number = next++) run(all, all.first + number, runs[number]);
        });
    Progress progress(all.seeds);
    // In the order of the seeds, so that the hash does not depend on the number of threads.
    for (std::uint64_t number = 0; number < all.seeds; ++number) {
        runs[number].done.wait(false);
        auto const seed = all.first + number;
        auto const violation = std::move(runs[number].violation);
        auto const figures = std::move(runs[number].figures);
        progress.show(number + 1, violations);
        if (!violation.empty()) {
            ++violations;
            std::printf("seed %llu: %s\n  tools/group_sim --first %llu --seeds 1 --members %u --seconds %lld --trace\n",
                        static_cast<unsigned long long>(seed), violation.c_str(), static_cast<unsigned long long>(seed),
                        all.options.members, static_cast<long long>(all.options.length / second));
            std::fflush(stdout);
        }
        sum.events += figures.events;
        sum.messages += figures.messages;
        sum.answers += figures.answers;
        sum.hits += figures.hits;
        sum.cut_off += figures.cut_off;
        sum.submitted += figures.submitted;
        sum.accepted += figures.accepted;
        sum.hash = sum.hash * 31 + figures.hash;
        sum.one_way_p99 = std::max(sum.one_way_p99, figures.one_way_p99);
        sum.applied.insert(sum.applied.end(), figures.applied.begin(), figures.applied.end());
        sum.acceptance.insert(sum.acceptance.end(), figures.acceptance.begin(), figures.acceptance.end());
        sum.everywhere.insert(sum.everywhere.end(), figures.everywhere.begin(), figures.everywhere.end());
    }
    std::printf("%llu seeds, %llu violations; %llu events, %llu messages, %llu answers, %llu from caches (%llu of them cut off), "
                "%llu of %llu accepted, hash %016llx\n",
                static_cast<unsigned long long>(all.seeds), static_cast<unsigned long long>(violations),
                static_cast<unsigned long long>(sum.events), static_cast<unsigned long long>(sum.messages),
                static_cast<unsigned long long>(sum.answers), static_cast<unsigned long long>(sum.hits),
                static_cast<unsigned long long>(sum.cut_off), static_cast<unsigned long long>(sum.accepted),
                static_cast<unsigned long long>(sum.submitted), static_cast<unsigned long long>(sum.hash));
    std::printf("acceptance p50 %.1f ms, p99 %.1f ms; confirmed p50 %.1f ms, p99 %.1f ms\n", in_ms(sum.acceptance, 50),
                in_ms(sum.acceptance, 99), in_ms(sum.everywhere, 50), in_ms(sum.everywhere, 99));
    if (all.healthy)
        std::printf("one way p99 %.1f ms; applied p50 %.1f ms, p99 %.1f ms\n", static_cast<double>(sum.one_way_p99) / ms,
                    in_ms(sum.applied, 50), in_ms(sum.applied, 99));
    return violations ? 1 : 0;
}

/// Invalidations a second of processor time at a voter with nine members, which acknowledge each batch.
int load() {
    constexpr std::uint64_t count = 200'000, batch = 20, members = 9;
    Settings settings;
    Voter voter(settings, 1, Time(0));
    Time now = seconds(10);
    for (Voter::Link link = 1; link <= members; ++link) {
        Hello hello;
        hello.process = link;
        if (!voter.receive(link, hello, now)) return 1;
    }
    std::uint64_t sent = 0, bytes = 0, polls = 0;
    auto const began = thread_seconds();
    for (std::uint64_t number = 1; number <= count; ++number) {
        now += Time(50);
        auto const what = cache::Invalidation{.kind = cache::Invalidation::Kind::url,
                                              .soft = false,
                                              .origin = {},
                                              .text = "http://www.example.com/articles/" + std::to_string(number)};
        if (!voter.receive(1 + number % members, Append{{.id = {.process = 9, .number = number}, .what = what}}, now)) return 1;
        if (number % batch != 0) continue;
        for (auto const link : voter.take_ready())
            while (auto const message = voter.next(link)) {
                ++sent;
                bytes += body_of(*message).size();
            }
        ++polls;
        for (Voter::Link link = 1; link <= members; ++link)
            if (!voter.receive(link, Poll{.number = polls, .applied = voter.latest()}, now)) return 1;
    }
    auto const took = thread_seconds() - began;
    std::printf("%.0f invalidations a second of processor time; %llu messages, %llu bytes\n", static_cast<double>(count) / took,
                static_cast<unsigned long long>(sent), static_cast<unsigned long long>(bytes));
    return 0;
}

}   // namespace

int main(int count, char** words) {
    auto const all = parse(count, words);
    return all.load ? load() : simulate(all);
}
