// Clients that do not read keep objects in memory after their eviction: other clients still get hits.
#include <algorithm>
#include <memory>
#include <thread>

#include "hostile/hostile.hpp"

namespace garner::test {

namespace {

/// `after`: a reader of evicted memory is disconnected after a sixth of this time.
std::string small_memory(std::string const& after) {
    return R"({"memory": {"size": "48 MiB", "object_max": "8 MiB", "policy": "lru", "what_if": false},
               "limits": {"rate_min": "20 KiB", "rate_min_after": ")" +
           after + R"("}})";
}
// Longer than the system's send buffer, which takes up to 4 MB.
std::string const film = pattern(8'000'000, 5);
std::string const clip = pattern(6'000'000, 3);

/// Clients that request one object each and read nothing.
class Readers {
public:
    Readers(Proxy const& proxy, Origin& origin, int count) : proxy_(proxy) {
        for (int i = 0; i < count; ++i) {
            origin.answer(path(i), fresh(clip));
            clients_.push_back(std::make_unique<Client>(proxy, origin));
            clients_.back()->receive_buffer(4096);
        }
    }
    static std::string path(int i) { return "/clip/" + std::to_string(i); }
    /// Returns after the proxy has fetched the object.
    void ask(int i) {
        replies_.push_back(clients_[static_cast<std::size_t>(i)]->get(path(i)));
        EXPECT_EQ(replies_.back().status(), 200);
        EXPECT_TRUE(eventually([&] { return proxy_.stats()["cache"]["fills"] == 0; }));
    }

private:
    Proxy const& proxy_;
    std::vector<std::unique_ptr<Client>> clients_;
    std::vector<Reply> replies_;
};

void serve_ranges(Origin& origin, std::string const& path, std::string const& body) {
    origin.by_hand(path, [&body](Hand& hand) {
        Fields fields{{"ETag", R"("a")"}, {"Cache-Control", "max-age=600"}};
        auto const range = hand.request().head.field("Range");
        if (range.empty()) return hand.answer({.fields = fields, .body = body});
        auto const first = std::stoul(range.substr(range.find('=') + 1));
        fields.emplace_back("Content-Range", "bytes " + std::to_string(first) + "-" + std::to_string(body.size() - 1) + "/" +
                                                 std::to_string(body.size()));
        hand.answer({.status = 206, .fields = fields, .body = body.substr(first)});
    });
}

}   // namespace

TEST(EvictedMemory, clients_that_read_nothing_do_not_evict_what_others_use) {
    Origin origin;
    Proxy proxy(small_memory("12s"));
    Client victim(proxy, origin);
    constexpr int hot = 20, attackers = 24;
    auto const page = [](int i) { return "/page/" + std::to_string(i); };
    for (int i = 0; i < hot; ++i) {
        origin.answer(page(i), fresh(pattern(50'000)));
        victim.get(page(i)).body();
    }
    Readers readers(proxy, origin, attackers);
    int misses = 0;
    for (int attacker = 0; attacker < attackers; ++attacker) {
        readers.ask(attacker);
        auto const small = "/small/" + std::to_string(attacker);
        origin.answer(small, fresh(pattern(2'000)));
        victim.get(small).body();
        for (int i = 0; i < hot; ++i) {
            auto const reply = victim.get(page(i));
            EXPECT_EQ(reply.body().size(), 50'000u);
            misses += !reply.hit();
        }
    }
    EXPECT_LT(misses, 2 * hot) << "a clip in the same shard may evict a page, which is then fetched again";
    // Slow readers are disconnected when their memory is needed, and new objects are stored again.
    origin.answer("/new", fresh(clip));
    EXPECT_TRUE(eventually([&] {
        victim.get("/new").body();
        return victim.get("/new").hit();
    }));
    auto const was_ended = [](Logged const& line) {
        return line.all.value("reason", "").find("of the evicted object") != std::string::npos;
    };
    EXPECT_TRUE(eventually([&] { return std::ranges::any_of(proxy.log(), was_ended); }));
}

TEST(EvictedMemory, a_client_that_reads_gets_all_of_an_evicted_object_when_memory_is_needed) {
    Origin origin;
    Proxy proxy(small_memory("5m"));
    serve_ranges(origin, "/film", film);
    get(proxy, origin, "/film").body();
    Client victim(proxy, origin);
    victim.receive_buffer(64 * 1024);
    auto reply = victim.get("/film");
    EXPECT_TRUE(reply.hit());
    Readers readers(proxy, origin, 10);
    for (int i = 0; i < 10; ++i) readers.ask(i);
    EXPECT_FALSE(get(proxy, origin, "/new").hit());
    for (int i = 0; i < 50; ++i) {
        pause_for(20ms);
        victim.wire().receive(Millis{1}, 30'000);
    }
    EXPECT_TRUE(reply.body() == film);
    EXPECT_TRUE(reply.complete());
    EXPECT_TRUE(origin.last("/film").head.has("Range")) << "the victim lost the evicted object and fetched the rest";
}

}   // namespace garner::test
