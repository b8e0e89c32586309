#include "store/disk_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "net/waiter.hpp"

namespace garner::store::disk {

namespace {

// Short records are released quickly. Longer ones may be pieces, which a slow client holds for long: they must not
// use the memory for short records.
constexpr Bytes short_record = 16 * KiB;
constexpr milliseconds look_for_memory{5};
constexpr int places_max = 4;   // how often to follow a record that is rewritten meanwhile

void count(std::atomic<std::uint64_t>& figure) { figure.fetch_add(1, std::memory_order_relaxed); }

}   // namespace

bool Reader::Job::take_over() {
    if (is_taken_over.exchange(true)) return false;
    if (charged > 0) memory->release(charged);
    if (is_long && charged > 0) memory->release_filling(charged);
    return true;
}

net::awaitable<ReadRecord> Reader::read(Fingerprint hash, Index::Entry entry, net::Executor executor) {
    auto const give_up = steady_now() + patience_.load(std::memory_order_relaxed);
    for (int places = 1;; ++places) {
        auto job = job_of(entry, give_up);
        if (!take_memory(*job) && !co_await wait_for_memory(job, executor)) co_return ReadRecord{};
        bool at_once = from_buffer(*job);
        bool soon = false;   // the disk is reading it already
        if (!at_once) {
            job->done = file_.read_now(entry.offset, {job->bytes.get(), job->size});
            soon = job->done.error == EAGAIN && job->size <= short_record;
            at_once = job->done.error != EAGAIN && job->done.error != EOPNOTSUPP;
        }
        bool is_there = at_once;
        if (soon) is_there = co_await look_again(*job, executor);
        if (!is_there && !co_await wait_for_disk(job, executor)) co_return ReadRecord{};
        auto read = judge(hash, std::move(job));
        read.at_once = at_once;
        if (!read.gone) co_return read;
        auto const there = places < places_max ? index_.find(hash) : std::nullopt;
        if (!there || there->offset == entry.offset) {
            count(figures_.misses);
            co_return read;
        }
        entry = *there;
    }
}

ReadRecord Reader::read_here(Fingerprint hash, Index::Entry const& entry) {
    auto job = job_of(entry, steady_now());
    job->bytes = std::make_unique_for_overwrite<char[]>(job->size);
    if (!from_buffer(*job)) job->done = file_.read_at(entry.offset, {job->bytes.get(), job->size});
    return judge(hash, std::move(job));
}

/// The index has the size rounded up: at the end of a segment fewer bytes may exist.
std::shared_ptr<Reader::Job> Reader::job_of(Index::Entry const& entry, SteadyTime give_up) const {
    auto const& header = log_.header();
    auto const end = header.start_of(log_.segment_of(entry.offset)) + header.segment_bytes;
    auto job = std::make_shared<Job>();
    job->found = log_.find(entry.offset);
    job->size = job->found.owner ? job->found.bytes.size() : std::min(entry.bytes, end - entry.offset);
    job->give_up = give_up;
    return job;
}

/// False when no memory is left for it.
bool Reader::take_memory(Job& job) const {
    job.is_long = job.size > short_record;
    if (job.is_long && !memory_->reserve_filling(job.size)) return false;
    if (!memory_->reserve(job.size)) {
        if (job.is_long) memory_->release_filling(job.size);
        return false;
    }
    job.memory = memory_;
    job.charged = job.size;
    job.bytes = std::make_unique_for_overwrite<char[]>(job.size);
    return true;
}

/// Waits until other readers release memory. False when it took too long.
net::awaitable<bool> Reader::wait_for_memory(std::shared_ptr<Job> job, net::Executor executor) {
    while (steady_now() < job->give_up) {
        net::Waiter waiter(executor);
        co_await waiter.wait(look_for_memory);
        if (take_memory(*job)) co_return true;
    }
    count(figures_.too_late);
    co_return false;
}

/// Copies the record, so that its reader does not hold a segment's buffer.
bool Reader::from_buffer(Job& job) {
    if (!job.found.owner) return false;
    std::memcpy(job.bytes.get(), job.found.bytes.data(), job.size);
    job.done = {job.size, 0};
    job.found.owner.reset();
    return true;
}

/// False when the read has not completed after some polls.
net::awaitable<bool> Reader::look_again(Job& job, net::Executor executor) {
    auto const first = pace_.first();
    if (!first) co_return false;
    net::Timer timer(executor);
    auto pause = *first;
    for (int looks = 0; looks < ReadPace::looks_max; ++looks, pause = pace_.next()) {
        timer.expires_after(pause);
        co_await timer.async_wait(net::as_values);
        job.done = file_.read_now(job.found.place.offset, {job.bytes.get(), job.size});
        if (job.done.error != EAGAIN) {
            pace_.was_there();
            co_return true;
        }
        pace_.was_not();
    }
    co_return false;
}

/// False when it took too long, or too many reads are queued.
net::awaitable<bool> Reader::wait_for_disk(std::shared_ptr<Job> job, net::Executor executor) {
    net::Waiter waiter(executor);
    auto read = [this, job, handle = waiter.handle()] {
        if (steady_now() > job->give_up) return;   // the caller has given up
        job->done = file_.read_at(job->found.place.offset, {job->bytes.get(), job->size});
        handle.wake(net::Wake::ready);
    };
    bool const accepted = pool_.run(std::move(read));
    auto wake = net::Wake::deadline;
    auto const left = std::max(std::chrono::ceil<milliseconds>(job->give_up - steady_now()), milliseconds(1));
    if (accepted) wake = co_await waiter.wait(left);
    if (wake != net::Wake::ready) count(figures_.too_late);
    co_return wake == net::Wake::ready;
}

ReadRecord Reader::judge(Fingerprint hash, std::shared_ptr<Job> job) {
    auto const& place = job->found.place;
    if (job->done.error) {
        count(figures_.errors);
        complaints_.add("a record at " + std::to_string(place.offset) + " cannot be read: " + io::text_of_error(job->done.error) +
                        "; the next request fetches the object again");
        bad_(hash, place.offset);
        return {};
    }
    auto const read = decode({job->bytes.get(), job->size}, place);
    if (read.damage == Damage::none && read.record.head.hash == hash) return {std::move(job), read.record};
    // Overwritten while it was read, or since the index lookup: no disk error.
    auto const there = index_.find(hash);
    bool const gone =
        !there || there->offset != place.offset || log_.segment(log_.segment_of(place.offset)).generation != place.generation;
    bool const another = read.damage == Damage::none;
    if (gone || another) {
        ReadRecord elsewhere;
        elsewhere.gone = true;
        return elsewhere;
    }
    count(figures_.damaged);
    complaints_.add("a record at " + std::to_string(place.offset) +
                    " is damaged (wrong checksum); the next request fetches the object again");
    bad_(hash, place.offset);
    return {};
}

}   // namespace garner::store::disk
