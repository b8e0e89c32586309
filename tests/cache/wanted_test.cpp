// A request that misses an object asks the former process for it, and gets nothing that has changed since.
#include "cache/wanted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <optional>

#include "cache/restoration.hpp"
#include "cache/scene.hpp"
#include "cache/value_walk.hpp"
#include "store/object_stream.hpp"

namespace garner::cache {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Options small() {
    Options options;
    options.size = 4 * MiB;
    options.policy = "lru";
    options.shards = 1;
    return options;
}

/// A process that takes over, and the former one, which answers when the test says so.
struct WantedObjects : ::testing::Test {
    WantedObjects() {
        cache.wanted.begin([this](std::string_view key) {
            asked.emplace_back(key);
            return true;
        });
    }
    ~WantedObjects() override { cache.wanted.end(); }

    /// Begins a request.
    void request(std::string_view url, Ask with = {}) {
        ask = std::move(with);
        head = Scene::head(ask);
        query.emplace(Query{cache.key(url), head, ask.control, ask.now, ask.collapse});
        found = cache.lookup(*query);
        if (found.may_be_elsewhere)
            net::asio::co_spawn(io, cache.look_on_disk(found, *query, io.get_executor()), net::asio::detached);
        run();
    }
    void run() {
        io.restart();
        io.poll();
    }
    /// Receives what the former process writes.
    template <class Write>
    void receive(Write write) {
        std::string bytes;
        store::ObjectWriter writer(1, [&](std::string_view more) {
            bytes += more;
            return true;
        });
        write(writer);
        writer.flush();
        store::RecordStream stream;
        stream.add(bytes);
        stream.end();
        while (auto const record = stream.next()) restoration->take(*record);
        run();
    }
    /// The former process answers the last question.
    void answer() {
        receive([this](store::ObjectWriter& writer) {
            ValueWalk walk(former.cache.memory());
            std::vector<ValueWalk::Walked> some;
            walk.find(asked.back(), some);
            for (auto const& one : some) writer.write(*one.object, one.rank);
            writer.answer(asked.back());
        });
    }
    std::string body() const { return found.object ? std::string(found.object->bytes()) : "-"; }

    Scene former{small()}, scene{small()};
    Cache& cache = scene.cache;
    std::optional<Restoration> restoration{std::in_place, cache};
    std::vector<std::string> asked;
    Ask ask;
    http::RequestHead head;
    std::optional<Query> query;
    Lookup found;
    net::asio::io_context io;   // destroyed first, with its coroutines
};

TEST_F(WantedObjects, become_hits) {
    former.store("fa", {.body = "former"});
    request("fa");
    EXPECT_THAT(asked, ElementsAre("fa"));
    EXPECT_EQ(found.kind, Lookup::Kind::absent);
    answer();
    EXPECT_EQ(found.kind, Lookup::Kind::fresh);
    EXPECT_EQ(body(), "former");
    EXPECT_FALSE(found.from_disk);
    EXPECT_EQ(scene.stored("fa"), "former");
    EXPECT_EQ(asked.size(), 1u);
}

TEST_F(WantedObjects, that_the_former_process_does_not_have_are_fetched) {
    former.store("fother");
    request("fa");
    answer();
    EXPECT_EQ(found.kind, Lookup::Kind::absent);
    EXPECT_TRUE(found.lead);
    found = {};
    EXPECT_EQ(scene.kind("fa"), Lookup::Kind::absent);
    EXPECT_FALSE(scene.lookup("fa").may_be_elsewhere) << "the URL was fetched here";
}

TEST_F(WantedObjects, may_be_variants) {
    former.store("fa", Scene::varying("german", "accept-language", "de"));
    request("fa", with("accept-language", "de"));
    EXPECT_THAT(asked, ElementsAre("fa"));
    answer();
    ASSERT_EQ(asked.size(), 2u);
    answer();
    EXPECT_EQ(body(), "german");
    EXPECT_EQ(scene.stored("fa", with("accept-language", "de")), "german");
}

TEST_F(WantedObjects, that_are_purged_meanwhile_are_not_used) {
    former.store("fa");
    request("fa");
    cache.purge(cache.key("fa"));
    answer();
    EXPECT_EQ(found.kind, Lookup::Kind::absent);
    EXPECT_EQ(scene.stored("fa"), "-");
    EXPECT_EQ(asked.size(), 1u);
}

TEST_F(WantedObjects, are_not_asked_for_after_an_event) {
    former.store("fa");
    cache.purge(cache.key("fa"));
    request("fa");
    EXPECT_THAT(asked, IsEmpty());
    EXPECT_EQ(found.kind, Lookup::Kind::absent);
}

TEST_F(WantedObjects, that_were_invalidated_are_not_used) {
    former.store("fhttp://a.example/x");
    request("fhttp://a.example/x");
    cache.invalidate(*prefix_invalidation("http://a.example/", false));
    answer();
    EXPECT_EQ(body(), "-");
}

TEST_F(WantedObjects, that_come_by_themselves_answer_the_request) {
    former.store("fa", {.body = "former"});
    request("fa");
    receive([this](store::ObjectWriter& writer) {
        ValueWalk walk(former.cache.memory());
        for (std::vector<ValueWalk::Walked> some; walk.next(some); some.clear())
            for (auto const& one : some) writer.write(*one.object, 7);
    });
    EXPECT_EQ(body(), "former");
}

TEST_F(WantedObjects, do_not_delay_a_request_when_no_more_come) {
    former.store("fa");
    request("fa");
    cache.wanted.end();
    run();
    EXPECT_EQ(found.kind, Lookup::Kind::absent);
    EXPECT_TRUE(found.lead);
    found = {};
    request("fb");
    EXPECT_EQ(asked.size(), 1u);
}

TEST_F(WantedObjects, do_not_delay_a_request_that_cannot_ask) {
    cache.wanted.begin([](std::string_view) { return false; });
    request("fa");
    EXPECT_EQ(found.kind, Lookup::Kind::absent);
    EXPECT_TRUE(found.lead);
}

TEST_F(WantedObjects, delay_a_request_for_a_limited_time) {
    former.store("fa");
    request("fa");
    io.restart();
    io.run_for(milliseconds{2'000});
    EXPECT_FALSE(cache.wanted.waits_for("fa"));
    answer();
    EXPECT_EQ(body(), "-");
}

}   // namespace
}   // namespace garner::cache
