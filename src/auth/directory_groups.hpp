// The directory's groups of users whom another source has accepted: a ticket, a users' file, an address, a certificate, a token.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "auth/facts.hpp"
#include "auth/options.hpp"
#include "auth/user_source.hpp"
#include "util/counted.hpp"
#include "util/lru_map.hpp"
#include "util/mutex.hpp"

namespace garner::auth {

/// Thread-safe. Remembers the result of each name for `auth.remember`. While a directory is silent, the last result is used for
/// `auth.grace`; without one, the groups are unknown, and the directory is asked again after `retry`.
class DirectoryGroups {
public:
    using Directories = std::span<Source* const>;
    static constexpr seconds retry{5};

    /// Adds what is remembered, without blocking. False: look_up() must find it out.
    bool add_remembered(Facts&, WallTime now) EXCLUDES(mutex_);
    /// Asks all directories, which may block.
    void look_up(Facts&, Directories, Options const&, WallTime now) EXCLUDES(mutex_);
    /// For a look-up that cannot be made.
    static void add_unknown(Facts&, std::string why, WallTime now);

    /// With the groups. With larger entries fewer are kept.
    static constexpr Bytes entry_bytes = KiB;
    /// The memory of all entries.
    static Bytes bytes() { return CountedBytes<DirectoryGroups>::sum(); }

private:
    struct Entry {
        std::vector<std::string> groups = {};
        bool is_listed = false;     // a directory has the user
        std::string unknown = {};   // why no directory could tell
        WallTime checked{};         // when a directory told `groups`
        WallTime until{};
        CountedBytes<DirectoryGroups> counted = {};
    };
    static Entry ask(std::string const& user, Directories, WallTime now);
    static void add(Facts&, Entry const&);
    static Bytes bytes_of(std::string const& user, Entry const&);
    void keep(std::string const& user, Entry, std::size_t entries_max) REQUIRES(mutex_);

    Mutex mutex_;
    LruMap<Entry> entries_ GUARDED_BY(mutex_);   // by user
};

}   // namespace garner::auth
