// Access logs: Squid's, Apache's and nginx's, Garner's own.
#include "sim/log_formats.hpp"

#include "sim/trace_files.hpp"

namespace garner::sim {
namespace {

Record squid(std::string_view line) { return read_line(read_squid, line); }
Record combined(std::string_view line) { return read_line(read_combined, line); }
Record json(std::string_view line) { return read_line(read_json, line); }

TEST(SquidFormat, a_get_answered_with_200_counts_with_its_size) {
    auto record = squid("1066036250.603    310 192.168.0.227 TCP_MISS/200 1462 GET http://www.example.org/film?x=1 - "
                        "HIER_DIRECT/62.27.27.10 text/html");
    EXPECT_EQ(said(record), "request 1462");
    EXPECT_EQ(record.key, key_of("http://www.example.org/film?x=1"));
    EXPECT_EQ(said(squid("1286536308.779    180 ::1 TCP_REFRESH_UNMODIFIED/200 411 GET http://a/ karl "
                         "TIMEOUT_FIRST_PARENT_MISS/10.0.0.3 text/css [User-Agent: x] [HTTP/1.1 200 OK]")),
              "request 411");
    EXPECT_EQ(said(squid("1286536308.779      0 10.0.0.7 TCP_MEM_HIT/203 99 GET http://a/ - NONE/- -")), "request 99");
}

TEST(SquidFormat, not_modified_counts_with_the_size_last_seen) {
    auto record = squid("1286536309.586    921 10.0.0.7 TCP_IMS_HIT/304 300 GET http://a/b - HIER_NONE/- image/png");
    EXPECT_EQ(said(record), "unchanged");
    EXPECT_EQ(record.key, key_of("http://a/b"));
}

TEST(SquidFormat, what_is_no_request_for_a_whole_object_is_skipped) {
    for (std::string line : {
             "1286536309.450    921 10.0.0.7 TCP_TUNNEL/200 387 CONNECT www.example.org:443 - HIER_DIRECT/192.0.2.1 -",
             "1286536309.450    921 10.0.0.7 TCP_MISS/200 387 HEAD http://a/ - HIER_DIRECT/192.0.2.1 text/html",
             "1286536309.450    921 10.0.0.7 TCP_MISS/200 387 POST http://a/ - HIER_DIRECT/192.0.2.1 text/html",
             "1286536309.450    921 10.0.0.7 TCP_MISS/404 387 GET http://a/ - HIER_DIRECT/192.0.2.1 text/html",
             "1286536309.450    921 10.0.0.7 TCP_MISS/206 387 GET http://a/ - HIER_DIRECT/192.0.2.1 text/html",
             "1286536309.450    921 10.0.0.7 TCP_MISS_ABORTED/200 387 GET http://a/ - HIER_DIRECT/192.0.2.1 text/html",
             "1286536309.450    921 10.0.0.7 TCP_MISS_ABORTED/000 0 GET http://a/ - HIER_DIRECT/192.0.2.1 -",
             "1286536309.450      0 10.0.0.7 TCP_DENIED/407 3998 GET http://a/ - HIER_NONE/- text/html",
             "1286536309.450      0 10.0.0.7 NONE_NONE/400 3486 - error:invalid-request - HIER_NONE/- text/html",
             "1286536309.450      0 10.0.0.7 UDP_MISS/000 66 ICP_QUERY http://a/ - HIER_NONE/- -",
             "5.007      0 10.0.0.7 NONE_NONE/408 0 GET - - HIER_NONE/- -",
         })
        EXPECT_EQ(said(squid(line)), "skipped") << line;
}

TEST(SquidFormat, other_lines_are_broken_and_say_why) {
    EXPECT_EQ(said(squid("yesterday 1 10.0.0.7 TCP_MISS/200 1 GET http://a/ - HIER_NONE/- -")),
              "time 'yesterday' is not in seconds");
    EXPECT_EQ(said(squid("1.000 1 10.0.0.7 TCP_MISS 1 GET http://a/ - HIER_NONE/- -")), "result 'TCP_MISS' is not tag/status");
    EXPECT_EQ(said(squid("1.000 1 10.0.0.7 TCP_MISS/xyz 1 GET http://a/ - HIER_NONE/- -")), "status 'xyz' is not a status");
    EXPECT_EQ(said(squid("1.000 1 10.0.0.7 TCP_MISS/200 many GET http://a/ - HIER_NONE/- -")), "size 'many' is not a whole number");
    EXPECT_EQ(said(squid("1.000 1 10.0.0.7 TCP_MISS/200 1 GET http://a/")), "hierarchy is not code/peer");
}

TEST(CombinedFormat, reads_the_common_and_the_combined_format) {
    auto record = combined("127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /apache_pb.gif HTTP/1.0\" 200 2326");
    EXPECT_EQ(said(record), "request 2326");
    EXPECT_EQ(record.key, key_of("/apache_pb.gif"));
    record = combined("::1 - - [21/Nov/2026:20:10:59 +0000] \"GET http://a/b?c HTTP/1.1\" 200 17 \"-\" \"curl/8\"");
    EXPECT_EQ(said(record), "request 17");
    EXPECT_EQ(record.key, key_of("http://a/b?c"));
}

TEST(CombinedFormat, a_dash_is_no_bytes) {
    EXPECT_EQ(said(combined("a - - [01/Aug/1995:00:00:09 -0400] \"GET /empty HTTP/1.0\" 200 -")), "request 0");
    EXPECT_EQ(said(combined("a - - [01/Aug/1995:00:00:09 -0400] \"GET /x HTTP/1.0\" 304 -")), "unchanged");
}

TEST(CombinedFormat, requests_are_taken_as_they_come) {
    // HTTP/0.9; an unescaped quote; an escaped quote; a space in the target; a user with a space.
    EXPECT_EQ(combined("a - - [01/Aug/1995:00:00:09 -0400] \"GET /old\" 200 5").key, key_of("/old"));
    EXPECT_EQ(combined("a - - [01/Aug/1995:00:00:09 -0400] \"GET /a\" HTTP/1.0\" 200 5").key, key_of("/a\""));
    EXPECT_EQ(combined("a - - [01/Aug/1995:00:00:09 -0400] \"GET /a\\\"b HTTP/1.0\" 200 5").key, key_of("/a\\\"b"));
    EXPECT_EQ(combined("a - - [01/Aug/1995:00:00:09 -0400] \"GET /a b HTTP/1.0\" 200 5").key, key_of("/a b"));
    EXPECT_EQ(said(combined("a - John Doe [01/Aug/1995:00:00:09 -0400] \"GET /a HTTP/1.0\" 200 5")), "request 5");
}

TEST(CombinedFormat, what_is_no_request_for_a_whole_object_is_skipped) {
    for (std::string line : {
             "a - - [21/Nov/2026:20:10:59 +0000] \"POST /form HTTP/1.1\" 200 17 \"-\" \"curl/8\"",
             "a - - [21/Nov/2026:20:10:59 +0000] \"HEAD / HTTP/1.1\" 200 0 \"-\" \"curl/8\"",
             "a - - [21/Nov/2026:20:10:59 +0000] \"GET / HTTP/1.1\" 206 17 \"-\" \"curl/8\"",
             "a - - [21/Nov/2026:20:10:59 +0000] \"GET / HTTP/1.1\" 301 169 \"-\" \"curl/8\"",
             "a - - [21/Nov/2026:20:10:59 +0000] \"\\x16\\x03\\x01\" 400 157 \"-\" \"-\"",
             "a - - [21/Nov/2026:20:10:59 +0000] \"-\" 408 - \"-\" \"-\"",
             "a - - [21/Nov/2026:20:10:59 +0000] \"\" 400 0 \"-\" \"-\"",
         })
        EXPECT_EQ(said(combined(line)), "skipped") << line;
}

TEST(CombinedFormat, other_lines_are_broken_and_say_why) {
    EXPECT_EQ(said(combined("0,12,4096")), "no [time]");
    EXPECT_EQ(said(combined("a - - [01/Aug/1995:00:00:09 -0400] GET /a 200 5")), "no request in quotes after the time");
    EXPECT_EQ(said(combined("a - - [01/Aug/1995:00:00:09 -0400] \"GET /a HTTP/1.0\" ok 5")),
              "no request in quotes with a status after it");
    EXPECT_EQ(said(combined("a - - [01/Aug/1995:00:00:09 -0400] \"GET /a HTTP/1.0\" 200 x")), "size 'x' is not a whole number");
}

constexpr std::string_view json_hit =
    R"({"time":"2003-10-13T09:10:50.603Z","elapsed_ms":310,"client":"192.168.0.227","result":"TCP_MEM_HIT",)"
    R"("status":200,"bytes":1462,"method":"GET","url":"http://www.example.org/film?x=1","http":"1.1",)"
    R"("hierarchy":"HIER_NONE","content_type":"text/html","user_agent":"say \"yes\", {please}","reason":"fresh"})";

