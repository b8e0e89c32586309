// A body grows at one end while it is read: in order, to the last byte, and never a byte that may still change.
#include "store/body.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <random>
#include <string>
#include <thread>

#include "store/body_scene.hpp"

namespace garner::store {
namespace {

TEST(Body, a_reader_sees_what_has_grown_and_no_more) {
    Scene scene;
    auto body = scene.body(100);
    BodyReader reader(body);
    EXPECT_EQ(read_on(reader), 0u);
    auto room = scene.room(*body);
    EXPECT_EQ(room.size(), 100u);
    EXPECT_EQ(read_on(reader), 0u);
    Scene::fill(*body, room.first(30));
    EXPECT_EQ(read_on(reader), 30u);
    EXPECT_EQ(read_on(reader), 0u);
    EXPECT_EQ(scene.room(*body).size(), 70u);
    EXPECT_EQ(body->state(), Body::State::growing);
    Scene::fill(*body, scene.room(*body));
    EXPECT_EQ(read_on(reader), 70u);
    EXPECT_FALSE(reader.lost());
}

TEST(Body, of_known_length_takes_not_a_byte_more_than_that) {
    Scene scene;
    for (Bytes length : {Bytes{1}, 16 * KiB, 256 * KiB, 256 * KiB + 1, MiB + 7}) {
        auto body = scene.body(length);
        scene.append(*body, length);
        EXPECT_EQ(body->charged(), length);
        EXPECT_EQ(scene.budget.used(), length);
        EXPECT_TRUE(scene.room(*body).empty()) << "the body has no room beyond its length";
        body->finish(Body::State::complete);
        EXPECT_EQ(scene.budget.filling(), 0u);
        BodyReader reader(body);
        EXPECT_EQ(read_on(reader), length);
        body = nullptr;
    }
    EXPECT_EQ(scene.budget.used(), 0u);
}

TEST(Body, of_unknown_length_grows_by_doubling_from_16_to_256_KiB) {
    Scene scene;
    auto body = scene.body();
    std::vector<Bytes> sizes;
    for (int i = 0; i < 8; ++i) {
        auto room = scene.room(*body);
        sizes.push_back(room.size());
        Scene::fill(*body, room);
    }
    EXPECT_EQ(sizes, (std::vector<Bytes>{16 * KiB, 16 * KiB, 32 * KiB, 64 * KiB, 128 * KiB, 256 * KiB, 256 * KiB, 256 * KiB}));
    EXPECT_EQ(body->length(), std::nullopt);
    body->finish(Body::State::complete);
    EXPECT_EQ(body->length(), body->size());
    EXPECT_EQ(body->charged(), scene.budget.used());
}

TEST(Body, without_a_budget_has_no_room_and_takes_nothing) {
    Scene scene;
    auto body = scene.body(100);
    EXPECT_TRUE(body->room([](Bytes) { return false; }).empty());
    EXPECT_EQ(body->charged(), 0u);
    body->finish(Body::State::failed);
    EXPECT_EQ(body->length(), 100u);
    EXPECT_EQ(scene.budget.used(), 0u);
}

TEST(Body, that_fails_says_so_and_keeps_what_came) {
    Scene scene;
    auto body = scene.body(1'000);
    scene.append(*body, 400);
    body->finish(Body::State::failed);
    EXPECT_EQ(body->state(), Body::State::failed);
    EXPECT_EQ(scene.budget.filling(), 0u);
    BodyReader reader(body);
    EXPECT_EQ(read_on(reader), 400u);
    EXPECT_EQ(read_on(reader), 0u);
}

TEST(Body, that_is_shorter_than_expected_is_never_complete) {
    Scene scene;
    auto body = scene.body(1'000);
    scene.append(*body, 999);
    EXPECT_DEATH(body->finish(Body::State::complete), "broken invariant");
}

TEST(Body, of_no_bytes_may_be_complete) {
    Scene scene;
    auto body = scene.body(0);
    EXPECT_TRUE(scene.room(*body).empty());
    body->finish(Body::State::complete);
    EXPECT_EQ(body->length(), 0u);
    BodyReader reader(body);
    EXPECT_EQ(read_on(reader), 0u);
    EXPECT_FALSE(reader.lost());
}

TEST(BodyReader, begins_anywhere_and_takes_pieces_across_segments) {
    Scene scene;
    auto body = scene.body();
    scene.append(*body, 700'000);
    for (auto finished : {false, true}) {
        if (finished) body->finish(Body::State::complete);
        for (Bytes from : {Bytes{0}, Bytes{1}, 16 * KiB - 1, 16 * KiB, 16 * KiB + 1, Bytes{300'000}, Bytes{699'999}}) {
            BodyReader reader(body, from);
            EXPECT_EQ(read_on(reader), 700'000 - from);
        }
        BodyReader beyond(body, 700'000);
        EXPECT_EQ(read_on(beyond), 0u);
        EXPECT_FALSE(beyond.lost());
    }
}

TEST(BodyReader, lends_whole_blocks_of_a_complete_body_only) {
    constexpr Bytes whole = net::PageLender::part_min;
    Scene scene;
    auto body = scene.body(2 * whole + 1'000);
    std::array<std::string_view, 16> pieces;
    BodyReader reader(body);
    scene.append(*body, 2 * whole);
    auto growing = reader.next(pieces, UINT64_MAX);
    EXPECT_EQ(growing, 2u);
    EXPECT_FALSE(reader.lend(growing)) << "a growing body may use a block again";
    scene.append(*body, 1'000);
    body->finish(Body::State::complete);
    EXPECT_TRUE(reader.lend(reader.next(pieces, UINT64_MAX)));
    reader.advance(2 * whole);
    EXPECT_FALSE(reader.lend(reader.next(pieces, UINT64_MAX))) << "the rest is copied";
    auto small = scene.body(whole - 1);
    scene.append(*small, whole - 1);
    small->finish(Body::State::complete);
    BodyReader of_small(small);
    EXPECT_FALSE(of_small.lend(of_small.next(pieces, UINT64_MAX)));
}

TEST(BodyReader, keeps_to_its_limit_and_its_pieces) {
    Scene scene;
    auto body = scene.body();
    scene.append(*body, 700'000);
    BodyReader reader(body);
    EXPECT_EQ(read_on(reader, 0), 0u);
    EXPECT_EQ(read_on(reader, 1), 1u);
    EXPECT_EQ(read_on(reader, UINT64_MAX, 1), 16 * KiB - 1);
    EXPECT_EQ(read_on(reader, UINT64_MAX, 2), 16 * KiB + 32 * KiB);
    EXPECT_EQ(read_on(reader, 100'000), 100'000u);
    EXPECT_EQ(read_on(reader), 700'000 - 64 * KiB - 100'000);
}

TEST(BodyReader, has_lost_what_the_body_forgot) {
    Scene scene;
    auto body = scene.body();
    BodyReader early(body), late(body, 20 * KiB);
    scene.append(*body, 100 * KiB);
    body->forget_before(20 * KiB);
    EXPECT_EQ(scene.budget.used(), (128 - 16) * KiB) << "only whole segments are freed";
    EXPECT_EQ(scene.budget.filling(), (128 - 16) * KiB);
    EXPECT_EQ(body->charged(), (128 - 16) * KiB);
    EXPECT_EQ(read_on(early), 0u);
    EXPECT_TRUE(early.lost());
    EXPECT_EQ(read_on(late), 80 * KiB);
    EXPECT_FALSE(late.lost());
    body->forget_before(100 * KiB);
    EXPECT_EQ(scene.budget.used(), 64 * KiB) << "the producer still writes to the last segment";
    scene.append(*body, 100 * KiB);
    EXPECT_EQ(read_on(late), 100 * KiB);
    early.advance(1);
    body = nullptr;
}

TEST(Body, a_window_goes_on_for_ever_in_one_segment) {
    Scene scene;
    auto body = scene.body();
    BodyReader reader(body);
    scene.append(*body, 100'000);
    EXPECT_EQ(read_on(reader), 100'000u);
    auto refuse = [](Bytes) { return false; };
    for (int i = 0; i < 100; ++i) {
        auto room = body->recycle(refuse);
        ASSERT_EQ(room.size(), 64 * KiB);
        EXPECT_EQ(read_on(reader), 0u);
        Scene::fill(*body, room);
        EXPECT_EQ(read_on(reader), room.size());
        EXPECT_EQ(scene.budget.used(), 64 * KiB);
    }
    BodyReader slow(body, 100'000);
    EXPECT_EQ(read_on(slow), 0u);
    EXPECT_TRUE(slow.lost());
    body->finish(Body::State::complete);
    EXPECT_EQ(body->size(), 100'000 + 100 * 64 * KiB);
}

// An abandoned reader may still be writing to its client: those bytes must not change.
TEST(Body, a_window_never_writes_over_what_somebody_still_sends) {
    Scene scene;
    auto body = scene.body();
    scene.append(*body, 100'000);
    BodyReader stuck(body);
    std::array<std::string_view, 16> pieces;
    auto count = stuck.next(pieces, UINT64_MAX);
    ASSERT_EQ(count, 4u);
    auto reserve = [&](Bytes bytes) { return scene.budget.reserve(bytes); };
    EXPECT_TRUE(body->recycle([](Bytes) { return false; }).empty()) << "without budget the body gets no segment";
    auto room = body->recycle(reserve);
    ASSERT_EQ(room.size(), 64 * KiB);
    Scene::fill(*body, room);
    Bytes at = 0;
    for (std::size_t i = 0; i < count; ++i)
        for (char byte : pieces[i]) ASSERT_EQ(byte, byte_at(at++));
    EXPECT_EQ(scene.budget.used(), (128 + 64) * KiB) << "the segment that the reader holds stays charged";
    stuck.advance(at);
    EXPECT_EQ(scene.budget.used(), 64 * KiB);
    BodyReader after(body, 100'000);
    EXPECT_EQ(read_on(after), 64 * KiB);
}

TEST(Body, is_read_by_many_threads_while_it_grows) {
    Scene scene;
    constexpr Bytes length = 6'000'000;
    for (bool known : {true, false}) {
        auto body = scene.body(known ? std::optional<Bytes>(length) : std::nullopt);
        auto read_all = [&](unsigned seed) {
            std::mt19937 random(seed);
            BodyReader reader(body, seed * 1'000);
            for (;;) {
                auto state = body->state();
                auto bytes = read_on(reader, 1 + random() % 300'000, 1 + random() % 16);
                ASSERT_NE(bytes, UINT64_MAX) << "a wrong byte behind " << reader.offset();
                if (bytes == 0 && state == Body::State::complete) break;
                if (bytes == 0) std::this_thread::yield();
            }
            EXPECT_EQ(reader.offset(), length);
            EXPECT_FALSE(reader.lost());
        };
        std::vector<std::jthread> readers;
        for (unsigned seed = 0; seed < 3; ++seed) readers.emplace_back(read_all, seed);
        std::mt19937 random(9);
        while (body->size() < length) scene.append(*body, std::min<Bytes>(length - body->size(), 1 + random() % 50'000));
        body->finish(Body::State::complete);
        readers.clear();
    }
    EXPECT_EQ(scene.budget.used(), 0u);
}

TEST(Body, a_window_follows_its_reader_across_threads) {
    Scene scene;
    auto body = scene.body();
    constexpr Bytes length = 4'000'000;
    std::atomic<Bytes> read{0};
    std::jthread reading([&] {
        BodyReader reader(body);
        while (reader.offset() < length) {
            auto bytes = read_on(reader, 10'000);
            ASSERT_NE(bytes, UINT64_MAX);
            ASSERT_FALSE(reader.lost());
            read.store(reader.offset());
            if (bytes == 0) std::this_thread::yield();
        }
    });
    scene.append(*body, 16 * KiB);
    while (body->size() < length) {
        auto room = body->room([](Bytes) { return false; });
        if (room.empty() && read.load() == body->size()) room = body->recycle([](Bytes) { return false; });
        if (room.empty()) {
            std::this_thread::yield();
            continue;
        }
        Scene::fill(*body, room.first(std::min<Bytes>({room.size(), length - body->size(), 5'000})));
    }
    body->finish(Body::State::complete);
    reading.join();
    EXPECT_EQ(scene.budget.used(), 16 * KiB);
}

TEST(Body, parts_share_their_bytes_and_know_what_is_missing) {
    Scene scene;
    auto a = part(scene, 100, 199, 1000);
    EXPECT_TRUE(a->has_gaps());
    EXPECT_TRUE(a->has(100, 199));
    EXPECT_FALSE(a->has(99, 199));
    EXPECT_FALSE(a->has(100, 200));
    auto both = Body::join(*a, *part(scene, 300, 399, 1000));
    EXPECT_TRUE(both->has(100, 199));
    EXPECT_TRUE(both->has(300, 399));
    EXPECT_FALSE(both->has(199, 300));
    ASSERT_EQ(both->present().size(), 2u);
    EXPECT_EQ(both->present()[0].first, 100u);
    EXPECT_EQ(both->present()[0].last, 199u);
    EXPECT_EQ(both->present()[1].first, 300u);
    EXPECT_EQ(both->present()[1].last, 399u);
    EXPECT_EQ(scene.budget.used(), 200u);
    std::optional<BodyReader> reader(std::in_place, both, 350);
    EXPECT_EQ(read_on(*reader), 50u);
    EXPECT_EQ(read_on(*reader), 0u);
    reader.emplace(both, 250);
    EXPECT_EQ(read_on(*reader), 0u);
    EXPECT_TRUE(reader->lost());
    reader.reset();
    a = both = nullptr;
    EXPECT_EQ(scene.budget.used(), 0u);
    EXPECT_EQ(scene.budget.filling(), 0u);
}

TEST(Body, parts_in_any_order_and_overlap_become_the_whole) {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        Scene scene;
        constexpr Bytes length = 700'000;
        std::string there(length, 0);   // 1: the byte is there
        auto whole = part(scene, 0, 0, length);
        there[0] = 1;
        for (int i = 0; i < 100 && whole->has_gaps(); ++i) {
            auto first = random() % length;
            auto last = std::min<Bytes>(length - 1, first + random() % (i < 90 ? 50'000 : length));
            whole = Body::join(*whole, *part(scene, first, last, length));
            std::fill(there.begin() + static_cast<long>(first), there.begin() + static_cast<long>(last) + 1, 1);
            auto from = random() % length;
            auto to = std::min<Bytes>(length - 1, from + random() % 100'000);
            ASSERT_EQ(whole->has(from, to), there.find('\0', from) > to);
            if (!whole->has(from, to)) continue;
            BodyReader reader(whole, from);
            while (reader.offset() <= to) {
                auto bytes = read_on(reader, to + 1 - reader.offset(), 3);
                ASSERT_NE(bytes, UINT64_MAX);
                ASSERT_GT(bytes, 0u);
            }
        }
    }
}

TEST(Body, what_is_missing_completes_it) {
    struct Case {
        std::vector<Body::Span> there;
        Body::Span missing;
    };
    Case const cases[] = {
        {{{0, 99}}, {100, 999}},
        {{{900, 999}}, {0, 899}},
        {{{0, 99}, {900, 999}}, {100, 899}},
        {{{0, 99}, {50, 149}, {300, 399}, {990, 999}}, {150, 989}},
    };
    for (auto const& [there, missing] : cases) {
        Scene scene;
        {
            auto known = part(scene, there[0].first, there[0].last, 1000);
            for (auto span : there) known = Body::join(*known, *part(scene, span.first, span.last, 1000));
            ASSERT_TRUE(known->has_gaps());
            EXPECT_EQ(known->missing()->first, missing.first);
            EXPECT_EQ(known->missing()->last, missing.last);
            auto body = known->completing(*known->missing());
            known = nullptr;
            EXPECT_EQ(body->length(), 1000u);
            BodyReader reader(body);
            EXPECT_EQ(read_on(reader), missing.first);
            while (body->size() <= missing.last) {
                auto room = scene.room(*body);
                ASSERT_LE(body->size() + room.size(), missing.last + 1);
                for (std::size_t i = 0; i < room.size(); ++i) room[i] = byte_at(body->size() + i);
                body->grow(room.size());
            }
            body->finish(Body::State::complete);
            EXPECT_FALSE(body->has_gaps());
            while (reader.offset() < 1000) ASSERT_GT(read_on(reader, 1000, 1), 0u);
            EXPECT_EQ(read_on(reader), 0u);
        }
        EXPECT_EQ(scene.budget.used(), 0u);
        EXPECT_EQ(scene.budget.filling(), 0u);
    }
}

TEST(Body, a_block_that_is_used_again_ends_where_what_follows_it_begins) {
    Scene scene;
    auto body = part(scene, 900, 999, 1000)->completing({0, 899});
    Bytes const first = 500, rest = 400;
    auto fill = [&](std::span<char> room, Bytes count) {
        ASSERT_GE(room.size(), count);
        for (Bytes i = 0; i < count; ++i) room[i] = byte_at(body->size() + i);
        body->grow(count);
    };
    fill(scene.room(*body), first);
    fill(body->recycle([](Bytes) { return false; }), rest);   // longer than the rest
    body->finish(Body::State::complete);
    EXPECT_FALSE(body->has(0, 999)) << "its beginning was forgotten";
    EXPECT_TRUE(body->has(first, 999));
    BodyReader reader(body, first);
    while (reader.offset() < 1000) ASSERT_GT(read_on(reader, 1000, 1), 0u);   // every byte is right
    EXPECT_EQ(read_on(reader), 0u);
}

TEST(Body, what_its_neighbours_hold_together_is_not_kept_twice) {
    Scene scene;
    auto joined = part(scene, 0, 99, 1000);
    joined = Body::join(*joined, *part(scene, 50, 149, 1000));
    joined = Body::join(*joined, *part(scene, 120, 219, 1000));
    EXPECT_EQ(joined->charged(), 300u);
    joined = Body::join(*joined, *part(scene, 100, 199, 1000));
    EXPECT_TRUE(joined->has(0, 219));
    EXPECT_EQ(joined->charged(), 300u);
    EXPECT_EQ(scene.budget.used(), 300u);
}

TEST(Body, of_too_many_parts_is_not_joined) {
    Scene scene;
    auto many = part(scene, 0, 0, 1'000'000);
    for (Bytes i = 1; i < Body::segments_max; ++i) many = Body::join(*many, *part(scene, 2 * i, 2 * i, 1'000'000));
    ASSERT_TRUE(many);
    EXPECT_GT(many->bookkeeping(), Body::segments_max * 64);
    EXPECT_FALSE(Body::join(*many, *part(scene, 900'000, 900'001, 1'000'000)));
    EXPECT_TRUE(Body::join(*many, *part(scene, 0, 900'001, 1'000'000)));
}

}   // namespace
}   // namespace garner::store
