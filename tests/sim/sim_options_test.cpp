#include "sim/sim_options.hpp"

#include <gtest/gtest.h>

namespace garner::sim {
namespace {

ReadSimOptions read(std::vector<std::string> words) { return read_sim_options(words); }

std::string fault(std::vector<std::string> words) {
    words.insert(words.begin(), {"--trace", "t"});
    return read(words).fault;
}

TEST(SimOptions, have_all_policies_and_three_sizes_at_first) {
    auto options = read({"--trace", "t.csv"}).options;
    EXPECT_EQ(options.trace, "t.csv");
    EXPECT_GT(options.policies.size(), 1u);
    EXPECT_EQ(options.sizes.size(), 3u);
    EXPECT_FALSE(options.json);
}

TEST(SimOptions, are_read_in_both_forms) {
    auto options = read({"--trace=-", "--policy", "gdsf,infinite,lru", "--size=64MiB,1.25%", "--format=json", "--threads", "3",
                         "--sample=0.5", "--object-max", "4KiB", "--seed=9", "--trace-format=csv"})
                       .options;
    EXPECT_EQ(options.policies, (std::vector<std::string>{"gdsf", "infinite", "lru"}));
    EXPECT_TRUE(options.json);
    EXPECT_EQ(options.threads, 3u);
    EXPECT_EQ(options.sample, 0.5);
    EXPECT_EQ(options.object_max, 4 * KiB);
    EXPECT_EQ(options.seed, 9u);
    EXPECT_EQ(options.trace_format, "csv");
    Trace trace;
    trace.unique_bytes = 1'000'007;
    EXPECT_EQ(options.sizes[0].of_trace(trace), 64 * MiB);
    EXPECT_EQ(options.sizes[1].of_trace(trace), 12'500u);   // rounded down
}

TEST(SimOptions, a_share_is_exact_whatever_the_trace) {
    Trace trace;
    trace.unique_bytes = 290'312'345'999;
    EXPECT_EQ(read({"--trace=t", "--size=0.1%"}).options.sizes[0].of_trace(trace), 290'312'345u);
    trace.unique_bytes = UINT64_MAX;
    EXPECT_EQ(read({"--trace=t", "--size=100%"}).options.sizes[0].of_trace(trace), UINT64_MAX);
}

TEST(SimOptions, name_what_is_wrong_and_the_mend) {
    EXPECT_EQ(read({}).fault, "no trace; give one with --trace FILE");
    EXPECT_EQ(read({"file.csv"}).fault, "\"file.csv\" is no option; the trace is given with --trace FILE");
    EXPECT_EQ(fault({"--polic=lru"}), "unknown option --polic=lru; did you mean --policy?");
    EXPECT_EQ(fault({"--policy"}), "--policy needs a value");
    EXPECT_EQ(fault({"--policy="}), "--policy needs a value");
    EXPECT_NE(fault({"--policy=lru,lfx"}).find("no policy \"lfx\"; valid policies: lru"), std::string::npos);
    EXPECT_NE(fault({"--size=64M"}).find("\"64M\" is no size; write 64MiB"), std::string::npos);
    EXPECT_NE(fault({"--size=1,,2"}).find("\"\" is no size"), std::string::npos);
    for (auto bad : {"0", "1.5", "-1", "nan", "x"}) EXPECT_NE(fault({"--sample", bad}), "") << bad;
    for (auto bad : {"0", "257", "x", "-1"}) EXPECT_NE(fault({"--threads", bad}), "") << bad;
    EXPECT_NE(fault({"--format=xml"}).find("neither table nor json"), std::string::npos);
}

TEST(SimOptions, explain_themselves) {
    EXPECT_TRUE(read({"--size", "1%", "--help"}).help);
    auto help = read({"--help"}).text;
    for (auto word : {"--trace", "lru", "gdsf", "belady", "pfool", "oracleGeneral"})
        EXPECT_NE(help.find(word), std::string::npos) << word;
}

}   // namespace
}   // namespace garner::sim
