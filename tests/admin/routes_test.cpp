#include "admin/routes.hpp"

#include <gtest/gtest.h>

#include "support/tables.hpp"

namespace garner::admin {
namespace {

/// A row has the form: | `/purge` | POST, PURGE | operator | ... | required |
TEST(Routes, every_path_is_documented_with_its_methods_and_its_role) {
    std::vector<std::string> documented, paths;
    for (auto const& row : test::documented_rows("docs/reference/admin-api.md", "Paths")) {
        auto end = row.find(" | ");
        for (int column = 1; column < 3; ++column) end = row.find(" | ", end + 1);
        documented.push_back(row.substr(0, end) + (row.ends_with(" required |") ? ", required" : ""));
    }
    for (auto const& [path, methods, role, changes] : Routes::paths())
        paths.push_back("| `" + std::string(path) + "` | " + std::string(methods) + " | " +
                        (role == Role::none ? "all" : std::string(name_of(role))) + (changes ? ", required" : ""));
    EXPECT_EQ(documented, paths);
}

}   // namespace
}   // namespace garner::admin
