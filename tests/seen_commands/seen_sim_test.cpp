// The commands garner seen sim and garner seen model, from their arguments to their output.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "seen_commands/seen_commands.hpp"

namespace garner::seen_commands {
namespace {

namespace fs = std::filesystem;

/// A temporary directory for a test.
struct Folder {
    fs::path const path = fs::temp_directory_path() / ("garner_seen_" + std::to_string(::getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }

    std::string file(std::string const& name, std::string const& bytes) const {
        std::ofstream(path / name, std::ios::binary) << bytes;
        return path / name;
    }
    std::string stream(std::vector<std::uint32_t> const& ids) const {
        std::string bytes(ids.size() * sizeof ids[0], '\0');
        if (!ids.empty()) std::memcpy(bytes.data(), ids.data(), bytes.size());
        return file("links.u32", bytes);
    }
};

struct Said {
    int code;
    std::string out, err;
};

Said sim(std::vector<std::string> const& arguments) {
    std::istringstream in;
    std::ostringstream out, err;
    auto const code = seen_sim_command(arguments, in, out, err);
    return {code, out.str(), err.str()};
}

Said model(std::vector<std::string> const& arguments) {
    std::istringstream in;
    std::ostringstream out, err;
    auto const code = seen_model_command(arguments, in, out, err);
    return {code, out.str(), err.str()};
}

std::vector<nlohmann::json> lines_of(std::string const& text) {
    std::vector<nlohmann::json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
}

TEST(SeenSim, tells_each_cache_at_each_size_as_a_line_of_json) {
    Folder folder;
    auto const file = folder.stream({1, 2, 3, 1, 2, 3, 3, 4});
    auto const said = sim({"--stream", file, "--policy", "lru,min,static,infinite", "--entries=2^1,3", "--format=json"});
    ASSERT_EQ(said.code, 0) << said.err;
    auto const lines = lines_of(said.out);
    ASSERT_EQ(lines.size(), 8u);
    EXPECT_EQ(lines[0]["policy"], "lru");
    EXPECT_EQ(lines[0]["entries"], 2);
    EXPECT_EQ(lines[0]["requests"], 8);
    EXPECT_EQ(lines[0]["misses"], 7);   // only the repeated 3 hits
    EXPECT_EQ(lines[0]["miss_ratio"], 7 / 8.0);
    EXPECT_EQ(lines[0]["false_positives"], 0);
    EXPECT_EQ(lines[0]["false_negatives"], 3);
    EXPECT_GE(lines[0]["ns_per_operation"], 0.0);
    EXPECT_GT(lines[0]["bits_per_entry"], 64.0);
    EXPECT_EQ(lines[1]["misses"], 5);   // min keeps 1 when 3 is requested
    EXPECT_EQ(lines[3]["misses"], 4);
    EXPECT_EQ(lines[4]["misses"], 4);   // lru with 3 entries
    EXPECT_EQ(lines[6]["misses"], 1);   // static holds 3, 1, 2
}

TEST(SeenSim, knows_each_number_once) {
    Folder folder;
    std::vector<std::uint32_t> const once{0, 63, 64, 65'535, 65'536, UINT32_MAX};
    auto twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    auto const said = sim({"--stream", folder.stream(twice), "--policy=infinite,lru", "--entries=1", "--format=json"});
    auto const lines = lines_of(said.out);
    ASSERT_EQ(lines.size(), 2u) << said.err;
    EXPECT_EQ(lines[0]["misses"], 6);
    EXPECT_EQ(lines[0]["false_positives"], 0);
    EXPECT_EQ(lines[0]["false_negatives"], 0);
    EXPECT_EQ(lines[1]["false_negatives"], 6);
}

TEST(SeenSim, a_table_names_sizes_as_powers) {
    Folder folder;
    auto const said = sim({"--stream", folder.stream({5, 5}), "--policy=lru", "--entries=2^4..2^6"});
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_NE(said.out.find("entries  policy"), std::string::npos) << said.out;
    for (auto const* size : {"2^4", "2^5", "2^6"}) EXPECT_NE(said.out.find(size), std::string::npos) << said.out;
    EXPECT_NE(said.out.find("50.00 %"), std::string::npos) << said.out;
}

TEST(SeenSim, a_wrong_command_line_is_named_with_the_mend) {
    auto expect = [](std::vector<std::string> const& arguments, std::string const& fault) {
        auto const said = sim(arguments);
        EXPECT_EQ(said.code, 2);
        EXPECT_EQ(said.out, "");
        EXPECT_EQ(said.err, "garner seen sim: " + fault + "\nTry: garner seen sim --help\n");
    };
    expect({}, "no stream; give one with --stream FILE");
    expect({"x.u32"}, "\"x.u32\" is no option; the stream is given with --stream FILE");
    expect({"--strem", "x"}, "unknown option --strem; did you mean --stream?");
    expect({"--stream"}, "--stream needs a value");
    expect({"--stream=x", "--entries=2^32"},
           "--entries: \"2^32\" is no number of entries from 1 to 2^31; write 2^16, 65536 or 2^6..2^16");
    expect({"--stream=x", "--entries=0"},
           "--entries: \"0\" is no number of entries from 1 to 2^31; write 2^16, 65536 or 2^6..2^16");
    expect({"--stream=x", "--format=xml"}, "--format: \"xml\" is neither table nor json");
    expect({"--stream=x", "--plot=d"}, "--plot is removed; draw with garner seen sim --format json ... | tools/chart DIR");
    expect({"--stream=x", "--threads-model=0"}, "--threads-model: \"0\" is not a number from 1 to 1000000");
    expect({"--stream=-", "--policy=lru,min"}, "min reads the stream twice, which standard input does not allow: give a file");
    EXPECT_NE(sim({"--stream=x", "--policy=lrru"}).err.find("no cache \"lrru\"; valid caches: lru, clock"), std::string::npos);
}

TEST(SeenSim, a_stream_that_is_none_is_named) {
    Folder folder;
    auto expect = [&](std::string const& file, std::string const& policy, std::string const& fault) {
        auto const said = sim({"--stream", file, "--policy", policy, "--entries", "8"});
        EXPECT_EQ(said.code, 1);
        EXPECT_EQ(said.err, "garner seen sim: " + fault + "\n");
    };
    auto const odd = folder.file("odd", "1234567");
    for (auto const* policy : {"lru", "min"})
        expect(odd, policy,
               odd + ": 7 bytes are no whole number of 4-byte URL numbers: the file is cut off, or no stream of "
                     "little-endian u32");
    auto const none = folder.stream({});
    expect(none, "lru", none + " holds no links; nothing to replay");
    auto const absent = (folder.path / "absent").string();
    expect(absent, "lru", "cannot read " + absent + ": No such file or directory: check the path");
    auto const links = folder.stream({1, 2});
    auto const said = sim({"--stream", links, "--policy=lru,scatter", "--entries=100", "--format=json"});
    EXPECT_EQ(said.code, 1);
    EXPECT_EQ(lines_of(said.out).size(), 1u);   // lines that were already finished
    EXPECT_EQ(said.err, "garner seen sim: scatter: 100 entries: the number must be a power of two; take 64 or 128\n");
}

TEST(SeenSim, private_caches_share_nothing) {
    Folder folder;
    // Two threads, pages of two links; both link to URL 1.
    auto const file = folder.stream({1, 2, 1, 3, 1, 4, 1, 5});
    auto misses = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--stream", file, "--policy=lru", "--entries=4", "--format=json"});
        return lines_of(sim(more).out).at(0)["misses"];
    };
    EXPECT_EQ(misses({}), 5);
    EXPECT_EQ(misses({"--threads-model=2", "--page-links=2"}), 6);
    auto const said = sim({"--stream", file, "--policy=lru", "--entries=4", "--threads-model=5"});
    EXPECT_EQ(said.err, "garner seen sim: 4 entries are fewer than --threads-model 5: each thread's cache needs one\n");
}

TEST(SeenSim, all_leaves_out_what_cannot_be_had_and_says_so) {
    Folder folder;
    auto const file = folder.stream({1, 2, 1, 2, 3});
    auto const said = sim({"--stream", file, "--policy=all", "--entries=100", "--format=json"});
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_NE(said.err.find("left out: quotient: 100 entries: their quotients"), std::string::npos) << said.err;
    EXPECT_NE(said.err.find("left out: scatter: 100 entries: the number must be a power of two"), std::string::npos);
    EXPECT_GT(lines_of(said.out).size(), 12u);
    auto const private_ones = sim({"--stream", file, "--policy=all", "--entries=128", "--threads-model=2", "--format=json"});
    EXPECT_EQ(private_ones.code, 0) << private_ones.err;
    EXPECT_NE(private_ones.err.find("left out: min knows one stream beforehand"), std::string::npos) << private_ones.err;
}

TEST(SeenModel, makes_links_as_the_paper_conjectures_them) {
    Folder folder;
    auto const said = model({"--links", "1000000", "--threads", "20"});
    ASSERT_EQ(said.code, 0) << said.err;
    ASSERT_EQ(said.out.size(), 4'000'000u);
    EXPECT_EQ(model({"--links", "1000000", "--threads", "20"}).out, said.out);
    auto const file = folder.file("model.u32", said.out);
    // Twenty threads at about 2^13.4 entries miss like 500 threads at 2^18. Compulsory misses of the global set are still included.
    auto const runs = lines_of(sim({"--stream", file, "--policy=lru", "--entries=2^9,2^13,2^16", "--format=json"}).out);
    ASSERT_EQ(runs.size(), 3u);
    EXPECT_NEAR(runs[0]["miss_ratio"], 0.66, 0.03);
    EXPECT_NEAR(runs[1]["miss_ratio"], 0.42, 0.02);
    EXPECT_NEAR(runs[2]["miss_ratio"], 0.26, 0.01);
}

TEST(SeenModel, a_wrong_command_line_is_named_with_the_mend) {
    EXPECT_EQ(model({"--alpha=0.9", "--beta-host=0.5"}).err,
              "garner seen model: --alpha, --beta-page and --beta-host add up to more than 1; the remainder is the share "
              "of new URLs\nTry: garner seen model --help\n");
    EXPECT_EQ(model({"--alpha=x"}).err.substr(0, 60), "garner seen model: --alpha: \"x\" is not a number from 0 to 1\n");
    EXPECT_EQ(model({"--links=1", "--output=/nowhere/at/all"}).code, 1);
    EXPECT_EQ(model({"--help"}).code, 0);
}

}   // namespace
}   // namespace garner::seen_commands
