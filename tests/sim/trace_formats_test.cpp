// Detection of trace formats, and the binary format.
#include "sim/trace_formats.hpp"

#include "sim/oracle_general_format.hpp"
#include "sim/trace_files.hpp"

namespace garner::sim {
namespace {

std::string_view found(std::string_view head, std::string_view name = "-", bool whole = true) {
    auto const* row = find_format(name, head, whole);
    return row ? row->name : "none";
}

constexpr std::string_view squid_line =
    "1066036250.603    310 10.0.0.7 TCP_MISS/200 1462 GET http://a/?x=1,2 - HIER_DIRECT/192.0.2.1 text/html\n";
constexpr std::string_view combined_line =
    "10.0.0.7 - - [21/Nov/2026:20:10:59 +0000] \"GET /a,b HTTP/1.1\" 200 17 \"-\" \"curl/8\"\n";
constexpr std::string_view json_line = R"({"result":"TCP_HIT","status":200,"bytes":5,"method":"GET","url":"http://a/"})"
                                       "\n";

TEST(FindFormat, content_tells) {
    EXPECT_EQ(found("time,key,size\n0,1,100\n"), "csv");
    EXPECT_EQ(found("0 1 100\n1 2 100\n"), "csv");
    EXPECT_EQ(found("http://a/,100\n"), "csv");
    EXPECT_EQ(found(squid_line), "squid");
    EXPECT_EQ(found(combined_line), "combined");
    EXPECT_EQ(found(json_line), "json");
    EXPECT_EQ(found(oracle_record(0, 7, 100, 1) + oracle_record(0, 7, 100, -1)), "oracleGeneral");
}

TEST(FindFormat, the_name_tells_when_the_content_does_not_contradict) {
    EXPECT_EQ(found("key,size\n", "/logs/empty.csv.zst"), "csv");
    EXPECT_EQ(found("", "trace.oracleGeneral.bin"), "none");
    EXPECT_EQ(found(squid_line, "really.csv"), "squid");
    EXPECT_EQ(found(json_line, "access.jsonl.gz"), "json");
    EXPECT_EQ(found("lots\nof\nwords\nand\n0,1,100\n"), "none");
    EXPECT_EQ(found("lots\nof\nwords\nand\n0,1,100\n", "trace.CSV"), "csv");
    EXPECT_EQ(found("lots\nof\nwords\nand\n0,1,100\n", "/trace.csv/notes"), "none");
}

TEST(FindFormat, some_broken_lines_comments_and_marks_do_not_matter) {
    std::string const lines = "\xef\xbb\xbf# my trace\r\n\r\ntime,key,size\r\n0,1,100\r\n0,1\r\n1,2,100\r\n";
    EXPECT_EQ(found(lines), "csv");
    EXPECT_EQ(found(std::string("torn line\n") + std::string(squid_line)), "squid");
}

TEST(FindFormat, a_line_cut_at_the_end_of_the_head_is_not_judged) {
    EXPECT_EQ(found("0,1,100\n0,1", "-", false), "csv");
    EXPECT_EQ(found("0,1", "-", false), "none");
}

TEST(FindFormat, what_is_no_trace_fits_none) {
    EXPECT_EQ(found("Dear reader,\nthis is a letter.\n"), "none");
    EXPECT_EQ(found("<html>\n<body>\n"), "none");
    EXPECT_EQ(found(std::string(4096, '\0')), "none");
    EXPECT_EQ(found(std::string(1'000'000, 'x')), "none");
    EXPECT_EQ(found("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\10\2\0\0\0"), "none");
}

TEST(TraceFormats, are_known_by_name) {
    EXPECT_EQ(trace_format_names(), "csv, squid, combined, json, oracleGeneral");
    for (auto const& row : trace_formats()) EXPECT_EQ(trace_format(row.name), &row);
    EXPECT_EQ(trace_format("oraclegeneral")->name, "oracleGeneral");
    EXPECT_EQ(trace_format("apache"), nullptr);
}

TEST(OracleGeneral, reads_its_little_endian_fields) {
    auto record = read_oracle_general(oracle_record(1'600'000'000, 0xfedcba9876543210, 4'000'000'000, -1));
    EXPECT_EQ(said(record), "request 4000000000");
    EXPECT_EQ(record.key, key_of(0xfedcba9876543210u));
    EXPECT_EQ(said(read_oracle_general("short")), "truncated: a record has 24 bytes");
}

}   // namespace
}   // namespace garner::sim
