// What a response leaves in the cache: why it is not stored, bodies of each framing, a 304, and a HEAD.
#include "proxy/storing.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>

#include "proxy/request_scene.hpp"
#include "store/disk_store.hpp"
#include "support/made.hpp"

namespace garner::proxy {
namespace {

using http::StoreRefusal;
using ::testing::HasSubstr;
using Kind = cache::Lookup::Kind;

class StoringAlone : public ::testing::Test {
protected:
    std::unique_ptr<OneRequest> request(std::string const& fields = {}, std::string const& method = "GET") {
        return std::make_unique<OneRequest>(worker_, method + " /a HTTP/1.1\r\nHost: site.example" + fields);
    }
    cache::Peek peek() {
        auto const one = request();
        return worker_.cache.peek(one->request.query(cache::Collapse::lead_and_follow));
    }
    /// Why the response to a GET with these fields is not stored.
    StoreRefusal refusal(test::Answer const& answer, std::string const& fields = {},
                         Client const& from = OneRequest::local_client()) {
        origin_.answer("/a", answer);
        OneRequest one(worker_, "GET /a HTTP/1.1\r\nHost: site.example" + fields, {}, from);
        if (!one.ask()) return StoreRefusal::count_;
        auto const& head = one.upstream.head();
        auto const control = http::parse_response_cache_control(head.fields, {});
        return one.storing.why_not_stored(head, control, http::StoredAs::answer);
    }
    /// Stores a response that is stale at once.
    void store_stale(std::string const& body) {
        origin_.answer("/a", test::fresh(body, 0, {{"ETag", "\"v1\""}}));
        auto const one = request();
        ASSERT_TRUE(one->fetch());
        ASSERT_EQ(one->store(), Step::deliver);
        one->deliver();
        worker_.run_until([this] { return worker_.services.background.pumps.empty(); });
        ASSERT_TRUE(one->request.record.cache_status.stored);
    }
    /// Validates the stale response, as its leader.
    std::unique_ptr<OneRequest> validate(test::Answer const& answer) {
        origin_.answer("/a", answer);
        auto one = request();
        one->state.changes.strip_conditions = true;
        auto const stale = peek().object;
        EXPECT_TRUE(stale);
        one->scratch.read_head_of(*stale);
        one->state.changes.validators = http::validators_of(one->scratch.stored_head);
        one->state.conditional = true;
        auto found = worker_.cache.lookup(one->request.query(cache::Collapse::lead_and_follow));
        one->state.lead = std::move(found.lead);
        one->state.stale = std::move(found.object);
        EXPECT_TRUE(one->ask(one->state.changes));
        return one;
    }

