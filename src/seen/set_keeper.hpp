// The exact set with its cache in front, on a thread of its own.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "catalog/url_sets.hpp"
#include "crawl/fronted_set.hpp"
#include "seen/answers.hpp"
#include "util/bytes.hpp"
#include "util/hash.hpp"
#include "util/mutex.hpp"

namespace garner::seen {

/// What waits together is asked together: sets on disk answer large batches cheapest, and one sync serves all who asked
/// for one.
class SetKeeper {
public:
    struct Options {
        catalog::SetOptions set = {};               // its memory bounds a set in memory, too
        std::string set_name = {};                // empty: on disk when there is a directory, else in memory
        std::string cache = "line";               // a spec of catalog::seen_caches(); empty: none in front
        std::uint64_t cache_entries = 1 << 16;
        std::uint64_t waiting_links = 4'000'000;  // beyond them nothing more is taken; one batch always is
        std::uint32_t waiting_batches = 1'024;
    };

    enum class Outcome : std::uint8_t {
        added,
        not_added,     // nothing of it is in the set; later it may be
        not_durable,   // it is in the set and answered, but what is new would not survive for sure
    };

    /// Stays where it is until `done` was called, on the keeper's thread, once.
    struct Task {
        std::span<Fingerprint const> links;
        std::span<Answer> answers;                // as many
        bool durable = false;                     // done only when what is new would survive a power failure
        std::function<void()> done;
        Outcome outcome = Outcome::added;
        std::string fault = {};                   // one line when it is not added, or not durable
    };

    struct Stats {
        std::uint64_t entries = 0;
        Bytes memory_bytes = 0, file_bytes = 0;
        double bits_per_entry = 0;
        std::uint64_t links = 0, fresh = 0;       // asked, and new of them
        std::uint64_t passed_cache = 0;           // of the links, those that the set was asked
        std::uint64_t batches = 0;                // that were asked together
        std::uint64_t syncs = 0, faults = 0;
        std::uint64_t waiting_links = 0;
        std::uint32_t waiting_batches = 0;
        std::string last_fault;
    };

    /// nullptr with one line in `fault`: a directory in use, no such set or cache.
    static std::unique_ptr<SetKeeper> open(Options const&, std::string& fault);
    /// For a set that is there already. `front` may be nullptr; else `empty_one` makes others like it.
    SetKeeper(Options const&, std::unique_ptr<crawl::UrlSet>, std::unique_ptr<crawl::SeenCache> front,
              std::function<std::unique_ptr<crawl::SeenCache>()> empty_one);
    /// Finishes what waits, and makes it survive.
    ~SetKeeper();

    /// False, and nothing happens, when too much waits already. Any thread.
    bool add(Task&);
    bool has_room(std::uint64_t links) const;
    /// Empty, or why done() of a durable task never says `added`: one line with the mend.
    std::string const& why_it_forgets() const { return why_it_forgets_; }
    std::string const& set_name() const { return options_.set_name; }
    Stats stats() const;

    /// Finishes what waits, and makes it survive; then it takes nothing more. Empty, or why that may not be so.
    std::string close();

private:
    bool has_room_now(std::uint64_t links) const REQUIRES(mutex_);
    void run();
    void answer(std::vector<Task*> const&);
    void add_all(std::vector<Task*> const&);
    crawl::UrlSet::Added ask(std::vector<Task*> const&);
    crawl::UrlSet::Added ask_together(std::vector<Task*> const&);
    std::string why_full() const;
    std::string sync();
    crawl::UrlSet& set() const;
    void finish(Task&);
    void note(std::string const& fault);
    void show_set();

    Options options_;
    std::string why_it_forgets_;
    std::function<std::unique_ptr<crawl::SeenCache>()> make_front_;
    std::unique_ptr<crawl::FrontedSet> fronted_;   // when there is a front
    std::unique_ptr<crawl::UrlSet> bare_;          // when there is none
    std::vector<Fingerprint> links_;               // of tasks that are asked together
    std::vector<Answer> answers_;
    std::string broken_;                           // for good

    mutable Mutex mutex_;
    ConditionVariable woken_;
    std::vector<Task*> waiting_ GUARDED_BY(mutex_);
    bool closing_ GUARDED_BY(mutex_) = false;
    Stats stats_ GUARDED_BY(mutex_);
    std::thread thread_;
};

}  // namespace garner::seen
