// garner import beside Squid: both decide the same requests alike.
#include <unistd.h>

#include "story/scene.hpp"
#include "support/places.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

/// Runs tools/import_squid; a difference is its exit code 1.
void expect_no_difference(std::vector<std::string> const& options) {
    std::vector<std::string> command{source("tools/import_squid"), "--garner", garner_binary()};
    command.insert(command.end(), options.begin(), options.end());
    constexpr Millis limit{120'000};
    auto const compared = run(command, limit);
    EXPECT_EQ(compared.code, 0) << compared.output << compared.errors;
}

}   // namespace

TEST(ImportSquid, recorded_decisions_of_squid_are_those_of_the_import) {
    NEEDS("python3");
    expect_no_difference({"--recorded", source("tests/data/squid_conf")});
}

TEST(ImportSquid, squid_decides_random_requests_by_random_rules_as_the_import_does) {
    NEEDS("squid");
    NEEDS("unshare");
    if (::geteuid() != 0) GTEST_SKIP() << "a network namespace needs root";
    expect_no_difference({"--random", "3", "--requests", "100"});
}

TEST(ImportSquid, no_odd_request_is_allowed_that_squid_refuses) {
    NEEDS("squid");
    NEEDS("unshare");
    if (::geteuid() != 0) GTEST_SKIP() << "a network namespace needs root";
    expect_no_difference({"--random", "3", "--requests", "50", "--odd", "--seed", "600"});
}

}   // namespace garner::test
