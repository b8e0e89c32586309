// A disk store in its own folder, for tests.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "io/file.hpp"
#include "store/disk_store.hpp"
#include "store/run.hpp"
#include "support/made.hpp"

namespace garner::store {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

inline std::string pattern(std::size_t length, unsigned seed) {
    std::string bytes(length, '\0');
    std::uint64_t state = seed;
    for (std::size_t at = 0; at < length; at += sizeof state) {   // splitmix64
        auto word = state += 0x9e3779b97f4a7c15;
        word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
        word = (word ^ word >> 27) * 0x94d049bb133111eb;
        word ^= word >> 31;
        std::memcpy(&bytes[at], &word, std::min(sizeof word, length - at));
    }
    return bytes;
}

/// Makes writes fail on demand.
struct Broken : io::Faults {
    std::atomic<int> write_error{0};
    std::atomic<int> read_error{0};
    Verdict judge(Operation operation, Bytes, std::size_t) override {
        if (operation == Operation::write || operation == Operation::sync) return {write_error, SIZE_MAX};
        if (operation == Operation::read) return {read_error, SIZE_MAX};
        return {};
    }
};

class DiskTier : public ::testing::Test {
protected:
    DiskTier() {
        std::string name = (fs::temp_directory_path() / "garner-disk-XXXXXX").string();
        options.path = ::mkdtemp(name.data());
        options.size = 16 * MiB;
        options.buffer = 4 * MiB;
        options.sync = 20ms;
        options.patience = 5s;
    }
    ~DiskTier() override {
        disk.reset();
        fs::remove_all(options.path);
    }
    void open() {
        disk = test::made(DiskStore::open(options));
        for (int tries = 0; tries < 500 && disk->stats().state == DiskStats::State::recovering; ++tries)
            std::this_thread::sleep_for(10ms);
    }
    void restart() {
        disk.reset();
        open();
    }
    static Object::Parts parts(std::string_view key, std::string_view body) {
        Object::Parts parts;
        parts.key = key;
        parts.head = "HTTP/1.1 200 OK\r\nETag: \"x\"\r\n";
        parts.bytes = body;
        parts.terms.response_time = wall_now();
        parts.terms.lifetime = 3'600;
        parts.sequence = 5;
        return parts;
    }
    /// Retries while the disk is too slow, as it may be on a shared machine.
    NotStored store(std::string const& key, std::string const& body) {
        auto stored = disk->store(parts(key, body));
        for (int tries = 0; tries < 5'000 && stored == NotStored::too_slow; ++tries) {
            std::this_thread::sleep_for(1ms);
            stored = disk->store(parts(key, body));
        }
        return stored;
    }
    ObjectPtr load(std::string const& key) {
        auto* store = disk.get();
        return run([store, key](net::Executor executor) { return store->load(key, executor); });
    }
    std::string body_of(std::string const& key) {
        auto const object = load(key);
        if (!object) return "nothing";
        std::string bytes(object->bytes());
        if (!object->body()) return bytes;
        BodyReader reader(object->body());
        std::array<std::string_view, 1> piece;
        for (; reader.next(piece, MiB) == 1; reader.advance(piece[0].size())) bytes += piece[0];
        return bytes;
    }
    bool settled(Survives what = Survives::process) {
        auto* store = disk.get();
        return run([store, what](net::Executor executor) { return store->settled(what, executor); });
    }
    fs::path file() const { return fs::path(options.path) / "store"; }
    bool eventually(std::function<bool()> const& holds) {
        for (int tries = 0; tries < 1000; ++tries) {
            if (holds()) return true;
            std::this_thread::sleep_for(10ms);
        }
        return false;
    }

    DiskOptions options;
    Broken faults;   // active if options.faults points to it
    std::unique_ptr<DiskStore> disk;
};

}   // namespace garner::store
