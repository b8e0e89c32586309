// Subjects of the line: users or networks, by name.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "share/kept.hpp"
#include "share/line.hpp"
#include "share/options.hpp"
#include "util/bytes.hpp"
#include "util/hash.hpp"
#include "util/ip.hpp"
#include "util/intrusive_list.hpp"
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
/// The memory of a key outside its entry of a table.
Bytes memory_outside(std::string const& key);

/// The use of one subject in both directions. Owned by its table.
class Subject : public Link {
public:
    LineFlow& flow(Direction direction) { return flows_[index(direction)]; }
    LineFlow const& flow(Direction direction) const { return flows_[index(direction)]; }

private:
    friend class Kept<Subject>;
    friend class Subjects;
    std::array<LineFlow, 2> flows_;
    std::string const* key_ = nullptr;
    std::atomic<std::uint32_t> users_{0};
};

using SubjectRef = Kept<Subject>;

/// All subjects. Those that were idle longest leave for new ones: they would have had no more than their credit either way.
/// Thread-safe.
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
            for (auto const& [key, subject] : shard.all) visit(key, subject);
        }
    }

private:
    struct Shard {
        mutable Mutex mutex;
        List<Subject> by_use GUARDED_BY(mutex);   // the longest idle first
        std::unordered_map<std::string, Subject, KeyedHash, std::equal_to<>> all GUARDED_BY(mutex);
        Bytes long_keys GUARDED_BY(mutex) = 0;   // their memory outside the table
        Bytes memory() const REQUIRES(mutex) { return all.size() * bytes_each + long_keys; }
    };
    static constexpr std::size_t shard_count = 16;
    static void make_room(Shard& shard) REQUIRES(shard.mutex);

    KeyedHash const hash_;
    std::array<Shard, shard_count> shards_;
};

}   // namespace garner::share
