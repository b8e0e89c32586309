// A mesh under faults: caches are killed, freeze, and lose their network while clients load it.
#include "story/mesh.hpp"

namespace garner::test {

using Clock = std::chrono::steady_clock;

namespace {

/// One expired question of 2 s, and what a busy machine adds to it.
constexpr Millis one_wait{2'500};

void expect_used(CacheHost const& cache) {
    auto const before = cache.requests();
    EXPECT_TRUE(eventually([&] { return cache.requests() > before; })) << cache.host().address() << " is not used";
}

/// One fault while clients load the child and a sibling, and its end.
void break_for_a_while(ThreeLevels& mesh, CacheHost const& broken, std::function<void()> const& begin,
                       std::function<void()> const& end) {
    Load of_child(mesh.clients, mesh.child, mesh.origin, "child");
    Load of_sibling(mesh.clients, mesh.siblings[0], mesh.origin, "sibling", 1);
    expect_used(broken);
    pause_for(1s);
    auto const fault = Clock::now();
    begin();
    pause_for(5s);
    end();
    expect_used(broken);
    for (auto* load : {&of_child, &of_sibling}) {
        load->stop();
        expect_unharmed(load->seen(), fault + one_wait);
    }
}

}  // namespace

TEST(MeshFaults, levels_pass_on_what_one_has_fetched) {
    NEEDS_HOSTS();
    ThreeLevels mesh;
    EXPECT_EQ(ask(mesh.clients, mesh.child, mesh.origin, "/page").wrong, "");
    EXPECT_EQ(mesh.origin.origin().requests("/page"), 1u);
    EXPECT_EQ(mesh.parents[0].requests() + mesh.parents[1].requests(), 1u);
    for (auto const& sibling : mesh.siblings) EXPECT_EQ(ask(mesh.clients, sibling, mesh.origin, "/page").wrong, "");
    EXPECT_EQ(mesh.origin.origin().requests("/page"), 1u);
}

TEST(MeshFaults, a_parent_that_is_killed_costs_one_wait_and_is_used_again_when_it_lives) {
    NEEDS_HOSTS();
    ThreeLevels mesh;
    auto& parent = mesh.parents[0];
    break_for_a_while(mesh, parent, [&] { parent.kill(); }, [&] { parent.start_again(); });
}

TEST(MeshFaults, a_parent_that_freezes_costs_one_wait_and_is_used_again_when_it_thaws) {
    NEEDS_HOSTS();
    ThreeLevels mesh;
    auto& parent = mesh.parents[0];
    break_for_a_while(mesh, parent, [&] { parent.freeze(); }, [&] { parent.thaw(); });
}

TEST(MeshFaults, a_parent_whose_cable_is_pulled_costs_one_wait_and_is_used_again_when_it_is_back) {
    NEEDS_HOSTS();
    ThreeLevels mesh;
    auto& parent = mesh.parents[0];
    break_for_a_while(mesh, parent, [&] { parent.host().cut(); }, [&] { parent.host().heal(); });
}

// Nobody notices by a question that was not answered.
TEST(MeshFaults, a_parent_that_is_never_asked_and_is_killed_costs_one_wait) {
    NEEDS_HOSTS();
    ThreeLevels mesh(R"({"no_query": true})");
    auto& parent = mesh.parents[0];
    break_for_a_while(mesh, parent, [&] { parent.kill(); }, [&] { parent.start_again(); });
}

TEST(MeshFaults, a_parent_that_is_never_asked_and_loses_its_cable_costs_one_wait) {
    NEEDS_HOSTS();
    ThreeLevels mesh(R"({"no_query": true})");
    auto& parent = mesh.parents[0];
    break_for_a_while(mesh, parent, [&] { parent.host().cut(); }, [&] { parent.host().heal(); });
}

TEST(MeshFaults, a_mesh_whose_caches_fall_one_after_another_serves_its_clients_all_the_while) {
    NEEDS_HOSTS();
    ThreeLevels mesh;
    Load clients(mesh.clients, mesh.child, mesh.origin, "child", 3);
    auto const rest = [] { pause_for(2500ms); };
    auto const first = Clock::now();
    rest();
    mesh.siblings[1].kill();
    rest();
    mesh.parents[1].host().cut();
    rest();
    mesh.siblings[2].freeze();
    rest();
    mesh.parents[0].kill();             // no parent is left
    rest();
    mesh.siblings[0].host().cut();      // none of the child's either
    rest();
    mesh.siblings[1].start_again();
    mesh.parents[0].start_again();
    mesh.siblings[2].thaw();
    rest();
    mesh.siblings[0].host().heal();
    mesh.parents[1].host().heal();
    for (auto const& sibling : mesh.siblings) expect_used(sibling);
    for (auto const& parent : mesh.parents) expect_used(parent);
    clients.stop();
    // Each fault may cost its wait.
    expect_unharmed(clients.seen(), first, {.quick = 3s});
}

}  // namespace garner::test
