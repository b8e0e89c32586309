// The disk store: combines log, index, recovery, reader and cleaner.
#pragma once
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "io/pool.hpp"
#include "store/disk_admission_filter.hpp"
#include "store/disk_body.hpp"
#include "store/disk_cleaner.hpp"
#include "store/disk_core.hpp"
#include "store/disk_index.hpp"
#include "store/disk_live.hpp"
#include "store/disk_log.hpp"
#include "store/disk_long.hpp"
#include "store/disk_reader.hpp"
#include "store/disk_recovery.hpp"
#include "store/disk_store.hpp"
#include "store/disk_tombstones.hpp"
#include "store/note_file.hpp"
#include "store/store_file.hpp"
#include "util/mutex.hpp"
#include "util/result.hpp"

namespace garner::store::disk {

/// The parts that work on one open file. Created once the file can be opened, and kept to the end.
struct OpenStore {
    OpenStore(StoreFile opened, DiskOptions const& options, Log::Lost lost, Recovery::Came came, Recovery::InPieces in_pieces,
              Reader::Bad bad, Cleaner::Write write, Cleaner::Gone gone, Cleaner::Void make_void,
              Tombstones::Append append_tombstone, Tombstones::VoidAll void_all);

    struct Mishap {
        std::string text;   // empty: none
        bool is_cut_short = false;
    };
    Mishap mishap();

    Mutex store_mutex;
    StoreFile store GUARDED_BY(store_mutex);
    io::File const& file;
    Index index;
    Bytes const capacity;   // bytes of records, for policies that name victims
    std::unique_ptr<Order> order;
    Log log;
    Recovery recovery;
    Reader reader;
    Cleaner cleaner;
    Tombstones tombstones;
    io::Pool lookers{1, 16};   // for inspection; the reader's threads are for requests
};

class LogStore final : public DiskStore, public Core {
public:
    explicit LogStore(DiskOptions options)
        : all_options_{std::move(options)},
          long_(*this, [this](NotStored outcome, Object::Parts const& parts) { note(outcome, parts); }) {}
    ~LogStore() override;
    /// Starts the threads.
    /// Errors that are faults. After any other error it works like a failing disk, and tries again.
    enum class Refuses : std::uint8_t { nothing, another_process, every_error };
    struct Start {
        StoreFile::When when = StoreFile::When::at_start;
        StoreFile::Known known = {};
        Refuses refuses = Refuses::another_process;
    };
    Result<void> start(Start const& how);
    /// Null: no file is open.
    io::File const* file() const { return works() ? &works()->file : nullptr; }
    void unlock() override {
        if (auto const* file = this->file()) file->unlock();
    }
    bool lock_again() override {
        auto const* file = this->file();
        return !file || file->lock() == 0;
    }

    // ---- DiskStore ----
    bool may_have(std::string_view key) const override;
    bool is_fresh_until(std::string_view key, WallTime until) const override;
    bool used(std::string_view key) override;
    net::awaitable<ObjectPtr> load(std::string_view key, net::Executor executor) override;
    ObjectPtr peek(std::string_view key) override;
    NotStored store(Object::Parts const& parts) override;
    std::unique_ptr<DiskFill> begin(std::string_view key, std::optional<Bytes> length, DiskFill::Of of, NotStored& why) override;
    void not_offered(NotStored why) override { refused(why); }
    bool forget(std::string_view key) override;
    net::awaitable<bool> settled(Survives what, net::Executor executor) override;
    bool wait_until_settled(Survives what) override;
    void demote(Object const& object) override;
    bool note(std::string_view line) override;
    std::vector<std::string> notes() const override { return notes_.lines(); }
    DiskStats stats() const override;
    DiskOptions const& options() const override { return *options_.load(); }
    void reconfigure(DiskOptions const& fresh) override;
    std::uint64_t first_sequence() const override;
    void stop() override;
    bool is_at(std::string const& path) const override;
    Result<void> has_room_for(Bytes size) const override;
    void leave() override;
    bool close() override;
    net::awaitable<bool> heads(std::uint32_t segment, std::vector<ObjectPtr>& into, net::Executor executor) override;
    bool list(std::uint32_t segment, std::vector<Listed>& into) override;
    void list_waiting(std::vector<Listed>& into) const override;
    std::optional<Stretch> segment_from(std::uint64_t generation) const override;
    bool verify(std::uint32_t segment, Verified& sum) override;

