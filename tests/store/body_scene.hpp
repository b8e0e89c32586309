// Bodies with known bytes, for the tests of bodies and of body sources.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "store/body.hpp"

namespace garner::store {

/// The byte at this offset of every test body.
inline char byte_at(Bytes offset) { return static_cast<char>((offset * 2654435761u) >> 13); }

struct Scene {
    Budget budget{64 * MiB, 64 * MiB};

    bool reserve(Bytes bytes) { return budget.reserve(bytes) && budget.reserve_filling(bytes); }
    BodyPtr body(std::optional<Bytes> expected = std::nullopt) { return BodyPtr(new Body(budget, expected)); }
    std::span<char> room(Body& body) {
        return body.room([&](Bytes bytes) { return reserve(bytes); });
    }
    static void fill(Body& body, std::span<char> room) {
        for (std::size_t i = 0; i < room.size(); ++i) room[i] = byte_at(body.size() + i);
        body.grow(room.size());
    }
    void append(Body& body, Bytes bytes) {
        while (bytes > 0) {
            auto free = room(body);
            ASSERT_FALSE(free.empty());
            free = free.first(std::min<Bytes>(free.size(), bytes));
            fill(body, free);
            bytes -= free.size();
        }
    }
};

/// Reads what is available, checks it, and returns its length.
inline Bytes read_on(BodyReader& reader, Bytes limit = UINT64_MAX, std::size_t most_pieces = 16) {
    std::array<std::string_view, 16> pieces;
    Bytes bytes = 0;
    auto count = reader.next(std::span(pieces.data(), most_pieces), limit);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < pieces[i].size(); ++k)
            if (pieces[i][k] != byte_at(reader.offset() + bytes + k)) return UINT64_MAX;
        bytes += pieces[i].size();
    }
    reader.advance(bytes);
    return bytes;
}

/// The bytes from `first` to `last` of a body of `length`, like a 206.
inline BodyPtr part(Scene& scene, Bytes first, Bytes last, Bytes length) {
    auto body = scene.body(last - first + 1);
    while (body->size() < *body->expected()) {
        auto room = scene.room(*body);
        for (std::size_t i = 0; i < room.size(); ++i) room[i] = byte_at(first + body->size() + i);
        body->grow(room.size());
    }
    body->finish(Body::State::complete);
    return body->as_part(first, length);
}

}   // namespace garner::store