    test::Origin origin_;
    OneWorker worker_{origin_};
};

test::Answer const unchanged{.status = 304, .fields = {{"ETag", "\"v1\""}, {"Cache-Control", "max-age=600"}, {"X-New", "1"}}};

TEST_F(StoringAlone, says_why_a_response_is_not_stored) {
    EXPECT_EQ(refusal(test::fresh("a")), StoreRefusal::none);
    EXPECT_EQ(refusal(test::no_store("a")), StoreRefusal::no_store_response);
    EXPECT_EQ(refusal({.fields = {{"Cache-Control", "private, max-age=600"}}, .body = "a"}), StoreRefusal::private_response);
    EXPECT_EQ(refusal(test::fresh("a", 600, {{"Vary", "*"}})), StoreRefusal::vary_star);
    EXPECT_EQ(refusal(test::fresh("a", 600, {{"Set-Cookie", "a=b"}})), StoreRefusal::set_cookie);
    EXPECT_EQ(refusal(test::fresh("a"), "\r\nAuthorization: Basic Og=="), StoreRefusal::authorization);
    EXPECT_EQ(refusal({.status = 206, .fields = {{"Content-Range", "bytes 0-0/9"}}, .body = "a"}), StoreRefusal::partial)
        << "no range was requested";
}

TEST_F(StoringAlone, refuses_what_the_origin_may_mean_for_the_user_of_a_connection) {
    auto client = OneRequest::local_client();
    client.own_connections = 1;
    EXPECT_EQ(refusal(test::fresh("a"), {}, client), StoreRefusal::authorization);
}

TEST_F(StoringAlone, refuses_by_its_length_what_no_tier_takes) {
    auto const most = worker_.cache.memory().object_max();
    EXPECT_EQ(refusal(test::fresh(std::string(most + 1, 'x'))), StoreRefusal::too_large);
    EXPECT_EQ(refusal(test::fresh(std::string(most, 'x'))), StoreRefusal::none);
}

TEST_F(StoringAlone, a_small_response_is_stored_before_it_is_sent) {
    origin_.answer("/a", test::fresh("small", 600, {{"Connection", "X-Hop"}, {"X-Hop", "1"}}));
    auto const one = request();
    ASSERT_TRUE(one->fetch());
    ASSERT_EQ(one->store(), Step::deliver);
    EXPECT_FALSE(one->state.follower);
    EXPECT_TRUE(one->request.record.cache_status.stored);
    auto const found = peek();
    ASSERT_EQ(found.kind, Kind::fresh);
    EXPECT_EQ(found.object->bytes(), "small");
    EXPECT_EQ(std::string(found.object->head()).find("X-Hop"), std::string::npos);
    EXPECT_EQ(found.object->source().text(), "127.0.0.1");
}

TEST_F(StoringAlone, a_body_of_unknown_length_is_stored_when_it_is_complete) {
    auto answer = test::fresh("in chunks");
    answer.delimited = test::Delimited::by_chunks;
    origin_.answer("/a", answer);
    auto const one = request();
    ASSERT_TRUE(one->fetch());
    ASSERT_EQ(one->store(), Step::deliver);
    EXPECT_TRUE(one->state.follower) << "the client follows the fill";
    one->deliver();
    worker_.run_until([this] { return worker_.services.background.pumps.empty(); });
    auto const found = peek();
    ASSERT_EQ(found.kind, Kind::fresh);
    EXPECT_EQ(found.object->length(), 9u);
}

TEST_F(StoringAlone, a_truncated_body_is_not_stored) {
    origin_.by_hand("/a", [](test::Hand& hand) {
        hand.read_body();
        hand.send(test::fresh("").head_text(10) + "half");
        hand.leave();
    });
    auto const one = request();
    ASSERT_TRUE(one->fetch());
    ASSERT_EQ(one->store(), Step::deliver);
    one->deliver();
    worker_.run_until([this] { return worker_.services.background.pumps.empty(); });
    EXPECT_TRUE(one->client.truncated);
    EXPECT_EQ(peek().kind, Kind::absent);
}

TEST_F(StoringAlone, a_body_without_length_that_becomes_too_large_reaches_the_client_alone) {
    auto answer = test::fresh(std::string(worker_.cache.memory().object_max() + 1, 'x'));
    answer.delimited = test::Delimited::by_chunks;
    origin_.answer("/a", answer);
    auto const one = request();
    ASSERT_TRUE(one->fetch());
    ASSERT_EQ(one->store(), Step::deliver);
    one->deliver();
    worker_.run_until([this] { return worker_.services.background.pumps.empty(); });
    EXPECT_FALSE(one->client.truncated);
    EXPECT_THAT(one->client.sent, HasSubstr("[end]"));
    EXPECT_FALSE(peek().object);
}

/// Does the same as Group: a hard invalidation of a URL removes the stored response at once.
void apply_for_group(cache::Cache& cache, cache::Invalidation const& what) {
    bool const is_purged = what.kind == cache::Invalidation::Kind::url && !what.soft;
    if (!is_purged) return cache.invalidate(what);
    cache.invalidations.accept_purged(what, wall_now());
    cache.purge(what.text);
}

TEST_F(StoringAlone, an_invalidation_during_a_fetch_for_the_group_concerns_the_response) {
    std::string const url(request()->request.target.url);
    for (auto const delimited : {test::Delimited::by_length, test::Delimited::by_chunks})
        for (auto const& what :
             {*cache::url_invalidation(url, false), cache::invalidation_of_all(false), cache::invalidation_of_all(true)}) {
            auto answer = test::fresh("of before");
            answer.delimited = delimited;
            origin_.answer("/a", answer);
            auto const one = request();
            one->request.in_group.replicates = true;
            ASSERT_TRUE(one->fetch());
            apply_for_group(worker_.cache, what);
            ASSERT_EQ(one->store(), Step::deliver);
            if (one->state.follower) one->deliver();
            worker_.run_until([this] { return worker_.services.background.pumps.empty(); });
            EXPECT_NE(peek().kind, Kind::fresh) << cache::text_of(what);
            worker_.cache.purge(one->request.key);
        }
}

TEST_F(StoringAlone, a_304_gives_the_stored_body_a_new_head) {
    store_stale("body");
    auto const one = validate(unchanged);
    EXPECT_EQ(origin_.last("/a").head.field("If-None-Match"), "\"v1\"");
    ASSERT_EQ(worker_.run(one->storing.freshen()), Step::deliver);
    EXPECT_EQ(one->request.record.answer, Answer::revalidated);
    auto const found = peek();
    ASSERT_EQ(found.kind, Kind::fresh);
    EXPECT_EQ(found.object->bytes(), "body");
    EXPECT_THAT(std::string(found.object->head()), HasSubstr("X-New: 1\r\n"));
}

TEST_F(StoringAlone, a_304_raises_the_number_to_that_of_its_request) {
    store_stale("body");
    auto const before = peek().object->sequence();
    auto const one = validate(unchanged);
    auto const asked = one->state.lead.fill()->asked();
    ASSERT_GT(asked, before);
    ASSERT_EQ(worker_.run(one->storing.freshen()), Step::deliver);
    EXPECT_EQ(peek().object->sequence(), asked);
}

TEST_F(StoringAlone, a_304_raises_the_number_on_disk_too) {
    std::string folder = (std::filesystem::temp_directory_path() / "garner-storing-XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(folder.data()));
    store::DiskOptions options;
    options.path = folder;
    options.size = 16 * MiB;
    options.buffer = 4 * MiB;
    options.sync = milliseconds{20};
    options.admit = store::DiskOptions::Admit::all;
    std::shared_ptr<store::DiskStore> const disk = test::made(store::DiskStore::open(options));
    worker_.cache.set_disk(disk);
    auto const key = std::string(request()->request.key.text);

    std::string const large(200'000, 'x');   // longer than a record: the 304 writes the head alone
    for (auto const& body : {std::string("body"), large}) {
        store_stale(body);
        auto const stored = disk->peek(key);
        ASSERT_TRUE(stored);
        auto const one = validate(unchanged);
        auto const asked = one->state.lead.fill()->asked();
        ASSERT_GT(asked, stored->sequence());
        ASSERT_EQ(worker_.run(one->storing.freshen()), Step::deliver);
        EXPECT_TRUE(disk->wait_until_settled(store::Survives::process));
        auto const freshened = disk->peek(key);
        ASSERT_TRUE(freshened);
        EXPECT_EQ(freshened->sequence(), asked);
        EXPECT_EQ(freshened->length(), body.size());
        EXPECT_THAT(std::string(freshened->head()), HasSubstr("X-New: 1\r\n"));
        worker_.cache.purge(request()->request.key);
    }
    worker_.cache.set_disk(nullptr);
    disk->stop();
    std::filesystem::remove_all(folder);
}

TEST_F(StoringAlone, a_304_that_forbids_storing_removes_the_response) {
    store_stale("body");
    auto const one = validate({.status = 304, .fields = {{"ETag", "\"v1\""}, {"Cache-Control", "no-store"}}});
    ASSERT_EQ(worker_.run(one->storing.freshen()), Step::deliver);
    EXPECT_EQ(one->state.object->bytes(), "body") << "this client gets it";
    EXPECT_FALSE(peek().object);
    EXPECT_FALSE(one->request.record.cache_status.stored);
}

TEST_F(StoringAlone, a_HEAD_that_contradicts_the_response_makes_it_stale_and_keeps_it) {
    store_stale("body");
    origin_.answer("/a", test::fresh("other", 600, {{"ETag", "\"v2\""}}));
    auto const one = request({}, "HEAD");
    auto found = worker_.cache.lookup(one->request.query(cache::Collapse::alone));
    one->state.stale = found.object;
    ASSERT_TRUE(one->state.stale);
    one->state.lead = worker_.cache.lease(one->request.key, one->state.stale);
    one->scratch.read_head_of(*one->state.stale);
    ASSERT_TRUE(one->ask());
    EXPECT_EQ(worker_.run(one->storing.take_head()), Step::stream);
    auto const left = peek();
    EXPECT_EQ(left.kind, Kind::stale);
    ASSERT_TRUE(left.object);
    EXPECT_EQ(left.object->bytes(), "body") << "for an origin that fails";
    one->upstream.drop_exchange();
}

}   // namespace
}   // namespace garner::proxy
