// The simulator reads access logs: every format gives equal requests.
#include <gtest/gtest.h>

#include <vector>

#include "proxy/access_log_format.hpp"
#include "sim/trace_formats.hpp"

namespace garner::proxy {
namespace {

using RecordKind = sim::Record::Kind;

LogEntry get(std::string_view url, std::uint16_t status, Bytes bytes) {
    LogEntry entry;
    entry.end = WallTime(milliseconds(1'066'036'250'603));
    entry.client = "::1";
    entry.user = "John \"J\" Doe";
    entry.tag = ResultTag::tcp_miss;
    entry.status = status;
    entry.bytes = bytes;
    entry.method = "GET";
    entry.url = url;
    entry.content_type = "text/html; charset=\"utf-8\"";
    entry.user_agent = "say \"yes\" {please}, [now] \xff\r\n";
    return entry;
}

sim::Record read_back(LogFormat format, std::string_view name, LogEntry const& entry) {
    LineBuffer buffer;
    auto line = format_line(format, entry, buffer);
    line.remove_suffix(1);
    auto reader = sim::trace_format(name)->make();
    auto record = sim::read_line(reader, line);
    EXPECT_NE(record.kind, RecordKind::broken) << name << ": " << line << sim::fault_of(record);
    return record;
}

/// Reads the two formats that record aborted transfers; they must agree.
sim::Record read_back(LogEntry const& entry) {
    auto record = read_back(LogFormat::squid, "squid", entry);
    auto other = read_back(LogFormat::json, "json", entry);
    EXPECT_EQ(record.kind, other.kind);
    EXPECT_EQ(record.size, other.size);
    return record;
}

TEST(LogReadBack, objects_and_their_sizes) {
    auto record = read_back(get("http://a/b?c", 200, 1462));
    EXPECT_EQ(record.kind, RecordKind::request);
    EXPECT_EQ(record.size, 1462u);
    EXPECT_EQ(record.key, sim::key_of("http://a/b?c"));
    EXPECT_EQ(read_back(get("http://a/b?c", 304, 300)).kind, RecordKind::unchanged);
    EXPECT_EQ(read_back(LogFormat::combined, "combined", get("http://a/b?c", 200, 7)).key, record.key);
    EXPECT_EQ(read_back(LogFormat::json, "json", get("http://a/b?c", 200, 7)).key, record.key);
}

TEST(LogReadBack, what_is_no_request_for_a_whole_object) {
    auto aborted = get("http://a/", 200, 1462);
    aborted.aborted = true;
    auto tunnel = get("a:443", 200, 1462);
    tunnel.method = "CONNECT";
    LogEntry nothing;
    for (auto const& entry : {aborted, tunnel, nothing, get("http://a/", 0, 0), get("http://a/", 206, 10)})
        EXPECT_EQ(read_back(entry).kind, RecordKind::skipped);
    for (auto const& entry : {tunnel, nothing, get("http://a/", 0, 0), get("http://a/", 206, 10)})
        EXPECT_EQ(read_back(LogFormat::combined, "combined", entry).kind, RecordKind::skipped);
}

TEST(LogReadBack, hostile_urls_are_whole_in_every_format) {
    std::string const longest(LogFieldLimits::url + 100, 'x');
    for (std::string const& url :
         {std::string("http://a/b c\"d\\e'f"), std::string("http://a/] \"GET / HTTP/1.0"), std::string("\" 200 999 \"-\""),
          std::string("http://a/\"} {\"bytes\":1"), std::string("http://a/\r\n\x01\xff\xc3\xa9 , TCP_MISS/200"), longest})
        for (auto [format, name] : {std::pair(LogFormat::squid, "squid"), std::pair(LogFormat::combined, "combined"),
                                    std::pair(LogFormat::json, "json")}) {
            auto record = read_back(format, name, get(url, 200, 77));
            EXPECT_EQ(record.kind, RecordKind::request) << name << ' ' << url;
            EXPECT_EQ(record.size, 77u) << name << ' ' << url;
            EXPECT_EQ(record.key, read_back(format, name, get(url, 200, 5)).key);
        }
}

}   // namespace
}   // namespace garner::proxy
