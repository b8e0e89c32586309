#include "store/disk_reader.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "net/waiter.hpp"

namespace garner::store::disk {

namespace {

// Shorter ones are used and gone. Longer ones may be pieces, which a client that takes little keeps for long: it must not
// keep others from what is short.
constexpr Bytes short_record = 16 * KiB;
constexpr milliseconds look_for_memory{5};

void count(std::atomic<std::uint64_t>& figure) { figure.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

Reader::Job::~Job() {
    if (charged == 0) return;
    memory->release(charged);
    if (is_long) memory->release_filling(charged);
}

net::awaitable<ReadRecord> Reader::read(Fingerprint hash, Index::Entry entry, net::Executor executor) {
    auto job = job_of(entry);
    if (!take_memory(*job) && !co_await wait_for_memory(job, executor)) co_return ReadRecord{};
    bool at_once = from_buffer(*job);
    if (!at_once) {
        job->done = file_.read_now(job->place.offset, {job->bytes.get(), job->size});
        at_once = job->done.error != EAGAIN;
    }
    if (!at_once && !co_await wait_for_disk(job, executor)) co_return ReadRecord{};
    auto read = judge(hash, std::move(job));
    if (read) count(figures_.hits);
    if (read && at_once) count(figures_.hits_at_once);
    co_return read;
}

ReadRecord Reader::read_here(Fingerprint hash, Index::Entry const& entry) {
    auto job = job_of(entry);
    job->bytes = std::make_unique_for_overwrite<char[]>(job->size);
    if (!from_buffer(*job)) job->done = file_.read_at(job->place.offset, {job->bytes.get(), job->size});
    return judge(hash, std::move(job));
}

/// The index knows the size rounded up: at the end of a segment there may be less.
std::shared_ptr<Reader::Job> Reader::job_of(Index::Entry const& entry) const {
    auto const& header = log_.header();
    auto const segment = log_.segment_of(entry.offset);
    auto job = std::make_shared<Job>();
    job->size = std::min(entry.bytes, header.start_of(segment) + header.segment_bytes - entry.offset);
    job->give_up = steady_now() + limits_.patience;
    job->place = {header.id, log_.segment(segment).generation, entry.offset};
    return job;
}

/// False when there is none left for it.
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

/// Until others have passed what they have. False when it took too long.
net::awaitable<bool> Reader::wait_for_memory(std::shared_ptr<Job> job, net::Executor executor) {
    while (steady_now() < job->give_up) {
        net::Waiter waiter(executor);
        co_await waiter.wait(look_for_memory);
        if (take_memory(*job)) co_return true;
    }
    count(figures_.too_late);
    co_return false;
}

bool Reader::from_buffer(Job& job) const {
    auto const here = log_.buffered(job.place.offset);
    if (!here.owner) return false;
    auto const bytes = std::min<Bytes>(job.size, here.bytes.size());
    std::memcpy(job.bytes.get(), here.bytes.data(), bytes);
    job.done = {bytes, 0};
    job.size = bytes;
    return true;
}

/// False when it took too long, or too many wait already.
net::awaitable<bool> Reader::wait_for_disk(std::shared_ptr<Job> job, net::Executor executor) {
    net::Waiter waiter(executor);
    auto read = [this, job, handle = waiter.handle()] {
        if (steady_now() > job->give_up) return;   // nobody waits for it any more
        job->done = file_.read_at(job->place.offset, {job->bytes.get(), job->size});
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
    auto const& place = job->place;
    RecordRead read;
    if (job->done.error) {
        count(figures_.errors);
        spdlog::error("disk: a record at {} cannot be read: {}; it is fetched again", place.offset,
                      io::text_of_error(job->done.error));
        bad_(hash, place.offset);
        return {};
    }
    read = decode({job->bytes.get(), job->size}, place);
    if (read.damage == Damage::none && read.record.head.hash == hash) return {std::move(job), read.record};
    // Written over while it was read, or since the index was asked: nothing is wrong with the disk.
    auto const there = index_.find(hash);
    bool const gone = !there || there->offset != place.offset ||
                      log_.segment(log_.segment_of(place.offset)).generation != place.generation;
    bool const another = read.damage == Damage::none;
    if (gone || another) {
        count(figures_.misses);
        return {};
    }
    count(figures_.damaged);
    spdlog::error("disk: a record at {} is damaged; it is fetched again", place.offset);
    bad_(hash, place.offset);
    return {};
}

}  // namespace garner::store::disk
