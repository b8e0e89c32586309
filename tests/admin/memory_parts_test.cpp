#include "admin/memory_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "house.hpp"
#include "support/tables.hpp"

namespace garner::admin {
namespace {

MemoryUse use_of(Json const& stats, std::string const& name) {
    for (auto const& part : stats["memory_parts"])
        if (part["name"] == name) return {part["bytes"], part["limit"]};
    ADD_FAILURE() << "no part " << name;
    return {};
}

TEST(MemoryParts, each_has_a_name_of_its_own_and_is_documented) {
    std::set<std::string_view> names;
    std::string table;
    for (auto const& part : memory_parts()) {
        EXPECT_TRUE(names.insert(part.name).second) << part.name;
        EXPECT_NE(part.limit, "") << part.name;
        table += "| `" + std::string(part.name) + "` | " + std::string(part.holds) + " | " + std::string(part.limit) + " |\n";
    }
    EXPECT_EQ(test::difference_of_rows("docs/reference/metrics.md", "Memory by part", table, "MemoryParts.*"), "");
}

TEST(MemoryParts, a_limit_inside_another_one_is_added_once) {
    std::vector<MemoryUse> uses(memory_parts().size());
    for (auto& use : uses) use = {1, 10};
    auto const inside = static_cast<std::size_t>(std::ranges::count(memory_parts(), true, &MemoryPart::is_inside));
    EXPECT_EQ(inside, 1u);
    EXPECT_EQ(sum_of(uses).bytes, uses.size());
    EXPECT_EQ(sum_of(uses).limit, 10 * (uses.size() - inside));
}

TEST(MemoryParts, each_that_is_used_is_within_its_limit) {
    House house;
    test::Origin origin;
    origin.answer("/page", test::fresh("hello"));
    EXPECT_EQ(house.fetch(origin.url("/page")).body(), "hello");
    auto const stats = house.stats();
    ASSERT_EQ(stats["memory_parts"].size(), memory_parts().size());
    for (auto const& part : memory_parts()) {
        auto const use = use_of(stats, std::string(part.name));
        EXPECT_LE(use.bytes, use.limit) << part.name;
    }
    for (auto const* name : {"objects", "connections", "requests", "buffers"}) EXPECT_GT(use_of(stats, name).bytes, 0u) << name;
    EXPECT_EQ(use_of(stats, "objects").limit, 8 * MiB);
    EXPECT_EQ(use_of(stats, "fills").limit, 4 * MiB) << "memory.object_max";
    EXPECT_EQ(use_of(stats, "what_if").limit, 0u) << "memory.what_if is off";
    EXPECT_EQ(use_of(stats, "logins").limit, 0u) << "no logins";
    EXPECT_GT(stats["resident_bytes"].get<Bytes>(), stats["memory_sum"]["bytes"].get<Bytes>());
}

TEST(MemoryParts, buffers_are_freed_when_no_response_needs_them) {
    House house;
    test::Origin origin;
    auto held = origin.hold("/slow");
    auto const reply = house.fetch(origin.url("/slow"));
    held.arrived();
    EXPECT_GT(use_of(house.stats(), "buffers").bytes, 0u);
    held.release("done");
    EXPECT_EQ(reply.body(), "done");
    EXPECT_TRUE(test::eventually([&] { return use_of(house.stats(), "buffers").bytes == 0; })) << house.stats().dump();
}

}   // namespace
}   // namespace garner::admin
