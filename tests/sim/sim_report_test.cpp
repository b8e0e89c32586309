// Tables and JSON lines of a simulation.
#include "sim/sim_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace garner::sim {
namespace {

Result result_of(std::string policy, Bytes size, double misses) {
    Result result;
    result.policy = std::move(policy);
    result.size = size;
    result.requests = 1000;
    result.misses = misses;
    result.bytes = 50'000;
    result.missed_bytes = 40 * misses;
    return result;
}

Result measured(Result result) {
    result.seconds = 0.0001;
    result.metadata = 2800;
    result.objects_most = 100;
    return result;
}

TEST(Report, a_table_has_a_block_for_each_size) {
    std::vector<Result> results{measured(result_of("lru", 64 * MiB, 250)), result_of("pfool", 64 * MiB, 100.5),
                                measured(result_of("lru", 1536, 1000))};
    EXPECT_EQ(table(results), "   size  policy  object misses  byte misses  requests/s  metadata B/object\n"
                              " 64 MiB  lru           25.00 %      20.00 %     10.00 M               28.0\n"
                              " 64 MiB  pfool         10.05 %       8.04 %           -                  -\n"
                              "\n"
                              "1.5 KiB  lru          100.00 %      80.00 %     10.00 M               28.0\n");
}

TEST(Report, a_table_of_nothing_is_its_heading) {
    EXPECT_EQ(table({}), "size  policy  object misses  byte misses  requests/s  metadata B/object\n");
}

TEST(Report, sizes_are_short) {
    EXPECT_EQ(short_size(0), "0 B");
    EXPECT_EQ(short_size(1023), "1023 B");
    EXPECT_EQ(short_size(1024), "1 KiB");
    EXPECT_EQ(short_size(109'359), "106.8 KiB");
    EXPECT_EQ(short_size(GiB), "1 GiB");
    EXPECT_EQ(short_size(UINT64_MAX), "16 EiB");
}

TEST(Report, a_json_line_has_numbers_for_all_but_the_policy) {
    auto line = json_line(measured(result_of("lru", 64 * MiB, 250)));
    EXPECT_EQ(line, "{\"policy\":\"lru\",\"size_bytes\":67108864,\"requests\":1000,\"misses\":250,"
                    "\"object_miss_ratio\":0.25,\"byte_miss_ratio\":0.2,\"requests_per_second\":10000000.0,"
                    "\"metadata_bytes_per_object\":28.0}\n");
    auto part = nlohmann::json::parse(json_line(result_of("pfool", 1, 100.5)));
    EXPECT_EQ(part["misses"], 100.5);
    EXPECT_EQ(part["requests_per_second"], 0);
    EXPECT_TRUE(nlohmann::json::parse(json_line(result_of("lru", 1, 3e9)))["misses"].is_number_integer());
}

TEST(Report, a_json_line_is_json_whatever_the_policy_is_called) {
    for (std::string name : {"quote\"back\\slash", "line\nend\x01", "not \xff UTF-8"}) {
        auto line = json_line(result_of(name, 1, 1));
        EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
        EXPECT_TRUE(nlohmann::json::accept(line)) << line;
    }
    EXPECT_TRUE(nlohmann::json::accept(json_line({})));
}

}   // namespace
}   // namespace garner::sim
