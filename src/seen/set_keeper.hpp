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
#include "seen/link_status.hpp"
#include "seen/options.hpp"
#include "util/bytes.hpp"
#include "util/hash.hpp"
#include "util/mutex.hpp"
#include "util/result.hpp"

namespace garner::seen {

/// Tasks that wait at the same time are asked in one batch: sets on disk answer large batches cheapest, and one sync serves
/// all tasks that need one.
class SetKeeper {
public:
    enum class TaskStatus : std::uint8_t {
        added,
        not_added,     // nothing of it is in the set; later it may be
        not_durable,   // it is in the set and answered, but what is new would not survive for sure
    };

    /// Stays where it is until `done` was called, on the keeper's thread, once.
    struct Task {
        std::span<Fingerprint const> links;
        std::span<LinkStatus> answers;   // as many
        bool durable = false;            // done only when what is new would survive a power failure
        std::function<void()> done;
        TaskStatus status = TaskStatus::added;
        std::string fault = {};   // one line when it is not added, or not durable
    };

    struct Stats {
        std::uint64_t entries = 0;
        Bytes memory_bytes = 0, file_bytes = 0;
        double bits_per_entry = 0;
        std::uint64_t links = 0, fresh = 0;   // asked, and new of them
        std::uint64_t passed_cache = 0;       // links that were not in the cache
        std::uint64_t batches = 0;            // that were asked together
        std::uint64_t syncs = 0, faults = 0;
        std::uint64_t waiting_links = 0;
        std::uint32_t waiting_batches = 0;
        std::string last_fault;
    };

    /// Fails on a directory in use, and where there is no such set or cache.
    static Result<std::unique_ptr<SetKeeper>> open(Options const&);
    /// Takes an existing set. `front` may be nullptr; otherwise `empty_one` makes others like it.
    SetKeeper(Options const&, std::unique_ptr<crawl::UrlSet>, std::unique_ptr<crawl::SeenCache> front,
              std::function<std::unique_ptr<crawl::SeenCache>()> empty_one);
    /// Finishes what waits, and makes it survive.
    ~SetKeeper();

    /// False, and nothing happens, when too much waits already. Any thread.
    bool add(Task&);
    bool has_room(std::uint64_t links) const;
    /// Empty, or why done() of a durable task never says `added`: one line with the mend.
    std::string const& why_it_forgets() const { return why_it_forgets_; }
    std::string const& set_name() const { return options_.set; }
    Stats stats() const;

    /// Finishes what waits, and makes it survive; then it takes nothing more. Fails if it may not survive.
    Result<void> close();

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

    Options const options_;
    std::string why_it_forgets_;
    std::function<std::unique_ptr<crawl::SeenCache>()> make_front_;
    std::unique_ptr<crawl::FrontedSet> fronted_;   // when there is a front
    std::unique_ptr<crawl::UrlSet> bare_;          // when there is none
    std::vector<Fingerprint> links_;               // the tasks' links in one batch
    std::vector<LinkStatus> answers_;
    std::string broken_;   // for good

    mutable Mutex mutex_;
    ConditionVariable woken_;
    std::vector<Task*> waiting_ GUARDED_BY(mutex_);
    bool closing_ GUARDED_BY(mutex_) = false;
    Stats stats_ GUARDED_BY(mutex_);
    std::thread thread_;
};

}   // namespace garner::seen
