#include "seen/set_keeper.hpp"

#include <pthread.h>

#include <algorithm>
#include <new>
#include <random>

#include "catalog/seen_caches.hpp"
#include "crawl/kept_memory.hpp"
#include "crawl/url_layers.hpp"
#include "io/log.hpp"
#include "util/units.hpp"

namespace garner::seen {

namespace {

std::uint64_t drawn_seed() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
}

using Front = std::unique_ptr<crawl::SeenCache>;

crawl::MadeCache make_empty_front(Options const& options, std::uint64_t seed) {
    return catalog::make_cache(options.cache, {.entries = options.cache_entries, .seed = seed});
}

Result<Front> make_front(Options const& options, std::uint64_t seed) try {
    if (options.cache.empty()) return Front();
    // validate() refuses caches that only simulations can have.
    return make_empty_front(options, seed);
} catch (std::bad_alloc const&) {
    auto const entries = std::to_string(options.cache_entries);
    return Fault{"the cache " + options.cache + " of " + entries + " entries does not fit into memory",
                 "use a cache with fewer entries"};
}

Result<std::unique_ptr<crawl::UrlSet>> make_set(Options const& options, std::uint64_t seed) try {
    auto const layers = crawl::UrlLayers::read(options.layers)->names();
    return catalog::make_url_set(options.set, {options.expected, options.memory, options.directory, seed, layers});
} catch (std::bad_alloc const&) {
    return Fault{"the set " + options.set + " does not fit into memory",
                 "lower the expected number of entries, or give the set a directory"};
}

}   // namespace

Result<std::unique_ptr<SetKeeper>> SetKeeper::open(Options const& asked) {
    auto options = asked;
    if (options.set.empty()) options.set = options.directory.empty() ? "lines" : "runs";
    auto const seed = drawn_seed();
    auto front = make_front(options, seed);
    if (!front) return front.fault();
    if (*front && (*front)->claims())
        spdlog::warn("the cache {} in front of the URL set has false positives: the set is not asked for such a URL, and the "
                     "URL is lost; the caches line, scatter and quotient have none",
                     options.cache);
    auto set = make_set(options, seed);
    if (!set) return set.fault();
    auto const bytes = (*set)->memory_bytes() + (*front ? (*front)->memory_bits() / 8 : 0);
    if (!(*set)->why_it_forgets().empty() && bytes > options.memory)
        return Fault{"the set " + options.set + " and its cache of " + std::to_string(options.cache_entries) + " entries need " +
                         size_text(bytes) + " when empty, more than the memory of " + size_text(options.memory),
                     "raise the memory, or use a cache with fewer entries"};
    auto const empty_one = [options, seed] { return *make_empty_front(options, seed); };
    return std::make_unique<SetKeeper>(options, *std::move(set), *std::move(front), empty_one);
}

SetKeeper::SetKeeper(Options const& options, std::unique_ptr<crawl::UrlSet> set, std::unique_ptr<crawl::SeenCache> front,
                     std::function<std::unique_ptr<crawl::SeenCache>()> empty_one)
    : options_(options), make_front_(std::move(empty_one)) {
    if (front)
        fronted_ = std::make_unique<crawl::FrontedSet>(std::move(front), std::move(set));
    else
        bare_ = std::move(set);
    why_it_forgets_ = this->set().why_it_forgets();
    show_set();
    thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "seen set");
        run();
    });
}

SetKeeper::~SetKeeper() { (void)close(); }

bool SetKeeper::has_room(std::uint64_t links) const {
    MutexLock const lock(mutex_);
    return has_room_now(links);
}

bool SetKeeper::has_room_now(std::uint64_t links) const {
    if (closing_) return false;
    if (stats_.waiting_batches == 0) return true;
    return stats_.waiting_batches < options_.waiting_batches && stats_.waiting_links + links <= options_.waiting_links;
}

bool SetKeeper::add(Task& task) {
    {
        MutexLock const lock(mutex_);
        if (!has_room_now(task.links.size())) return false;
        ++stats_.waiting_batches;
        stats_.waiting_links += task.links.size();
        waiting_.push_back(&task);
    }
    woken_.notify_one();
    return true;
}

SetKeeper::Stats SetKeeper::stats() const {
    MutexLock const lock(mutex_);
    return stats_;
}

Result<void> SetKeeper::close() {
    bool const running = thread_.joinable();
    if (running) {
        {
            MutexLock const lock(mutex_);
            closing_ = true;
        }
        woken_.notify_one();
        thread_.join();
    }
    return to_result(running && broken_.empty() && why_it_forgets_.empty() ? set().sync() : broken_);
}

