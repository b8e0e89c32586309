#include "seen/set_keeper.hpp"

#include <pthread.h>

#include <algorithm>
#include <new>
#include <random>

#include <spdlog/spdlog.h>

#include "crawl/seen_caches.hpp"
#include "util/units.hpp"

namespace garner::seen {

namespace {

std::uint64_t drawn_seed() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
}

}  // namespace

std::unique_ptr<SetKeeper> SetKeeper::open(Options const& asked, std::string& fault) {
    auto options = asked;
    options.set.seed = drawn_seed();
    if (options.set_name.empty()) options.set_name = options.set.directory.empty() ? "lines" : "runs";
    if (!options.cache.empty())
        // What simulations alone can have is refused by fault_of().
        if (fault = crawl::make_cache(options.cache, {.entries = options.cache_entries}).fault; !fault.empty()) return nullptr;
    auto made = crawl::make_url_set(options.set_name, options.set);
    fault = made.fault;
    if (!made.set) return nullptr;
    auto front = [options] {
        return crawl::make_cache(options.cache, {.entries = options.cache_entries, .seed = options.set.seed}).cache;
    };
    return std::make_unique<SetKeeper>(
        options, std::move(made.set),
        options.cache.empty() ? std::function<std::unique_ptr<crawl::SeenCache>()>() : front);
}

SetKeeper::SetKeeper(Options const& options, std::unique_ptr<crawl::UrlSet> set,
                     std::function<std::unique_ptr<crawl::SeenCache>()> front)
    : options_(options),
      on_disk_(!options.set.directory.empty()),
      make_front_(std::move(front)) {
    if (make_front_) fronted_ = std::make_unique<crawl::FrontedSet>(make_front_(), std::move(set));
    else bare_ = std::move(set);
    show_set();
    thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "seen set");
        run();
    });
}

SetKeeper::~SetKeeper() { close(); }

bool SetKeeper::has_room(std::uint64_t links) const {
    std::lock_guard const lock(mutex_);
    return has_room_now(links);
}

bool SetKeeper::has_room_now(std::uint64_t links) const {
    if (closing_) return false;
    if (stats_.waiting_batches == 0) return true;
    return stats_.waiting_batches < options_.waiting_batches && stats_.waiting_links + links <= options_.waiting_links;
}

bool SetKeeper::add(Task& task) {
    {
        std::lock_guard const lock(mutex_);
        if (!has_room_now(task.links.size())) return false;
        ++stats_.waiting_batches;
        stats_.waiting_links += task.links.size();
        waiting_.push_back(&task);
    }
    woken_.notify_one();
    return true;
}

SetKeeper::Stats SetKeeper::stats() const {
    std::lock_guard const lock(mutex_);
    return stats_;
}

std::string SetKeeper::close() {
    if (!thread_.joinable()) return broken_;
    {
        std::lock_guard const lock(mutex_);
        closing_ = true;
    }
    woken_.notify_one();
    thread_.join();
    if (!broken_.empty()) return broken_;
    return fronted_ ? fronted_->sync() : bare_->sync();
}

void SetKeeper::run() {
    for (;;) {
        std::vector<Task*> tasks;
        {
            std::unique_lock lock(mutex_);
            woken_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
            if (waiting_.empty()) return;
            tasks.swap(waiting_);
        }
        answer(tasks);
    }
}

void SetKeeper::answer(std::vector<Task*> const& tasks) {
    add_all(tasks);
    std::vector<Task*> durable;
    for (auto* task : tasks)
        if (task->durable && task->outcome == Outcome::added) durable.push_back(task);
        else finish(*task);
    if (durable.empty()) return;
    auto const fault = fronted_ ? fronted_->sync() : bare_->sync();
    if (!fault.empty()) note(fault);
    {
        std::lock_guard const lock(mutex_);
        ++stats_.syncs;
    }
    for (auto* task : durable) {
        if (!fault.empty()) task->outcome = Outcome::not_durable, task->fault = fault;
        finish(*task);
    }
}

void SetKeeper::add_all(std::vector<Task*> const& tasks) {
    crawl::UrlSet::Added added;
    auto const passed_before = fronted_ ? fronted_->passed() : 0;
    auto fault = why_full();
    if (fault.empty() && tasks.size() == 1) {
        added = ask(tasks.front()->links, tasks.front()->answers);
    } else if (fault.empty()) {
        links_.clear();
        for (auto const* task : tasks) links_.insert(links_.end(), task->links.begin(), task->links.end());
        answers_.resize(links_.size());
        added = ask(links_, answers_);
        auto next = answers_.begin();
        for (auto* task : tasks) {
            auto const end = next + static_cast<std::ptrdiff_t>(task->answers.size());
            std::copy(next, end, task->answers.begin());
            next = end;
        }
    }
    if (fault.empty()) fault = added.fault;
    for (auto* task : tasks)
        if (!fault.empty()) task->outcome = Outcome::not_added, task->fault = fault;
    if (!fault.empty()) return note(fault);
    show_set();
    std::lock_guard const lock(mutex_);
    ++stats_.batches;
    std::uint64_t links = 0;
    for (auto const* task : tasks) links += task->links.size();
    stats_.links += links;
    stats_.passed_cache += fronted_ ? fronted_->passed() - passed_before : links;
    stats_.fresh += added.fresh;
}

crawl::UrlSet::Added SetKeeper::ask(std::span<Fingerprint const> links, std::span<Answer> answers) try {
    auto added = fronted_ ? fronted_->add(links, answers) : bare_->add(links, answers);
    // The cache has links of the batch that the set does not have.
    if (!added.fault.empty() && fronted_) fronted_->replace_front(make_front_());
    return added;
} catch (std::bad_alloc const&) {
    broken_ = "out of memory: the set cannot be asked any more; with a directory it lies on disk";
    return {0, broken_};
}

/// A set in memory that has reached its bound, or one that is no more; empty: neither.
std::string SetKeeper::why_full() const {
    if (!broken_.empty()) return broken_;
    auto const bytes = stats_.memory_bytes;   // written by this thread alone
    if (on_disk_ || bytes <= options_.set.memory) return {};
    return "the set takes " + size_text(bytes) + ", more than its memory of " + size_text(options_.set.memory) +
           "; with a directory it lies on disk";
}

void SetKeeper::finish(Task& task) {
    {
        std::lock_guard const lock(mutex_);
        --stats_.waiting_batches;
        stats_.waiting_links -= task.links.size();
    }
    task.done();   // the task may be gone with it
}

void SetKeeper::note(std::string const& fault) {
    bool told = false;
    {
        std::lock_guard const lock(mutex_);
        ++stats_.faults;
        told = stats_.last_fault == fault;
        stats_.last_fault = fault;
    }
    if (!told) spdlog::error("the set of seen URLs: {}", fault);
}

void SetKeeper::show_set() {
    crawl::UrlSet const& set = fronted_ ? static_cast<crawl::UrlSet const&>(*fronted_) : *bare_;
    std::lock_guard const lock(mutex_);
    stats_.entries = set.size();
    stats_.memory_bytes = set.memory_bytes();
    stats_.file_bytes = set.file_bytes();
    stats_.bits_per_entry = set.bits_per_entry();
}

}  // namespace garner::seen
