// Objects written to a stream are read from it, and damage costs only the damaged ones.
#include "store/object_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "store/body_scene.hpp"
#include "support/places.hpp"

namespace garner::store {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t id = 77;

struct Streams {
    Scene scene;
    std::string bytes;
    ObjectWriter writer{id, [this](std::string_view more) {
                            bytes += more;
                            return true;
                        }};

    static Object::Parts parts(std::string_view key) {
        Object::Parts parts;
        parts.key = key;
        parts.head = "HTTP/1.1 200 OK\r\nETag: \"x\"\r\n";
        parts.terms.response_time = WallTime(milliseconds(1'700'000'000'000));
        parts.terms.date_value = 1'700'000'000;
        parts.terms.lifetime = 3'600;
        parts.sequence = 5;
        parts.source = IpAddress::v4(127, 0, 0, 1);
        return parts;
    }
    void write(Object::Parts const& parts) { EXPECT_TRUE(writer.write(*Object::make(parts, nullptr))); }
    void write(std::string_view key, std::string_view body) {
        auto small = parts(key);
        small.bytes = body;
        write(small);
    }
    void write_long(std::string_view key, Bytes length) {
        auto large = parts(key);
        large.body = scene.body(length);
        scene.append(*large.body, length);
        large.body->finish(Body::State::complete);
        write(large);
    }
    std::string const& all() {
        EXPECT_TRUE(writer.flush());
        return bytes;
    }
};

/// The keys of objects, and "+" for each piece.
std::vector<std::string> read(std::string_view bytes, Bytes at_once = 1'000, Bytes* damaged = nullptr) {
    RecordStream stream;
    std::vector<std::string> found;
    auto const take_all = [&] {
        while (auto const record = stream.next())
            found.emplace_back(record->head.kind == disk::RecordKind::piece ? "+" : std::string(record->key));
    };
    for (; !bytes.empty(); bytes.remove_prefix(std::min(at_once, bytes.size()))) {
        stream.add(bytes.substr(0, at_once));
        take_all();
    }
    stream.end();
    take_all();
    if (damaged) *damaged = stream.damaged();
    return found;
}

TEST(ObjectStream, has_the_objects_in_their_order) {
    Streams streams;
    streams.write("a", "body of a");
    streams.write_long("b", 50'000);
    streams.write_long("c", 300 * KiB);
    streams.write("d", "");
    for (Bytes const at_once : {1u, 17u, 4'096u, 1'000'000u})
        EXPECT_THAT(read(streams.all(), at_once), ElementsAre("a", "b", "c", "+", "+", "+", "d")) << at_once;
    EXPECT_EQ(streams.writer.objects(), 4u);
    EXPECT_EQ(streams.writer.bytes(), streams.all().size());
}

TEST(ObjectStream, has_all_of_an_object) {
    Streams streams;
    streams.write("fhttp://a.example/", "the body");
    RecordStream stream;
    stream.add(streams.all());
    auto const record = stream.next();
    ASSERT_TRUE(record);
    auto text = record->meta;
    auto const meta = disk::decode_meta(text);
    ASSERT_TRUE(meta);
    EXPECT_EQ(record->key, "fhttp://a.example/");
    EXPECT_EQ(text, "HTTP/1.1 200 OK\r\nETag: \"x\"\r\n");
    EXPECT_EQ(record->body, "the body");
    EXPECT_EQ(record->head.sequence, 5u);
    EXPECT_EQ(meta->terms.lifetime, 3'600u);
    EXPECT_EQ(meta->source, IpAddress::v4(127, 0, 0, 1));
    EXPECT_FALSE(stream.next());
}

TEST(ObjectStream, leaves_out_bodies_that_are_not_whole) {
    Streams streams;
    auto growing = Streams::parts("growing");
    growing.body = streams.scene.body();
    streams.scene.append(*growing.body, 100);
    streams.write(growing);
    auto gap = Streams::parts("gap");
    gap.body = part(streams.scene, 10, 20, 100);
    streams.write(gap);
    streams.write("whole", "body");
    EXPECT_THAT(read(streams.all()), ElementsAre("whole"));
}

TEST(ObjectStream, a_damaged_byte_costs_one_object_at_most) {
    Streams streams;
    std::vector<std::string> keys;
    for (int i = 0; i < 20; ++i) {
        keys.push_back("key" + std::to_string(i));
        streams.write(keys.back(), std::string(200, 'x'));
    }
    auto const whole = streams.all();
    std::mt19937 random(1);
    for (int tries = 0; tries < 300; ++tries) {
        auto damaged = whole;
        auto const at = random() % damaged.size();
        damaged[at] = static_cast<char>(damaged[at] ^ (1 + random() % 255));
        auto const found = read(damaged);
        EXPECT_GE(found.size(), 19u) << at;
        EXPECT_TRUE(std::ranges::all_of(found, [&](auto const& key) { return std::ranges::count(keys, key) == 1; })) << at;
    }
}

TEST(ObjectStream, that_ends_early_has_what_was_written_before) {
    Streams streams;
    for (int i = 0; i < 10; ++i) streams.write("key" + std::to_string(i), std::string(300, 'x'));
    auto const whole = streams.all();
    std::size_t before = 0;
    for (std::size_t size = 0; size <= whole.size(); size += 7) {
        auto const found = read(std::string_view(whole).substr(0, size)).size();
        EXPECT_GE(found, before);
        before = found;
    }
    EXPECT_GE(before, 9u);
}

TEST(ObjectStream, of_another_kind_or_version_has_nothing) {
    Streams streams;
    streams.write("a", "body");
    auto other = streams.all();
    other[16] = 9;
    other[64 + 16] = 9;
    for (auto const& bytes : {std::string(), std::string(5, 'x'), std::string(10'000, 'x'), other}) {
        RecordStream stream;
        stream.add(bytes);
        stream.end();
        EXPECT_FALSE(stream.next());
        EXPECT_FALSE(stream.is_known());
    }
}

TEST(ObjectStream, one_copy_of_the_head_is_enough) {
    Streams streams;
    streams.write("a", "body");
    for (std::size_t const at : {0, 8, 24, 64, 72, 88}) {
        auto damaged = streams.all();
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        EXPECT_THAT(read(damaged), ElementsAre("a")) << at;
    }
}

TEST(ObjectStream, a_record_in_a_body_is_not_taken_for_one) {
    Streams streams;
    streams.write("inner", "body");
    auto const inner = streams.all();
    Streams outer;
    outer.write("outer", inner);
    auto damaged = outer.all();
    damaged[130] = static_cast<char>(damaged[130] ^ 1);   // in the head of the record
    EXPECT_THAT(read(damaged), ElementsAre());
}

TEST(ObjectStream, no_more_is_written_after_an_error) {
    int calls = 0;
    ObjectWriter writer(id, [&](std::string_view) {
        ++calls;
        return false;
    });
    auto const object = Object::make(Streams::parts("a"), nullptr);
    EXPECT_TRUE(writer.write(*object)) << "it waits for flush()";
    EXPECT_FALSE(writer.flush());
    EXPECT_FALSE(writer.write(*object));
    EXPECT_FALSE(writer.flush());
    EXPECT_EQ(calls, 1);
}

/// Later programs must read it, or refuse it.
TEST(ObjectStream, is_the_one_that_was_recorded) {
    Streams streams;
    streams.write("fhttp://a.example/", "the body");
    streams.write_long("fhttp://a.example/long", 130 * KiB);
    auto const path = test::source("tests/data/takeover/1/objects.stream");
    if (std::getenv("GARNER_WRITE")) std::ofstream(path, std::ios::binary) << streams.all();
    std::ifstream file(path, std::ios::binary);
    std::string const recorded{std::istreambuf_iterator<char>(file), {}};
    EXPECT_TRUE(recorded == streams.all());
    EXPECT_THAT(read(recorded), ElementsAre("fhttp://a.example/", "fhttp://a.example/long", "+", "+"));
}

}   // namespace
}   // namespace garner::store
