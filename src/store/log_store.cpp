#include "store/log_store.hpp"

#include <algorithm>
#include <utility>

#include "io/log.hpp"
#include "store/disk_fill.hpp"

namespace garner::store {

Result<std::unique_ptr<DiskStore>> DiskStore::open(DiskOptions const& options) {
    auto store = std::make_unique<disk::LogStore>(options);
    if (auto const started = store->start({}); !started) return started.fault();
    return store;
}

namespace disk {

namespace {

constexpr milliseconds start_patience{50};
constexpr milliseconds lock_patience{500};
constexpr milliseconds lock_pause{10};
constexpr milliseconds end_patience{1'000};
constexpr milliseconds look_every{100};
constexpr int looks_a_try = 30;   // retry interval after an error, in looks
// Fractions of a segment that may be rewritten: 0.2 limits write amplification to 1.25. A policy that chooses the
// kept records keeps more, and would keep too many if it did not leave some capacity unused.
constexpr double kept_share = 0.2, kept_by_policy = 0.5, filled_by_policy = 0.8;

}   // namespace

OpenStore::OpenStore(StoreFile opened, DiskOptions const& options, Log::Lost lost, Recovery::Came came,
                     Recovery::InPieces in_pieces, Reader::Bad bad, Cleaner::Write write, Cleaner::Gone gone,
                     Cleaner::Void make_void, Tombstones::Append append_tombstone, Tombstones::VoidAll void_all)
    : store(std::move(opened)), file(store.file()), index(store.header().bytes(), store.header().alignment),
      capacity(static_cast<Bytes>(filled_by_policy * static_cast<double>(store.header().bytes()))),
      order(make_order(options.policy, capacity, store.header().seed)),
      log(file, store.header(), store.header().alignment, options.buffer, options.sync, std::move(lost), make_void),
      recovery(file, log, index, *order, std::move(came), std::move(in_pieces)),
      reader(file, log, index, {options.readers, options.patience, options.buffer}, std::move(bad)),
      cleaner(
          file, log, index, order->has_memory() ? kept_by_policy : kept_share,
          [this](Fingerprint hash, unsigned uses) { return order->keeps(hash, uses); }, std::move(gone), std::move(write),
          std::move(make_void)),
      tombstones(
          std::move(append_tombstone), [this](Fingerprint hash) { return index.find(hash).has_value(); },
          [this] { return log.end_position(); }, [this] { return log.written_position(); }, std::move(void_all)) {}

OpenStore::Mishap OpenStore::mishap() {
    MutexLock const lock(store_mutex);
    return {store.mishap(), store.is_cut_short()};
}

// ---- opening ----

Result<void> LogStore::start(Start const& how) {
    std::string trouble;
    auto const opening = open_unlocked(how, trouble);
    Fault in_use{.what = file_name() + " is in use by another process",
                 .mend = "stop that process, or choose another disk.path",
                 .where = "disk.path"};
    if (opening == Opening::in_use && how.refuses != Refuses::nothing) return in_use;
    if (opening == Opening::failed && how.refuses == Refuses::every_error) return Fault{trouble};
    if (opening != Opening::done) say(opening == Opening::in_use ? in_use.text() : trouble);
    // Otherwise responses fetched before the segments are found would not be stored.
    if (works()) works()->log.wait_until_begun(start_patience);
    maintenance_ = std::thread([this] { look_after(); });
    cleaning_ = std::thread([this] { clean(); });
    return {};
}

void LogStore::stop() {
    auto* works = this->works();
    if (!works) return;
    works->reader.stop();
    works->lookers.stop();
    works->log.forget_waiting();
}

LogStore::~LogStore() { close(); }

bool LogStore::close() {
    MutexLock const closing(closing_);
    // Another store may write to the file by now.
    if (std::exchange(closed_, true)) return settled_;
    long_.stop();
    {
        MutexLock const lock(mutex_);
        stopping_ = true;
    }
    stopped_.notify_all();
    if (auto* works = this->works()) {
        works->recovery.stop();
        works->cleaner.stop();
    }
    for (auto* thread : {&maintenance_, &cleaning_, &recoverer_})
        if (thread->joinable()) thread->join();
    notes_.close();
    if (made_) {
        pay_at_the_end();
        made_->log.end();
        settled_ = made_->tombstones.is_clear() && !made_->log.failing();
    }
    return settled_;
}

/// If pending tombstones cannot be written, their records are invalidated for the next start.
void LogStore::pay_at_the_end() {
    if (made_->tombstones.flush()) return;
    made_->log.wait_until_settled(Log::Reaches::file, end_patience);   // makes room in the buffers
    if (!made_->tombstones.flush()) make_all_void();
}

/// A process that is killed closes its connections before its lock is released.
LogStore::Opening LogStore::open_unlocked(Start const& how, std::string& trouble) {
    auto const give_up = steady_now() + lock_patience;
    while (true) {
        auto const opening = open_file(how.when, how.known, trouble);
        bool const may_wait = how.when == StoreFile::When::at_start && how.refuses != Refuses::nothing;
        if (opening != Opening::in_use || !may_wait || steady_now() >= give_up) return opening;
        std::this_thread::sleep_for(lock_pause);
    }
}

LogStore::Opening LogStore::open_file(StoreFile::When when, StoreFile::Known const& known, std::string& trouble) {
    // Full notes: the lines that are missing may be about any object.
    if (when == StoreFile::When::at_start && NoteFile::is_full(notes_name())) when = StoreFile::When::later;
    auto opened = StoreFile::open(options(), when, known);
    trouble = opened.trouble;
    if (opened.in_use) return Opening::in_use;
    if (!opened.store) return Opening::failed;
    auto const epoch = opened.store->header().epoch;
    next_body_ = (epoch << numbers_of_a_second) + 1;
    first_sequence_ = epoch << numbers_of_a_second;
    auto lost = [this](std::uint32_t segment, std::span<FooterEntry const> entries) { this->lost(entries, segment); };
    auto came = [this](LiveBytes::Sum const& sum) { live_.came(sum); };
    auto in_pieces = [this](Fingerprint hash, Index::Entry const& there) { drop_incomplete(hash, there); };
    auto bad = [this](Fingerprint hash, Bytes offset) { this->bad(hash, offset); };
    auto write = [this](Record const& record, Location const& place) { return write_again(record, place); };
    auto gone = [this](Fingerprint hash, Bytes bytes) {
        made_->order->removed(hash, policy::Left::evicted);
        note_left(bytes);
    };
    auto make_void = [this](std::uint64_t generation) { return this->make_void(generation); };
    auto append_tombstone = [this](Fingerprint hash) { return this->append_tombstone(hash); };
    auto make_all_void = [this] { return this->make_all_void(); };
    open_notes(when);
    made_ = std::make_unique<OpenStore>(std::move(*opened.store), options(), lost, came, in_pieces, bad, write, gone, make_void,
                                        append_tombstone, make_all_void);
    works_.store(made_.get());
    tell_options();   // a reload meanwhile did not reach the works
    // The recovery and the log's writer may log at the same time. TSan cannot see how libspdlog creates its registry.
    spdlog::default_logger_raw();
    recoverer_ = std::thread([this, begun = steady_now()] {
        made_->recovery.run();
        if (!made_->recovery.is_over()) return;
        std::chrono::duration<double> const taken = steady_now() - begun;
        spdlog::info("disk: {}, {} MiB, {}: {} records found in {:.3f} s", file_name(), made_->log.header().bytes() / MiB,
                     options().policy, made_->index.size(), taken.count());
        made_->recovery.tell();
    });
    return Opening::done;
}

void LogStore::reconfigure(DiskOptions const& fresh) {
    {
        MutexLock const lock(mutex_);
        auto next = all_options_.back();
        next.take_over(fresh);
        if (next == all_options_.back()) return;
        options_.store(&all_options_.emplace_back(std::move(next)));
    }
    tell_options();
}

void LogStore::tell_options() {
    auto* works = works_.load();
    if (!works) return;
    works->log.sync_every(options().sync);
    works->reader.wait_at_most(options().patience);
}

void LogStore::say(std::string trouble) {
    {
        MutexLock const lock(mutex_);
        if (trouble_ == trouble) return;
        trouble_ = trouble;
    }
    spdlog::error("disk: {}; continuing without the disk tier, and retrying", trouble);
}

// ---- lookups ----

bool LogStore::may_have(std::string_view key) const {
    auto const* works = this->works();
    return works && works->index.find(hash_of(key, works->log.header().seed));
}

bool LogStore::is_fresh_until(std::string_view key, WallTime until) const {
    auto const* works = this->works();
    if (!works) return false;
    auto const entry = works->index.find(hash_of(key, works->log.header().seed));
    if (!entry || entry->freshness == 0) return false;
    auto const opened = works->log.segment(works->log.segment_of(entry->offset)).opened;
    return opened + seconds(Freshness::seconds(entry->freshness)) > until;
}

bool LogStore::used(std::string_view key) {
    auto* works = this->works();
    if (!works) return false;
    auto const hash = hash_of(key, works->log.header().seed);
    bool const is_here = works->index.use(hash).has_value();
    if (is_here) works->order->used(hash);
    return !is_here && options().admit == DiskOptions::Admit::second_hit && admission_filter_.knows(hash);
}

net::awaitable<ObjectPtr> LogStore::load(std::string_view key, net::Executor executor) {
    if (!works()) co_return nullptr;
    auto const record = co_await read(hash_of(key, seed()), executor);
    if (!record || record.record.head.kind != RecordKind::object || record.record.key != key) co_return nullptr;
    auto object = object_of(*this, record);
    if (!object) co_return nullptr;
    if (object->body() && object->body()->source()) {
        auto& pieces = static_cast<PieceSource&>(*object->body()->source());
        bool const opened = co_await pieces.open(executor);
        if (!opened) {
            if (!pieces.is_whole()) drop(hash_of(key, seed()));   // otherwise the disk was only too slow
            co_return nullptr;
        }
    }
    hits_.fetch_add(1, std::memory_order_relaxed);
    if (record.at_once) hits_at_once_.fetch_add(1, std::memory_order_relaxed);
    co_return object;
}

net::awaitable<ReadRecord> LogStore::read(Fingerprint hash, net::Executor executor) {
    auto* works = this->works();
    if (!works) co_return ReadRecord{};
    auto const entry = works->index.use(hash);
    if (!entry) co_return ReadRecord{};
    works->order->used(hash);
    auto record = co_await works->reader.read(hash, *entry, executor);
    if (record && record.record.head.kind == RecordKind::piece) pieces_.fetch_add(1, std::memory_order_relaxed);
    co_return record;
}

bool LogStore::has(Fingerprint hash) const {
    auto const* works = this->works();
    return works && works->index.find(hash);
}

// ---- admission and writes ----

NotStored LogStore::why_not(Bytes body) {
    auto* works = this->works();
    if (!works || removed_ || left_ || works->log.failing()) return NotStored::failing;
    if (body > options().object_max) return NotStored::too_large;
    if (body < options().object_min) return NotStored::too_small;
    return NotStored::none;
}

NotStored LogStore::refused(NotStored why) {
    not_stored_[static_cast<std::size_t>(why)].fetch_add(1, std::memory_order_relaxed);
    return why;
}

/// DiskOptions::rate as a token bucket of one second. A large body may overdraw it. True when it is not overdrawn.
bool LogStore::may_spend() {
    auto const rate = static_cast<double>(options().rate);
    if (rate == 0) return true;
    MutexLock const lock(mutex_);
    auto const now = steady_now();
    auto const passed = std::chrono::duration<double>(now - std::exchange(allowed_at_, now)).count();
    allowance_ = std::min(allowance_ + passed * rate, rate);
    return allowance_ > 0;
}

void LogStore::spend(Bytes bytes) {
    if (options().rate == 0) return;
    MutexLock const lock(mutex_);
    allowance_ -= static_cast<double>(bytes);
}

NotStored LogStore::store(Object::Parts const& parts) {
    bool const marker = parts.kind == Object::Kind::vary_marker;
    Bytes const body = parts.body ? parts.body->size() : parts.bytes.size();
    // A body already on disk that only gets a new head would be lost with its old head.
    bool const is_here = works() && parts.body && is_on_disk(*this, *parts.body);
    auto why = marker && works() ? NotStored::none : is_here ? why_not(body) : why_not(parts.key, body);
    if (why == NotStored::none && long_.is_for(parts)) {
        forget(parts.key);   // the new object is found once all of it is written
        why = long_.take(parts);
        return why == NotStored::none ? why : refused(why);
    }
    long_.forget(parts.key);
    if (why == NotStored::none) why = write_object(*this, parts);
    if (why != NotStored::none) {
        forget(parts.key);
        return refused(why);
    }
    if (!marker) note_stored(parts);
    return why;
}

std::unique_ptr<DiskFill> LogStore::begin(std::string_view key, std::optional<Bytes> length, DiskFill::Of of, NotStored& why) {
    why = why_not(key, length.value_or(options().object_min));
    if (why != NotStored::none) {
        refused(why);
        return nullptr;
    }
    long_.forget(key);
    auto told = [this](NotStored outcome, Object::Parts const& parts) { note(outcome, parts); };
    return std::make_unique<PieceFill>(*this, of, std::move(told));
}

/// The reason not to store it, including admission (requested often enough) and the write rate.
NotStored LogStore::why_not(std::string_view key, Bytes body) {
    auto const why = why_not(body);
    if (why != NotStored::none) return why;
    bool const is_new = options().admit == DiskOptions::Admit::second_hit && !admission_filter_.knows(hash_of(key, seed()));
    if (is_new) return NotStored::not_admitted;
    return may_spend() ? NotStored::none : NotStored::rate;
}

void LogStore::note(NotStored outcome, Object::Parts const& parts) {
    if (outcome == NotStored::none)
        note_stored(parts);
    else
        refused(outcome);
}

void LogStore::note_stored(Object::Parts const& parts) {
    stored_.fetch_add(1, std::memory_order_relaxed);
    stored_bytes_.fetch_add(parts.head.size() + (parts.body ? parts.body->size() : parts.bytes.size()), std::memory_order_relaxed);
}

void LogStore::demote(Object const& object) {
    // An object requested twice would be on disk already.
    bool const is_known = options().admit == DiskOptions::Admit::second_hit || !works() || may_have(object.key());
    if (is_known || object.kind() != Object::Kind::response || object.terms().negative) return;
    if (why_not(object.length().value_or(0)) != NotStored::none || !may_spend()) return;
    auto const parts = object.parts();
    if (long_.is_for(parts)) {
        // A queued body keeps its memory, which is needed now: other objects would be evicted instead.
        auto const why = long_.is_idle() ? long_.take(parts) : NotStored::too_slow;
        if (why != NotStored::none) refused(why);
        return;
    }
    if (write_object(*this, parts) == NotStored::none) stored_.fetch_add(1, std::memory_order_relaxed);
}

NotStored LogStore::append(RecordParts& parts, Purpose purpose) {
    bool const fetched = purpose == Purpose::newcomer || purpose == Purpose::head;
    auto* works = this->works();
    if (!works || works->log.failing() || ((removed_ || left_) && fetched)) return NotStored::failing;
    if (parts.measure() > Index::record_max) return NotStored::too_large;
    parts.head.in_pieces = parts.head.kind == RecordKind::object && says_in_pieces(parts.meta);
    auto const room = works->log.reserve(parts.head, purpose);
    if (!room) return NotStored::too_slow;
    encode(parts, room->place, room->into);
    if (parts.head.kind != RecordKind::tombstone) {
        auto const& head = parts.head;
        auto const replaced = works->index.put(head.hash, room->place.offset, head.bytes(), head.freshness);
        note_came(head.bytes());
        if (replaced) note_left(replaced->bytes);
        works->order->stored(head.hash, head.bytes());
    }
    works->log.commit(*room);
    if (fetched) spend(parts.head.bytes());
    return NotStored::none;
}

/// Rewrites a record whose segment is reclaimed. The copy follows newer records in the log: if one of these replaced
/// the record meanwhile, a restart must not find the copy.
bool LogStore::write_again(Record const& record, Location const& place) {
    auto& works = *this->works();
    std::string_view const body = record.body;
    RecordParts parts;
    parts.head = record.head;
    parts.key = record.key;
    parts.meta = record.meta;
    parts.body = {&body, 1};
    auto const opened = works.log.segment(works.log.segment_of(place.offset)).opened;
    auto const left = opened + seconds(Freshness::seconds(record.head.freshness)) - wall_now();
    parts.head.freshness = Freshness::of(std::chrono::floor<seconds>(left).count());
    parts.measure();
    auto const room = works.log.reserve(parts.head, Purpose::kept);
    if (!room) return false;
    encode(parts, room->place, room->into);
    if (!works.index.move(record.head.hash, place.offset, room->place.offset, parts.head.freshness)) {
        parts.head.kind = RecordKind::filler;
        encode(parts, room->place, room->into);
        works.log.waste(*room);
    }
    works.log.commit(*room);
    return true;
}

// ---- threads ----

/// False when the store is stopping.
bool LogStore::pause(milliseconds time) {
    auto const until = steady_now() + time;
    MutexLock const lock(mutex_);
    while (!stopping_ && stopped_.wait_until(mutex_, until)) {
    }
    return !stopping_;
}

void LogStore::look_after() {
    for (int looks = 0; pause(look_every); ++looks) {
        if (auto* works = this->works(); works && !works->log.failing()) {
            works->tombstones.flush_by_voiding();
            works->tombstones.flush();
        }
        if (auto* works = this->works()) works->reader.tell();
        if (looks % looks_a_try == 0) try_again();
        give_up_what_is_outdated();
    }
    give_up_what_is_outdated();
}

/// Marks a store that could not be opened so far. This happens at the latest when the process is told to end.
void LogStore::give_up_what_is_outdated() {
    if (ran_without_ && !given_up_ && !works()) given_up_ = StoreFile::give_up(options());
}

/// Checks whether an error persists.
void LogStore::try_again() {
    auto* works = this->works();
    if (!works) {
        std::string trouble;
        auto const opening = open_file(StoreFile::When::later, {}, trouble);
        if (opening == Opening::failed) say(trouble);
        if (opening == Opening::done) works_again("works again");
        return;
    }
    look_for_file(*works);
    if (removed_ || !works->log.failing()) return;
    {
        MutexLock const lock(works->store_mutex);
        if (auto const trouble = works->store.write_header(); !trouble.empty()) return say(trouble);
    }
    works->log.try_again();
    works_again("can be written again");
}

/// Nothing more is stored in a file that was removed or replaced, because the next start could not find it. A file
/// that was only moved may return.
void LogStore::look_for_file(OpenStore& works) {
    auto const [mishap, is_cut_short] = works.mishap();
    bool const removed = !mishap.empty();
    if (void_pending_) void_pending_ = !make_all_void();
    if (removed_ == removed || cut_short_) return;
    cut_short_ = is_cut_short;
    // Garner's own writes may extend the file to its old length, but the tombstones at its end are lost.
    void_pending_ = cut_short_ && !make_all_void();
    if (removed) {
        auto const trouble =
            file_name() + " " + mishap +
            ": objects are still served from the open file, but no more are stored; restart Garner to create a new file";
        spdlog::error("disk: {}", trouble);
        MutexLock const lock(mutex_);
        trouble_ = trouble;
    } else {
        works_again("is available again");
    }
    removed_ = removed;   // set last, so that a thread that sees it also finds the reason
}

void LogStore::works_again(char const* how) {
    spdlog::info("disk: {} {}", file_name(), how);
    MutexLock const lock(mutex_);
    trouble_.clear();
}

void LogStore::clean() {
    while (pause(milliseconds(1))) {
        auto* works = this->works();
        if (!works || !works->recovery.order_is_told() || works->log.failing()) {
            if (!pause(look_every)) return;
            continue;
        }
        evict_victims(*works);
        auto const segment = works->log.wanted();
        bool const done = segment && works->cleaner.clean(*segment);
        if (!done) works->log.wait_for_want(look_every);
    }
}

}   // namespace disk

}   // namespace garner::store
