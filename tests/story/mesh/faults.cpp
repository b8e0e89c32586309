// Faults in a mesh: caches are killed, freeze, and lose their network while clients load it.
#include "story/mesh/mesh.hpp"

namespace garner::test {

using Clock = std::chrono::steady_clock;

namespace {

void expect_used(CacheHost const& cache) {
    auto const before = cache.requests();
    EXPECT_TRUE(eventually([&] { return cache.requests() > before; })) << cache.host().address() << " is not used";
}

/// Only a cache that sends requests learns that a peer is alive again, so `asking` is checked.
void expect_alive(CacheHost const& parent, CacheHost const& asking) {
    EXPECT_TRUE(eventually([&] { return asking.state_of(parent) == "alive"; }))
        << parent.host().address() << " is " << asking.state_of(parent);
}

using Fault = void (*)(CacheHost&);
void kill(CacheHost& cache) { cache.kill(); }
void start_again(CacheHost& cache) { cache.start_again(); }
void freeze(CacheHost& cache) { cache.freeze(); }
void thaw(CacheHost& cache) { cache.thaw(); }
void cut(CacheHost& cache) { cache.host().cut(); }
void heal(CacheHost& cache) { cache.host().heal(); }

/// The parent in use fails while clients load the child and a sibling, and
/// recovers. Then the other parent dies, so that only the first one remains.
void break_for_a_while(ThreeLevels& mesh, Fault begin, Fault end) {
    Load of_child(mesh.clients, mesh.child, mesh.origin, "child");
    Load of_sibling(mesh.clients, mesh.siblings[0], mesh.origin, "sibling", 1);
    pause_for(2s);
    auto const first_is_used = mesh.parents[0].requests() >= mesh.parents[1].requests();
    auto& used = mesh.parents[first_is_used ? 0 : 1];
    auto& other = mesh.parents[first_is_used ? 1 : 0];
    expect_used(used);
    std::vector<Seen::Time> faults{Clock::now()};
    begin(used);
    pause_for(5s);
    end(used);
    auto const lasted = Clock::now() - faults[0];
    expect_alive(used, mesh.siblings[0]);
    faults.push_back(Clock::now());
    other.kill();
    expect_used(used);
    pause_for(3s);
    for (auto* load : {&of_child, &of_sibling}) {
        load->stop();
        expect_unharmed(load->seen(), faults, begin == freeze ? lasted : Clock::duration{});
    }
}

}   // namespace

TEST(MeshFaults, levels_pass_on_what_one_has_fetched) {
    NEEDS_HOSTS();
    ThreeLevels mesh;
    EXPECT_EQ(ask(mesh.clients, mesh.child, mesh.origin, "/page").wrong, "");
    EXPECT_EQ(mesh.origin.origin().requests("/page"), 1u);
    EXPECT_TRUE(eventually([&] { return mesh.parents[0].requests() + mesh.parents[1].requests() == 1; }));
    for (auto const& sibling : mesh.siblings) EXPECT_EQ(ask(mesh.clients, sibling, mesh.origin, "/page").wrong, "");
    EXPECT_EQ(mesh.origin.origin().requests("/page"), 1u);
}

TEST(MeshFaults, a_parent_that_is_killed_costs_one_wait_and_is_used_again_when_it_lives) {
    NEEDS_HOSTS();
    ThreeLevels mesh;
    break_for_a_while(mesh, kill, start_again);
}

TEST(MeshFaults, a_parent_that_freezes_costs_one_wait_and_is_used_again_when_it_thaws) {
    NEEDS_HOSTS();
    ThreeLevels mesh;
    break_for_a_while(mesh, freeze, thaw);
}

TEST(MeshFaults, a_parent_whose_cable_is_pulled_costs_one_wait_and_is_used_again_when_it_is_back) {
    NEEDS_HOSTS();
    ThreeLevels mesh;
    break_for_a_while(mesh, cut, heal);
}

// With no_query there are no unanswered queries that reveal these faults.
TEST(MeshFaults, a_parent_that_is_never_asked_and_is_killed_costs_one_wait) {
    NEEDS_HOSTS();
    ThreeLevels mesh(R"({"no_query": true})");
    break_for_a_while(mesh, kill, start_again);
}

TEST(MeshFaults, a_parent_that_is_never_asked_and_loses_its_cable_costs_one_wait) {
    NEEDS_HOSTS();
    ThreeLevels mesh(R"({"no_query": true})");
    break_for_a_while(mesh, cut, heal);
}

TEST(MeshFaults, a_mesh_whose_caches_fall_one_after_another_serves_its_clients_all_the_while) {
    NEEDS_HOSTS();
    ThreeLevels mesh;
    Load clients(mesh.clients, mesh.child, mesh.origin, "child", 3);
    pause_for(1s);
    std::vector<Seen::Time> faults;
    auto const happens = [&](CacheHost& cache, Fault fault, Millis then) {
        faults.push_back(Clock::now());
        fault(cache);
        pause_for(then);
    };
    happens(mesh.siblings[1], kill, 4s);
    happens(mesh.parents[1], cut, 4s);
    happens(mesh.siblings[2], freeze, 4s);
    happens(mesh.parents[0], kill, 4s);   // no parent is alive
    happens(mesh.siblings[0], cut, 4s);   // nor a sibling of the child
    auto const frozen_for = Clock::now() - faults[2];
    // A recovered cache does not know yet which peers are down.
    happens(mesh.siblings[2], thaw, 0s);
    happens(mesh.siblings[1], start_again, 0s);
    happens(mesh.siblings[0], heal, 0s);
    happens(mesh.parents[0], start_again, 0s);
    happens(mesh.parents[1], heal, 0s);
    for (auto const& sibling : mesh.siblings) expect_alive(sibling, mesh.child);
    clients.stop();
    expect_unharmed(clients.seen(), faults, frozen_for);
}

}   // namespace garner::test
