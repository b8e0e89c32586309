// The format of all sources, which clang-format 14 checks. Other versions break some lines in other places.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "support/places.hpp"

namespace garner::house {
namespace {

std::string output_of(std::string const& command) {
    std::string text;
    auto* const pipe = ::popen(command.c_str(), "r");
    if (!pipe) return "popen failed";
    for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    ::pclose(pipe);
    return text;
}

// clang-format prints file, line and column of each difference, and nothing if there is none.
TEST(Format, every_source_is_as_clang_format_14_writes_it) {
    auto const command = "cd '" + test::source("") +
                         "' && find src tests tools -name '*.[ch]pp' -print0 |"
                         " xargs -0 clang-format-14 --dry-run -Werror 2>&1 | head -n 60";
    EXPECT_EQ(output_of(command), "") << "run clang-format-14 -i on these files";
}

}   // namespace
}   // namespace garner::house
