// Tables, JSON lines and the two pictures of a simulation.
#include "sim/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/plot.hpp"
#include "sim/plot_folder.hpp"
#include "sim/xml.hpp"

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
    EXPECT_EQ(table(results),
              "   size  policy  object misses  byte misses  requests/s  metadata B/object\n"
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

TEST(Plot, a_line_a_policy_and_references_marked) {
    std::vector<Result> results{result_of("lru", MiB, 500), result_of("pfool", MiB, 300), result_of("lru", GiB, 250),
                                result_of("pfool", GiB, 100)};
    auto chart = object_miss_chart("day6", results);
    EXPECT_EQ(chart.title, "day6: object misses by cache size");
    EXPECT_EQ(chart.x_scale, Scale::bytes);
    ASSERT_EQ(chart.series.size(), 2u);
    EXPECT_EQ(chart.series[0].name, "lru");
    EXPECT_FALSE(chart.series[0].reference);
    ASSERT_EQ(chart.series[0].points.size(), 2u);
    EXPECT_EQ(chart.series[0].points[1].x, 0x1p30);
    EXPECT_EQ(chart.series[0].points[1].y, 25);
    EXPECT_TRUE(chart.series[1].reference);
    EXPECT_EQ(byte_miss_chart("day6", results).series[0].points[1].y, 20);
}

TEST(Plot, two_pictures_are_written_or_it_says_why_not) {
    auto place = std::filesystem::path(testing::TempDir()) / "garner_plot_test";
    std::filesystem::remove_all(place);
    std::vector<Result> results{result_of("lru", MiB, 500)};
    EXPECT_EQ(make_plot_folder(place / "new"), "");
    EXPECT_EQ(write_plots(place / "new", "day6", results), "");
    for (auto name : {"object_miss_ratio.svg", "byte_miss_ratio.svg"}) {
        std::ifstream file(place / "new" / name);
        std::string text(std::istreambuf_iterator<char>(file), {});
        EXPECT_EQ(read_xml(text).fault, "");
        EXPECT_NE(text.find("day6"), text.npos);
    }
    EXPECT_NE(write_plots(place / "new" / "byte_miss_ratio.svg", "day6", results), "");
    std::filesystem::remove_all(place);
}

}  // namespace
}  // namespace garner::sim