TEST(JsonFormat, reads_garners_lines) {
    auto record = json(json_hit);
    EXPECT_EQ(said(record), "request 1462");
    EXPECT_EQ(record.key, key_of("http://www.example.org/film?x=1"));
}

TEST(JsonFormat, members_stand_in_any_order_with_spaces) {
    EXPECT_EQ(said(json(R"( { "url" : "http://a/", "bytes" : 5, "more": null, "status" : 200, "method" : "GET" } )")), "request 5");
    EXPECT_EQ(said(json(R"({"url":"http://a/","bytes":300,"status":304,"method":"GET"})")), "unchanged");
}

TEST(JsonFormat, what_is_no_request_for_a_whole_object_is_skipped) {
    EXPECT_EQ(said(json(R"({"result":"TCP_MISS_ABORTED","status":200,"bytes":5,"method":"GET","url":"http://a/"})")), "skipped");
    EXPECT_EQ(said(json(R"({"result":"NONE_NONE","status":0,"bytes":0})")), "skipped");
    EXPECT_EQ(said(json(R"({"result":"TCP_TUNNEL","status":200,"bytes":5,"method":"CONNECT","url":"a:443"})")), "skipped");
}

TEST(JsonFormat, other_lines_are_broken_and_say_why) {
    for (std::string line : {"{", "[]", "{\"a\":}", "{\"a\":1,}", "{\"a\" 1}", "{\"a\":1}}", "{\"a\":{\"b\":1}}", "{\"a\":\"b}",
                             "{\"a\":\"b\\", "{\"a\":[1]}", "{,\"a\":1}", "text"})
        EXPECT_EQ(said(json(line)), "the line is not one flat JSON object") << line;
    for (std::size_t size = 0; size < json_hit.size(); ++size)
        EXPECT_EQ(said(json(json_hit.substr(0, size))), size ? "the line is not one flat JSON object" : "nothing");
    EXPECT_EQ(said(json("{}")), "no member \"status\"");
    EXPECT_EQ(said(json(R"({"status":200})")), "no member \"bytes\"");
    EXPECT_EQ(said(json(R"({"status":200,"bytes":-1})")), "size '-1' is negative");
}

}   // namespace
}   // namespace garner::sim
