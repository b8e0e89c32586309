// Subjects of the line: users or networks, by name.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "share/bounded_table.hpp"
#include "share/line.hpp"
#include "share/options.hpp"
#include "util/bytes.hpp"
#include "util/hash.hpp"
#include "util/ip.hpp"
#include "util/mutex.hpp"

namespace garner::share {

/// The name of all clients of a rule together.
inline constexpr std::string_view all_subjects = "all";
/// The name of all fetches that replicate objects of the group, which are one subject.
inline constexpr std::string_view replication_subject = "replication of the group";

/// The key of a user, and of a network: short, since there may be 100,000 of them.
std::string subject_key(std::string_view user);
std::string subject_key(IpAddress const& network);
std::string replication_key();
/// "anna", "10.0.0.7", "2001:db8::"; "user:10.0.0.7" for a user whose name could be taken for another subject.
std::string subject_name(std::string_view key);
/// The keys that a text can name: both "user:anna" and "anna" name a user, "source:10.0.0.7" a network, "10.0.0.7" either.
std::vector<std::string> subject_keys_of(std::string_view name);

/// The use of one subject in both directions.
class Subject : public TableEntry {
public:
    LineFlow& flow(Direction direction) { return flows_[index(direction)]; }
    LineFlow const& flow(Direction direction) const { return flows_[index(direction)]; }

private:
    std::array<LineFlow, 2> flows_;
};

using SubjectRef = Kept<Subject>;

/// All subjects. One that left would have had no more than its credit either way. Thread-safe.
class Subjects {
public:
    static constexpr std::size_t most = 100'000;
    static constexpr Bytes memory_max = 20 * MiB;   // of all
    static constexpr Bytes bytes_each = 184;        // with its part of the table

    /// Makes a missing one.
    SubjectRef find(std::string_view key);
    std::size_t size() const;
    Bytes memory() const;
    /// Calls visit(key, subject) for each.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (auto const& shard : shards_) {
            MutexLock const lock(shard.mutex);
            for (auto const& [key, subject] : shard.table) visit(key, subject);
        }
    }

private:
    static constexpr std::size_t shard_count = 16;
    struct Shard {
        mutable Mutex mutex;
        BoundedTable<Subject> table GUARDED_BY(mutex){{most / shard_count, memory_max / shard_count, bytes_each}};
    };

    KeyedHash const hash_;
    std::array<Shard, shard_count> shards_;
};

}   // namespace garner::share
