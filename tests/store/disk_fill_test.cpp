// Objects are encoded as records and decoded again: whole, in pieces, with gaps, while they grow, and with errors.
#include "store/disk_fill.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "store/fake_core.hpp"
#include "store/run.hpp"

namespace garner::store::disk {
namespace {

std::string pattern(Bytes length, Bytes from = 0) {
    std::string bytes(length, '\0');
    for (Bytes i = 0; i < length; ++i) bytes[i] = static_cast<char>(((from + i) * 2654435761u) >> 13);
    return bytes;
}

struct FillScene {
    Budget budget{64 * MiB, 64 * MiB};
    FakeCore core;

    bool reserve(Bytes bytes) { return budget.reserve(bytes) && budget.reserve_filling(bytes); }
    BodyPtr growing(std::optional<Bytes> expected = std::nullopt) { return BodyPtr(new Body(budget, expected)); }
    void append(Body& body, Bytes bytes) {
        auto const text = pattern(bytes, body.size());
        for (std::string_view left = text; !left.empty();) {
            auto const room = body.room([&](Bytes wanted) { return reserve(wanted); });
            ASSERT_FALSE(room.empty());
            auto const count = std::min(room.size(), left.size());
            std::memcpy(room.data(), left.data(), count);
            body.grow(count);
            left.remove_prefix(count);
        }
    }
    BodyPtr body(Bytes length) {
        auto body = growing(length);
        append(*body, length);
        body->finish(Body::State::complete);
        return body;
    }
    /// Parts of pattern(), with gaps between the spans.
    BodyPtr body_with(std::vector<Body::Span> const& spans, Bytes length) {
        BodyPtr joined;
        for (auto const& span : spans) {
            auto part = growing(span.last - span.first + 1);
            auto const text = pattern(span.last - span.first + 1, span.first);
            for (std::string_view left = text; !left.empty();) {
                auto const room = part->room([&](Bytes wanted) { return reserve(wanted); });
                auto const count = std::min(room.size(), left.size());
                std::memcpy(room.data(), left.data(), count);
                part->grow(count);
                left.remove_prefix(count);
            }
            part->finish(Body::State::complete);
            auto placed = part->as_part(span.first, length);
            joined = joined ? Body::join(*joined, *placed) : placed;
        }
        return joined;
    }
    Object::Parts parts(BodyPtr body) const {
        Object::Parts parts;
        parts.key = "http://films.example/reel";
        parts.head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n";
        parts.body = std::move(body);
        parts.terms.response_time = wall_now();
        parts.terms.lifetime = 7'200;
        parts.terms.explicit_lifetime = true;
        parts.sequence = 9;
        parts.source.bytes[15] = 4;
        return parts;
    }
    Fingerprint hash(std::string_view key) const { return hash_of(key, core.seed()); }
    ReadRecord record(std::string_view key) {
        return run([&](net::Executor executor) { return core.read(hash(key), executor); });
    }
    ObjectPtr find(std::string_view key = "http://films.example/reel") {
        auto const read = record(key);
        return read ? object_of(core, read) : nullptr;
    }
    /// The available bytes from an offset on; "lost" if they cannot be loaded.
    static std::string read(BodyPtr body, Bytes from = 0) {
        BodyReader reader(body, from);
        std::string bytes;
        std::array<std::string_view, 16> pieces;
        for (;;) {
            auto const count = reader.next(pieces, MiB);
            for (std::size_t i = 0; i < count; ++i) bytes += pieces[i];
            for (std::size_t i = 0; i < count; ++i) reader.advance(pieces[i].size());
            if (count > 0) continue;
            if (!reader.needs_load()) return reader.lost() ? "lost" : bytes;
            run([&](net::Executor executor) { return load(reader, executor); });
        }
    }
};

TEST(DiskFill, a_small_object_lies_in_one_record_and_comes_back_as_it_was) {
    FillScene scene;
    auto parts = scene.parts(nullptr);
    parts.bytes = "a short reel";
    parts.status = 203;
    ASSERT_EQ(write_object(scene.core, parts), NotStored::none);
    EXPECT_EQ(scene.core.appended, 1);
    auto const object = scene.find();
    ASSERT_TRUE(object);
    EXPECT_EQ(object->kind(), Object::Kind::response);
    EXPECT_EQ(object->key(), parts.key);
    EXPECT_EQ(object->head(), parts.head);
    EXPECT_EQ(object->bytes(), "a short reel");
    EXPECT_EQ(object->body(), nullptr);
    EXPECT_EQ(object->status(), 203);
    EXPECT_EQ(object->sequence(), 9u);
    EXPECT_EQ(object->source(), parts.source);
    EXPECT_EQ(object->terms().lifetime, 7'200u);
    EXPECT_FALSE(object->charged());
    EXPECT_EQ(scene.record(parts.key).record.head.freshness, Freshness::of(7'199));
}

TEST(DiskFill, a_body_of_one_record_at_most_lies_with_its_head_and_a_longer_one_in_pieces) {
    for (Bytes length :
         {Bytes{0}, Bytes{1}, Object::inline_body_max, Object::inline_body_max + 1, piece_max, piece_max + 1, 3 * piece_max + 5}) {
        FillScene scene;
        ASSERT_EQ(write_object(scene.core, scene.parts(scene.body(length))), NotStored::none);
        auto const pieces = length <= Object::inline_body_max ? 0 : (length + piece_max - 1) / piece_max;
        EXPECT_EQ(scene.core.appended, 1 + static_cast<int>(pieces)) << length;
        auto const object = scene.find();
        ASSERT_TRUE(object);
        EXPECT_EQ(object->length(), length);
        EXPECT_EQ(object->body() == nullptr, length <= Object::dense_body_max) << length;
        if (!object->body()) {
            EXPECT_EQ(object->bytes(), pattern(length));
            continue;
        }
        EXPECT_EQ(object->body()->source() == nullptr, pieces == 0);
        EXPECT_TRUE(FillScene::read(object->body()) == pattern(length)) << length;
        EXPECT_TRUE(FillScene::read(object->body(), length - 1) == pattern(1, length - 1));
        EXPECT_FALSE(object->body()->has_gaps());
    }
}

TEST(DiskFill, what_the_index_may_not_promise_is_written_without_freshness) {
    FillScene scene;
    auto freshness = [&](Object::Parts const& parts) {
        EXPECT_EQ(write_object(scene.core, parts), NotStored::none);
        return scene.record(parts.key).record.head.freshness;
    };
    auto plain = scene.parts(nullptr);
    EXPECT_GT(freshness(plain), 0);
    auto missing = plain;
    missing.status = 404;
    EXPECT_EQ(freshness(missing), 0);
    auto part = plain;
    part.status = 206;
    EXPECT_EQ(freshness(part), 0);
    auto asks = plain;
    asks.terms.no_cache = true;
    EXPECT_EQ(freshness(asks), 0);
    auto stale = plain;
    stale.terms.lifetime = 0;
    EXPECT_EQ(freshness(stale), 0);
    auto marker = plain;
    marker.kind = Object::Kind::vary_marker;
    EXPECT_EQ(freshness(marker), 0);
    EXPECT_EQ(scene.find()->kind(), Object::Kind::vary_marker);
    auto sparse = plain;
    sparse.body = scene.body_with({{10, 19}}, 100);
    EXPECT_EQ(freshness(sparse), 0);
}

TEST(DiskFill, a_body_with_gaps_keeps_them_and_comes_back_span_by_span) {
    FillScene scene;
    {
        std::vector<Body::Span> const spans{{5, 5}, {100, 100 + piece_max + 20}, {900'000, 999'999}};
        ASSERT_EQ(write_object(scene.core, scene.parts(scene.body_with(spans, 1'000'000))), NotStored::none);
        EXPECT_EQ(scene.core.appended, 5) << "1, 2 and 1 pieces, and the head";
        auto const object = scene.find();
        ASSERT_TRUE(object);
        EXPECT_EQ(object->length(), 1'000'000u);
        EXPECT_TRUE(object->body()->has_gaps());
        ASSERT_EQ(object->body()->present().size(), 3u);
        EXPECT_EQ(object->body()->present()[1].last, 100 + piece_max + 20);
        EXPECT_EQ(FillScene::read(object->body(), 5), "lost") << "a gap follows the first five bytes";
        EXPECT_TRUE(FillScene::read(object->body(), 900'000) == pattern(100'000, 900'000));
        auto reserve = [&](Bytes bytes) { return scene.reserve(bytes); };
        auto const brought =
            run([&](net::Executor executor) { return in_memory(object->body(), scene.budget, reserve, executor); });
        ASSERT_TRUE(brought);
        auto const whole = Body::join(*brought, *scene.body_with({{0, 899'999}}, 1'000'000));
        EXPECT_TRUE(FillScene::read(whole) == pattern(1'000'000));
    }
    EXPECT_EQ(scene.budget.used(), 0u);
}

TEST(DiskFill, a_new_head_over_a_body_on_disk_is_written_alone) {
    FillScene scene;
    ASSERT_EQ(write_object(scene.core, scene.parts(scene.body(MiB))), NotStored::none);
    auto const known = scene.find();
    auto parts = known->parts();
    auto const before = scene.core.appended;
    parts.head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nX-New: 1\r\n";
    ASSERT_EQ(write_object(scene.core, parts), NotStored::none);
    EXPECT_EQ(scene.core.appended, before + 1);
    auto const object = scene.find();
    EXPECT_EQ(object->head(), parts.head);
    EXPECT_TRUE(FillScene::read(object->body()) == pattern(MiB));
}

TEST(DiskFill, a_new_head_over_a_body_with_gaps_keeps_them) {
    FillScene scene;
    ASSERT_EQ(write_object(scene.core, scene.parts(scene.body_with({{10, 19}, {500'000, 599'999}}, MiB))), NotStored::none);
    auto const known = scene.find();
    auto const parts = known->parts();
    auto const before = scene.core.appended;
    ASSERT_EQ(write_object(scene.core, parts), NotStored::none);
    EXPECT_EQ(scene.core.appended, before + 1);
    auto const object = scene.find();
    EXPECT_TRUE(object->body()->has_gaps());
    EXPECT_TRUE(object->body()->has(500'000, 599'999));
}

TEST(DiskFill, an_object_whose_pieces_are_not_all_there_is_not_there) {
    FillScene scene;
    ASSERT_EQ(write_object(scene.core, scene.parts(scene.body(MiB))), NotStored::none);
    auto const before = scene.find();
    scene.core.drop(hash_of_piece(1, piece_max, scene.core.seed()));
    EXPECT_FALSE(scene.find());
    EXPECT_EQ(FillScene::read(before->body()), "lost");
    EXPECT_EQ(write_object(scene.core, before->parts()), NotStored::no_room) << "a piece of the body is lost";
    EXPECT_FALSE(scene.core.has(scene.hash("http://films.example/reel")));
}

TEST(DiskFill, a_damaged_or_swapped_piece_is_never_given) {
    FillScene scene;
    ASSERT_EQ(write_object(scene.core, scene.parts(scene.body(MiB))), NotStored::none);
    auto const object = scene.find();
    auto& records = scene.core.records;
    auto const first = hash_of_piece(1, 0, scene.core.seed());
    auto const second = hash_of_piece(1, piece_max, scene.core.seed());
    auto const good = records[first];
    records[first].bytes[5'000] ^= 1;
    EXPECT_EQ(FillScene::read(object->body()), "lost");
    records[first] = records[second];
    EXPECT_EQ(FillScene::read(object->body()), "lost") << "the record is valid, but of another place";
    auto other = scene.parts(scene.body(MiB));
    other.key = "http://films.example/other";
    ASSERT_EQ(write_object(scene.core, other), NotStored::none);
    records[first] = records[hash_of_piece(2, 0, scene.core.seed())];
    EXPECT_EQ(FillScene::read(object->body()), "lost") << "the record is of another body";
    records[first] = good;
    EXPECT_TRUE(FillScene::read(object->body()) == pattern(MiB));
}

TEST(DiskFill, what_cannot_be_written_takes_what_it_would_have_replaced_with_it) {
    FillScene scene;
    scene.core.options.object_max = MiB;
    scene.core.options.object_min = 10;
    auto const key = scene.parts(nullptr).key;
    auto there = [&] {
        auto small = scene.parts(nullptr);
        small.bytes = "a short reel";
        ASSERT_EQ(write_object(scene.core, small), NotStored::none);
    };
    there();
    EXPECT_EQ(write_object(scene.core, scene.parts(scene.body(MiB + 1))), NotStored::too_large);
    EXPECT_FALSE(scene.core.has(scene.hash(key)));
    there();
    EXPECT_EQ(write_object(scene.core, scene.parts(scene.body(9))), NotStored::too_small);
    EXPECT_FALSE(scene.core.has(scene.hash(key)));
    there();
    scene.core.answer = NotStored::too_slow;
    scene.core.until_answer = 2;
    EXPECT_EQ(write_object(scene.core, scene.parts(scene.body(MiB))), NotStored::too_slow);
    EXPECT_FALSE(scene.core.has(scene.hash(key)));
}

// ---- bodies that grow ----

/// Takes everything available, in several turns.
bool take_all(PieceFill& fill, Body const& body) {
    for (auto before = fill.taken();; before = fill.taken()) {
        if (!fill.take(body)) return false;
        if (fill.taken() == before) return true;
    }
}

TEST(PieceFill, takes_a_few_pieces_at_once_however_many_are_there) {
    FillScene scene;
    PieceFill fill(scene.core);
    auto body = scene.body(10 * piece_max);
    EXPECT_TRUE(fill.take(*body));
    EXPECT_EQ(fill.taken(), PieceFill::pieces_a_call * piece_max);
    EXPECT_TRUE(take_all(fill, *body));
    EXPECT_EQ(fill.taken(), 10 * piece_max);
    ASSERT_TRUE(fill.commit(scene.parts(body)));
    EXPECT_TRUE(FillScene::read(scene.find()->body()) == pattern(10 * piece_max));
}

TEST(PieceFill, tells_what_kept_it_from_being_whole) {
    FillScene scene;
    std::vector<NotStored> told;
    auto const note = [&](NotStored why, Object::Parts const&) { told.push_back(why); };
    auto body = scene.growing();
    scene.append(*body, 2 * piece_max);
    for (auto const why : {NotStored::too_slow, NotStored::failing, NotStored::none}) {
        PieceFill fill(scene.core, DiskFill::Of::whole, note);
        scene.core.answer = why;
        scene.core.until_answer = 1;
        fill.take(*body);
    }
    body->finish(Body::State::complete);
    {
        PieceFill whole(scene.core, DiskFill::Of::whole, note);
        EXPECT_TRUE(whole.commit(scene.parts(body)));
    }
    EXPECT_EQ(told, (std::vector{NotStored::too_slow, NotStored::failing, NotStored::none}));
}

TEST(PieceFill, takes_whole_pieces_as_they_come_and_the_last_one_at_the_end) {
    FillScene scene;
    PieceFill fill(scene.core);
    auto const length = 2 * piece_max + 1'000;
    auto body = scene.growing(length);
    body->set_source(fill.source());
    scene.append(*body, piece_max - 1);
    EXPECT_TRUE(fill.take(*body));
    EXPECT_EQ(fill.taken(), 0u);
    scene.append(*body, 2);
    EXPECT_TRUE(fill.take(*body));
    EXPECT_EQ(fill.taken(), piece_max);
    EXPECT_EQ(fill.source()->until(), piece_max);
    scene.append(*body, piece_max + 999);
    EXPECT_TRUE(fill.take(*body));
    EXPECT_EQ(fill.taken(), 2 * piece_max);
    EXPECT_FALSE(scene.find()) << "a lookup finds the object only after its last piece";
    body->finish(Body::State::complete);
    ASSERT_TRUE(fill.commit(scene.parts(body)));
    EXPECT_EQ(fill.taken(), length);
    EXPECT_EQ(scene.core.appended, 4);
    EXPECT_TRUE(FillScene::read(scene.find()->body()) == pattern(length));
    auto parts = scene.parts(body);
    ASSERT_EQ(write_object(scene.core, parts), NotStored::none);
    EXPECT_EQ(scene.core.appended, 5) << "only the head is written";
}

TEST(PieceFill, gives_readers_what_memory_has_forgotten_while_it_grows) {
    FillScene scene;
    PieceFill fill(scene.core);
    auto body = scene.growing();
    body->set_source(fill.source());
    scene.append(*body, 5 * piece_max + 10);
    ASSERT_TRUE(take_all(fill, *body));
    body->forget_before(fill.taken());
    EXPECT_LE(body->charged(), 2 * piece_max);
    EXPECT_TRUE(FillScene::read(body) == pattern(5 * piece_max + 10));
    scene.append(*body, piece_max);
    body->finish(Body::State::complete);
    ASSERT_TRUE(fill.take(*body));
    BodyPtr alone(new Body(body->size(), {{0, body->size() - 1}}, fill.source()));
    ASSERT_TRUE(fill.commit(scene.parts(alone)));
    EXPECT_TRUE(FillScene::read(scene.find()->body()) == pattern(6 * piece_max + 10));
    EXPECT_TRUE(FillScene::read(body) == pattern(6 * piece_max + 10));
}

TEST(PieceFill, of_a_body_that_turns_out_small_writes_one_record) {
    for (Bytes length : {Bytes{0}, Bytes{5}, Object::inline_body_max}) {
        FillScene scene;
        PieceFill fill(scene.core);
        auto body = scene.growing();
        body->set_source(fill.source());
        scene.append(*body, length);
        EXPECT_TRUE(fill.take(*body));
        body->finish(Body::State::complete);
        EXPECT_TRUE(fill.take(*body));
        ASSERT_TRUE(fill.commit(scene.parts(body)));
        EXPECT_EQ(scene.core.appended, 1);
        auto const object = scene.find();
        auto const found = object->body() ? FillScene::read(object->body()) : std::string(object->bytes());
        EXPECT_TRUE(found == pattern(length)) << length;
    }
}

TEST(PieceFill, waits_for_buffers_that_are_full) {
    FillScene scene;
    PieceFill fill(scene.core);
    auto body = scene.growing();
    body->set_source(fill.source());
    scene.append(*body, 4 * piece_max);
    scene.core.answer = NotStored::too_slow;
    scene.core.until_answer = 1;
    EXPECT_TRUE(fill.take(*body));
    EXPECT_EQ(fill.taken(), piece_max);
    scene.core.answer = NotStored::none;
    EXPECT_TRUE(fill.take(*body));
    EXPECT_EQ(fill.taken(), 4 * piece_max);
}

TEST(PieceFill, gives_up_on_faults_and_on_what_is_too_large_and_keeps_what_it_took) {
    FillScene scene;
    PieceFill fill(scene.core);
    auto body = scene.growing();
    body->set_source(fill.source());
    scene.append(*body, 3 * piece_max);
    scene.core.answer = NotStored::failing;
    scene.core.until_answer = 2;
    EXPECT_FALSE(fill.take(*body));
    EXPECT_EQ(fill.taken(), 2 * piece_max);
    scene.core.answer = NotStored::none;
    EXPECT_FALSE(fill.take(*body)) << "for good";
    body->forget_before(2 * piece_max);
    EXPECT_TRUE(FillScene::read(body) == pattern(3 * piece_max));
    body->finish(Body::State::failed);

    PieceFill large(scene.core);
    scene.core.options.object_max = piece_max;
    auto too_large = scene.growing();
    too_large->set_source(large.source());
    scene.append(*too_large, piece_max);
    EXPECT_TRUE(large.take(*too_large));
    scene.append(*too_large, 1);
    EXPECT_FALSE(large.take(*too_large));
    too_large->finish(Body::State::complete);
    EXPECT_FALSE(large.commit(scene.parts(too_large)));
    EXPECT_FALSE(scene.find());
}

// ---- parts ----

/// The available part of these bytes.
std::string some_of(BodyPtr body, Bytes first, Bytes bytes) {
    BodyReader reader(body, first);
    std::string all;
    std::array<std::string_view, 1> piece;
    while (all.size() < bytes) {
        if (reader.next(piece, bytes - all.size()) == 1) {
            all += piece[0];
            reader.advance(piece[0].size());
        } else if (!reader.needs_load() || !run([&](net::Executor executor) { return load(reader, executor); })) {
            break;
        }
    }
    return all;
}

/// A fetched part, written to its place.
BodyPtr written(FillScene& scene, Bytes first, Bytes bytes, Bytes length) {
    PieceFill fill(scene.core, DiskFill::Of::part);
    auto part = scene.body_with({{first, first + bytes - 1}}, length);
    auto own = scene.growing(bytes);
    own->set_source(fill.source());
    BodyReader reader(part, first);
    std::array<std::string_view, 1> piece;
    while (own->size() < bytes && reader.next(piece, bytes - own->size()) == 1) {
        for (auto left = piece[0]; !left.empty();) {
            auto const room = own->room([&](Bytes wanted) { return scene.reserve(wanted); });
            auto const count = std::min(room.size(), left.size());
            std::memcpy(room.data(), left.data(), count);
            own->grow(count);
            left.remove_prefix(count);
        }
        reader.advance(piece[0].size());
    }
    own->finish(Body::State::complete);
    while (fill.taken() < bytes && fill.take(*own)) {
    }
    EXPECT_EQ(fill.taken(), bytes);
    return own->as_part(first, length);
}

TEST(DiskParts, cost_their_own_pieces_and_a_head_and_become_the_whole) {
    FillScene scene;
    constexpr Bytes length = 2 * MiB;
    // Out of order, small and large, overlapping.
    std::vector<Body::Span> const spans{{700'000, 1'400'000}, {0, 999}, {500, 700'500}, {1'400'001, length - 1}};
    ObjectPtr known;
    for (auto const& span : spans) {
        auto fresh = written(scene, span.first, span.last - span.first + 1, length);
        auto const joined = known ? Body::join(*fresh, *known->body()) : fresh;
        auto const before = scene.core.appended;
        ASSERT_EQ(write_object(scene.core, scene.parts(joined)), NotStored::none);
        EXPECT_EQ(scene.core.appended, before + 1) << "only the head is written";
        known = scene.find();
        ASSERT_TRUE(known);
        EXPECT_TRUE(known->body()->has(span.first, span.last));
        auto const bytes = span.last - span.first + 1;
        EXPECT_TRUE(some_of(known->body(), span.first, bytes) == pattern(bytes, span.first));
    }
    EXPECT_FALSE(known->body()->has_gaps());
    EXPECT_TRUE(FillScene::read(known->body()) == pattern(length));
    EXPECT_LT(scene.core.appended_bytes, length + 32 * KiB);
}

TEST(DiskParts, what_lies_in_memory_alone_is_written_beside_what_is_there) {
    FillScene scene;
    constexpr Bytes length = MiB;
    ASSERT_EQ(write_object(scene.core, scene.parts(scene.body_with({{0, 99'999}, {500'000, 599'999}}, length))), NotStored::none);
    auto const joined = Body::join(*scene.body_with({{50'000, 549'999}}, length), *scene.find()->body());
    ASSERT_TRUE(joined);
    EXPECT_FALSE(joined->is_resident());
    EXPECT_FALSE(joined->is_on_source());
    auto const before = scene.core.appended;
    ASSERT_EQ(write_object(scene.core, scene.parts(joined)), NotStored::none);
    EXPECT_EQ(scene.core.appended, before + 5) << "400,000 bytes in four pieces, and the head";
    auto const object = scene.find();
    EXPECT_TRUE(object->body()->has(0, 599'999));
    EXPECT_TRUE(some_of(object->body(), 0, 600'000) == pattern(600'000));
}

TEST(DiskParts, a_piece_that_is_gone_takes_the_object_with_it) {
    FillScene scene;
    auto const fresh = written(scene, 300'000, 300'000, MiB);
    ASSERT_EQ(write_object(scene.core, scene.parts(fresh)), NotStored::none);
    ASSERT_TRUE(scene.find());
    scene.core.drop(hash_of_piece(scene.core.bodies, piece_max, scene.core.seed()));
    EXPECT_FALSE(scene.find());
}

}   // namespace
}   // namespace garner::store::disk