crawl::UrlSet& SetKeeper::set() const { return fronted_ ? static_cast<crawl::UrlSet&>(*fronted_) : *bare_; }

void SetKeeper::run() {
    for (;;) {
        std::vector<Task*> tasks;
        {
            MutexLock const lock(mutex_);
            while (!closing_ && waiting_.empty()) woken_.wait(mutex_);
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
        if (task->durable && task->status == TaskStatus::added)
            durable.push_back(task);
        else
            finish(*task);
    if (durable.empty()) return;
    auto const fault = why_it_forgets_.empty() ? sync() : why_it_forgets_;
    for (auto* task : durable) {
        if (!fault.empty()) task->status = TaskStatus::not_durable, task->fault = fault;
        finish(*task);
    }
}

std::string SetKeeper::sync() {
    auto fault = set().sync();
    if (!fault.empty()) note(fault);
    MutexLock const lock(mutex_);
    ++stats_.syncs;
    return fault;
}

void SetKeeper::add_all(std::vector<Task*> const& tasks) {
    crawl::UrlSet::Added added;
    auto const passed_before = fronted_ ? fronted_->passed() : 0;
    auto fault = why_full();
    if (fault.empty()) added = ask(tasks);
    if (fault.empty()) fault = added.fault;
    for (auto* task : tasks)
        if (!fault.empty()) task->status = TaskStatus::not_added, task->fault = fault;
    if (!fault.empty()) return note(fault);
    if (!added.loss.empty()) note(added.loss);
    show_set();
    MutexLock const lock(mutex_);
    ++stats_.batches;
    if (!added.loss.empty()) ++stats_.losses, stats_.last_loss = added.loss;
    std::uint64_t links = 0;
    for (auto const* task : tasks) links += task->links.size();
    stats_.links += links;
    stats_.passed_cache += fronted_ ? fronted_->passed() - passed_before : links;
    stats_.fresh += added.fresh;
}

crawl::UrlSet::Added SetKeeper::ask(std::vector<Task*> const& tasks) try {
    auto added = tasks.size() == 1 ? set().add(tasks.front()->links, tasks.front()->answers) : ask_together(tasks);
    // The cache has links of the batch that the set does not have.
    if (!added.fault.empty() && fronted_) fronted_->replace_front(make_front_());
    return added;
} catch (std::bad_alloc const&) {
    broken_ = "out of memory: the URL set is unusable; restart with a directory to keep the set on disk";
    return {0, broken_};
}

crawl::UrlSet::Added SetKeeper::ask_together(std::vector<Task*> const& tasks) {
    for (auto const* task : tasks) links_.insert(links_.end(), task->links.begin(), task->links.end());
    answers_.resize(links_.size());
    auto added = set().add(links_, answers_);
    auto next = answers_.begin();
    for (auto* task : tasks) {
        auto const end = next + static_cast<std::ptrdiff_t>(task->answers.size());
        std::copy(next, end, task->answers.begin());
        next = end;
    }
    crawl::give_back(links_), crawl::give_back(answers_);
    return added;
}

/// The reason to refuse tasks: a set in memory is full, or the set has failed. Empty: none.
std::string SetKeeper::why_full() const {
    if (!broken_.empty()) return broken_;
    MutexLock const lock(mutex_);
    auto const bytes = stats_.memory_bytes;
    if (why_it_forgets_.empty() || bytes <= options_.memory) return {};
    return "the set uses " + std::to_string(bytes) + " bytes, more than its memory of " + std::to_string(options_.memory) +
           "; no more URLs are added; raise the memory, or give the set a directory to keep it on disk";
}

void SetKeeper::finish(Task& task) {
    {
        MutexLock const lock(mutex_);
        --stats_.waiting_batches;
        stats_.waiting_links -= task.links.size();
    }
    auto const done = std::move(task.done);   // the call may destroy the task
    done();
}

void SetKeeper::note(std::string const& fault) {
    bool told = false;
    {
        MutexLock const lock(mutex_);
        ++stats_.faults;
        told = stats_.last_fault == fault;
        stats_.last_fault = fault;
    }
    if (!told) spdlog::error("URL set: {}", fault);
}

void SetKeeper::show_set() {
    auto const& shown = set();
    MutexLock const lock(mutex_);
    stats_.entries = shown.size();
    stats_.memory_bytes = shown.memory_bytes();
    stats_.file_bytes = shown.file_bytes();
    stats_.bits_per_entry = shown.bits_per_entry();
}

}   // namespace garner::seen
