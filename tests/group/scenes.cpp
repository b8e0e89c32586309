#include "group/scenes.hpp"

#include <utility>

namespace garner::group::simulated {

namespace {

constexpr Moment long_time = 60 * second;
constexpr std::uint32_t member = 3, other = 4, third = 5;

void publish_at(World& world, Moment at, std::uint32_t node) {
    world.at(at, [&world, node] { world.publish(node, invalidation_of(cache::Invalidation::Kind::url, 0, false)); });
}

void ask_at(World& world, Moment at, std::uint32_t node) {
    world.at(at, [&world, node] { world.client(node, 0); });
}

void cut_at(World& world, Moment at, std::uint32_t a, std::uint32_t b, Moment until) {
    world.at(at, [&world, a, b, duration = until - at] { world.cut(a, b, duration); });
}

void cut_answers_at(World& world, Moment at, std::uint32_t node, Moment until) {
    for (std::uint32_t voter = 0; voter < 3; ++voter)
        world.at(at, [&world, node, voter, duration = until - at] { world.cut_one_way(voter, node, duration); });
}

void cut_all_at(World& world, Moment at, std::uint32_t node, Moment until) {
    for (std::uint32_t voter = 0; voter < 3; ++voter) cut_at(world, at, node, voter, until);
}

void crash_at(World& world, Moment at, std::uint32_t node, Moment until) {
    world.at(at, [&world, node, duration = until - at] { world.crash(node, duration); });
}

/// Voters 1 and 2 store; the member hears voter 0 alone.
void hears_one_voter(World& world) {
    ask_at(world, 10 * second, member);
    for (std::uint32_t const voter : {1, 2}) {
        cut_at(world, 10'500 * ms, member, voter, long_time);
        cut_at(world, 10'500 * ms, 0, voter, long_time);
    }
    publish_at(world, 11 * second, 1);
    ask_at(world, 14 * second, member);
}

/// The answers to polls of before arrive after the invalidation, and then nothing.
void late_answers(World& world) {
    ask_at(world, 10 * second, member);
    cut_answers_at(world, 10'600 * ms, member, 11'350 * ms);
    cut_answers_at(world, 10'980 * ms, member, long_time);
    publish_at(world, 11 * second, other);
    ask_at(world, 13'200 * ms, member);
}

/// Only the voter of the submitter stores.
void one_store(World& world) {
    ask_at(world, 10 * second, member);
    for (std::uint32_t const node : {1, 2, 3}) cut_at(world, 10'500 * ms, node, 0, long_time);
    publish_at(world, 11 * second, 0);
    ask_at(world, 14 * second, member);
}

/// Voters 0 and 1 store. Voter 1 forgets it before the member has heard it, and voter 0 is out of reach.
void voter_restarts(World& world) {
    ask_at(world, 10 * second, member);
    cut_at(world, 10'500 * ms, member, 0, long_time);
    cut_at(world, 10'500 * ms, member, 1, 11'500 * ms);
    cut_at(world, 10'500 * ms, other, 2, long_time);
    publish_at(world, 10'600 * ms, other);
    cut_at(world, 10'700 * ms, other, 1, long_time);
    crash_at(world, 10'800 * ms, 1, 11'100 * ms);
    ask_at(world, 14 * second, member);
}

/// Voter 2 stores and forgets it, and voter 0 stores it a second later, when the member no longer hears voter 0.
void store_after_restart(World& world) {
    ask_at(world, 10 * second, member);
    cut_at(world, 10'500 * ms, other, 0, 11'500 * ms);
    cut_at(world, 10'500 * ms, other, 1, long_time);
    cut_at(world, 10'100 * ms, member, 2, 11'200 * ms);
    publish_at(world, 10'600 * ms, other);
    crash_at(world, 10'700 * ms, 2, 10'800 * ms);
    cut_at(world, 10'700 * ms, other, 2, long_time);
    cut_at(world, 11'480 * ms, member, 0, long_time);
    ask_at(world, 15 * second, member);
}

/// The child hears it from voter 0, its parent does not, and a second voter stores it after the child asks its parent again.
void store_after_spread(World& world) {
    world.set_parent(member, other);
    ask_at(world, 10 * second, other);
    cut_at(world, 10'500 * ms, other, 0, long_time);
    cut_at(world, 10'500 * ms, third, 1, long_time);
    cut_at(world, 10'500 * ms, third, 2, 17 * second);
    publish_at(world, 10'600 * ms, third);
    ask_at(world, 15 * second, member);
    cut_at(world, 16'500 * ms, other, 1, long_time);
    ask_at(world, 19'600 * ms, member);
}

/// Two voters restart, and do not know that the member holds leases of their earlier processes.
void confirms_after_restart(World& world) {
    ask_at(world, 10 * second, member);
    cut_all_at(world, 11 * second, member, long_time);
    for (std::uint32_t const voter : {0, 1}) crash_at(world, 11'020 * ms, voter, 11'120 * ms);
    publish_at(world, 11'600 * ms, other);
    ask_at(world, 12'500 * ms, member);
}

/// The notice is on its way while the member asks.
void confirms_what_is_on_its_way(World& world) {
    ask_at(world, 10 * second, member);
    cut_answers_at(world, 11 * second, member, long_time);
    publish_at(world, 11'100 * ms, other);
    ask_at(world, 11'800 * ms, member);
}

/// The child starts after the invalidation, and its parent, within its lease, has not heard it.
void child_starts(World& world) {
    world.set_parent(member, other);
    ask_at(world, 9 * second, other);
    crash_at(world, 10 * second, member, 11'100 * ms);
    cut_all_at(world, 11 * second, other, long_time);
    publish_at(world, 11'020 * ms, third);
    ask_at(world, 11'900 * ms, member);
    ask_at(world, 14 * second, member);
}

/// The child knows the invalidation, and its parent, within its lease, does not.
void parent_has_not_heard(World& world) {
    world.set_parent(member, other);
    ask_at(world, 9 * second, other);
    ask_at(world, 10 * second, member);
    cut_all_at(world, 11 * second, other, long_time);
    publish_at(world, 11'020 * ms, third);
    ask_at(world, 11'900 * ms, member);
    ask_at(world, 14 * second, member);
}

/// The response is on its way from the origin while the invalidation is applied.
void fetch_began_before(World& world) {
    world.at(10 * second, [&world] { world.slow_answer(member, 2 * second); });
    ask_at(world, 10 * second, member);
    publish_at(world, 10'500 * ms, other);
    ask_at(world, 14 * second, member);
}

/// As fetch_began_before, and a request joins the fetch.
void joins_fetch(World& world) {
    world.at(10 * second, [&world] { world.slow_answer(member, 5 * second); });
    ask_at(world, 10 * second, member);
    publish_at(world, 10'500 * ms, other);
    ask_at(world, 14 * second, member);
}

/// The response to a request without no-cache arrives when the member is cut off.
void arrives_cut_off(World& world) {
    world.at(10 * second, [&world] { world.slow_answer(member, 2 * second); });
    ask_at(world, 10 * second, member);
    cut_all_at(world, 10'200 * ms, member, long_time);
    publish_at(world, 11 * second, other);
    ask_at(world, 13'500 * ms, member);
}

/// The member restarts with its disk and has a lease before it has validated anything.
void starts_with_disk(World& world) {
    ask_at(world, 10 * second, member);
    crash_at(world, 10'500 * ms, member, 11'500 * ms);
    publish_at(world, 11 * second, other);
    ask_at(world, 14 * second, member);
}

/// The member is away while the invalidation is stored.
void away(World& world) {
    ask_at(world, 10 * second, member);
    cut_all_at(world, 10'500 * ms, member, 14 * second);
    publish_at(world, 11 * second, other);
    ask_at(world, 18 * second, member);
}

void origin_fails(World& world) {
    ask_at(world, 10 * second, member);
    publish_at(world, 11 * second, other);
    world.at(13 * second, [&world] { world.break_origin(3 * second); });
    ask_at(world, 14 * second, member);
}

constexpr Scene all[]{
    {"hears_one_voter", Mutant::one_voter_is_enough, hears_one_voter},
    {"late_answers", Mutant::age_from_arrival, late_answers},
    {"one_store", Mutant::accepted_after_one_store, one_store},
    {"voter_restarts", Mutant::instance_trusted, voter_restarts},
    {"starts_with_disk", Mutant::no_watermark, starts_with_disk},
    {"away", Mutant::reconnect_skips, away},
    {"store_after_restart", Mutant::trusted_back_early, store_after_restart},
    {"store_after_spread", Mutant::no_time_to_store, store_after_spread},
    {"confirms_after_restart", Mutant::confirmed_after_start, confirms_after_restart},
    {"confirms_what_is_on_its_way", Mutant::confirmed_when_sent, confirms_what_is_on_its_way},
    {"fetch_began_before", Mutant::no_fill_guard, fetch_began_before},
    {"joins_fetch", Mutant::followers_join_older_fills, joins_fetch},
    {"parent_has_not_heard", Mutant::no_pass_after_match, parent_has_not_heard},
    {"child_starts", Mutant::no_pass_after_watermark, child_starts},
    {"arrives_cut_off", Mutant::any_fetch_counts, arrives_cut_off},
    {"origin_fails", Mutant::stale_on_error, origin_fails},
};

}   // namespace

Options options_of_scenes(std::uint64_t seed) {
    return {.seed = seed,
            .members = 6,
            .voters = 3,
            .urls = 4,
            .length = 30 * second,
            .fault_every = 0,
            .publish_every = 0,
            .client_every = 0,
            .network = {.loss_ppm = 0, .jitter_percent = 0, .backoff = false},
            .one_place = true,
            .trees = false,
            .slow_requests = false,
            .all_have_disks = true,
            .fresh_least = 40 * second};
}

std::span<Scene const> scenes() { return all; }

std::string play(Scene const& scene, std::uint64_t seed, std::function<void(std::string const&)> trace) {
    auto options = options_of_scenes(seed);
    options.trace = std::move(trace);
    World world(std::move(options));
    scene.play(world);
    return world.run();
}

}   // namespace garner::group::simulated
