// Typical failures of shared caches: another user's response, an outdated or truncated response, and a thundering herd.
#include "story/rest.hpp"

namespace garner::test {

namespace {

// ---- responses for one client ----

/// Responses for one client only, for various reasons.
struct Personal {
    std::string name;
    Fields fields;
    std::string tells_who = "Cookie";   // the request field that identifies the user
    bool sets_cookie = false;
};

std::vector<Personal> const personal{
    {"private", {{"Cache-Control", "private, max-age=600"}}},
    {"no-store", {{"Cache-Control", "no-store"}}},
    {"Vary-Cookie", {{"Cache-Control", "max-age=600"}, {"Vary", "Cookie"}}},
    {"Vary-star", {{"Cache-Control", "max-age=600"}, {"Vary", "*"}}},
    {"Set-Cookie-guessed", {{"Last-Modified", "Mon, 01 Jan 2018 00:00:00 GMT"}}, "Cookie", true},
    {"Set-Cookie-validated", {{"ETag", R"("a")"}}, "Cookie", true},
    {"Authorization", {{"Cache-Control", "max-age=600"}}, "Authorization"},
};

std::string body_for(std::string const& who) { return who + pattern(5000); }

Answer answer_for(Personal const& kind, Head const& request) {
    auto const who = request.field(kind.tells_who);
    Answer answer{.fields = kind.fields, .body = body_for(who)};
    if (kind.sets_cookie) answer.fields.emplace_back("Set-Cookie", "sid=" + who);
    return answer;
}

void expect_own(Reply const& reply, Personal const& kind, std::string const& who) {
    EXPECT_EQ(reply.body(), body_for(who));
    EXPECT_TRUE(reply.complete());
    if (kind.sets_cookie) EXPECT_EQ(reply.field("Set-Cookie"), "sid=" + who);
}

// ---- a fill, step by step ----

enum class Step : std::uint8_t { before_head, after_head, in_body, last_byte, just_after };
constexpr std::array steps{Step::before_head, Step::after_head, Step::in_body, Step::last_byte, Step::just_after};
constexpr std::array step_names{"before the head", "after the head", "in the body", "at the last byte", "just after"};

/// A response that stops and continues on request.
class Halting {
public:
    Halting(HeldExchange& exchange, Answer answer) : exchange_(exchange), answer_(std::move(answer)) {}

    void go_to(Step step) {
        if (step == Step::before_head) return;
        if (!head_) exchange_.head(answer_, answer_.body.size());
        head_ = true;
        auto const size = answer_.body.size();
        if (step == Step::in_body) send_up_to(size / 2);
        if (step == Step::last_byte) send_up_to(size - 1);
        if (step != Step::just_after) return;
        send_up_to(size);
        exchange_.finish();
    }
    std::size_t sent() const { return sent_; }

private:
    void send_up_to(std::size_t end) {
        if (end > sent_) exchange_.piece(std::string_view(answer_.body).substr(sent_, end - sent_));
        sent_ = std::max(sent_, end);
    }

    HeldExchange& exchange_;
    Answer answer_;
    bool head_ = false;
    std::size_t sent_ = 0;
};

/// Waits until the proxy has received everything that the origin has sent, as far as a client can tell.
void settle(Halting const& answer, Reply const& reply, Step step) {
    if (answer.sent() > 0) EXPECT_GE(reply.early(answer.sent()).size(), answer.sent());
    if (step == Step::after_head) reply.begins_within(100ms);
    if (step == Step::just_after) EXPECT_TRUE(reply.complete());
}

Answer stale(std::string body, std::string const& tag, std::string const& more = "") {
    return {.fields = {{"Cache-Control", "max-age=1" + more}, {"Age", "5"}, {"ETag", tag}}, .body = std::move(body)};
}

struct Shape {
    std::size_t size;
    Delimited delimited;
};
constexpr std::array shapes{Shape{1000, Delimited::by_length}, Shape{1000, Delimited::by_chunks},
                            Shape{200'000, Delimited::by_length}, Shape{200'000, Delimited::by_chunks}};

Answer film(Shape shape, unsigned seed, Fields more = {}) {
    auto answer = fresh(pattern(shape.size, seed), 600, std::move(more));
    answer.delimited = shape.delimited;
    return answer;
}

// ---- thundering herd ----

std::uint64_t followers(Proxy const& proxy) { return proxy.stats()["cache"]["followers"]; }

/// Many clients request one stale object while the origin delays its response.
struct Herd : ::testing::Test {
    std::size_t const count = clients_up_to(1000);
    Origin origin;
    Proxy proxy{R"({"deadlines": {"first_byte": "4s"}, "limits": {"connections_max": 5000}})"};
    std::vector<Client> clients;
    std::vector<Reply> replies;
    Held slow;

