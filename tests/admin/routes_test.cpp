#include "admin/routes.hpp"

#include <gtest/gtest.h>

#include "support/tables.hpp"

namespace garner::admin {
namespace {

/// A row has the form: | `/purge` | POST, PURGE | ...
TEST(Routes, every_path_is_documented_with_its_methods) {
    std::vector<std::string> documented, paths;
    for (auto const& row : test::documented_rows("docs/reference/admin-api.md", "Paths"))
        documented.push_back(row.substr(0, row.find(" | ", row.find(" | ") + 1)));
    for (auto const& [path, methods] : Routes::paths()) paths.push_back("| `" + std::string(path) + "` | " + std::string(methods));
    EXPECT_EQ(documented, paths);
}

}   // namespace
}   // namespace garner::admin
