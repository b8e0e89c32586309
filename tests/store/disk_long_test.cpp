// Long bodies in the disk store: written from memory by a thread, and read through bounded memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "store/disk_scene.hpp"

namespace garner::store {
namespace {

struct DiskLong : DiskTier {
    std::string const key = "fhttp://films.example/reel";
    Budget budget{64 * MiB, 64 * MiB};

    BodyPtr body_of_bytes(std::string const& bytes) {
        BodyPtr body(new Body(budget, bytes.size()));
        for (std::string_view left = bytes; !left.empty();) {
            auto const room = body->room([&](Bytes wanted) { return budget.reserve(wanted) && budget.reserve_filling(wanted); });
            auto const count = std::min(room.size(), left.size());
            std::memcpy(room.data(), left.data(), count);
            body->grow(count);
            left.remove_prefix(count);
        }
        body->finish(Body::State::complete);
        return body;
    }
    NotStored store_long(std::string const& key, std::string const& bytes) {
        auto whole = parts(key, {});
        whole.body = body_of_bytes(bytes);
        return disk->store(whole);
    }
    /// Repeats the store while buffers are full.
    void store_in_the_end(std::string const& key, std::string const& bytes) {
        while (store_long(key, bytes) == NotStored::too_slow) std::this_thread::sleep_for(1ms);
    }
    std::string read(ObjectPtr const& object) {
        if (!object) return "nothing";
        if (!object->body()) return std::string(object->bytes());
        return run([object](net::Executor executor) -> net::awaitable<std::string> {
            std::string bytes;
            BodyReader reader(object->body());
            std::array<std::string_view, 4> pieces;
            while (bytes.size() < object->body()->size()) {
                auto const count = reader.next(pieces, MiB);
                for (std::size_t i = 0; i < count; ++i) bytes += pieces[i];
                reader.advance(bytes.size() - reader.offset());
                if (count > 0) continue;
                if (!co_await store::load(reader, executor)) co_return std::string("lost");
            }
            co_return bytes;
        });
    }
};

/// Blocks writes on demand, and reads below an offset.
struct Holding : io::Faults {
    Verdict judge(Operation operation, Bytes offset, std::size_t) override {
        while (operation == Operation::write && held) std::this_thread::sleep_for(1ms);
        while (operation == Operation::read && offset < reads_held_until) std::this_thread::sleep_for(1ms);
        return {};
    }
    std::atomic<bool> held{false};
    std::atomic<Bytes> reads_held_until{0};
};

struct HeldDisk : DiskLong {
    HeldDisk() { options.faults = &writes; }
    ~HeldDisk() override {
        writes.held = false;
        writes.reads_held_until = 0;
        disk.reset();
    }
    Holding writes;
};

}   // namespace

TEST_F(DiskLong, what_is_longer_than_the_buffers_comes_to_the_disk_from_memory) {
    open();
    auto const film = pattern(6 * MiB, 1);
    ASSERT_EQ(store_long(key, film), NotStored::none);
    ASSERT_TRUE(eventually([&] { return disk->stats().stored == 1; }));
    EXPECT_TRUE(read(load(key)) == film);
    EXPECT_EQ(budget.used(), 0u);
    restart();
    EXPECT_TRUE(read(load(key)) == film);
}

TEST_F(DiskLong, a_stop_waits_for_it) {
    open();
    auto const film = pattern(6 * MiB, 1);
    ASSERT_EQ(store_long(key, film), NotStored::none);
    restart();
    EXPECT_TRUE(read(load(key)) == film);
}

TEST_F(DiskLong, what_is_forgotten_meanwhile_stays_away_and_what_is_newer_counts) {
    open();
    auto const film = pattern(3 * MiB, 1);
    for (int i = 0; i < 20; ++i) {
        store_in_the_end(key, film);
        std::this_thread::sleep_for(std::chrono::microseconds(i * 300));
        disk->forget(key);
        EXPECT_FALSE(disk->may_have(key));
    }
    restart();
    EXPECT_EQ(load(key), nullptr);
    store_in_the_end(key, film);
    ASSERT_EQ(store(key, "newer"), NotStored::none);
    restart();
    EXPECT_EQ(body_of(key), "newer");
}

TEST_F(HeldDisk, what_waits_is_listed_and_purged_as_what_is_there) {
    open();
    writes.held = true;
    ASSERT_EQ(store_long(key, pattern(6 * MiB, 1)), NotStored::none) << "the object is larger than the buffers";
    std::vector<DiskStore::Listed> all;
    disk->list_waiting(all);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].key, key);
    EXPECT_EQ(all[0].length, 6 * MiB);
    EXPECT_TRUE(disk->forget(key)) << "a waiting object can be removed";
    EXPECT_FALSE(disk->forget(key));
    writes.held = false;
    restart();
    EXPECT_EQ(load(key), nullptr);
}

