// A peer dies in the middle of a body: the client gets the complete body, or detects that it is truncated.
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "story/scene.hpp"
#include "support/credentials.hpp"

namespace garner::test {

namespace {

constexpr std::size_t never = SIZE_MAX;
std::string const film = pattern(200'000);
Fields const stored{{"ETag", R"("v1")"}, {"Cache-Control", "max-age=600"}, {"Content-Type", "video/film"}};
Fields const streamed{{"ETag", R"("v1")"}, {"Cache-Control", "no-store"}, {"Content-Type", "video/film"}};

struct Plan {
    std::string bytes = film;
    Fields fields = stored;
    Delimited delimited = Delimited::by_length;
    std::size_t breaks_after = never;   // number of body bytes
    bool resets = false;
    bool ignores_ranges = false;
    bool stalls = false;   // stalls instead of closing
    std::string interim = {};
};

/// A parent, or the origin: supports single ranges with If-Range, and may close
/// early. A request uses the plan set when it arrived; `source->` changes the plan.
struct Source {
    std::mutex mutex;
    Plan plan;
    std::atomic<bool> held{false};   // delays the close
    Origin server;                   // last member: its threads run until it is destroyed

    struct Locked {
        std::unique_lock<std::mutex> lock;
        Plan* plan;
        Plan* operator->() { return plan; }
    };

    Source() {
        server.by_hand("/film", [this](Hand& hand) { play(hand, now()); });
    }
    Locked operator->() { return {std::unique_lock(mutex), &plan}; }
    Plan now() {
        std::lock_guard const lock(mutex);
        return plan;
    }

    void play(Hand& hand, Plan const& now) {
        auto const& head = hand.request().head;
        auto const range = head.field("Range");
        auto const condition = head.field("If-Range");
        bool ours = condition.empty();
        for (auto const& field : now.fields) ours |= same_name(field.first, "ETag") && field.second == condition;
        for (auto const& field : now.fields) ours |= same_name(field.first, "Last-Modified") && field.second == condition;
        auto const known = head.field("If-None-Match");
        if (!known.empty() && known == now.fields[0].second) return hand.answer({.status = 304, .fields = now.fields});
        std::size_t first = 0;
        std::size_t last = now.bytes.size() - 1;
        Answer answer{.fields = now.fields, .delimited = now.delimited};
        if (!range.empty() && ours && !now.ignores_ranges) {
            std::sscanf(range.c_str(), "bytes=%zu-%zu", &first, &last);
            answer.status = 206;
            answer.delimited = Delimited::by_length;
            answer.fields.emplace_back("Content-Range", "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" +
                                                            std::to_string(now.bytes.size()));
        }
        answer.body = now.bytes.substr(first, last - first + 1);
        hand.send(now.interim);
        if (head.method() == "HEAD" || answer.body.size() <= now.breaks_after) return hand.answer(answer);
        hand.send(answer.head_text());
        auto const sent = answer.body.substr(0, now.breaks_after);
        if (!sent.empty()) hand.send(answer.delimited == Delimited::by_chunks ? chunk(sent) : sent);
        eventually([&] { return !held; });
        if (now.stalls) eventually([&] { return hand.wire().peer_closed(); });
        if (now.resets) hand.wire().reset_at_close();
        hand.leave();
    }
    std::size_t asked() const { return server.requests("/film"); }
    std::string asked_for() const { return server.last("/film").head.field("Range"); }
};

std::string parent(std::string const& name, Source const& source) {
    return R"({"name": ")" + name + R"(", "type": "parent", "host": "127.0.0.1", "icp_port": 0, "no_query": true, "http_port": )" +
           std::to_string(source.server.port()) + "}";
}

/// Two parents and the origin with equal content; the first parent is asked first.
struct Resume : ::testing::Test {
    Source near;
    Source far;
    Source origin;
    std::unique_ptr<Proxy> proxy;

    void open(std::string const& more = "") {
        proxy = std::make_unique<Proxy>(R"({"workers": 1, "peers": [)" + parent("near", near) + "," + parent("far", far) + "]" +
                                        more + "}");
    }
    void everybody(Fields const& fields) {
        for (auto* source : {&near, &far, &origin}) (*source)->fields = fields;
    }
    void everybody(std::string const& bytes) {
        for (auto* source : {&near, &far, &origin}) (*source)->bytes = bytes;
    }
    Reply ask(Fields fields = {}) { return get(*proxy, origin.server, "/film", std::move(fields)); }
    bool resumed(int times) const {
        return proxy->metrics().find("\ngarner_resumed_total " + std::to_string(times) + "\n") != std::string::npos;
    }
    void expect_whole(Reply const& reply, std::string const& bytes) const {
        EXPECT_EQ(reply.status(), 200);
        EXPECT_TRUE(reply.body() == bytes) << reply.body().size() << " bytes; " << reply.trouble();
        EXPECT_TRUE(reply.complete());
    }
    void expect_whole(Reply const& reply) { expect_whole(reply, near.now().bytes); }
};

}   // namespace

TEST_F(Resume, what_is_stored_goes_on_at_the_next_parent) {
    near->breaks_after = 30'000;
    open();
    expect_whole(ask());
    EXPECT_EQ(far.asked_for(), "bytes=30000-");
    EXPECT_EQ(far.server.last("/film").head.field("If-Range"), R"("v1")");
    EXPECT_TRUE(far.server.last("/film").head.target().starts_with("http://"));
    EXPECT_EQ(origin.asked(), 0u);
    EXPECT_TRUE(resumed(1));
    auto again = ask();
    EXPECT_TRUE(again.hit());
    expect_whole(again);
}

TEST_F(Resume, what_is_passed_on_goes_on_at_the_next_parent) {
    everybody(streamed);
    near->breaks_after = 30'000;
    open();
    expect_whole(ask());
    EXPECT_EQ(far.asked_for(), "bytes=30000-");
    EXPECT_EQ(far.server.last("/film").head.field("If-Range"), R"("v1")");
    EXPECT_TRUE(resumed(1));
}

TEST_F(Resume, it_goes_on_with_the_user_of_its_request) {
    TempDir dir;
    near->breaks_after = 30'000;
    open(R"(, "auth": {"sources": [{"type": "htpasswd", "file": ")" + std::string(dir.write("users", alice)) + R"("}]},
        "access": [{"allow": {"user": "alice", "destination": "127.0.0.0/8", "port": "1-65535"}}, {"deny": "all"}])");
    EXPECT_EQ(ask().status(), 407);
    expect_whole(ask(login("alice:wonder")));
    EXPECT_EQ(far.asked_for(), "bytes=30000-");
    EXPECT_FALSE(far.server.last("/film").head.has("Proxy-Authorization"));
}

TEST_F(Resume, it_goes_on_as_often_as_there_are_sources) {
    for (auto const& fields : {stored, streamed}) {
        everybody(fields);
        near->breaks_after = 10'000;
        near->resets = true;
        far->breaks_after = 20'000;
        open();
        expect_whole(ask());
        EXPECT_EQ(far.asked_for(), "bytes=10000-");
        EXPECT_EQ(origin.asked_for(), "bytes=30000-");
        EXPECT_TRUE(origin.server.last("/film").head.target().starts_with("/"));
        EXPECT_TRUE(resumed(2));
    }
}

TEST_F(Resume, a_body_in_chunks_goes_on) {
    for (auto const& fields : {stored, streamed}) {
        everybody(fields);
        near->breaks_after = 30'000;
        near->delimited = far->delimited = Delimited::by_chunks;
        open();
        auto reply = ask();
        expect_whole(reply);
        EXPECT_TRUE(reply.chunked());
        EXPECT_EQ(far.asked_for(), "bytes=30000-");
    }
}

TEST_F(Resume, a_last_modified_that_is_strong_will_do) {
    auto const changed = http_date(-3600);
    for (auto const* control : {"max-age=600", "no-store"}) {
        everybody(Fields{{"Last-Modified", changed}, {"Cache-Control", control}});
        near->breaks_after = 30'000;
        open();
        expect_whole(ask());
        EXPECT_EQ(far.server.last("/film").head.field("If-Range"), changed);
    }
}

TEST_F(Resume, who_gives_the_whole_is_read_from_where_it_broke_off) {
    for (auto const& fields : {stored, streamed}) {
        everybody(fields);
        near->breaks_after = 30'000;
        far->ignores_ranges = true;
        open();
        expect_whole(ask());
        EXPECT_EQ(origin.asked(), 0u);
        EXPECT_TRUE(resumed(1));
    }
}

TEST_F(Resume, another_version_is_never_joined) {
    for (auto const& fields : {stored, streamed}) {
        everybody(fields);
        near->breaks_after = 30'000;
        far->fields[0].second = R"("v2")";
        far->bytes = pattern(200'000, 2);
        open();
        expect_whole(ask());
        EXPECT_EQ(far.asked_for(), "bytes=30000-");
        EXPECT_EQ(origin.asked_for(), "bytes=30000-");
    }
}

TEST_F(Resume, where_everybody_else_has_another_version_the_client_sees_the_break) {
    for (auto const& fields : {stored, streamed}) {
        everybody(fields);
        near->breaks_after = 30'000;
        for (auto* other : {&far, &origin}) {
            (*other)->fields[0].second = R"("v2")";
            (*other)->bytes = pattern(200'000, 2);
        }
        open();
        auto reply = ask();
        EXPECT_FALSE(reply.complete());
        EXPECT_TRUE(reply.body() == film.substr(0, 30'000));
        EXPECT_TRUE(resumed(0));
        near->breaks_after = never;
        EXPECT_FALSE(ask().hit());
    }
}

TEST_F(Resume, without_a_strong_validator_the_client_sees_the_break) {
    for (auto const* etag : {"", R"(W/"v1")"}) {
        for (auto const* control : {"max-age=600", "no-store"}) {
            Fields fields{{"Cache-Control", control}};
            if (*etag != '\0') fields.emplace_back("ETag", etag);
            everybody(fields);
            near->breaks_after = 30'000;
            open();
            auto reply = ask();
            EXPECT_FALSE(reply.complete());
            EXPECT_TRUE(reply.body() == film.substr(0, 30'000));
            EXPECT_EQ(far.asked() + origin.asked(), 0u);
        }
    }
}

TEST_F(Resume, of_what_nobody_has_seen_a_byte_the_request_is_repeated) {
    for (auto const* control : {"max-age=600", "no-store"}) {
        everybody(Fields{{"Cache-Control", control}});
        near->breaks_after = 0;
        open();
        expect_whole(ask());
        EXPECT_EQ(far.asked_for(), "");
        EXPECT_TRUE(resumed(1));
    }
}

TEST_F(Resume, but_not_with_an_answer_that_says_something_else) {
    everybody(Fields{{"Cache-Control", "max-age=600"}});
    near->breaks_after = 0;
    far->fields = {{"Cache-Control", "private"}};
    origin->bytes = film + "more";
    open();
    auto reply = ask();
    EXPECT_FALSE(reply.complete());
    EXPECT_EQ(reply.body(), "");
    EXPECT_EQ(far.asked(), 1u);
    EXPECT_EQ(origin.asked(), 1u);
}

TEST_F(Resume, a_range_goes_on_inside_itself) {
    for (auto const& fields : {stored, streamed}) {
        everybody(fields);
        near->breaks_after = 30'000;
        open();
        auto reply = ask({{"Range", "bytes=1000-99999"}});
        EXPECT_EQ(reply.status(), 206);
        EXPECT_TRUE(reply.complete());
        EXPECT_EQ(reply.field("Content-Range"), "bytes 1000-99999/200000");
        EXPECT_TRUE(reply.body() == film.substr(1000, 99'000));
        EXPECT_TRUE(resumed(1));
    }
}

TEST_F(Resume, a_body_too_large_to_be_kept_goes_on) {
    everybody(pattern(6'000'000));
    near->breaks_after = 3'000'000;
    near->delimited = Delimited::by_chunks;
    open(R"(, "memory": {"object_max": "1 MiB"})");
    std::atomic<int> whole{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i)
        clients.emplace_back([&] {
            auto reply = ask();
            whole += reply.body() == near.now().bytes && reply.complete();
        });
    for (auto& client : clients) client.join();
    EXPECT_EQ(whole, 4);
    EXPECT_FALSE(resumed(0));
}

TEST_F(Resume, everybody_who_follows_gets_the_whole) {
    near->breaks_after = 50'000;
    near.held = true;
    open();
    std::vector<Client> clients;
    std::vector<Reply> replies;
    for (int i = 0; i < 30; ++i) clients.emplace_back(*proxy, origin.server);
    for (auto& client : clients) replies.push_back(client.get("/film"));
    for (auto const& reply : replies) reply.early(50'000);
    clients.front().close();   // the leader is gone
    near.held = false;
    for (std::size_t i = 1; i < replies.size(); ++i) expect_whole(replies[i]);
    EXPECT_EQ(near.asked(), 1u);
    EXPECT_EQ(far.asked(), 1u);
    EXPECT_TRUE(resumed(1));
}

TEST_F(Resume, a_peer_that_stalls_is_left) {
    for (auto const& fields : {stored, streamed}) {
        everybody(fields);
        near->breaks_after = 30'000;
        near->stalls = true;
        open(R"(, "deadlines": {"body": "1s"})");
        expect_whole(ask());
        EXPECT_TRUE(resumed(1));
    }
}

TEST_F(Resume, an_interim_answer_does_not_get_into_the_body) {
    everybody(streamed);
    near->breaks_after = 30'000;
    far->interim = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n";
    open();
    auto reply = ask();
    expect_whole(reply);
    EXPECT_TRUE(reply.interim().empty());
}

TEST_F(Resume, what_the_origin_breaks_off_stays_broken) {
    for (auto const& fields : {stored, streamed}) {
        everybody(fields);
        origin->breaks_after = 30'000;
        open(R"(, "direct": {"always": [{"url_contains": ["film"]}]})");
        auto reply = ask();
        EXPECT_FALSE(reply.complete());
        EXPECT_EQ(near.asked() + far.asked(), 0u);
        EXPECT_EQ(origin.asked(), 1u);
        origin.server.forget_requests();
    }
}

TEST_F(Resume, a_head_without_a_body_is_whole) {
    near->breaks_after = 10;
    open(R"(, "direct": {"never": [{"url_contains": ["film"]}]})");
    Client client(*proxy, origin.server);
    EXPECT_EQ(client.head("/film").status(), 200);
    EXPECT_EQ(near.asked(), 1u);
    EXPECT_EQ(far.asked() + origin.asked(), 0u);
}

TEST_F(Resume, a_304_is_whole) {
    everybody(Fields{{"ETag", R"("v1")"}, {"Cache-Control", "no-cache"}});
    open();
    expect_whole(ask());
    near->breaks_after = 10;
    expect_whole(ask());
    EXPECT_EQ(near.server.last("/film").head.field("If-None-Match"), R"("v1")");
    EXPECT_EQ(near.asked(), 2u);
    EXPECT_EQ(far.asked() + origin.asked(), 0u);
}

}   // namespace garner::test
