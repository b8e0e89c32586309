#include "store/disk_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "net/waiter.hpp"

namespace garner::store::disk {

namespace {

void count(std::atomic<std::uint64_t>& figure) { figure.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

net::awaitable<ReadRecord> Reader::read(Fingerprint hash, Index::Entry entry, net::Executor executor) {
    auto job = job_of(entry);
    if (!job.done.bytes) job.done = file_.read_now(job.place.offset, {job.bytes.get(), job.size});
    bool const at_once = job.done.error != EAGAIN;
    if (!at_once && !co_await wait_for_disk(job, executor)) co_return ReadRecord{};
    auto read = judge(hash, job);
    read.at_once = at_once;
    co_return read;
}

ReadRecord Reader::read_here(Fingerprint hash, Index::Entry const& entry) {
    auto job = job_of(entry);
    if (!job.done.bytes) job.done = file_.read_at(job.place.offset, {job.bytes.get(), job.size});
    return judge(hash, job);
}

/// Done where the bytes are in the buffers still. The index knows the size rounded up: at the end of a segment there may
/// be less.
Reader::Job Reader::job_of(Index::Entry const& entry) const {
    auto const found = log_.find(entry.offset);
    auto const& header = log_.header();
    auto const end = header.start_of(log_.segment_of(entry.offset)) + header.segment_bytes;
    Job job;
    job.place = found.place;
    job.size = found.owner ? found.bytes.size() : std::min(entry.bytes, end - entry.offset);
    job.bytes = std::make_shared_for_overwrite<char[]>(job.size);
    if (!found.owner) return job;
    std::memcpy(job.bytes.get(), found.bytes.data(), job.size);
    job.done.bytes = job.size;
    return job;
}

/// False when it took too long, or too many wait already.
net::awaitable<bool> Reader::wait_for_disk(Job& job, net::Executor executor) {
    net::Waiter waiter(executor);
    auto done = std::make_shared<io::Done>();
    auto read = [this, done, bytes = job.bytes, size = job.size, offset = job.place.offset, handle = waiter.handle()] {
        if (bytes.use_count() == 1) return;   // nobody waits any more
        *done = file_.read_at(offset, {bytes.get(), size});
        handle.wake(net::Wake::ready);
    };
    bool const accepted = pool_.run(std::move(read));
    auto wake = net::Wake::deadline;
    if (accepted) wake = co_await waiter.wait(patience_);
    if (wake == net::Wake::ready)
        job.done = *done;
    else
        count(figures_.too_late);
    co_return wake == net::Wake::ready;
}

ReadRecord Reader::judge(Fingerprint hash, Job const& job) {
    auto const& place = job.place;
    if (job.done.error) {
        count(figures_.errors);
        complaints_.add("a record at " + std::to_string(place.offset) + " cannot be read: " +
                        io::text_of_error(job.done.error) + "; it is fetched again");
        bad_(hash, place.offset);
        return {};
    }
    auto const read = decode({job.bytes.get(), job.size}, place);
    if (read.damage == Damage::none && read.record.head.hash == hash) return {job.bytes, read.record};
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
    complaints_.add("a record at " + std::to_string(place.offset) + " is damaged; it is fetched again");
    bad_(hash, place.offset);
    return {};
}

}  // namespace garner::store::disk