    // ---- Core ----
    NotStored append(RecordParts& parts, Purpose purpose) override;
    net::awaitable<ReadRecord> read(Fingerprint hash, net::Executor executor) override;
    bool has(Fingerprint hash) const override;
    void drop(Fingerprint hash) override;
    std::uint64_t seed() const override { return works()->log.header().seed; }
    Bytes piece_bytes() const override { return works()->log.header().piece_bytes(); }
    std::uint64_t next_body() override { return next_body_.fetch_add(1, std::memory_order_relaxed); }
    DiskOptions const& limits() const override { return options(); }
    void keep_by(std::weak_ptr<void const> self) override {
        MutexLock const lock(self_mutex_);
        self_ = std::move(self);
    }
    std::shared_ptr<void const> kept() const override {
        MutexLock const lock(self_mutex_);
        return self_.lock();
    }

private:
    OpenStore* works() const { return works_.load(std::memory_order_acquire); }
    std::string file_name() const { return file_of(options().path); }
    std::string notes_name() const { return options().path + "/invalidations"; }
    void open_notes(StoreFile::When when);
    enum class Opening : std::uint8_t { done, in_use, failed };
    Opening open_unlocked(Start const& how, std::string& trouble);
    Opening open_file(StoreFile::When when, StoreFile::Known const& known, std::string& trouble);
    void tell_options();
    void say(std::string trouble);

    NotStored why_not(Bytes body);
    NotStored why_not(std::string_view key, Bytes body);
    void note(NotStored outcome, Object::Parts const& parts);
    void note_stored(Object::Parts const& parts);
    NotStored refused(NotStored why);
    bool may_spend();
    void spend(Bytes bytes);
    std::vector<ObjectPtr> heads_of(std::uint32_t segment);
    std::uint64_t forget_unseen(OpenStore& works, std::uint32_t segment, Contents const& contents);
    bool is_complete(ReadRecord const& read) { return object_of(*this, read) != nullptr; }
    void drop_incomplete(Fingerprint hash, Index::Entry const& there);
    bool write_again(Record const& record, Location const& place);
    void bad(Fingerprint hash, Bytes offset);
    void left(OpenStore& works, Tombstones::Removal& removal, Fingerprint hash, std::optional<Bytes> bytes);
    bool append_tombstone(Fingerprint hash);
    void lost(std::span<FooterEntry const> entries, std::uint32_t segment);
    bool make_void(std::uint64_t generation);
    bool make_all_void();
    void pay_at_the_end();
    void note_came(Bytes bytes) { live_.came(bytes); }
    void note_left(Bytes bytes) { live_.left(bytes); }
    void evict_victims(OpenStore& works);

    void look_after();
    void clean();
    bool pause(milliseconds time);
    void try_again();
    void look_for_file(OpenStore& works);
    void give_up_what_is_outdated();
    void works_again(char const* how);

    std::deque<DiskOptions> all_options_ GUARDED_BY(mutex_);   // one per reload: references to earlier ones stay in use
    std::atomic<DiskOptions const*> options_{&all_options_.front()};
    std::unique_ptr<OpenStore> made_;
    mutable Mutex self_mutex_;
    std::weak_ptr<void const> self_ GUARDED_BY(self_mutex_);   // shares the owner's references
    std::atomic<OpenStore*> works_{nullptr};                   // made_, once it is ready
    AdmissionFilter admission_filter_;
    LongWrites long_;
    NoteFile notes_;
    std::atomic<std::uint64_t> next_body_{1};
    std::atomic<std::uint64_t> first_sequence_{0};
    std::atomic<bool> removed_{false};       // the file was moved or removed
    std::atomic<bool> left_{false};          // see leave()
    std::atomic<bool> discards_{false};      // the next start finds nothing
    std::atomic<bool> ran_without_{false};   // an object was to be removed while the store could not be opened
    bool given_up_ = false;                  // the mark for the next start is written
    bool cut_short_ = false;                 // the file was truncated once, whatever its size is now
    bool void_pending_ = false;              // after truncation: its contents are not invalidated yet

    LiveBytes live_;
    std::atomic<std::uint64_t> hits_{0};
    std::atomic<std::uint64_t> hits_at_once_{0};
    std::atomic<std::uint64_t> pieces_{0};
    std::atomic<std::uint64_t> stored_{0};
    std::atomic<Bytes> stored_bytes_{0};
    std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(NotStored::count)> not_stored_{};
    std::atomic<std::uint64_t> victims_{0};

    Mutex closing_;   // held by the thread that closes it
    bool closed_ GUARDED_BY(closing_) = false;
    bool settled_ GUARDED_BY(closing_) = false;   // every removal is in the closed file
    mutable Mutex mutex_;
    ConditionVariable stopped_;
    bool stopping_ GUARDED_BY(mutex_) = false;
    std::string trouble_ GUARDED_BY(mutex_);
    double allowance_ GUARDED_BY(mutex_) = 0;   // bytes left of DiskOptions::rate; negative: overdrawn
    SteadyTime allowed_at_ GUARDED_BY(mutex_){};

    std::thread recoverer_;
    std::thread maintenance_;
    std::thread cleaning_;
};

}   // namespace garner::store::disk
