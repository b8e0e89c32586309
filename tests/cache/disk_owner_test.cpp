// The disk behind a cache is exchanged by reloads while requests run.
#include "cache/disk_owner.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cache/scene.hpp"
#include "store/interim_disk.hpp"
#include "store/run.hpp"
#include "support/made.hpp"

namespace garner::cache {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A cache whose memory has room for few objects, and stores in a folder of its own.
class DiskChanges : public ::testing::Test {
protected:
    DiskChanges() {
        std::string name = (fs::temp_directory_path() / "garner-change-XXXXXX").string();
        folder = ::mkdtemp(name.data());
    }
    ~DiskChanges() override {
        end();
        fs::remove_all(folder);
    }

    store::DiskOptions at(std::string const& name) const {
        store::DiskOptions options;
        if (!name.empty()) options.path = (folder / name).string();
        options.size = 32 * MiB;
        options.buffer = 8 * MiB;
        options.sync = 20ms;
        options.patience = 5s;
        options.readers = 2;
        return options;
    }
    void begin(store::DiskOptions const& options) {
        owner = std::make_unique<DiskOwner>();
        scene = std::make_unique<Scene>(Options{.size = MiB, .what_if = false, .object_max = 64 * KiB, .shards = 4});
        ASSERT_EQ(owner->open(scene->cache, options, DiskOwner::OnError::retries).fault_text(), "");
    }
    void end() {
        if (owner) owner->stop();
        scene = nullptr;
        owner = nullptr;
    }
    void change(store::DiskOptions const& options) { test::made(owner->prepare(scene->cache, options))(); }
    bool recovered() {
        return soon([this] { return scene->cache.disk().store()->stats().state == store::DiskStats::State::working; });
    }
    template <class Holds>
    static bool soon(Holds const& holds) {
        for (int tries = 0; tries < 1'000; ++tries, std::this_thread::sleep_for(10ms))
            if (holds()) return true;
        return false;
    }

    static std::string body_of(std::string const& url, int version) {
        auto const seed = std::hash<std::string>{}(url) + static_cast<std::size_t>(version);
        return std::to_string(version) + " " + std::string(3'000 + seed % 2'000, static_cast<char>('a' + seed % 26));
    }
    /// What a request does that fetches this version.
    void put(std::string const& url, int version) {
        auto lead = scene->cache.lease(scene->cache.key(url), nullptr);
        auto const body = body_of(url, version);
        store::Object::Parts parts;
        parts.key = url;
        parts.head = "HTTP/1.1 200 OK\r\n";
        parts.bytes = body;
        parts.terms = Scene::terms(10'000);
        parts.sequence = scene->next();
        auto object = scene->cache.memory().make_object(parts, scene->cache.key(url).fingerprint);
        if (!object) object = store::Object::make(parts, nullptr);
        scene->give(*lead.fill(), *object, {}, nullptr);
        lead.complete(object, {}, {});
    }
    /// The version that a request finds, its bytes compared; 0: none, -1: wrong bytes.
    int get(std::string const& url) {
        auto const head = Scene::head({});
        Query const query{scene->cache.key(url), head, {}, wall_now(), Collapse::alone};
        auto found = scene->cache.lookup(query);
        store::run([&](net::Executor executor) -> net::awaitable<bool> {
            co_await scene->cache.look_on_disk(found, query, executor);
            co_return true;
        });
        if (!found.object || found.kind != Lookup::Kind::fresh) return 0;
        std::string bytes(found.object->bytes());
        if (found.object->body()) {
            store::BodyReader reader(found.object->body());
            std::array<std::string_view, 1> piece;
            for (; reader.next(piece, MiB) == 1; reader.advance(piece[0].size())) bytes += piece[0];
        }
        int const version = std::atoi(bytes.c_str());
        return bytes == body_of(url, version) ? version : -1;
    }
    void purge(std::string const& url) { scene->cache.purge(scene->cache.key(url)); }
    static std::string url(int number) { return "http://h/" + std::to_string(number); }
    void put_all(int version) {
        for (int i = 0; i < many; ++i) put(url(i), version);
        EXPECT_TRUE(scene->cache.disk().store()->wait_until_settled(store::Survives::process));
    }
    int found(int version) {
        int count = 0;
        for (int i = 0; i < many; ++i) count += get(url(i)) == version;
        return count;
    }
    /// Empties memory.
    void forget_in_memory() {
        auto const disk = scene->cache.disk().store();
        scene = std::make_unique<Scene>(Options{.size = MiB, .what_if = false, .object_max = 64 * KiB, .shards = 4});
        scene->cache.set_disk(disk);
    }

    static constexpr int many = 200;
    fs::path folder;
    std::unique_ptr<DiskOwner> owner;   // destroyed after the scene
    std::unique_ptr<Scene> scene;
};

TEST_F(DiskChanges, a_store_that_is_opened_again_has_its_objects_and_its_purges) {
    auto options = at("a");
    begin(options);
    put_all(1);
    purge(url(7));
    forget_in_memory();
    std::vector<std::function<void()>> const changes{[&] { options.size = 48 * MiB; }, [&] { options.policy = "lru"; },
                                                     [&] { options.readers = 3; }, [&] { options.buffer = 12 * MiB; }};
    for (auto const& one : changes) {
        one();
        change(options);
        forget_in_memory();
        ASSERT_TRUE(recovered());
        EXPECT_EQ(get(url(7)), 0);
        EXPECT_EQ(found(1), many - 1);
        EXPECT_EQ(scene->cache.disk().store()->options(), options);
    }
    put(url(7), 2);
    EXPECT_EQ(get(url(7)), 2);
}

TEST_F(DiskChanges, a_store_that_was_left_comes_back_empty_in_this_process_and_in_the_next) {
    begin(at("a"));
    put_all(1);
    change(at("b"));
    forget_in_memory();
    EXPECT_EQ(found(1), 0);
    put_all(2);
    change(at("a"));
    forget_in_memory();
    EXPECT_EQ(found(1) + found(2), 0);
    put(url(3), 3);
    change(at(""));
    EXPECT_FALSE(scene->cache.disk());
    EXPECT_EQ(get(url(3)), 3) << "memory keeps it";
    for (auto const* path : {"b", "a"}) {
        end();
        begin(at(path));
        ASSERT_TRUE(recovered());
        EXPECT_EQ(found(1) + found(2) + found(3), 0) << path;
    }
}

TEST_F(DiskChanges, what_a_reload_brings_outlives_the_process) {
    begin(at(""));
    put(url(1), 1);
    change(at("a"));
    put(url(2), 2);
    auto larger = at("a");
    larger.size = 64 * MiB;
    change(larger);
    put(url(3), 3);
    EXPECT_TRUE(scene->cache.disk().store()->wait_until_settled(store::Survives::process));
    end();
    begin(larger);
    ASSERT_TRUE(recovered());
    EXPECT_EQ(get(url(2)), 2);
    EXPECT_EQ(get(url(3)), 3);
}

TEST_F(DiskChanges, what_cannot_be_opened_changes_nothing) {
    begin(at("a"));
    put_all(1);
    auto bad = at("b");
    bad.path = "/dev/null/b";
    EXPECT_EQ(owner->prepare(scene->cache, bad).fault_text().find("disk.path: cannot open /dev/null/b/store: "), 0u)
        << owner->prepare(scene->cache, bad).fault_text();
    auto small = at("a");
    small.size = 1 * KiB;
    EXPECT_EQ(owner->prepare(scene->cache, small).fault_text(), "disk.size: 1024 bytes are too small for a store; raise it");
    auto large = at("a");
    large.size = Bytes{1} << 56;
    EXPECT_EQ(owner->prepare(scene->cache, large).fault_text().find("disk.size: "), 0u);
    DiskOwner other;
    Scene elsewhere;
    ASSERT_EQ(other.open(elsewhere.cache, at("b"), DiskOwner::OnError::is_fault).fault_text(), "");
    EXPECT_EQ(owner->prepare(scene->cache, at("b")).fault_text(),
              "disk.path: " + (folder / "b" / "store").string() +
                  " is in use by another process; stop that process, or choose another disk.path");
    EXPECT_EQ(found(1), many);
    elsewhere.cache.set_disk(nullptr);
}

TEST_F(DiskChanges, a_store_that_cannot_be_opened_is_a_fault_if_the_process_can_do_without_this_one) {
    DiskOwner other;
    Scene elsewhere;
    auto const fault = other.open(elsewhere.cache, at("file/b"), DiskOwner::OnError::is_fault).fault_text();
    EXPECT_EQ(fault.find("disk.path: cannot open "), 0u) << fault;
    EXPECT_EQ(other.store(), nullptr);
    EXPECT_EQ(other.open(elsewhere.cache, at("file/b"), DiskOwner::OnError::retries).fault_text(), "");
    EXPECT_EQ(other.store()->stats().state, store::DiskStats::State::failing);
    elsewhere.cache.set_disk(nullptr);
}

TEST_F(DiskChanges, an_unused_change_closes_what_it_opened) {
    begin(at("a"));
    put_all(1);
    { auto const unused = test::made(owner->prepare(scene->cache, at("b"))); }
    EXPECT_EQ(found(1), many);
    EXPECT_TRUE(soon([&] {
        auto const opened = store::DiskStore::open(at("b"));
        return static_cast<bool>(opened);
    }));
    change(at("b"));
    put(url(1), 2);
    EXPECT_EQ(get(url(1)), 2);
}

TEST_F(DiskChanges, a_store_that_was_handed_over_has_its_objects_unless_the_other_process_uses_another_one) {
    auto const hand_over = [this](std::string const& path) {
        auto stand_in = std::make_shared<store::InterimDisk>(owner->store());
        owner->hand_over(scene->cache, stand_in);
        owner->leave_unless_at(path);
        return stand_in;
    };
    begin(at("a"));
    put_all(1);
    fs::create_symlink(folder / "a", folder / "same");
    for (auto const& [path, objects] :
         std::vector<std::pair<std::string, int>>{{at("a").path, many}, {at("same").path, many}, {"", 0}}) {
        auto const stand_in = hand_over(path);
        owner->take_back(scene->cache, *stand_in);
        forget_in_memory();
        ASSERT_TRUE(recovered());
        EXPECT_EQ(found(1), objects) << path;
    }
    put_all(2);
    hand_over(at("b").path);
    end();
    begin(at("a"));
    ASSERT_TRUE(recovered());
    EXPECT_EQ(found(2), 0) << "in the next process there";
}

/// Three MiB, on disk alone.
class LongBodies : public DiskChanges {
protected:
    static constexpr Bytes length = 3 * MiB;
    static char byte_at(Bytes offset) { return static_cast<char>((offset * 2654435761u) >> 13); }
    store::ObjectPtr put_long() {
        auto const disk = scene->cache.disk().store();
        store::BodyPtr body(new store::Body(budget_, length));
        auto why = store::NotStored::none;
        auto fill = disk->begin("http://h/long", length, store::DiskFill::Of::whole, why);
        EXPECT_EQ(why, store::NotStored::none);
        body->set_source(fill->source());
        while (body->size() < length) {
            auto room = body->room([&](Bytes bytes) { return budget_.reserve(bytes) && budget_.reserve_filling(bytes); });
            for (std::size_t i = 0; i < room.size(); ++i) room[i] = byte_at(body->size() + i);
            body->grow(room.size());
        }
        body->finish(store::Body::State::complete);
        EXPECT_TRUE(soon([&] { return fill->take(*body) && fill->taken() == length; }));
        store::Object::Parts parts;
        parts.key = "http://h/long";
        parts.head = "HTTP/1.1 200 OK\r\n";
        parts.body = body;
        parts.terms = Scene::terms(10'000);
        parts.sequence = scene->next();
        EXPECT_TRUE(fill->commit(parts));
        body = nullptr;
        parts.body = nullptr;
        return store::run([&](net::Executor executor) -> net::awaitable<store::ObjectPtr> { return load(executor); });
    }
    net::awaitable<store::ObjectPtr> load(net::Executor executor) {
        auto object = co_await scene->cache.disk().load("http://h/long", executor);
        co_return object;
    }
    /// Bytes that are right, up to the end or to a loss.
    static Bytes read(store::BodyReader& reader, Bytes until) {
        std::array<std::string_view, 1> piece;
        while (reader.offset() < until) {
            if (reader.next(piece, until - reader.offset()) == 1) {
                for (std::size_t i = 0; i < piece[0].size(); ++i)
                    if (piece[0][i] != byte_at(reader.offset() + i)) return reader.offset() + i;
                reader.advance(piece[0].size());
                continue;
            }
            if (!reader.needs_load()) return reader.offset();
            store::run([&](net::Executor executor) { return store::load(reader, executor); });
        }
        return reader.offset();
    }
    store::Budget budget_{64 * MiB, 64 * MiB};
};

TEST_F(LongBodies, are_read_to_their_end_from_a_store_that_is_gone) {
    for (auto const* next : {"", "b", "a"}) {
        begin(at("a"));
        auto object = put_long();
        ASSERT_TRUE(object && object->body());
        {
            store::BodyReader reader(object->body());
            EXPECT_EQ(read(reader, MiB), MiB);
            auto options = at(next);
            options.readers = 3;
            change(options);
            EXPECT_EQ(read(reader, length), length) << next;
        }
        object = nullptr;
        change(at(""));
        EXPECT_TRUE(soon([&] { return static_cast<bool>(store::DiskStore::open(at("a"))); })) << "the last reader has ended";
        end();
    }
}

TEST_F(LongBodies, that_are_being_written_are_not_stored_by_another_store) {
    begin(at("a"));
    auto why = store::NotStored::none;
    auto fill = scene->cache.disk().store()->begin("http://h/long", length, store::DiskFill::Of::whole, why);
    ASSERT_TRUE(fill);
    change(at("b"));
    store::BodyPtr body(new store::Body(budget_, std::nullopt));
    auto room = body->room([&](Bytes bytes) { return budget_.reserve(bytes) && budget_.reserve_filling(bytes); });
    body->grow(room.size());
    body->finish(store::Body::State::complete);
    store::Object::Parts parts;
    parts.key = "http://h/long";
    parts.head = "HTTP/1.1 200 OK\r\n";
    parts.body = body;
    EXPECT_FALSE(fill->commit(parts));
    fill = nullptr;
    EXPECT_EQ(get("http://h/long"), 0);
}

/// Threads that fetch, look up and purge while reloads change the disk.
class ChangesUnderLoad : public DiskChanges {
protected:
    struct Url {
        std::atomic<int> least{0};   // no request that begins now may get an older version
    };
    /// Fetches and purges the URLs of one thread: no other thread changes these.
    void write(unsigned thread) {
        std::mt19937 random(thread);
        for (int version = 1; !over; ++version) {
            int const number = static_cast<int>(random() % (urls.size() / writers) * writers + thread);
            put(url(number), version);
            urls[static_cast<std::size_t>(number)].least = version;
            if (random() % 4 != 0) continue;
            purge(url(number));
            urls[static_cast<std::size_t>(number)].least = version + 1;
            ++purges;
        }
    }
    void look(unsigned thread) {
        std::mt19937 random(100 + thread);
        while (!over) {
            auto const number = random() % urls.size();
            int const least = urls[number].least;
            int const got = get(url(static_cast<int>(number)));
            if (got == -1 || (got > 0 && got < least)) wrong = true;
            if (got > 0) ++hits;
        }
    }
    void settle() {
        while (!over) {
            bool const sure =
                store::run([&](net::Executor executor) { return scene->cache.disk().settled(store::Survives::process, executor); });
            if (!sure) ++unsure;
            std::this_thread::sleep_for(1ms);
        }
    }

    static constexpr unsigned writers = 2;
    std::vector<Url> urls = std::vector<Url>(400);
    std::atomic<bool> over{false}, wrong{false};
    std::atomic<int> hits{0}, purges{0}, unsure{0};
};

TEST_F(ChangesUnderLoad, no_older_and_no_purged_object_is_found) {
    begin(at("a"));
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < writers; ++i) threads.emplace_back([this, i] { write(i); });
    for (unsigned i = 0; i < 2; ++i) threads.emplace_back([this, i] { look(i); });
    threads.emplace_back([this] { settle(); });
    std::mt19937 random(1);
    auto options = at("a");
    for (int i = 0; i < 30 && !wrong; ++i) {
        switch (random() % 6) {
        case 0: options = at("b"); break;
        case 1: options = at(""); break;
        case 2: options = at("a"); break;
        case 3: options.size = (32 + random() % 3 * 16) * MiB; break;
        case 4: options.policy = options.policy == "lru" ? "fifo-reinsertion" : "lru"; break;
        default: options.readers = options.readers == 2 ? 3 : 2;
        }
        change(options);
        std::this_thread::sleep_for(milliseconds{random() % 40});
    }
    over = true;
    for (auto& thread : threads) thread.join();
    EXPECT_FALSE(wrong);
    EXPECT_GT(hits, 100);
    EXPECT_GT(purges, 10);
    EXPECT_EQ(unsure, 0) << "waits for the disk go on over changes";
    if (options.path.empty()) options = at("a"), change(options);
    std::vector<int> least;
    for (auto const& one : urls) least.push_back(one.least);
    end();
    begin(options);
    ASSERT_TRUE(recovered());
    for (std::size_t i = 0; i < urls.size(); ++i) {
        int const got = get(url(static_cast<int>(i)));
        EXPECT_TRUE(got == 0 || got >= least[i]) << i << ": " << got << ", " << least[i];
    }
}

}   // namespace
}   // namespace garner::cache
