// New bodies while other fills use their whole share of memory: objects that memory cannot keep are on disk.
#include <deque>

#include "story/disk/disk.hpp"

namespace garner::test {

namespace {

constexpr std::size_t others = 30;
// The other fills would need three times the memory that fills may use.
constexpr auto some_memory = R"({"memory": {"size": "16 MiB"}, "disk": {"timeout": "1s"}})";

std::string in_one_chunk(std::string_view bytes) { return chunk(bytes) + "0\r\n\r\n"; }

/// Sends the body chunked, or the requested range of it.
void show(Origin& origin, std::string const& path, std::string const& body, bool chunked) {
    origin.by_hand(path, [body, chunked](Hand& hand) {
        std::size_t first = 0, last = body.size() - 1;
        Fields fields{{"ETag", "\"one\""}, {"Cache-Control", "max-age=600"}};
        auto const range = hand.request().head.field("Range");
        if (std::sscanf(range.c_str(), "bytes=%zu-%zu", &first, &last) == 2) {
            fields.emplace_back("Content-Range",
                                "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" + std::to_string(body.size()));
            return hand.answer({.status = 206, .fields = fields, .body = body.substr(first, last - first + 1)});
        }
        if (!chunked) return hand.answer({.fields = fields, .body = body});
        hand.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: max-age=600\r\n\r\n" + in_one_chunk(body));
    });
}

/// Fills that have begun and do not continue.
struct Crowded : DiskScene {
    void begin() {
        start(some_memory);
        auto const begun = pattern(400'000, 1);
        for (std::size_t i = 0; i < others; ++i) {
            auto const path = "/other" + std::to_string(i);
            held.push_back(origin().hold(path));
            clients.emplace_back(proxy(), origin());
            replies.push_back(clients.back().get(path));
            held.back().arrived();
            held.back().head(fresh("", 600), 3'900'000);
            held.back().piece(begun);
        }
        EXPECT_TRUE(eventually([&] { return disk()["written_bytes"].get<std::uint64_t>() > others * 60'000 / 2; }));
    }
    void end() {
        for (auto& one : held) one.close();
    }
    std::deque<Held> held;
    std::deque<Client> clients;
    std::deque<Reply> replies;
};

}   // namespace

TEST_F(Crowded, a_short_body_of_unknown_length_is_kept_whole) {
    begin();
    int kept = 0;
    for (std::size_t size : {20'000, 31'800, 40'000, 64'600, 65'000, 65'536, 65'537, 70'000}) {
        auto const path = "/chunked" + std::to_string(size);
        auto const body = pattern(size, static_cast<unsigned>(size));
        show(origin(), path, body, true);
        EXPECT_TRUE(get(proxy(), origin(), path).body() == body) << size;
        auto again = get(proxy(), origin(), path);
        kept += again.hit();
        EXPECT_TRUE(again.body() == body) << size;
    }
    EXPECT_GE(kept, 4);
    end();
    kill();
    start(some_memory);
    for (std::size_t size : {20'000, 31'800, 40'000, 64'600, 65'000, 65'536, 65'537, 70'000})
        EXPECT_TRUE(get(proxy(), origin(), "/chunked" + std::to_string(size)).body() == pattern(size, static_cast<unsigned>(size)))
            << size;
}

TEST_F(Crowded, what_completes_a_part_ends_where_the_part_begins) {
    begin();
    for (std::size_t size : {50'000, 66'000, 100'000, 200'000})
        for (std::size_t part : {1'000, 10'000}) {
            auto const path = "/film" + std::to_string(size) + "-" + std::to_string(part);
            auto const body = pattern(size, static_cast<unsigned>(size + part));
            show(origin(), path, body, false);
            Fields const range{{"Range", "bytes=" + std::to_string(size - part) + "-" + std::to_string(size - 1)}};
            EXPECT_TRUE(get(proxy(), origin(), path, range).body() == body.substr(size - part)) << path;
            for (int times = 0; times < 3; ++times) EXPECT_TRUE(get(proxy(), origin(), path).body() == body) << path;
        }
    end();
}

}   // namespace garner::test
