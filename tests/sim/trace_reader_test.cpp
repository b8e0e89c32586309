#include "sim/trace_reader.hpp"

#include <sys/wait.h>

#include <cmath>
#include <map>

#include "sim/trace_files.hpp"
#include "support/places.hpp"

namespace garner::sim {
namespace {

using testing::Message;

std::uint64_t counted(TraceRead const& read) { return read.trace.requests() + read.broken + read.skipped + read.unsampled; }

/// `count` lines of CSV, about 14 bytes each, over 1000 keys; sizes are ten times the key.
std::string many_lines(unsigned count) {
    std::string text;
    for (unsigned i = 0; i < count; ++i) {
        auto key = std::to_string(1000 + key_of(i) % 1000);
        text += std::to_string(i) + "," + key + "," + key + "0\n";
    }
    return text;
}

void expect_same(TraceRead const& a, TraceRead const& b) {
    EXPECT_EQ(a.fault, "");
    EXPECT_EQ(b.fault, "");
    EXPECT_EQ(a.format, b.format);
    EXPECT_EQ(a.lines, b.lines);
    EXPECT_EQ(a.trace.keys, b.trace.keys);
    EXPECT_EQ(a.trace.sizes, b.trace.sizes);
    EXPECT_EQ(a.trace.distinct, b.trace.distinct);
    EXPECT_EQ(a.trace.unique_bytes, b.trace.unique_bytes);
    EXPECT_EQ(a.trace.bytes, b.trace.bytes);
}

TEST(ReadTrace, gives_the_figures_of_real_traces) {
    struct Known {
        char const* name;
        std::uint64_t requests;
        std::uint32_t distinct;
        Bytes unique_bytes;
    };
    for (auto [name, requests, distinct, unique_bytes] :
         {Known{"nasa_19950801", 30'286, 1'731, 109'359'310}, Known{"wc98_day6_sample", 199'676, 2'542, 54'588'037}}) {
        auto path = test::source("tests/data/traces/" + std::string(name) + ".csv.zst");
        auto read = read_trace(path, {});
        SCOPED_TRACE(path);
        EXPECT_EQ(read.fault, "");
        EXPECT_EQ(read.format, "csv");
        EXPECT_EQ(read.lines, requests);
        EXPECT_EQ(read.broken + read.skipped + read.unsampled, 0u);
        EXPECT_EQ(read.trace.requests(), requests);
        EXPECT_EQ(read.trace.distinct, distinct);
        EXPECT_EQ(read.trace.unique_bytes, unique_bytes);
    }
}

TEST(ReadTrace, numbers_keys_as_they_first_appear_and_keeps_the_sizes_of_requests) {
    auto read = read_bytes("time,key,size\n0,b,10\n1,a,20\n2,b,30\n3,7,5\n");
    EXPECT_EQ(read.trace.keys, (std::vector<std::uint32_t>{0, 1, 0, 2}));
    EXPECT_EQ(read.trace.sizes, (std::vector<Bytes>{10, 20, 30, 5}));
    EXPECT_EQ(read.trace.distinct, 3u);
    EXPECT_EQ(read.trace.unique_bytes, 35u);
    EXPECT_EQ(read.trace.bytes, 65u);
    EXPECT_EQ(read.lines, 4u);
}

TEST(ReadTrace, not_modified_takes_the_size_last_seen) {
    auto line = [](std::string url, std::string status, std::string size) {
        return "a - - [21/Nov/2026:20:10:59 +0000] \"GET " + url + " HTTP/1.1\" " + status + " " + size + "\n";
    };
    auto read = read_bytes(line("/a", "304", "0") + line("/a", "200", "10") + line("/b", "200", "99") + line("/a", "304", "0") +
                           line("/a", "200", "30") + line("/a", "304", "-") + line("/a", "206", "3"));
    EXPECT_EQ(read.format, "combined");
    EXPECT_EQ(read.trace.sizes, (std::vector<Bytes>{10, 99, 10, 30, 30}));
    EXPECT_EQ(read.skipped, 2u);
    EXPECT_EQ(read.lines, 7u);
    EXPECT_EQ(read.broken, 0u);
}

TEST(ReadTrace, broken_lines_are_counted_and_the_first_are_told_with_their_place) {
    auto read = read_bytes("# my trace\ntime,key,size\n\n0,1,100\n1,2,abc\n2,3\n3,4,-7\n4,5,50\n", {}, "my.csv");
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.trace.requests(), 2u);
    EXPECT_EQ(read.broken, 3u);
    EXPECT_EQ(read.lines, 5u);
    EXPECT_EQ(read.examples,
              (std::vector<std::string>{"line 5: size 'abc' is not a whole number", "line 6: fewer columns than the first line",
                                        "line 7: size '-7' is negative"}));
    std::string many = "0,1,100\n";
    for (int i = 0; i < 100; ++i) many += "0,1\n";
    read = read_bytes(many, {.format = "csv"});
    EXPECT_EQ(read.broken, 100u);
    EXPECT_EQ(read.examples.size(), 5u);
}

TEST(ReadTrace, line_ends_and_marks_of_other_systems_are_no_matter) {
    auto plain = read_bytes("key,size\na,10\nb,20\n");
    for (std::string_view text : {"key,size\r\na,10\r\nb,20\r\n", "\xef\xbb\xbfkey,size\na,10\nb,20\n", "key,size\na,10\nb,20",
                                  "\xef\xbb\xbf# a comment\r\n\r\n a,10\r\n\r\nb,20 \r\n \r\n"})
        expect_same(read_bytes(text), plain);
}

TEST(ReadTrace, a_nul_byte_breaks_its_line_only) {
    auto read = read_bytes(std::string_view("a,10\nb\0b,20\nc,30\n", 17));
    EXPECT_EQ(read.trace.requests(), 2u);
    EXPECT_EQ(read.examples, std::vector<std::string>{"line 2: a NUL byte in a text"});
}

TEST(ReadTrace, a_line_may_have_64_KiB_and_a_longer_one_is_broken_and_passed_over) {
    auto line_of = [](std::size_t bytes) { return std::string(bytes - 3, 'k') + ",10"; };
    for (std::size_t too_long : {64 * KiB + 1, 1 * MiB - 8, 1 * MiB, 3 * MiB + 17}) {
        SCOPED_TRACE(too_long);
        auto long_line = line_of(too_long);
        auto read = read_bytes("a,10\n" + line_of(64 * KiB) + "\n" + long_line + "\nb,10\n" + long_line);
        EXPECT_EQ(read.trace.requests(), 3u);
        EXPECT_EQ(read.trace.distinct, 3u);
        EXPECT_EQ(read.examples, (std::vector<std::string>{"line 3: longer than 64 KiB", "line 5: longer than 64 KiB"}));
    }
}

TEST(ReadTrace, a_torn_last_record_is_broken) {
    auto whole = oracle_record(0, 7, 100, 3) + oracle_record(1, 8, 200, -1) + oracle_record(1, 7, 100, -1);
    auto read = read_bytes(whole);
    EXPECT_EQ(read.format, "oracleGeneral");
    EXPECT_EQ(read.trace.keys, (std::vector<std::uint32_t>{0, 1, 0}));
    EXPECT_EQ(read.trace.unique_bytes, 300u);
    for (std::size_t cut : {1, 12, 23}) {
        read = read_bytes(whole.substr(0, whole.size() - cut));
        EXPECT_EQ(read.trace.requests(), 2u);
        EXPECT_EQ(read.lines, 3u);
        EXPECT_EQ(read.examples, std::vector<std::string>{"record 3: truncated: a record has 24 bytes"});
    }
}

TEST(ReadTrace, many_records_through_the_buffer) {
    std::string bytes;
    for (std::uint32_t i = 0; i < 100'000; ++i) bytes += oracle_record(i / 10, i % 777, i % 777 + 1, -1);
    auto read = read_bytes(zstd(bytes), {}, "t.oracleGeneral.bin.zst");
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.trace.requests(), 100'000u);
    EXPECT_EQ(read.trace.distinct, 777u);
    EXPECT_EQ(read.trace.unique_bytes, 777u * 778 / 2);
}

TEST(ReadTrace, sizes_that_no_sum_holds_are_broken) {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += std::to_string(i) + ",9007199254740992\n";
    auto read = read_bytes(text);
    EXPECT_EQ(read.trace.requests(), 2047u);
    EXPECT_EQ(counted(read), read.lines);
}

// ---- lines as Squid 5.7 and nginx 1.22 wrote them ----

TEST(ReadTrace, a_log_written_by_squid) {
    auto read = read_bytes(
        R"(1795293232.571      1 127.0.0.1 TCP_MISS/200 5337 GET http://127.0.0.1:18471/a - HIER_DIRECT/127.0.0.1 text/plain
1795293232.601      0 127.0.0.1 TCP_MEM_HIT/200 5343 GET http://127.0.0.1:18471/a - HIER_NONE/- text/plain
1795293232.631      0 127.0.0.1 TCP_MISS/200 334 GET http://127.0.0.1:18471/b? - HIER_DIRECT/127.0.0.1 text/plain
1795293232.662      3 127.0.0.1 TCP_MEM_HIT/200 343 HEAD http://127.0.0.1:18471/a - HIER_NONE/- text/plain
1795293232.683      0 127.0.0.1 TCP_MEM_HIT/206 395 GET http://127.0.0.1:18471/a - HIER_NONE/- text/plain
1795293232.704      0 127.0.0.1 TCP_MISS/404 404 GET http://127.0.0.1:18471/nope - HIER_DIRECT/127.0.0.1 text/html
1795293232.731      0 127.0.0.1 TCP_IMS_HIT/304 264 GET http://127.0.0.1:18471/a - HIER_NONE/- text/plain
1795293232.767      0 127.0.0.1 TCP_MISS/405 417 POST http://127.0.0.1:18471/a - HIER_DIRECT/127.0.0.1 text/html
1795293232.832     13 127.0.0.1 TCP_TUNNEL/200 277 CONNECT 127.0.0.1:18471 - HIER_DIRECT/127.0.0.1 -
1795293233.438      3 127.0.0.1 NONE_NONE/400 3392 garbage error:invalid-request - HIER_NONE/- text/html
1795293233.454     15 127.0.0.1 TCP_MISS_ABORTED/404 246 GET http://127.0.0.1:18471/bc - HIER_DIRECT/127.0.0.1 text/html
)");
    EXPECT_EQ(read.format, "squid");
    EXPECT_EQ(read.trace.keys, (std::vector<std::uint32_t>{0, 0, 1, 0}));
    EXPECT_EQ(read.trace.sizes, (std::vector<Bytes>{5337, 5343, 334, 5343}));
    EXPECT_EQ(read.skipped, 7u);
    EXPECT_EQ(read.broken, 0u);
}

TEST(ReadTrace, a_log_written_by_nginx) {
    auto read = read_bytes(R"(127.0.0.1 - - [21/Nov/2026:20:33:13 +0000] "GET /a\x22b HTTP/1.1" 404 153 "-" "curl/7.88.1"
127.0.0.1 - - [21/Nov/2026:20:33:13 +0000] "GET /a?x=%22&y=\xC3\xA9 HTTP/1.1" 200 5000 "-" "q\x22uo\x5Cte"
127.0.0.1 - - [21/Nov/2026:20:33:35 +0000] "GET /b" 200 3 "-" "-"
127.0.0.1 - - [21/Nov/2026:20:33:35 +0000] "\x16\x03\x01" 400 157 "-" "-"
)");
    EXPECT_EQ(read.format, "combined");
    EXPECT_EQ(read.trace.sizes, (std::vector<Bytes>{5000, 3}));
    EXPECT_EQ(read.skipped, 2u);
    EXPECT_EQ(read.broken, 0u);
}

// ---- compressed files ----

TEST(Packed, zstd_and_gzip_are_known_by_their_first_bytes) {
    auto text = many_lines(200'000);
    auto plain = read_bytes(text);
    EXPECT_EQ(plain.trace.requests(), 200'000u);
    EXPECT_EQ(plain.trace.distinct, 1000u);
    expect_same(read_bytes(zstd(text), {}, "no_ending"), plain);
    expect_same(read_bytes(gzip(text), {}, "no_ending"), plain);
    expect_same(read_bytes(gzip(text), {}, "wrong.zst"), plain);
}

TEST(Packed, several_frames_and_members_are_one_text) {
    auto text = many_lines(20'000);
    auto plain = read_bytes(text);
    std::string skippable("\x5a\x2a\x4d\x18\x03\0\0\0abc", 11);
    for (std::size_t cut : {std::size_t{0}, std::size_t{7}, std::size_t{100'001}, text.size()}) {
        SCOPED_TRACE(cut);
        auto first = text.substr(0, cut), second = text.substr(cut);
        expect_same(read_bytes(zstd(first) + zstd(second)), plain);
        expect_same(read_bytes(skippable + zstd(first) + skippable + zstd("") + zstd(second) + skippable), plain);
        expect_same(read_bytes(gzip(first) + gzip("") + gzip(second)), plain);
    }
}

TEST(Packed, programs_of_the_same_names_are_understood) {
    auto text = many_lines(20'000);
    TraceFile const file(text);
    for (std::string program : {"gzip -9", "gzip -1", "zstd -q -19", "zstd -q -1 --no-check"}) {
        if (std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) != 0) continue;
        auto packed = file.path() + ".packed";
        // Two compressed parts in one file: the first 12,000 lines and the last 8,000.
        auto command = "head -n 12000 " + file.path() + " | " + program + " >" + packed + " && tail -n 8000 " + file.path() +
                       " | " + program + " >>" + packed;
        ASSERT_EQ(std::system(command.c_str()), 0) << command;
        SCOPED_TRACE(program);
        expect_same(read_trace(packed, {}), read_trace(file.path(), {}));
    }
}

TEST(Packed, a_cut_file_is_a_fault_that_names_the_byte) {
    auto text = many_lines(20'000);
    for (auto const& packed : {zstd(text), gzip(text), zstd(text) + zstd(text), gzip(text) + gzip(text)})
        for (auto cut : {packed.size() / 3, packed.size() - 1, packed.size() / 2 + 5}) {
            auto read = read_bytes(packed.substr(0, cut));
            EXPECT_NE(read.fault.find("truncated at byte " + std::to_string(cut) + ": copy the file again"), std::string::npos)
                << read.fault;
            EXPECT_EQ(read.trace.requests(), 0u);
        }
}

TEST(Packed, every_cut_of_a_short_file_is_a_fault) {
    for (auto const& packed : {zstd("a,10\nb,20\n"), gzip("a,10\nb,20\n")})
        for (std::size_t size = 0; size < packed.size(); ++size) {
            auto read = read_bytes(packed.substr(0, size));
            EXPECT_NE(read.fault, "") << size;
            EXPECT_EQ(read.trace.requests(), 0u);
        }
}

TEST(Packed, damage_is_a_fault) {
    auto text = many_lines(20'000);
    for (auto packed : {zstd(text), gzip(text)}) {
        packed.replace(packed.size() / 2, 40, std::string(40, '\x55'));
        auto read = read_bytes(packed);
        EXPECT_NE(read.fault.find("damaged at byte "), std::string::npos) << read.fault;
        EXPECT_EQ(read.trace.requests(), 0u);
    }
    EXPECT_NE(read_bytes(zstd(text) + "tail").fault.find("damaged at byte "), std::string::npos);
    EXPECT_NE(read_bytes(gzip(text) + "tail").fault.find("damaged at byte "), std::string::npos);
}

// ---- errors ----

void expect_fault(TraceRead const& read, std::string_view words) {
    EXPECT_NE(read.fault.find(words), std::string::npos) << read.fault;
    EXPECT_EQ(read.trace.requests(), 0u);
    EXPECT_EQ(read.trace.distinct, 0u);
}

TEST(TraceFault, a_file_that_cannot_be_read_is_named) {
    TraceFile const file("a,10\n");
    expect_fault(read_trace(file.path() + "x", {}), "cannot read " + file.path() + "x: No such file or directory");
    auto folder = std::filesystem::path(file.path()).parent_path().string();
    expect_fault(read_trace(folder, {}), folder + " is a directory: give one of its files");
    std::filesystem::permissions(file.path(), std::filesystem::perms::none);
    if (::geteuid() != 0) expect_fault(read_trace(file.path(), {}), "Permission denied: give this user read permission");
}

TEST(TraceFault, an_empty_file_says_so) {
    expect_fault(read_bytes(""), " is empty");
    expect_fault(read_bytes(zstd("")), " is empty");
    expect_fault(read_bytes(gzip("")), " is empty");
}

TEST(TraceFault, a_file_of_no_known_format_names_those_there_are) {
    std::string const letter = "Dear reader,\nthis is a letter.\n";
    for (auto const& bytes : {letter, std::string(100'000, '\0'), std::string(3, '\xff')})
        expect_fault(read_bytes(bytes), "has no known format; give it with --trace-format, one of csv, squid, "
                                        "combined, json, oracleGeneral");
}

TEST(TraceFault, an_unknown_format_names_those_there_are) {
    expect_fault(read_bytes("a,10\n", {.format = "xls"}),
                 "no trace format \"xls\"; valid formats: csv, squid, combined, json, oracleGeneral");
}

TEST(TraceFault, no_request_at_all_is_a_fault_with_the_counts) {
    auto read = read_bytes("a,10\nb,10\n", {.format = "squid"});
    expect_fault(read, "no usable request, read as squid: 0 skipped, 2 broken "
                       "(line 1: time 'a,10' is not in seconds)");
    EXPECT_EQ(read.broken, 2u);
    EXPECT_EQ(read.lines, 2u);
    expect_fault(read_bytes("key,size\n", {}, "x.csv"), "no usable request");
    expect_fault(read_bytes("a,10\nb,10\n", {.sample = 1e-9}), "2 outside the sample");
}

TEST(TraceFault, a_sample_is_a_share) {
    for (double sample : {0.0, -1.0, 1.5, std::nan("")})
        expect_fault(read_bytes("a,10\n", {.sample = sample}), "the sample rate must be above 0 and at most 1");
}

// ---- others ----

TEST(Sample, keeps_whole_keys_as_many_as_asked_and_the_same_each_time) {
    std::string text;
    for (unsigned i = 0; i < 40'000; ++i) text += "k" + std::to_string(i % 20'000) + ",100\n";
    for (double share : {0.5, 0.1, 0.01}) {
        auto read = read_bytes(text, {.sample = share});
        SCOPED_TRACE(share);
        EXPECT_EQ(read.fault, "");
        auto const expected = 20'000 * share;
        EXPECT_NEAR(read.trace.distinct, expected, 4 * std::sqrt(expected));
        EXPECT_EQ(read.trace.requests(), 2u * read.trace.distinct);
        EXPECT_EQ(read.unsampled, 40'000 - read.trace.requests());
        EXPECT_EQ(counted(read), read.lines);
        expect_same(read, read_bytes(text, {.sample = share}));
    }
    EXPECT_EQ(read_bytes(text, {.sample = 1}).unsampled, 0u);
}

TEST(Sample, of_numbered_keys_is_as_good) {
    std::string text;
    for (unsigned i = 1; i <= 20'000; ++i) text += std::to_string(i) + ",100\n";
    EXPECT_NEAR(read_bytes(text, {.sample = 0.1}).trace.distinct, 2000, 180);
}

TEST(Progress, tells_the_bytes_and_ends_with_all_of_them) {
    auto packed = zstd(many_lines(200'000));
    std::vector<std::uint64_t> requests;
    Bytes last = 0;
    ReadOptions options;
    options.progress = [&](Bytes read, Bytes all, std::uint64_t count) {
        EXPECT_EQ(all, packed.size());
        EXPECT_GE(read, last);
        last = read;
        requests.push_back(count);
    };
    read_bytes(packed, options);
    EXPECT_EQ(requests, (std::vector<std::uint64_t>{65'536, 131'072, 196'608, 200'000}));
    EXPECT_EQ(last, packed.size());
}

TEST(ReadTrace, standard_input_is_a_dash_and_a_pipe_may_dribble) {
    auto text = many_lines(30'000);
    auto packed = zstd(text);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    auto child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        for (std::size_t at = 0; at < packed.size();) {
            auto piece = std::min<std::size_t>(at < 6 ? 1 : 997, packed.size() - at);
            if (::write(ends[1], packed.data() + at, piece) < 0) break;
            at += piece;
        }
        ::_exit(0);
    }
    ::close(ends[1]);
    auto before = ::dup(STDIN_FILENO);
    ::dup2(ends[0], STDIN_FILENO);
    auto read = read_trace("-", {});
    ::dup2(before, STDIN_FILENO);
    ::close(before), ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    expect_same(read, read_bytes(text));
}

}   // namespace
}   // namespace garner::sim