    void gather(Answer const& expiring) {
        origin.answer("/page", expiring);
        get(proxy, origin, "/page").body();
        slow = origin.hold("/page");
        clients.assign(count, Client(proxy, origin));
        for (auto& client : clients) replies.push_back(client.get("/page"));
        slow.arrived();
    }
    void all_wait() {
        ASSERT_TRUE(eventually([&] { return followers(proxy) == count - 1; }, 60s)) << followers(proxy);
        ASSERT_EQ(slow.count(), 1u);
        EXPECT_EQ(slow.nth(0).request().head.field("If-None-Match"), R"("a")");
    }
    /// The number of replies with this status and body.
    std::size_t got(int status, std::string const& body) {
        std::size_t found = 0;
        for (auto& reply : replies) found += reply.status() == status && reply.body() == body;
        return found;
    }
    std::size_t got(int status) {
        std::size_t found = 0;
        for (auto& reply : replies) found += reply.status() == status && reply.complete();
        return found;
    }
};

}   // namespace

// ---- bodies are never mixed up ----

TEST(Disasters, fifty_clients_of_one_cold_URL_whose_answers_are_each_ones_own_are_served_at_once_and_never_cross) {
    Origin origin;
    Proxy proxy;
    constexpr std::size_t count = 50;
    for (auto const& kind : personal) {
        SCOPED_TRACE(kind.name);
        auto const path = "/" + kind.name;
        auto slow = origin.hold(path);
        auto who = [](std::size_t i) { return "user " + std::to_string(i); };
        std::vector<Client> clients(count, Client(proxy, origin));
        std::vector<Reply> replies;
        for (std::size_t i = 0; i < count; ++i) replies.push_back(clients[i].get(path, {{kind.tells_who, who(i)}}));
        auto release = [&](std::size_t i) { slow.nth(i).release(answer_for(kind, slow.nth(i).request().head)); };
        release(0);
        slow.arrived(count);   // all the others are at the origin at the same time
        for (std::size_t i = count; i-- > 1;) release(i);
        for (std::size_t i = 0; i < count; ++i) expect_own(replies[i], kind, who(i));
        EXPECT_EQ(slow.count(), count);

        origin.by_hand(path, [kind](Hand& hand) { hand.answer(answer_for(kind, hand.request().head)); });
        for (std::size_t i : {3u, 4u, 3u, 999u}) expect_own(get(proxy, origin, path, {{kind.tells_who, who(i)}}), kind, who(i));
        EXPECT_EQ(get(proxy, origin, path).body(), body_for(""));
    }
}

TEST(Disasters, who_comes_while_anothers_own_answer_is_on_its_way_gets_no_byte_of_it) {
    Origin origin;
    Proxy proxy;
    for (auto const& kind : personal) {
        for (auto step : {Step::after_head, Step::in_body, Step::last_byte}) {
            auto const path = "/" + kind.name + std::to_string(static_cast<int>(step));
            SCOPED_TRACE(path);
            auto slow = origin.hold(path);
            Client owner(proxy, origin), stranger(proxy, origin);
            auto own = owner.get(path, {{kind.tells_who, "owner"}});
            Halting answer(slow.nth(0), answer_for(kind, slow.nth(0).request().head));
            answer.go_to(step);
            settle(answer, own, step);
            auto others = stranger.get(path, {{kind.tells_who, "stranger"}});
            slow.nth(1).release(answer_for(kind, slow.nth(1).request().head));
            expect_own(others, kind, "stranger");
            answer.go_to(Step::just_after);
            expect_own(own, kind, "owner");
        }
    }
}

TEST(Disasters, users_of_a_URL_that_varies_by_them_do_not_wait_for_one_another) {
    Origin origin;
    Proxy proxy;
    origin.answer("/page", fresh("first", 600, {{"Vary", "Cookie"}}));
    get(proxy, origin, "/page", {{"Cookie", "first"}}).body();
    auto slow = origin.hold("/page");
    Client one(proxy, origin), another(proxy, origin), same(proxy, origin);
    auto a = one.get("/page", {{"Cookie", "one"}});
    slow.arrived(1);
    auto b = another.get("/page", {{"Cookie", "another"}});
    slow.arrived(2);
    auto c = same.get("/page", {{"Cookie", "one"}});
    EXPECT_TRUE(eventually([&] { return followers(proxy) == 1; }));
    slow.nth(1).release(fresh("another's", 600, {{"Vary", "Cookie"}}));
    EXPECT_EQ(b.body(), "another's");
    slow.nth(0).release(fresh("one's", 600, {{"Vary", "Cookie"}}));
    EXPECT_EQ(a.body(), "one's");
    EXPECT_EQ(c.body(), "one's");
    EXPECT_EQ(slow.count(), 2u);
}

// ---- no older response afterwards ----

TEST(Disasters, after_a_PURGE_or_a_POST_at_any_step_of_a_fill_nothing_older_is_served) {
    Origin origin;
    Proxy proxy;
    int number = 0;
    for (auto shape : shapes)
        for (auto step : steps)
            for (bool purges : {true, false})
                for (bool renews : {true, false}) {
                    auto const path = "/film" + std::to_string(++number);
                    SCOPED_TRACE(path + (purges ? ", PURGE " : ", POST ") + step_names[static_cast<int>(step)] +
                                 (renews ? " of a stale object" : "") + ", " + std::to_string(shape.size));
                    if (renews) {
                        origin.answer(path, stale("oldest", R"("a")"));
                        get(proxy, origin, path).body();
                    }
                    auto slow = origin.hold(path);
                    Client reader(proxy, origin), writer(proxy, origin), later(proxy, origin);
                    auto old = reader.get(path);
                    Halting answer(slow.nth(0), film(shape, 1));
                    answer.go_to(step);
                    settle(answer, old, step);

                    if (purges) {
                        EXPECT_EQ(writer.send("PURGE", path).status(), 200);
                    } else {
                        auto written = writer.post(path, "new");
                        slow.nth(1).release(no_store("written"));
                        EXPECT_EQ(written.body(), "written");
                    }

                    auto const asked = slow.count();
                    auto next = later.get(path);
                    slow.nth(asked).release(film(shape, 2));
                    EXPECT_TRUE(next.body() == pattern(shape.size, 2));
                    if (step != Step::just_after) answer.go_to(Step::just_after);
                    EXPECT_TRUE(old.body() == pattern(shape.size, 1));
                    EXPECT_TRUE(old.complete());
                    // The order of the two responses is unknown, so the origin is asked again.
                    bool const unknown = step == Step::before_head;
                    if (unknown) origin.answer(path, film(shape, 2));
                    auto again = get(proxy, origin, path);
                    EXPECT_TRUE(again.body() == pattern(shape.size, 2));
                    EXPECT_EQ(again.hit(), !unknown);
                    if (unknown) EXPECT_TRUE(get(proxy, origin, path).hit());
                }
}

TEST(Disasters, a_304_about_the_old_response_at_any_step_of_the_new_ones_fill_does_not_bring_it_back) {
    Origin origin;
    Proxy proxy;
    int number = 0;
    for (auto shape : shapes)
        for (auto step : steps)
            for (bool varies : {false, true}) {
                auto const path = "/film" + std::to_string(++number);
                SCOPED_TRACE(path + ", " + step_names[static_cast<int>(step)] + (varies ? ", Vary" : "") + ", " +
                             std::to_string(shape.size));
                Fields more;
                if (varies) more = {{"Vary", "Accept-Language"}};
                auto expiring = stale("old", R"("a")");
                expiring.fields.insert(expiring.fields.end(), more.begin(), more.end());
                origin.answer(path, expiring);
                get(proxy, origin, path).body();
                auto slow = origin.hold(path);
                Client reloading(proxy, origin), reading(proxy, origin), between(proxy, origin);
                auto reloaded = reloading.get(path, {{"Cache-Control", "no-cache"}});
                slow.arrived();
                auto read = reading.get(path);
                more.emplace_back("ETag", R"("b")");
                Halting answer(slow.nth(1), film(shape, 2, more));
                answer.go_to(step);
                settle(answer, read, step);
                slow.nth(0).release({.status = 304, .fields = {{"ETag", R"("a")"}, {"Cache-Control", "max-age=600"}}});
                EXPECT_EQ(reloaded.body(), "old");

                auto const new_body = pattern(shape.size, 2);
                origin.answer(path, film(shape, 2, more));
                if (answer.sent() > 0) {
                    auto beside = between.get(path);
                    EXPECT_TRUE(beside.early(answer.sent()).starts_with(new_body.substr(0, answer.sent())));
                }
                if (step != Step::just_after) answer.go_to(Step::just_after);
                EXPECT_TRUE(read.body() == new_body);
                EXPECT_TRUE(get(proxy, origin, path).body() == new_body);
            }
}

TEST(Disasters, a_failure_of_a_fetch_that_was_purged_is_not_told_to_those_who_come_after) {
    Origin origin;
    Proxy proxy;
    auto slow = origin.hold("/film");
    Client reader(proxy, origin), writer(proxy, origin);
    auto old = reader.get("/film");
    slow.arrived();
    EXPECT_EQ(writer.send("PURGE", "/film").status(), 200);
    origin.answer("/film", fresh("new"));
    slow.close();
    EXPECT_EQ(old.status(), 502);
    EXPECT_EQ(get(proxy, origin, "/film").body(), "new");
}

// ---- truncated responses ----

/// One fill with followers, at a given step.
struct Doomed {
    Doomed(Proxy const& proxy, Origin& origin, std::string path, Shape shape, Step step)
        : origin(origin), path(std::move(path)), slow(origin.hold(this->path)), clients(6, Client(proxy, origin)) {
        replies.push_back(clients[0].get(this->path));
        slow.arrived();
        auto const others = followers(proxy);
        for (std::size_t i = 1; i < clients.size(); ++i) replies.push_back(clients[i].get(this->path));
        EXPECT_TRUE(eventually([&] { return followers(proxy) == others + clients.size() - 1; })) << followers(proxy);
        Halting answer(slow.nth(0), film(shape, 1));
        answer.go_to(step);
        if (step == Step::last_byte && shape.size > 100'000) settle(answer, replies[1], step);
        origin.answer(this->path, fresh("whole"));
    }
    /// If an idle connection closes before any response byte, the request is repeated once instead of failing.
    void expect_death(Proxy const& proxy, bool may_be_repeated = false) {
        bool repeated = false;
        for (std::size_t i = 0; i < replies.size(); ++i) {
            replies[i].ends_within(30s);
            repeated |= may_be_repeated && replies[i].body() == "whole";
            if (repeated) continue;
            bool const refused = replies[i].status() == 502 || replies[i].status() == 504;
            EXPECT_TRUE(refused || !replies[i].complete()) << replies[i].status() << " " << replies[i].body().size();
            EXPECT_TRUE(refused || clients[i].closed_by_proxy()) << i;
        }
        auto again = get(proxy, origin, path);
        EXPECT_EQ(again.body(), "whole");
        if (!repeated) EXPECT_FALSE(again.hit());
    }

    Origin& origin;
    std::string path;
    Held slow;
    std::vector<Client> clients;
    std::vector<Reply> replies;
};

TEST(Disasters, an_answer_that_breaks_off_anywhere_is_never_complete_and_all_who_wait_hear_of_it) {
    Origin origin;
    Proxy proxy(R"({"caching": {"negative_ttl": "0s"}})");
    int number = 0;
    for (auto shape : shapes)
        for (auto step : {Step::before_head, Step::after_head, Step::in_body, Step::last_byte})
            for (bool resets : {false, true}) {
                auto const path = "/film" + std::to_string(++number);
                SCOPED_TRACE(path + ", " + step_names[static_cast<int>(step)] + ", " + std::to_string(shape.size));
                Doomed doomed(proxy, origin, path, shape, step);
                resets ? doomed.slow.reset() : doomed.slow.close();
                doomed.expect_death(proxy, step == Step::before_head);
            }
    EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["fills"] == 0; }));
}

