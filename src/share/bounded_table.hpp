// A table by key, bounded by number and memory: entries that were idle longest leave for new ones.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "share/kept.hpp"
#include "util/bytes.hpp"
#include "util/hash.hpp"
#include "util/intrusive_list.hpp"

namespace garner::share {

/// Base of the entries of a BoundedTable. Owned by its table.
class TableEntry : public Link {
public:
    std::string const& key() const { return *key_; }

private:
    template <class T>
    friend class Kept;
    template <class T>
    friend class BoundedTable;
    std::string const* key_ = nullptr;
    std::atomic<std::uint32_t> users_{0};
};

/// Entries are made on demand. One with users stays, whatever the bounds: each user is a connection, so few are beyond them.
/// Not thread-safe; only the counts of users are.
template <class Entry>
class BoundedTable {
public:
    /// `most`: entries. `memory_max`: of all. `bytes_each`: an entry with its part of the table, without long keys.
    struct Bounds {
        std::size_t most;
        Bytes memory_max;
        Bytes bytes_each;
    };
    explicit BoundedTable(Bounds const& bounds) : bounds_(bounds) {}

    /// The most recently used one from now on. Makes a missing one.
    Entry& get(std::string_view key) {
        auto found = all_.find(key);
        if (found == all_.end()) {
            make_room();
            found = all_.try_emplace(std::string(key)).first;
            found->second.key_ = &found->first;
            long_keys_ += memory_outside(found->first);
        }
        auto& entry = found->second;
        entry.unlink();
        by_use_.push_back(entry);
        return entry;
    }
    Entry const* find(std::string_view key) const {
        auto const found = all_.find(key);
        return found == all_.end() ? nullptr : &found->second;
    }
    std::size_t size() const { return all_.size(); }
    Bytes memory() const { return all_.size() * bounds_.bytes_each + long_keys_; }
    /// Pairs of key and entry.
    auto begin() { return all_.begin(); }
    auto end() { return all_.end(); }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }

private:
    /// The memory of a key outside its entry.
    static Bytes memory_outside(std::string const& key) {
        constexpr Bytes of_allocator = 16;
        return key.size() <= std::string().capacity() ? 0 : key.size() + 1 + of_allocator;
    }
    bool is_full() const { return all_.size() >= bounds_.most || memory() >= bounds_.memory_max; }
    /// Entries with users are looked at again later.
    void make_room() {
        constexpr int looks = 8;
        for (int i = 0; i < looks && !all_.empty() && is_full(); ++i) {
            auto& oldest = *by_use_.pop_front();
            if (oldest.users_ > 0) {
                by_use_.push_back(oldest);
                continue;
            }
            auto const found = all_.find(oldest.key());
            long_keys_ -= memory_outside(found->first);
            all_.erase(found);
        }
    }

    Bounds const bounds_;
    List<Entry> by_use_;   // the longest idle first
    std::unordered_map<std::string, Entry, KeyedHash, std::equal_to<>> all_;
    Bytes long_keys_ = 0;   // their memory outside the table
};

}   // namespace garner::share
