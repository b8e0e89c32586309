// Bodies that are not in memory, or are still in the buffer they were read into.
#include "store/body_source.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>

#include "store/body_scene.hpp"
#include "store/lent_bytes.hpp"
#include "store/run.hpp"

namespace garner::store {
namespace {

/// Returns byte_at, in pieces of 1,000.
struct FakeSource : BodySource {
    static constexpr Bytes piece = 1'000;
    std::atomic<Bytes> limit = 0;
    std::atomic<bool> works = true;
    std::atomic<int> loads = 0;

    explicit FakeSource(Bytes until) : limit(until) {}
    net::awaitable<Loaded> load(Bytes offset, net::Executor) override {
        ++loads;
        if (!works || offset >= limit) co_return Loaded{};
        std::string bytes;
        auto const end = std::min<Bytes>(limit, (offset / piece + 1) * piece);
        for (auto at = offset; at < end; ++at) bytes.push_back(byte_at(at));
        co_return lend(std::move(bytes));
    }
    Bytes until() const override { return limit; }
    bool is_whole() const override { return works; }
};

bool bring(BodyReader& reader) {
    return run([&](net::Executor executor) { return load(reader, executor); });
}

/// Reads to the end and loads missing pieces; true if each byte was right.
bool read_all(BodyReader& reader, Bytes length) {
    while (reader.offset() < length) {
        auto const bytes = read_on(reader);
        if (bytes == UINT64_MAX) return false;
        if (bytes == 0 && (!reader.needs_load() || !bring(reader))) return false;
    }
    return true;
}

TEST(SourcedBody, that_lies_elsewhere_alone_is_loaded_piece_by_piece) {
    auto source = std::make_shared<FakeSource>(2'500);
    BodyPtr body(new Body(2'500, {{0, 2'499}}, source));
    EXPECT_EQ(body->state(), Body::State::complete);
    EXPECT_EQ(body->length(), 2'500u);
    EXPECT_EQ(body->charged(), 0u);
    EXPECT_FALSE(body->has_gaps());
    EXPECT_FALSE(body->is_resident());
    BodyReader reader(body, 300);
    EXPECT_EQ(read_on(reader), 0u);
    EXPECT_TRUE(reader.needs_load());
    EXPECT_FALSE(reader.lost());
    ASSERT_TRUE(bring(reader));
    EXPECT_EQ(read_on(reader, 100), 100u);
    EXPECT_FALSE(reader.needs_load());
    EXPECT_EQ(read_on(reader), 600u) << "the piece stays until it has been passed";
    EXPECT_EQ(source->loads, 1);
    EXPECT_TRUE(read_all(reader, 2'500));
    EXPECT_EQ(source->loads, 3);
    EXPECT_EQ(read_on(reader), 0u);
    EXPECT_FALSE(reader.needs_load());
    EXPECT_FALSE(reader.lost());
}

TEST(SourcedBody, that_cannot_be_loaded_is_lost_to_its_reader) {
    auto source = std::make_shared<FakeSource>(2'500);
    BodyPtr body(new Body(2'500, {{0, 2'499}}, source));
    BodyReader reader(body);
    ASSERT_EQ(read_on(reader), 0u);
    source->works = false;
    EXPECT_FALSE(bring(reader));
    source->works = true;
    EXPECT_EQ(read_on(reader), 0u);
    EXPECT_TRUE(reader.lost()) << "for good";
    EXPECT_FALSE(reader.needs_load());
}

TEST(SourcedBody, that_grows_gives_from_there_what_memory_has_forgotten_and_the_rest_from_memory) {
    Scene scene;
    auto source = std::make_shared<FakeSource>(0);
    {
        auto body = scene.body(1'000'000);
        body->set_source(source);
        scene.append(*body, 600'000);
        BodyReader reader(body);
        EXPECT_EQ(read_on(reader, 1'000), 1'000u) << "from memory";
        source->limit = 500'000;
        body->forget_before(500'000);
        EXPECT_EQ(body->charged(), 2 * 256 * KiB);
        EXPECT_EQ(read_on(reader), 0u);
        EXPECT_TRUE(reader.needs_load());
        EXPECT_TRUE(read_all(reader, 600'000));
        auto const loads = source->loads.load();
        EXPECT_EQ(loads, 262)
            << "pieces are loaded up to the first segment in memory, at 256 KiB; the first piece was loaded before";
        scene.append(*body, 400'000);
        EXPECT_TRUE(read_all(reader, 1'000'000));
        EXPECT_EQ(source->loads, loads);
        body->finish(Body::State::complete);
        EXPECT_FALSE(body->has_gaps()) << "bytes that the source has are not missing";
        EXPECT_FALSE(body->is_resident());
        EXPECT_TRUE(body->has(0, 999'999));
        source->limit = 1'000'000;
        BodyReader another(body);
        EXPECT_TRUE(read_all(another, 1'000'000));
    }
    EXPECT_EQ(scene.budget.used(), 0u);
}

TEST(SourcedBody, whose_source_gave_up_is_lost_where_memory_has_forgotten) {
    Scene scene;
    auto source = std::make_shared<FakeSource>(1'000);
    auto body = scene.body();
    body->set_source(source);
    scene.append(*body, 600'000);
    body->forget_before(600'000);
    BodyReader early(body), late(body, 1'000);
    EXPECT_EQ(read_on(early), 0u);
    EXPECT_TRUE(early.needs_load());
    EXPECT_EQ(read_on(late), 0u);
    EXPECT_TRUE(late.lost());
    body->finish(Body::State::failed);
}

TEST(SourcedBody, that_memory_has_whole_is_read_without_its_source) {
    Scene scene;
    auto source = std::make_shared<FakeSource>(300'000);
    auto body = scene.body(300'000);
    body->set_source(source);
    scene.append(*body, 300'000);
    body->finish(Body::State::complete);
    EXPECT_TRUE(body->is_resident());
    BodyReader reader(body);
    EXPECT_TRUE(read_all(reader, 300'000));
    EXPECT_EQ(source->loads, 0);
}

TEST(SourcedBody, with_gaps_comes_into_memory_with_them_and_can_be_joined) {
    Scene scene;
    auto source = std::make_shared<FakeSource>(400'000);
    {
        BodyPtr body(new Body(400'000, {{10, 2'009}, {100'000, 399'999}}, source));
        EXPECT_TRUE(body->has_gaps());
        EXPECT_EQ(body->missing()->first, 0u);
        EXPECT_EQ(body->missing()->last, 99'999u);
        EXPECT_TRUE(body->has(10, 2'009));
        EXPECT_FALSE(body->has(10, 2'010));
        auto reserve = [&](Bytes bytes) { return scene.reserve(bytes); };
        auto brought = run([&](net::Executor executor) { return in_memory(body, scene.budget, reserve, executor); });
        ASSERT_TRUE(brought);
        EXPECT_TRUE(brought->is_resident());
        EXPECT_EQ(brought->source(), body->source());
        ASSERT_EQ(brought->present().size(), 2u);
        EXPECT_EQ(brought->present()[0].last, 2'009u);
        EXPECT_EQ(scene.budget.used(), 302'000u);
        EXPECT_EQ(scene.budget.filling(), 0u);
        auto joined = Body::join(*brought, *part(scene, 0, 99'999, 400'000));
        BodyReader reader(joined);
        EXPECT_TRUE(read_all(reader, 400'000));
        EXPECT_EQ(run([&](net::Executor executor) { return in_memory(brought, scene.budget, reserve, executor); }), brought);

        source->works = false;
        auto const used = scene.budget.used();
        EXPECT_FALSE(run([&](net::Executor executor) { return in_memory(body, scene.budget, reserve, executor); }));
        EXPECT_EQ(scene.budget.used(), used);
        source->works = true;
        auto poor = [&](Bytes bytes) { return scene.budget.used() + bytes < used + 100'000 && scene.reserve(bytes); };
        EXPECT_FALSE(run([&](net::Executor executor) { return in_memory(body, scene.budget, poor, executor); }));
        EXPECT_EQ(scene.budget.used(), used);
    }
    EXPECT_EQ(scene.budget.used(), 0u);
}

TEST(SourcedBody, no_piece_lies_in_two_segments_while_it_grows) {
    struct Pieces final : FakeSource {
        using FakeSource::FakeSource;
        Bytes piece() const override { return 100'000; }
    };
    for (bool known : {true, false}) {
        Scene scene;
        auto body = scene.body(known ? std::optional<Bytes>(450'000) : std::nullopt);
        auto source = std::make_shared<Pieces>(0);
        body->set_source(source);
        for (Bytes size = 100'000; size <= 400'000; size += 100'000) {
            scene.append(*body, 100'000);
            // The source has these bytes, so all of them may be recycled.
            source->limit = size;
            auto const room = body->recycle([&](Bytes bytes) { return scene.reserve(bytes); });
            EXPECT_FALSE(room.empty());
            EXPECT_LE(body->charged(), 100'000u) << known;
            EXPECT_EQ(body->size(), size);
        }
        body->finish(Body::State::failed);
    }
}

std::string bytes_of(Bytes first, Bytes count) {
    std::string bytes;
    for (auto at = first; at < first + count; ++at) bytes.push_back(byte_at(at));
    return bytes;
}

bool is_taken(Loaded const& lent) { return dynamic_cast<LentBytes&>(*lent.owner).is_taken; }

TEST(LentBody, costs_nothing_and_keeps_its_bytes) {
    auto lent = lend(bytes_of(0, 20'000));
    std::weak_ptr<Lent> const alive = lent.owner;
    BodyPtr body(new Body(lent));
    lent = {};
    EXPECT_EQ(body->state(), Body::State::complete);
    EXPECT_EQ(body->length(), 20'000u);
    EXPECT_EQ(body->charged(), 0u);
    EXPECT_TRUE(body->is_resident());
    EXPECT_FALSE(body->is_charged());
    EXPECT_FALSE(body->has_gaps());
    {
        BodyReader reader(body);
        EXPECT_EQ(read_on(reader), 20'000u);
        EXPECT_FALSE(is_taken(body->lent()));
    }
    body = nullptr;
    EXPECT_TRUE(alive.expired());
}

TEST(LentBody, that_memory_is_to_keep_stays_where_it_is_and_is_charged_for_all_of_that) {
    Scene scene;
    auto const reserve = [&](Bytes more) { return scene.reserve(more); };
    auto lent = lend(bytes_of(0, 20'000), 1'000);
    BodyPtr body(new Body(lent));
    auto kept = run([&](net::Executor executor) { return in_memory(body, scene.budget, reserve, executor); });
    ASSERT_TRUE(kept);
    EXPECT_TRUE(is_taken(lent));
    EXPECT_TRUE(kept->is_charged());
    EXPECT_EQ(kept->charged(), 21'000u);
    EXPECT_EQ(scene.budget.used(), 21'000u);
    EXPECT_EQ(scene.budget.filling(), 0u);
    EXPECT_FALSE(kept->lent().owner) << "no other body can take the memory over";
    {
        BodyReader reader(kept);
        std::array<std::string_view, 1> piece;
        ASSERT_EQ(reader.next(piece, UINT64_MAX), 1u);
        EXPECT_EQ(piece[0].data(), lent.bytes.data());
        EXPECT_EQ(read_on(reader), 20'000u);
    }
    // A second body with these bytes is a copy.
    auto copy = run([&](net::Executor executor) { return in_memory(body, scene.budget, reserve, executor); });
    ASSERT_TRUE(copy);
    EXPECT_EQ(scene.budget.used(), 41'000u);
    EXPECT_EQ(scene.budget.filling(), 0u);
    BodyReader reader(copy);
    EXPECT_EQ(read_on(reader), 20'000u);
    kept = nullptr;
    EXPECT_EQ(scene.budget.used(), 20'000u);
}

TEST(LentBody, is_copied_where_much_else_lies_in_its_memory) {
    Scene scene;
    auto const reserve = [&](Bytes more) { return scene.reserve(more); };
    BodyPtr body(new Body(lend(bytes_of(0, 20'000), 3'000)));
    auto kept = run([&](net::Executor executor) { return in_memory(body, scene.budget, reserve, executor); });
    ASSERT_TRUE(kept);
    EXPECT_FALSE(is_taken(body->lent()));
    EXPECT_TRUE(kept->is_charged());
    EXPECT_EQ(kept->charged(), 20'000u);
    EXPECT_EQ(scene.budget.used(), 20'000u);
    BodyReader reader(kept);
    EXPECT_EQ(read_on(reader), 20'000u);
}

TEST(LentBody, that_memory_has_no_room_for_is_left_to_its_lender) {
    Scene scene;
    auto const none = [](Bytes) { return false; };
    BodyPtr body(new Body(lend(bytes_of(0, 20'000))));
    EXPECT_FALSE(run([&](net::Executor executor) { return in_memory(body, scene.budget, none, executor); }));
    EXPECT_FALSE(is_taken(body->lent()));
    EXPECT_EQ(scene.budget.used(), 0u);
}

TEST(LentBody, may_be_a_piece_of_a_growing_one_beside_bytes_of_its_own) {
    Scene scene;
    auto const reserve = [&](Bytes more) { return scene.reserve(more); };
    {
        auto body = scene.body(60'000);
        EXPECT_TRUE(body->adopt(lend(bytes_of(0, 20'000), 64), reserve));
        EXPECT_EQ(body->size(), 20'000u);
        EXPECT_EQ(scene.budget.filling(), 20'064u);
        scene.append(*body, 5'000);
        EXPECT_FALSE(body->adopt(lend(bytes_of(25'000, 20'000)), reserve))
            << "the last segment is not full, and a gap would remain";
        scene.append(*body, 35'000);
        EXPECT_FALSE(body->adopt(lend(bytes_of(60'000, 1)), reserve)) << "the piece exceeds the announced length";
        body->finish(Body::State::complete);
        EXPECT_EQ(scene.budget.filling(), 0u);
        EXPECT_EQ(scene.budget.used(), 60'064u);
        BodyReader reader(body);
        EXPECT_EQ(read_on(reader), 60'000u);
    }
    EXPECT_EQ(scene.budget.used(), 0u);
}

}   // namespace
}   // namespace garner::store