TEST(Disasters, an_origin_that_falls_silent_anywhere_holds_nobody_beyond_the_deadline) {
    Origin origin;
    // With less than 10 s the first scene ended before the last began, on a busy machine.
    Proxy proxy(
        R"({"deadlines": {"first_byte": "10s", "body": "10s", "stream": "10s", "fill": "20s"}, "caching": {"negative_ttl": "0s"}})");
    std::list<Doomed> all;
    for (auto step : {Step::before_head, Step::after_head, Step::in_body, Step::last_byte})
        all.emplace_back(proxy, origin, "/film" + std::to_string(all.size()), shapes[1], step);
    for (auto& doomed : all) {
        SCOPED_TRACE(doomed.path);
        doomed.expect_death(proxy);
        doomed.slow.close();
    }
    EXPECT_TRUE(eventually([&] { return proxy.stats()["cache"]["fills"] == 0; }));
}

TEST(Disasters, when_the_leading_client_is_killed_at_any_step_its_followers_get_all_of_it) {
    Origin origin;
    Proxy proxy;
    int number = 0;
    for (auto shape : shapes)
        for (auto step : {Step::before_head, Step::after_head, Step::in_body, Step::last_byte})
            for (bool resets : {false, true}) {
                auto const path = "/film" + std::to_string(++number);
                SCOPED_TRACE(path + ", " + step_names[static_cast<int>(step)] + ", " + std::to_string(shape.size));
                auto slow = origin.hold(path);
                Client leader(proxy, origin);
                std::vector<Client> clients(5, Client(proxy, origin));
                std::vector<Reply> replies;
                auto first = leader.get(path);
                slow.arrived();
                for (auto& client : clients) replies.push_back(client.get(path));
                ASSERT_TRUE(eventually([&] { return followers(proxy) == clients.size(); })) << followers(proxy);
                Halting answer(slow.nth(0), film(shape, 1));
                answer.go_to(step);
                settle(answer, first, step);
                resets ? leader.reset() : leader.close();
                pause_for(step == Step::before_head ? 200ms : 0ms);   // the close is noticed after 100 ms of waiting
                answer.go_to(Step::just_after);
                for (auto& reply : replies) {
                    EXPECT_TRUE(reply.body() == pattern(shape.size, 1));
                    EXPECT_TRUE(reply.complete());
                }
                // A client may return before the response is stored, and joins the fill then.
                EXPECT_TRUE(eventually([&] { return get(proxy, origin, path).hit(); }));
                EXPECT_EQ(origin.requests(path), 1u);
            }
}