TEST_F(DiskLong, a_new_head_over_what_is_here_is_written_whatever_is_let_in) {
    open();
    auto const film = pattern(2 * MiB, 1);
    ASSERT_EQ(store_long(key, film), NotStored::none);
    ASSERT_TRUE(eventually([&] { return disk->stats().stored == 1; }));
    auto limits = disk->options();
    auto const freshen = [&](std::uint32_t lifetime) {
        auto const there = load(key);
        ASSERT_TRUE(there);
        auto fresh = there->parts();
        fresh.terms.lifetime = lifetime;
        EXPECT_EQ(disk->store(fresh), NotStored::none);
        auto const now = load(key);
        ASSERT_TRUE(now) << lifetime;
        EXPECT_EQ(now->terms().lifetime, lifetime);
        EXPECT_TRUE(read(now) == film);
    };
    limits.admit = DiskOptions::Admit::second_hit;
    disk->reconfigure(limits);
    freshen(7'777);
    limits.admit = DiskOptions::Admit::all;
    limits.rate = 1;
    disk->reconfigure(limits);
    ASSERT_EQ(store("fhttp://a/", pattern(10'000, 1)), NotStored::none) << "the rate limit has no budget for hours afterwards";
    freshen(8'888);
    EXPECT_EQ(store("fhttp://b/", "x"), NotStored::rate);
}

TEST_F(HeldDisk, a_new_head_over_what_is_here_finds_room_where_newcomers_do_not) {
    open();
    auto const film = pattern(2 * MiB, 1);
    unsigned newcomers = 0;
    auto const store_newcomer = [&](Bytes bytes) {
        return disk->store(parts("fhttp://a/" + std::to_string(++newcomers), std::string_view(film).substr(0, bytes)));
    };
    while (disk->stats().written_bytes < MiB) ASSERT_NE(store_newcomer(60'000), NotStored::failing);
    ASSERT_EQ(store_long(key, film), NotStored::none);
    ASSERT_TRUE(eventually([&] { return load(key) != nullptr; }));
    auto const there = load(key);
    ASSERT_TRUE(there);
    auto fresh = there->parts();
    fresh.terms.lifetime = 7'777;
    writes.reads_held_until = MiB * 3 / 4;   // no segment becomes free
    for (Bytes const bytes : {60'000, 1}) {
        for (int refused = 0; refused < 200; std::this_thread::sleep_for(1ms)) {
            refused = store_newcomer(bytes) == NotStored::none ? 0 : refused + 1;
            ASSERT_LT(newcomers, 5'000u) << "segments must not become free";
        }
    }
    EXPECT_EQ(disk->store(fresh), NotStored::none);
    auto const now = load(key);   // before the log overwrites the pieces of the body
    ASSERT_TRUE(now);
    EXPECT_EQ(now->terms().lifetime, 7'777u);
    EXPECT_TRUE(read(now) == film);
}

TEST_F(DiskLong, a_head_without_all_its_pieces_is_listed_nowhere_and_gone_after_a_restart) {
    open();
    ASSERT_EQ(store_long(key, pattern(5 * MiB, 1)), NotStored::none);
    ASSERT_TRUE(eventually([&] { return disk->stats().stored == 1; }));
    // The log overwrites its first pieces but not its head.
    for (unsigned i = 0; disk->stats().evicted == 0; ++i)
        ASSERT_EQ(store("fhttp://a/" + std::to_string(i), pattern(60'000, i)), NotStored::none);
    ASSERT_TRUE(disk->may_have(key));
    auto const count = [&] {
        std::vector<DiskStore::Listed> all;
        for (std::uint32_t segment = 0; disk->list(segment, all); ++segment) {
        }
        auto const told = [&](std::uint32_t segment, std::vector<ObjectPtr>& into) {
            auto* store = disk.get();
            return run([store, segment, &into](net::Executor executor) { return store->heads(segment, into, executor); });
        };
        std::vector<ObjectPtr> heads;
        for (std::uint32_t segment = 0; told(segment, heads); ++segment) {
        }
        return std::ranges::count(all, key, &DiskStore::Listed::key) +
               std::ranges::count_if(heads, [&](ObjectPtr const& head) { return head->key() == key; });
    };
    EXPECT_EQ(count(), 0);
    restart();
    EXPECT_TRUE(eventually([&] { return !disk->may_have(key); })) << "peers must not be told that the object is here";
}

TEST_F(DiskLong, no_more_of_it_waits_than_the_buffers_could_hold) {
    options.size = 64 * MiB;
    open();
    auto const film = pattern(3 * MiB, 1);
    std::size_t taken = 0;
    for (int i = 0; i < 10; ++i) taken += store_long(key + std::to_string(i), film) == NotStored::none;
    EXPECT_GE(taken, 1u);
    EXPECT_TRUE(eventually([&] { return disk->stats().stored == taken; }));
    EXPECT_EQ(disk->stats().not_stored[static_cast<std::size_t>(NotStored::too_slow)], 10 - taken);
}

TEST_F(DiskLong, pieces_that_readers_keep_take_a_bounded_part_of_memory_and_leave_room_for_what_is_short) {
    options.size = 64 * MiB;
    options.patience = 50ms;
    open();
    constexpr int films = 100;
    auto const film = pattern(200'000, 1);
    for (int i = 0; i < films; ++i) store_in_the_end(key + std::to_string(i), film);
    ASSERT_EQ(store("fhttp://short/", "short"), NotStored::none);
    std::vector<Loaded> kept;
    auto keep = [&](int i) {
        auto const object = load(key + std::to_string(i));
        if (!object) return false;
        auto const source = object->body()->source();
        kept.push_back(run([source](net::Executor executor) { return source->load(0, executor); }));
        return !kept.back().bytes.empty();
    };
    int got = 0;
    Bytes bytes = 0;
    for (int i = 0; i < films; ++i)
        if (keep(i)) {
            ++got;
            bytes += kept.back().bytes.size();
        }
    EXPECT_GT(got, 20);
    EXPECT_LT(got, films);
    EXPECT_LE(bytes, options.buffer / 4 * 3);
    EXPECT_GT(disk->stats().too_late, 0u);
    EXPECT_EQ(body_of("fhttp://short/"), "short");
    kept.clear();
    EXPECT_TRUE(keep(films - 1)) << "released records free their memory";
}

TEST_F(DiskLong, its_first_piece_is_kept_for_one_reader_only) {
    open();
    ASSERT_EQ(store_long(key, pattern(200'000, 1)), NotStored::none);
    auto const object = load(key);
    ASSERT_TRUE(object);
    auto const source = object->body()->source();
    auto first = run([source](net::Executor executor) { return source->load(0, executor); });
    EXPECT_EQ(first.owner.use_count(), 1);
    auto again = run([source](net::Executor executor) { return source->load(0, executor); });
    EXPECT_TRUE(again.bytes == first.bytes);
}

}   // namespace garner::store
