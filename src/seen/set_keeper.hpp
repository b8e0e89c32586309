// The exact set behind its cache, on a thread of its own.
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

/// Tasks that wait at the same time become one batch: large batches cost less in sets on disk, and one sync serves all tasks
/// that need it.
class SetKeeper {
public:
    enum class TaskStatus : std::uint8_t {
        added,
        not_added,     // the set has none of its links; a later attempt may succeed
        not_durable,   // the set has its links and has answered, but new ones may not survive a power failure
    };

    /// Must not move until `done` was called. It is called once, on the keeper's thread.
    struct Task {
        std::span<Fingerprint const> links;
        std::span<LinkStatus> answers;   // one for each link
        bool durable = false;            // done only when its new links survive a power failure
        std::function<void()> done;
        TaskStatus status = TaskStatus::added;
        std::string fault = {};   // the reason for not_added or not_durable, one line
    };

    struct Stats {
        std::uint64_t entries = 0;
        Bytes memory_bytes = 0, file_bytes = 0;
        double bits_per_entry = 0;
        std::uint64_t links = 0, fresh = 0;                // all links, and the new ones
        std::uint64_t passed_cache = 0;                    // links that were not in the cache
        std::uint64_t batches = 0;                         // batches passed to the set
        std::uint64_t syncs = 0, faults = 0, losses = 0;   // losses: the set has lost URLs
        std::uint64_t waiting_links = 0;
        std::uint32_t waiting_batches = 0;
        std::string last_fault, last_loss;
    };

    /// Fails if the directory is in use, or if the set or cache does not exist.
    static Result<std::unique_ptr<SetKeeper>> open(Options const&);
    /// Takes an existing set. `front` may be nullptr; otherwise `empty_one` makes others like it.
    SetKeeper(Options const&, std::unique_ptr<crawl::UrlSet>, std::unique_ptr<crawl::SeenCache> front,
              std::function<std::unique_ptr<crawl::SeenCache>()> empty_one);
    /// Finishes waiting tasks and syncs the set.
    ~SetKeeper();

    /// Adds a task. Returns false if too many links or batches wait already. Any thread may call it.
    bool add(Task&);
    bool has_room(std::uint64_t links) const;
    /// Empty, or the reason why a durable task never ends with `added`: one line with a suggested fix.
    std::string const& why_it_forgets() const { return why_it_forgets_; }
    std::string const& set_name() const { return options_.set; }
    Stats stats() const;

    /// Finishes waiting tasks, syncs the set and accepts no more tasks. Fails if the set may not survive a power failure.
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
    std::unique_ptr<crawl::FrontedSet> fronted_;   // null without a front
    std::unique_ptr<crawl::UrlSet> bare_;          // the set without a front
    std::vector<Fingerprint> links_;               // the tasks' links in one batch
    std::vector<LinkStatus> answers_;
    std::string broken_;   // permanent error; empty: none

    mutable Mutex mutex_;
    ConditionVariable woken_;
    std::vector<Task*> waiting_ GUARDED_BY(mutex_);
    bool closing_ GUARDED_BY(mutex_) = false;
    Stats stats_ GUARDED_BY(mutex_);
    std::thread thread_;
};

}   // namespace garner::seen
