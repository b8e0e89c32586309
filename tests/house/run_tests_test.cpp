// tools/run_tests.py and tools/test_summary.py, run with a program whose tests pass, fail, die, or fail once.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/places.hpp"

namespace garner::house {
namespace {

namespace fs = std::filesystem;

// Imitates GoogleTest: lists its tests, runs those of the filter, writes a report.
constexpr char const* program = R"(#!/usr/bin/env python3
import json, os, pathlib, signal, sys, time
here = pathlib.Path(sys.argv[0]).parent
if sys.argv[1] == "--gtest_list_tests":
    print("Suite.\n  passes\n  fails\n  dies\n" + "".join(f"  once{i}\n" for i in range(int(os.environ["ONCE"]))) + "  DISABLED_x")
    sys.exit(0)
chosen = sys.argv[1].removeprefix("--gtest_filter=").split(":")
cases = []
def report():
    text = json.dumps({"testsuites": [{"name": "Suite", "testsuite": cases}]})
    pathlib.Path(os.environ["GTEST_OUTPUT"].removeprefix("json:")).write_text(text)
for test in (one.removeprefix("Suite.") for one in chosen):
    mark = here / test
    wrong = test == "fails" and os.environ["BAD"] or test.startswith("once") and not mark.exists()
    if test.startswith("once"): mark.touch()
    if wrong and "STILL" in os.environ:
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(3.5)
        os.kill(os.getppid(), signal.SIGCONT)
    if test == "dies" and os.environ["BAD"]: os.abort()
    print("said by " + test)
    cases.append({"name": test, "status": "RUN", "result": "COMPLETED", "time": "0.01s"} | ({"failures": [1]} if wrong else {}))
report()
sys.exit(any("failures" in one for one in cases))
)";

class RunTests : public testing::Test {
protected:
    fs::path const folder = fs::temp_directory_path() / ("garner_run_tests_" + std::to_string(::getpid()));
    fs::path const tools = test::source("tools");

    RunTests() {
        fs::create_directories(folder);
        std::ofstream(folder / "made_test") << program;
        fs::permissions(folder / "made_test", fs::perms::owner_all);
    }
    ~RunTests() override { fs::remove_all(folder); }

    /// The output of the command, followed by "exit CODE".
    std::string run(std::string const& command) const {
        auto const printed = folder / "printed";
        auto const code = std::system((command + " >" + printed.string() + " 2>&1").c_str());
        std::ostringstream text;
        text << std::ifstream(printed).rdbuf();
        return text.str() + "exit " + std::to_string(WEXITSTATUS(code));
    }
    std::string tests(std::string const& environment) const {
        return run(environment + " python3 " + (tools / "run_tests.py").string() + " --results " + folder.string() +
                   " --name made " + (folder / "made_test").string());
    }
    std::string summary() const {
        return run("python3 " + (tools / "test_summary.py").string() + " --times " + (folder / "made.json").string());
    }
    static bool ends(std::string const& text, std::string const& with) { return text.ends_with(with); }
};

TEST_F(RunTests, what_fails_twice_or_takes_its_process_along_has_failed) {
    auto const said = tests("ONCE=0 BAD=1");
    EXPECT_NE(said.find("FAILED again: Suite.fails"), std::string::npos) << said;
    EXPECT_NE(said.find("FAILED again: Suite.dies"), std::string::npos) << said;
    EXPECT_TRUE(ends(said, "exit 1")) << said;
    // The dying test ended its whole batch: each test was run again alone, and only that one is lost.
    EXPECT_TRUE(ends(summary(), "1 passed, 2 failed\nexit 1")) << summary();
}

TEST_F(RunTests, what_passes_when_it_runs_again_is_flaky_and_both_logs_are_printed) {
    auto const said = tests("ONCE=3 BAD=");
    EXPECT_NE(said.find("Suite.once0 failed, and passed when it ran again by itself"), std::string::npos) << said;
    EXPECT_NE(said.find("the log of the second run:\nsaid by once0"), std::string::npos) << said;
    auto const sums = summary();
    EXPECT_NE(sums.find("flaky"), std::string::npos) << sums;
    EXPECT_TRUE(ends(sums, "6 passed, 0 failed\nexit 0")) << sums;
}

TEST_F(RunTests, more_than_three_flaky_ones_fail_the_run) {
    tests("ONCE=4 BAD=");
    auto const sums = summary();
    EXPECT_NE(sums.find("4 flaky tests in one run; at most 3 are accepted"), std::string::npos) << sums;
    EXPECT_TRUE(ends(sums, "7 passed, 1 failed\nexit 1")) << sums;
}

TEST_F(RunTests, tests_that_fail_while_the_machine_stands_still_count_apart) {
    auto const said = tests("ONCE=1 BAD= STILL=1");
    EXPECT_NE(said.find("the machine stood still for 3."), std::string::npos) << said;
    auto const sums = summary();
    EXPECT_EQ(sums.find("flaky"), std::string::npos) << sums;
    EXPECT_NE(
        sums.find("disturbed (failed while the machine stood still, then passed; both logs are above): made_test Suite.once0"),
        std::string::npos)
        << sums;
    EXPECT_TRUE(ends(sums, "4 passed, 0 failed\nexit 0")) << sums;
}

TEST_F(RunTests, two_runs_in_one_queue_have_environments_and_reports_of_their_own) {
    auto const said = run("ONCE=0 BAD= python3 " + (tools / "run_tests.py").string() + " --results " + folder.string() +
                          " --name made " + (folder / "made_test").string() + " --name other --environment BAD=1 --without dies " +
                          (folder / "made_test").string());
    EXPECT_NE(said.find("== other: FAILED again: Suite.fails"), std::string::npos) << said;
    EXPECT_NE(said.find("== 5 of 5 tests; done"), std::string::npos) << said;
    EXPECT_TRUE(ends(said, "exit 1")) << said;
    EXPECT_TRUE(ends(summary(), "3 passed, 0 failed\nexit 0")) << summary();
    auto const other = run("python3 " + (tools / "test_summary.py").string() + " " + (folder / "other.json").string());
    EXPECT_TRUE(ends(other, "1 passed, 1 failed\nexit 1")) << other;
}

TEST_F(RunTests, a_run_without_results_has_failed) {
    EXPECT_TRUE(ends(summary(), "1 runs left no results\nslowest units:\nslowest tests:\n0 passed, 1 failed\nexit 1")) << summary();
}

}   // namespace
}   // namespace garner::house
