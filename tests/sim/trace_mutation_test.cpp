// Traces with wrong bytes: no crash, and every line is counted.
#include <random>

#include "sim/trace_files.hpp"

namespace garner::sim {
namespace {

using testing::Message;

std::string repeated(std::string const& lines, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += lines;
    return text;
}

struct Source {
    std::string_view format;
    std::string bytes;
};

std::vector<Source> sources() {
    std::string binary;
    for (std::uint32_t i = 0; i < 40; ++i) binary += oracle_record(i, i % 7, 100 + i % 7, i < 33 ? i + 8 : -1);
    // clang-format off
    return {
        {"csv", "time,key,size\n" + repeated("0,12,4096\n1,\"a,b\",7\n2,http://a/b,100\n", 10)},
        {"squid", repeated("1066036250.603    310 10.0.0.7 TCP_MISS/200 1462 GET http://a/f?x - HIER_DIRECT/a -\n"
                           "1066036251.603      0 10.0.0.7 TCP_IMS_HIT/304 300 GET http://a/f?x - HIER_NONE/- -\n"
                           "1066036252.603   9999 ::1 TCP_TUNNEL/200 5000 CONNECT a:443 - HIER_DIRECT/::1 -\n", 5)},
        {"combined", repeated("a - - [21/Nov/2026:20:10:59 +0000] \"GET /a\\\"b HTTP/1.1\" 200 17 \"-\" \"curl/8\"\n"
                              "b - - [01/Aug/1995:00:00:09 -0400] \"GET /c HTTP/1.0\" 304 -\n", 8)},
        {"json", repeated(R"({"result":"TCP_HIT","status":200,"bytes":512,"method":"GET","url":"http://a/\"b"})" "\n"
                          R"({"result":"TCP_TUNNEL","status":200,"bytes":5,"method":"CONNECT","url":"a"})" "\n", 6)},
        {"oracleGeneral", binary},
    };
    // clang-format on
}

void mutate(std::string& bytes, std::mt19937& random) {
    constexpr std::string_view liked("\n\n\r\0\"\\,;\t  -0919{}[]:/#\xff\xef", 26);
    auto place = [&] { return random() % bytes.size(); };
    for (auto changes = 1 + random() % 8; changes > 0 && bytes.size() > 1; --changes) switch (random() % 5) {
        case 0: bytes[place()] ^= static_cast<char>(1 << random() % 8); break;
        case 1: bytes[place()] = liked[random() % liked.size()]; break;
        case 2: bytes.insert(place(), 1 + random() % 3, liked[random() % liked.size()]); break;
        case 3: bytes.erase(place(), 1 + random() % 30); break;
        case 4: bytes.insert(place(), bytes.substr(place(), random() % 60)); break;
        }
}

void expect_accounted(TraceRead const& read) {
    EXPECT_EQ(read.trace.sizes.size(), read.trace.keys.size());
    Bytes bytes = 0;
    std::uint32_t distinct = 0;
    for (std::size_t i = 0; i < read.trace.requests(); ++i) {
        bytes += read.trace.sizes[i];
        EXPECT_LE(read.trace.keys[i], distinct);
        distinct += read.trace.keys[i] == distinct;
    }
    EXPECT_EQ(read.trace.bytes, bytes);
    EXPECT_EQ(read.trace.distinct, distinct);
    EXPECT_LE(read.trace.unique_bytes, bytes);
    EXPECT_LE(read.examples.size(), 5u);
    EXPECT_GE(read.broken, read.examples.size());
    if (read.fault.empty())
        EXPECT_EQ(read.lines, read.trace.requests() + read.broken + read.skipped + read.unsampled);
    else
        EXPECT_EQ(read.trace.requests(), 0u);
}

TEST(TraceMutation, every_line_of_a_damaged_trace_is_accounted_for) {
    std::mt19937 random(20261121);
    for (auto const& [format, bytes] : sources()) {
        auto const whole = read_bytes(bytes, {.format = std::string(format)});
        EXPECT_EQ(whole.fault, "");
        EXPECT_EQ(whole.broken, 0u) << format << ' ' << (whole.examples.empty() ? "" : whole.examples.front());
        EXPECT_EQ(read_bytes(bytes).format, format);
        for (int i = 0; i < 100; ++i) {
            auto damaged = bytes;
            mutate(damaged, random);
            SCOPED_TRACE(Message() << format << ' ' << i);
            ReadOptions options{.format = i % 2 ? std::string(format) : "", .sample = i % 3 ? 1 : 0.5};
            expect_accounted(read_bytes(damaged, options));
        }
    }
}

TEST(TraceMutation, damaged_packed_files_are_accounted_for_or_faults) {
    std::mt19937 random(20261122);
    for (auto const& [format, bytes] : sources())
        for (auto const& packed : {zstd(bytes), gzip(bytes)})
            for (int i = 0; i < 40; ++i) {
                auto damaged = packed;
                mutate(damaged, random);
                SCOPED_TRACE(Message() << format << ' ' << i);
                expect_accounted(read_bytes(damaged));
            }
}

}   // namespace
}   // namespace garner::sim
