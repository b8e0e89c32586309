// `garner sim` for users: real traces and logs as input, tables and curves as output.
#include <sstream>

#include "story/scene.hpp"
#include "support/places.hpp"

namespace garner::test {
namespace {

std::string trace(std::string const& name) { return source("tests/data/traces/" + name + ".csv.zst"); }

Finished sim(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {garner_binary(), "sim"});
    return run(arguments, Millis{60'000});
}

std::vector<nlohmann::json> lines(std::string const& text) {
    std::vector<nlohmann::json> found;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) found.push_back(nlohmann::json::parse(line));
    return found;
}

TEST(Sim, tells_the_published_miss_ratios_as_json) {
    auto done = sim({"--trace", trace("nasa_19950801"), "--policy", "lru,gdsf,pfool", "--size", "1%,10%", "--format", "json"});
    ASSERT_EQ(done.code, 0) << done.errors;
    auto results = lines(done.output);
    ASSERT_EQ(results.size(), 6u);
    EXPECT_EQ(results[0]["policy"], "lru");
    EXPECT_EQ(results[0]["size_bytes"], 1'093'593);
    EXPECT_EQ(results[0]["requests"], 30'286);
    EXPECT_NEAR(results[0]["object_miss_ratio"], .4735, .00005);
    EXPECT_NEAR(results[0]["byte_miss_ratio"], .8330, .00005);
    EXPECT_GT(results[0]["requests_per_second"], 0);
    EXPECT_GT(results[0]["metadata_bytes_per_object"], 8);
    EXPECT_NEAR(results[1]["object_miss_ratio"], .2944, .00005);
    EXPECT_NEAR(results[2]["object_miss_ratio"], .1536, .00005);
    EXPECT_EQ(results[5]["size_bytes"], 10'935'931);
}

TEST(Sim, is_the_same_for_any_number_of_threads) {
    auto misses = [](std::string const& threads) {
        std::vector<nlohmann::json> found;
        auto done = sim({"--trace", trace("nasa_19950801"), "--size", "2%", "--format", "json", "--threads", threads});
        EXPECT_EQ(done.code, 0) << done.errors;
        for (auto const& result : lines(done.output)) found.push_back({result["policy"], result["misses"]});
        return found;
    };
    auto one = misses("1");
    EXPECT_GT(one.size(), 10u);
    EXPECT_EQ(one, misses("4"));
}

TEST(Sim, half_of_the_keys_tell_nearly_the_same) {
    auto ratio = [](std::string const& sample) {
        auto done = sim({"--trace", trace("wc98_day6_sample"), "--policy=lru", "--size=1MiB", "--format=json", "--sample", sample});
        EXPECT_EQ(done.code, 0) << done.errors;
        return lines(done.output).at(0);
    };
    auto all = ratio("1"), half = ratio("0.5");
    EXPECT_EQ(half["requests"], 199'676 / 2);
    EXPECT_NEAR(half["object_miss_ratio"], static_cast<double>(all["object_miss_ratio"]), .02);
}

/// Pipes the results of a garner command into tools/chart, which draws into `folder`.
void draw(TempDir const& dir, std::string const& command) {
    auto const line = "'" + garner_binary() + "' " + command + " --format json | '" + source("tools/chart") + "' '" +
                      dir.path("charts").string() + "' days";
    auto const done = run({"/bin/sh", "-c", line}, Millis{60'000});
    ASSERT_EQ(done.code, 0) << done.errors;
}

/// The text of a chart that an XML parser has accepted.
std::string chart(TempDir const& dir, std::string const& name) {
    auto const file = dir.path("charts/" + name).string();
    auto const parsed = run({"/usr/bin/python3", "-c", "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])", file});
    EXPECT_EQ(parsed.code, 0) << name << ": " << parsed.errors;
    return read_file(file);
}

std::size_t count(std::string const& text, std::string const& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
    return found;
}

TEST(Chart, shows_the_misses_of_policies_by_size) {
    TempDir dir;
    draw(dir, "sim --trace '" + trace("nasa_19950801") + "' --policy lru,gdsf,infinite --size 1%,10%,50%");
    for (auto const* kind : {"object", "byte"}) {
        auto const picture = chart(dir, kind + std::string("_miss_ratio.svg"));
        EXPECT_EQ(count(picture, "days: " + std::string(kind) + " miss ratio by cache size"), 2u);
        for (auto const* name : {">lru<", ">gdsf<", ">infinite<", ">1 MiB<", ">cache size (bytes)<"})
            EXPECT_EQ(count(picture, name), 1u) << name;
        // Each line of the chart and its sample in the legend; a marker at each point and on the sample.
        EXPECT_EQ(count(picture, "stroke-width=\"2.0\""), 4u);
        EXPECT_EQ(count(picture, "stroke-width=\"1.5\""), 2u) << "the reference";
        EXPECT_EQ(count(picture, "transform=\"translate("), 9u);
    }
    EXPECT_EQ(read_file(dir.path("charts/object_miss_ratio.csv")).substr(0, 68),
              "policy,size_bytes,object_miss_percent\n\"lru\",1093593,47.345308\n\"gdsf\"");
}

TEST(Chart, shows_the_misses_of_caches_of_seen_urls_and_those_against_min) {
    TempDir dir;
    auto const stream = dir.write("links.u32", std::string("\1\0\0\0\2\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0", 20));
    draw(dir, "seen sim --stream '" + stream + "' --policy lru,min --entries 1,2");
    EXPECT_EQ(count(chart(dir, "miss_ratio.svg"), ">2^1<"), 1u);
    EXPECT_EQ(count(chart(dir, "relative_miss_ratio.svg"), "misses (MIN = 1)"), 1u);
    EXPECT_EQ(
        read_file(dir.path("charts/miss_ratio.csv")),
        "policy,entries,miss_percent\n\"lru\",1,100.000000\n\"min\",1,100.000000\n\"lru\",2,60.000000\n\"min\",2,60.000000\n");
    auto const again = run({source("tools/chart"), dir.path("charts/miss_ratio.csv").string()});
    EXPECT_EQ(again.code, 0) << again.errors;
}

TEST(Sim, replays_what_the_proxy_has_logged) {
    for (auto format : {"squid", "combined", "json"}) {
        Origin origin;
        origin.answer("/page", fresh("a page"));
        Proxy proxy(std::string(R"({"log": {"format": ")") + format + "\"}}");
        Client client(proxy, origin);
        for (int i = 0; i < 5; ++i) client.get("/page").body();
        proxy.stop();
        auto done = sim({"--trace", proxy.log_file().string(), "--policy", "lru", "--size", "1MiB", "--format", "json"});
        ASSERT_EQ(done.code, 0) << format << ": " << done.errors;
        EXPECT_EQ(lines(done.output).at(0)["requests"], 5) << format;
        EXPECT_EQ(lines(done.output).at(0)["misses"], 1) << format;
    }
}

TEST(Sim, names_broken_lines_and_goes_on) {
    TempDir dir;
    auto file = dir.write("t.csv", "time,key,size\n1,a,10\n2,b,ten\n3,a,10\nnonsense\n");
    auto done = sim({"--trace", file, "--policy", "lru", "--size", "1KiB", "--format", "json"});
    ASSERT_EQ(done.code, 0) << done.errors;
    EXPECT_EQ(lines(done.output).at(0)["requests"], 2);
    EXPECT_NE(done.errors.find("2 of 4 lines are broken"), std::string::npos) << done.errors;
    EXPECT_NE(done.errors.find("line 3: "), std::string::npos) << done.errors;
}

TEST(Sim, shows_the_finished_replays_after_an_interrupt) {
    std::vector<std::string> words{garner_binary(),           "sim",   "--format", "json", "--threads", "1", "--trace",
                                   trace("wc98_day6_sample"), "--size"};
    std::string sizes;
    for (int mib = 1; mib <= 64; ++mib) sizes += (mib > 1 ? "," : "") + std::to_string(mib) + "MiB";
    words.push_back(sizes);
    Child child(words);
    ASSERT_TRUE(eventually([&] { return child.errors().find("replays done") != std::string::npos; })) << child.errors();
    child.signal(SIGINT);
    EXPECT_EQ(child.exit_code(), 130);
    auto const finished = lines(child.output()).size();
    EXPECT_NE(child.errors().find("interrupted: " + std::to_string(finished) + " of "), std::string::npos) << child.errors();
    EXPECT_GT(finished, 0u);
}

TEST(Sim, a_replay_of_links_ends_with_130_after_an_interrupt) {
    TempDir dir;
    std::string links;
    for (std::uint32_t i = 0; i < 4'000'000; ++i) {
        std::uint32_t const url = i * 2'654'435'761u % 1'000'000;
        links.append(reinterpret_cast<char const*>(&url), sizeof url);
    }
    auto const stream = dir.write("links.u32", links);
    Child child({garner_binary(), "seen", "sim", "--format", "json", "--stream", stream, "--entries", "2^6..2^20"});
    ASSERT_TRUE(eventually([&] { return child.errors().find("of the stream read") != std::string::npos; })) << child.errors();
    child.signal(SIGINT);
    EXPECT_EQ(child.exit_code(), 130);
    EXPECT_NE(child.errors().find("garner seen sim: interrupted during "), std::string::npos) << child.errors();
}

TEST(Sim, says_why_it_cannot_and_how_it_could) {
    TempDir dir;
    struct Case {
        std::vector<std::string> arguments;
        int code;
        char const* says;
    };
    Case const cases[]{
        {{}, 2, "give one with --trace FILE"},
        {{"--trace", "x", "--policy", "lruu"}, 2, "no policy \"lruu\"; valid policies:"},
        {{"--trace", "x", "--frobnicate"}, 2, "unknown option --frobnicate"},
        {{"--trace", dir.path("none").string()}, 1, "none"},
        {{"--trace", dir.path().string()}, 1, "directory"},
        {{"--trace", dir.write("empty", "")}, 1, "empty"},
        {{"--trace", "x", "--plot", "curves"}, 2, "--plot is removed; draw with garner sim --format json ... | tools/chart DIR"},
    };
    for (auto const& each : cases) {
        auto done = sim(each.arguments);
        EXPECT_EQ(done.code, each.code) << done.errors;
        EXPECT_NE(done.errors.find(each.says), std::string::npos) << done.errors;
    }
}

}   // namespace
}   // namespace garner::test