// ---- a thundering herd on an expiring object ----

TEST_F(Herd, one_304_serves_all) {
    gather(stale("old", R"("a")"));
    all_wait();
    slow.release(Answer{.status = 304, .fields = {{"ETag", R"("a")"}, {"Cache-Control", "max-age=600"}}});
    EXPECT_EQ(got(200, "old"), count);
    EXPECT_EQ(slow.count(), 1u);
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
}

TEST_F(Herd, one_200_serves_all) {
    gather(stale("old", R"("a")"));
    all_wait();
    slow.release(fresh(pattern(20'000)));
    EXPECT_EQ(got(200, pattern(20'000)), count);
    EXPECT_EQ(slow.count(), 1u);
}

TEST_F(Herd, one_503_is_told_to_one_and_the_others_get_it_stale) {
    gather(stale("old", R"("a")"));
    all_wait();
    slow.release({.status = 503, .body = "down"});
    EXPECT_EQ(got(503, "down"), 1u);
    EXPECT_EQ(got(200, "old"), count - 1);
    EXPECT_EQ(slow.count(), 1u);
}

TEST_F(Herd, one_503_about_what_must_be_validated_ends_all) {
    gather(stale("old", R"("a")", ", must-revalidate"));
    all_wait();
    slow.release({.status = 503, .body = "down"});
    EXPECT_EQ(got(503), count);
    EXPECT_EQ(slow.count(), 1u);
}

TEST_F(Herd, one_timeout_is_waited_for_once) {
    gather(stale("old", R"("a")"));
    EXPECT_EQ(got(200, "old"), count);
    EXPECT_EQ(slow.count(), 1u);
    slow.close();
}

// ---- every range ----

TEST(Disasters, every_range_of_a_stored_body_is_that_slice_of_it) {
    Origin origin;
    Proxy proxy;
    auto const body = pattern(23);
    auto const size = body.size();
    origin.answer("/page", fresh(body, 600, {{"ETag", R"("a")"}}));
    Client client(proxy, origin);
    client.get("/page").body();
    auto ask = [&](std::string const& range) { return client.get("/page", {{"Range", "bytes=" + range}}); };
    auto expect_slice = [&](std::string const& range, std::size_t first, std::size_t last) {
        auto reply = ask(range);
        last = std::min(last, size - 1);
        EXPECT_EQ(reply.status(), 206) << range;
        EXPECT_EQ(reply.body(), body.substr(first, last - first + 1)) << range;
        EXPECT_EQ(reply.field("Content-Range"), "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/23");
    };
    for (std::size_t first = 0; first <= size + 1; ++first) {
        auto const begin = std::to_string(first) + "-";
        for (std::size_t last = first; last <= size + 1; ++last)
            if (first < size)
                expect_slice(begin + std::to_string(last), first, last);
            else
                EXPECT_EQ(ask(begin + std::to_string(last)).status(), 416) << first;
        if (first < size) expect_slice(begin, first, size - 1);
        if (first > 0) expect_slice("-" + std::to_string(first), size - std::min(first, size), size - 1);
    }
    EXPECT_EQ(ask("-0").status(), 416);
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_EQ(client.connections(), 1);
}

}   // namespace garner::test
