#include "config/keys.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support.hpp"

namespace garner::config {
namespace {

/// The file must be what the table makes of it; with GARNER_WRITE=1 in the environment it is written instead.
void expect_made_from_the_table(char const* file, std::string const& text) {
    auto const path = repository() / file;
    if (std::getenv("GARNER_WRITE")) std::ofstream(path, std::ios::binary) << text;
    EXPECT_TRUE(contents(path) == text) << file << " is not what the table of keys makes. Write it again with:\n"
                                        << "  GARNER_WRITE=1 build/asan/config_test --gtest_filter='Keys.*'";
}

TEST(Keys, the_schema_is_made_from_the_table) { expect_made_from_the_table("etc/garner.schema.json", schema_text()); }

TEST(Keys, the_documentation_is_made_from_the_table) {
    expect_made_from_the_table("docs/configuration.md", documentation_text());
}

TEST(Keys, every_default_in_the_documentation_is_accepted_and_changes_nothing) {
    Config const fresh;
    for (auto const& note : configuration().inner) {
        if (note.preset.empty() || note.path.find("[]") != note.path.npos) continue;
        auto const loaded = load("{}", {note.path + "=" + note.preset});
        EXPECT_EQ(told(loaded), "") << note.path;
        EXPECT_EQ(loaded.config.memory.size, fresh.memory.size);
        EXPECT_EQ(loaded.config.proxy.deadlines.fill, fresh.proxy.deadlines.fill);
    }
}

}  // namespace
}  // namespace garner::config
