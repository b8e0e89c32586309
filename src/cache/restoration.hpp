// Adds the objects of a former process to the memory tier, while requests run.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache.hpp"
#include "store/disk_format.hpp"

namespace garner::cache {

/// Objects come with the most valuable first, or with a rank. They evict nothing, and replace nothing: every event in this process
/// is newer. Used on one thread after the constructor. There is one at a time.
class Restoration {
public:
    /// From now on the cache remembers which URLs have events. Before the workers run. `former`: the last number of the former
    /// process, if it is known.
    explicit Restoration(Cache& cache, std::uint64_t former = 0);
    /// Gives the objects the eviction order that they had.
    ~Restoration();
    Restoration(Restoration const&) = delete;

    /// The next record of a stream: an object, a piece of the body of the last one, the rank of the next one, or an answer for
    /// cache::Wanted.
    void take(store::disk::Record const& record);
    /// Memory has no room for more.
    bool is_full() const { return full_; }

    struct Figures {
        std::uint64_t added = 0;       // objects
        Bytes bytes = 0;               // charged for them
        std::uint64_t useless = 0;     // stale, and without a validator
        std::uint64_t overtaken = 0;   // their URLs had events in this process, or their Vary markers are missing
    };
    Figures const& figures() const { return figures_; }

    /// Nothing more is added by any Restoration: for removals that do not name their URLs.
    static void end_all(MemoryTier& memory);

private:
    /// An object whose body is being received.
    struct Growing {
        std::string key, head;
        store::disk::ObjectMeta meta;
        std::uint64_t sequence = 0;
        store::BodyPtr body;
    };
    /// An object in memory. `order`: lower ones are more valuable.
    struct Restored {
        std::uint64_t order;
        Fingerprint key;
    };
    static std::uint64_t begin_behind(Cache& cache, std::uint64_t former);
    void take_object(store::disk::Record const& record);
    void begin_body(store::Object::Parts const& parts, store::disk::ObjectMeta const& meta);
    void take_piece(store::disk::Record const& piece);
    store::BodyPtr body_of(std::string_view bytes);
    bool append(store::Body& body, std::string_view bytes);
    bool take_room(Bytes bytes);
    void add(store::Object::Parts const& parts);
    bool give(store::Object::Parts const& parts);
    bool put(store::Object::Parts const& parts, store::ObjectPtr object);
    static std::vector<Fingerprint> by_value(std::vector<Restored>& restored);

    MemoryTier& memory_;
    Wanted& wanted_;
    std::uint64_t const begin_;                     // every event from now on has a higher number
    Bytes const reserve_;                           // the part of the budget that is left to requests
    std::vector<std::vector<Restored>> restored_;   // of each shard
    std::optional<std::uint64_t> rank_;             // the rank of the next object
    std::uint64_t order_ = 0, arrived_ = 0;         // the last object's; without ranks
    std::optional<Growing> growing_;
    Figures figures_;
    bool full_ = false;
};

}   // namespace garner::cache
