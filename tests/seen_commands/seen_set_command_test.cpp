#include "seen_commands/seen_commands.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

namespace garner::seen_commands {
namespace {

namespace fs = std::filesystem;

class SeenSet : public testing::Test {
protected:
    SeenSet() { fs::create_directories(folder_); }
    ~SeenSet() override { fs::remove_all(folder_); }

    std::string write(std::string const& name, std::string const& bytes) {
        auto const path = (folder_ / name).string();
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }
    int run(std::vector<std::string> const& arguments) {
        std::istringstream in;
        std::ostringstream out, err;
        auto const code = seen_set_command(arguments, in, out, err);
        out_ = out.str(), err_ = err.str();
        return code;
    }
    nlohmann::json figures(std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--format", "json"});
        EXPECT_EQ(run(arguments), 0) << err_;
        return nlohmann::json::parse(out_, nullptr, false);
    }
    fs::path folder_ = fs::temp_directory_path() / ("garner-seen-set-" + std::to_string(::getpid()));
    std::string out_, err_;
};

template <class Number>
std::string bytes_of(std::vector<Number> const& numbers) {
    return {reinterpret_cast<char const*>(numbers.data()), numbers.size() * sizeof(Number)};
}

std::string packed(std::string const& bytes) {
    std::string to(ZSTD_compressBound(bytes.size()), '\0');
    to.resize(ZSTD_compress(to.data(), to.size(), bytes.data(), bytes.size(), 3));
    return to;
}

TEST_F(SeenSet, tells_that_its_figures_cannot_be_written) {
    auto const u64 = write("some.u64", bytes_of<std::uint64_t>({5}));
    std::istringstream in;
    std::ostringstream err;
    std::ofstream full("/dev/full");
    for (auto const* format : {"table", "json"}) {
        std::vector<std::string> const arguments{"--input", u64, "--format", format};
        EXPECT_EQ(seen_set_command(arguments, in, full, err), 1);
        EXPECT_EQ(err.str(), "garner seen set: the figures cannot be written\n");
        err.str("");
        full.clear();
    }
}

TEST_F(SeenSet, counts_what_is_new_in_every_form) {
    auto const u64 = write("some.u64", bytes_of<std::uint64_t>({5, 6, 5, 7}));
    auto const u32 = write("some.u32.zst", packed(bytes_of<std::uint32_t>({1, 2, 3, 2, 1, 0})));
    auto const urls = write("some.txt", "http://a.example/\r\nHTTP://A.example\nnone\n\nhttp://a.example/#part\nhttp://b.example");
    auto const of_u64 = figures({"--input", u64}), of_u32 = figures({"--input=" + u32}), of_urls = figures({"--input", urls});
    EXPECT_EQ(of_u64["new"], 3);
    EXPECT_EQ(of_u64["known"], 1);
    EXPECT_EQ(of_u32["new"], 4);
    EXPECT_EQ(of_u32["checked"], 6);
    EXPECT_EQ(of_urls["new"], 2);
    EXPECT_EQ(of_urls["checked"], 4);
    EXPECT_EQ(of_urls["no_urls"], 2);
}

TEST_F(SeenSet, fingerprints_may_have_128_bits) {
    auto const u128 = write("some.u128", bytes_of<std::uint64_t>({5, 6, 5, 7, 5, 6, 6, 5}));
    auto const u32 = write("some.u32", bytes_of<std::uint32_t>({1, 2, 3, 2, 1, 0}));
    auto const urls = write("some.urls", "http://a.example/\nHTTP://A.example\nnone\nhttp://b.example");
    auto const of_u128 = figures({"--input", u128, "--fingerprint", "128"});
    EXPECT_EQ(of_u128["new"], 3);
    EXPECT_EQ(of_u128["known"], 1);
    EXPECT_EQ(of_u128["set"], "wide");
    EXPECT_GT(of_u128["bound_bits_per_entry"], 120);
    EXPECT_EQ(figures({"--input", u32, "--fingerprint", "128"})["new"], 4);
    EXPECT_EQ(figures({"--input", urls, "--fingerprint=128"})["new"], 2);
    EXPECT_EQ(run({"--input", urls, "--fingerprint", "128", "--verify"}), 0) << err_;
}

TEST_F(SeenSet, numbers_that_look_packed_are_numbers_in_a_file_named_so) {
    EXPECT_EQ(figures({"--input", write("gzip.u32", bytes_of<std::uint32_t>({35'615, 2, 3, 2, 0x0008'8b1f}))})["new"], 4);
    EXPECT_EQ(figures({"--input", write("zstd.u64", bytes_of<std::uint64_t>({0xfd2fb528, 2}))})["new"], 2);
    EXPECT_EQ(run({"--input", write("broken.txt", "\x1f\x8b\x08none")}), 1);
    EXPECT_NE(err_.find("rename it to *.u32"), std::string::npos) << err_;
}

TEST_F(SeenSet, fingerprints_of_64_bits_are_none_of_128) {
    auto const u64 = write("some.u64", bytes_of<std::uint64_t>({5, 6, 5, 7}));
    EXPECT_EQ(run({"--input", u64, "--fingerprint", "128"}), 2);
    EXPECT_NE(err_.find("--form u128"), std::string::npos) << err_;
    EXPECT_EQ(figures({"--input", u64, "--fingerprint=128", "--form=u128"})["new"], 2);
}

TEST_F(SeenSet, a_line_that_is_too_long_is_no_url_and_the_next_one_is) {
    auto const urls = write("long.urls", "http://a.example/" + std::string(3'000'000, 'x') + "\nhttp://b.example/\n");
    auto const result = figures({"--input", urls});
    EXPECT_EQ(result["new"], 1);
    EXPECT_EQ(result["no_urls"], 1);
}

TEST_F(SeenSet, goes_on_with_a_set_on_disk) {
    std::vector<std::uint32_t> numbers(200'000);
    for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i % 150'000;
    auto const input = write("n.u32", bytes_of(numbers)), path = (folder_ / "set").string();
    EXPECT_EQ(figures({"--input", input, "--path", path, "--batch", "70000"})["new"], 150'000);
    auto const again = figures({"--input", input, "--path", path});
    EXPECT_EQ(again["new"], 0);
    EXPECT_EQ(again["entries"], 150'000);
    EXPECT_LT(again["bits_per_entry"], 1.02 * again["bound_bits_per_entry"].get<double>());
    EXPECT_EQ(run({"--input", input, "--path", path, "--verify"}), 0) << err_;
    EXPECT_NE(out_.find("verified"), std::string::npos);
}

TEST_F(SeenSet, what_does_not_fit_is_named_with_the_mend) {
    std::vector<std::uint32_t> numbers(3'000'000);
    for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    auto const input = write("n.u32", bytes_of(numbers));
    EXPECT_EQ(run({"--input", input, "--memory", "16MiB"}), 1);
    EXPECT_NE(err_.find("--path DIR keeps it on disk"), std::string::npos) << err_;
}

TEST_F(SeenSet, bad_input_is_named) {
    EXPECT_EQ(run({"--input", write("odd.u64", "123456789")}), 1);
    EXPECT_NE(err_.find("odd.u64 ends in the middle of a number"), std::string::npos) << err_;
    EXPECT_EQ(run({"--input", (folder_ / "none").string()}), 1);
    EXPECT_NE(err_.find("none"), std::string::npos) << err_;
    EXPECT_EQ(run({"--input", write("empty.u64", "")}), 0) << err_;
}

TEST_F(SeenSet, a_wrong_command_line_is_told_what_would_be_right) {
    auto expect_wrong = [&](std::vector<std::string> const& arguments, std::string const& what) {
        EXPECT_EQ(run(arguments), 2) << what;
        EXPECT_NE(err_.find(what), std::string::npos) << err_;
    };
    expect_wrong({}, "no input; give one with --input FILE");
    expect_wrong({"--input", "f", "--set", "line"}, "no set \"line\"; valid sets: lines");
    expect_wrong({"--input", "f", "--set", "runs"}, "--path DIR");
    expect_wrong({"--input", "f", "--fingerprint", "96"}, "neither 64 nor 128");
    expect_wrong({"--input", "f.u128"}, "need --fingerprint 128");
    expect_wrong({"--input", "f.urls", "--fingerprint", "128", "--set", "lines"}, "a set of their own");
    expect_wrong({"--input", "f", "--form", "u64", "--fingerprint", "128"}, "leave out --fingerprint 128");
    expect_wrong({"--input", "f", "--set", "redis:localhost:1", "--path", "d"}, "lies elsewhere; leave out --path");
    expect_wrong({"--input", "f", "--memory", "2"}, "at least 16 MiB");
    expect_wrong({"--input", "f", "--memory", "much"}, "is no size");
    expect_wrong({"--input", "f", "--batch", "0"}, "--batch");
    expect_wrong({"--input", "f", "--bits"}, "unknown option --bits");
    expect_wrong({"--input", "-", "--verify"}, "standard input can be read once");
    EXPECT_EQ(run({"--input", "f", "--set", "redis"}), 1);
    EXPECT_NE(err_.find("write redis:HOST:PORT,HOST:PORT"), std::string::npos) << err_;
    EXPECT_EQ(run({"--help"}), 0);
    EXPECT_NE(out_.find("mercator-file"), std::string::npos);
}

}   // namespace
}   // namespace garner::seen_commands
