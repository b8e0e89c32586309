#include "cache/writer.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <utility>

#include "cache/parts.hpp"
#include "net/waiter.hpp"
#include "util/check.hpp"

namespace garner::cache {

using http::StoreRefusal;
using store::Body;

namespace {

// The window that memory keeps of a body stored only on disk, for readers close to its end: at least one window, at
// most two. A small memory has room for few pieces not yet on disk. A piece is never longer than window_min.
constexpr Bytes window_max = MiB, window_min = 256 * KiB, windows_in_memory = 64;
constexpr milliseconds disk_pause{5};
// Between two tries to get memory for the next window.
constexpr milliseconds memory_pause{20};

/// For a complete body in memory. The result lives as long as the body and `bytes`, which only a body of several pieces needs.
std::string_view text_of(Body const& body, std::string& bytes) {
    store::BodyReader reader(&body);
    std::array<std::string_view, 16> pieces;
    if (reader.next(pieces, body.size()) == 1 && pieces[0].size() == body.size()) return pieces[0];
    bytes.reserve(body.size());
    while (auto count = reader.next(pieces, body.size()))
        for (std::size_t i = 0; i < count; ++i) {
            bytes.append(pieces[i]);
            reader.advance(pieces[i].size());
        }
    check(bytes.size() == body.size());
    return bytes;
}

}   // namespace

// ---- begin ----

std::unique_ptr<Writer> Writer::begin(Cache& cache, FillLease& lead, Response const& response, Terms terms) {
    auto& memory = cache.memory_;
    auto const primary = lead.fill()->primary();
    bool const completing = response.parts.body != nullptr;
    auto parts = response.parts;
    parts.bytes = {};
    if (!completing) parts.body = memory.make_body(response.expected);
    auto disk = begin_on_disk(cache, lead, response);
    if (disk) parts.body->set_source(disk->source());
    // Checked before anything is reserved.
    bool const admitted = completing || !response.expected || memory.admits(parts, primary, *response.expected);
    // The body first: a head that fits would otherwise evict objects in vain.
    bool const has_room = !memory.room(*parts.body, primary).empty();
    auto growing = has_room ? memory.make_object(parts, primary) : nullptr;
    if (!growing) {
        if (!completing) cache.disk_.not_offered(store::NotStored::no_room);
        return nullptr;
    }
    auto writer = std::make_unique<Writer>(cache, std::move(lead), response, std::move(growing), std::move(terms));
    writer->disk_ = std::move(disk);
    if (!admitted) writer->pass_memory(response);
    return writer;
}

Writer::Writer(Cache& cache, FillLease lead, Response const& response, store::ObjectPtr growing, Terms terms)
    : cache_(cache), lease_(std::move(lead)), growing_(std::move(growing)), vary_(response.vary), variant_(response.variant),
      freshness_(response.freshness), targeted_(freshness_.targeted.begin(), freshness_.targeted.end()), terms_(std::move(terms)) {
    freshness_.targeted = targeted_;
}

Writer::~Writer() = default;

/// For a body written to disk as it arrives; a small one is written once it is complete.
std::unique_ptr<store::DiskFill> Writer::begin_on_disk(Cache& cache, FillLease& lead, Response const& response) {
    auto const disk = cache.disk_.store();
    bool const part = response.parts.status == 206;
    if (!disk || (!part && response.expected.value_or(UINT64_MAX) <= store::Object::inline_body_max)) return nullptr;
    auto const& options = disk->options();
    if (part && (!response.place || response.place->length > options.object_max)) return nullptr;
    // With second_hit admission, an object that memory holds whole is written to disk from there.
    bool const by_itself = part || !response.expected || *response.expected > cache.memory_.object_max();
    if (options.admit != store::DiskOptions::Admit::all && !by_itself) return nullptr;
    auto why = store::NotStored::none;
    auto const of = part ? store::DiskFill::Of::part : store::DiskFill::Of::whole;
    auto fill = disk->begin(response.parts.key, response.expected, of, why);
    if (!fill) lead.keep_off_disk();   // it is not offered again when the body is complete
    return fill;
}

/// Memory did not admit it. A small one is written to disk once it is complete.
void Writer::pass_memory(Response const& response) {
    bool const small = *response.expected <= store::Object::inline_body_max;
    if (!disk_ && !is_part() && cache_.disk_ && small)
        gathered_max_ = store::Object::inline_body_max;
    else
        why_not_memory_ = refusal_of(cache_, *response.expected);
}

void Writer::publish_head() {
    lease_.head_is_storable(growing_, vary_, variant_);
    if (why_not_memory_ != StoreRefusal::none) leave_memory(why_not_memory_);
}

// ---- room ----

Bytes Writer::window() const { return std::clamp(cache_.memory_.budget().capacity() / windows_in_memory, window_min, window_max); }

Bytes Writer::in_memory_max() const { return std::max(cache_.memory_.object_max(), gathered_max_); }

void Writer::flush() {
    // If memory will hold all of it, a slow disk may lag until the end.
    if (disk_ && !disk_->take(*growing_->body())) disk_ = nullptr;
    fill().grown();
}

net::awaitable<std::span<char>> Writer::room() {
    auto& body = *growing_->body();
    if (kept_ == Kept::in_memory) {
        std::span<char> free;
        bool const small = body.size() < in_memory_max();
        if (small) free = cache_.memory_.room(body, primary());
        if (!free.empty()) co_return free;
        leave_memory(small ? StoreRefusal::no_room : StoreRefusal::too_large);
    }
    if (kept_ == Kept::on_disk) {
        auto const free = co_await room_before_disk();
        if (!free.empty()) co_return free;
        if (disk_) cache_.disk_.not_offered(store::NotStored::no_room);
        keep_nothing(why_not_on_disk());
    }
    co_return co_await room_in_window();
}

/// Frees the bytes that the disk has taken, at the pace of the disk. Empty when the disk gave up, or memory has no
/// room even for a window.
net::awaitable<std::span<char>> Writer::room_before_disk() {
    auto& body = *growing_->body();
    auto& memory = cache_.memory_;
    if (!co_await disk_keeps_up(window())) co_return std::span<char>{};
    forget_what_disk_has(window());
    auto const reserve = [&](Bytes bytes) { return memory.reserve(bytes, primary()); };
    auto const give_up = steady_now() + cache_.disk_.patience();
    for (;;) {
        auto free = memory.room(body, primary());
        // Memory holds only the end of the body, not yet on disk: once taken, its own segment is reused.
        if (free.empty() && body.size() > 0 && disk_->take(body)) {
            forget_what_disk_has(0);
            if (disk_->taken() == body.size()) free = body.recycle(reserve);
        }
        if (!free.empty()) co_return free;
        if (steady_now() > give_up || !co_await pause_for_disk()) co_return std::span<char>{};
    }
}

/// True when the disk lacks at most `behind` bytes; hands over a few pieces at a time. Gives up when the buffers have
/// no room for a piece for disk.timeout.
net::awaitable<bool> Writer::disk_keeps_up(Bytes behind) {
    if (!disk_) co_return false;
    auto const& body = *growing_->body();
    auto const patience = cache_.disk_.patience();
    auto give_up = steady_now() + patience;
    for (auto before = disk_->taken(); disk_->take(body); before = disk_->taken()) {
        if (body.size() - disk_->taken() <= behind) co_return true;
        if (disk_->taken() > before) {
            give_up = steady_now() + patience;
            co_await net::asio::post(terms_.executor, net::as_values);
            continue;
        }
        if (steady_now() > give_up) break;
        if (!co_await pause_for_disk()) break;
    }
    disk_ = nullptr;
    co_return false;
}

/// False: the worker is shutting down.
net::awaitable<bool> Writer::pause_for_disk() {
    fill().grown();   // followers may be waiting for these bytes
    net::Waiter waiter(terms_.executor);
    waiting_ = waiter.handle();
    auto const wake = co_await waiter.wait(disk_pause);
    waiting_ = {};
    co_return wake != net::Wake::shutdown;
}

/// The disk gave up, or memory has no room even for a window.
StoreRefusal Writer::why_not_on_disk() const {
    bool const too_large = growing_->body()->size() > longest_body(cache_);
    return too_large ? StoreRefusal::too_large : StoreRefusal::no_room;
}

/// Keeps `but` bytes before the end, and acts only if enough can be freed.
void Writer::forget_what_disk_has(Bytes but) {
    auto const taken = disk_->taken();
    if (taken <= forgotten_ + 2 * but) return;
    forgotten_ = taken - but;
    growing_->body()->forget_before(forgotten_);
}

/// For a body that is not stored: frees the bytes that all followers have read, at their pace. While dropped readers still
/// send from its last segment and memory has no other, the followers wait, at most deadlines.fill each. Without the wait their
/// responses would be truncated.
net::awaitable<std::span<char>> Writer::room_in_window() {
    auto& body = *growing_->body();
    auto& fill = this->fill();
    auto free = room_at_hand();
    if (!free.empty()) co_return free;
    auto const look_again = std::min(terms_.laggard, net::recheck_interval);
    auto reserve = [&, tries = 0](Bytes bytes) mutable {
        if (tries++ > 0) return cache_.memory_.budget().reserve(bytes);   // each eviction more would be of no use either
        return cache_.memory_.reserve(bytes, primary(), MemoryTier::Purpose::window);
    };
    fill.grown();   // followers may be waiting for these bytes
    for (auto looked = steady_now();;) {
        auto const now = steady_now();
        fill.charge_laggards(body.size(), now - std::exchange(looked, now), terms_.laggard);
        net::Waiter waiter(terms_.executor);
        waiting_ = waiter.handle();
        fill.wake_on_reading(waiter.handle());
        auto slowest = fill.slowest_follower();
        if (fill.followers() == 0 || slowest == UINT64_MAX) co_return std::span<char>{};
        bool const all_read = slowest >= body.size();
        if (all_read) free = body.recycle(reserve);
        if (!free.empty()) co_return free;
        auto wake = co_await waiter.wait(all_read ? memory_pause : look_again);
        waiting_ = {};
        if (wake == net::Wake::shutdown) co_return std::span<char>{};
    }
}

/// A body being written to disk stays stored there, and its readers continue from there. Otherwise nothing is stored,
/// and current followers read from a window.
void Writer::leave_memory(StoreRefusal why) {
    if (disk_)
        kept_ = Kept::on_disk;
    else
        keep_nothing(why);
}

void Writer::keep_nothing(StoreRefusal why) {
    kept_ = Kept::nowhere;
    disk_ = nullptr;
    terms_.refused(why);
    // An object that was not admitted now may be admitted at the next request.
    lease_.stop_storing(why == StoreRefusal::not_admitted ? nullptr : http::text(why));
}

// ---- end ----

net::awaitable<void> Writer::finish() {
    auto& body = *growing_->body();
    body.finish(Body::State::complete);
    if (disk_ && (is_part() || !lies_in_one())) {
        // The client has received all of it by then, and must not get the old object again.
        if (fill().is_given()) cache_.fetches_.supersession().give_unstored(fill(), *growing_, vary_);
        fill().grown();   // followers need not wait for the disk
        co_await disk_keeps_up(0);
    }
    if (is_part()) co_await look_for_parts();
    store();
}

void Writer::fail(FetchFailure failure) {
    growing_->body()->finish(Body::State::failed);
    lease_.fail(std::move(failure));
}

/// Repeats the read if the disk's records change meanwhile; after the last try a part may be missing, but all parts
/// found are of one response.
net::awaitable<void> Writer::look_for_parts() {
    constexpr int looks_max = 3;
    auto& supersession = cache_.fetches_.supersession();
    for (int looks = 0; looks < looks_max; ++looks) {
        supersession.begin_to_read(fill());
        parts_on_disk_ = co_await cache_.disk_.load_parts(growing_->key(), terms_.executor);
        if (!supersession.is_overtaken(fill())) co_return;
    }
}

void Writer::store() {
    // For a body of unknown length, the last segment may have exceeded object_max.
    if (kept_ == Kept::in_memory && growing_->body()->size() > in_memory_max()) leave_memory(StoreRefusal::too_large);
    if (kept_ == Kept::on_disk && !disk_) keep_nothing(why_not_on_disk());
    auto object = kept_ == Kept::nowhere ? growing_ : to_keep();
    // Followers keep reading their body; the stored object may be another one with equal bytes.
    lease_.complete(std::move(object), std::move(vary_), std::move(variant_), disk_.get());
}

/// For a complete body: it is short, and memory has all of it.
bool Writer::lies_in_one() const {
    auto const& body = *growing_->body();
    return body.size() <= store::Object::inline_body_max && body.is_resident();
}

/// A body that memory does not keep has only its source.
store::ObjectPtr Writer::to_keep() {
    auto const& body = growing_->body();
    auto parts = growing_->parts();
    bool const is_small = lies_in_one() && !is_part();
    if (is_small) return in_one_piece(parts);
    if (kept_ == Kept::on_disk) {
        std::vector<Body::Span> all{{0, body->size() - 1}};
        parts.body = store::BodyPtr(new Body(body->size(), std::move(all), disk_->source()));
    }
    auto const object = kept_ == Kept::on_disk ? store::Object::make(parts, nullptr) : growing_;
    if (!is_part()) return object;
    auto const joined = join_part(cache_.memory_, *object, parts_on_disk_, primary(), freshness_);
    return joined ? joined : growing_;
}

/// A small body is copied into one allocation with its head; its segments are freed after the last reader. A body of
/// unknown length with unused room is copied, too.
store::ObjectPtr Writer::in_one_piece(store::Object::Parts const& parts) {
    auto& memory = cache_.memory_;
    auto const& body = growing_->body();
    disk_ = nullptr;   // it is written with its head
    bool const admitted = memory.admits(parts, primary(), body->size());
    if (!admitted && !cache_.disk_) terms_.refused(StoreRefusal::not_admitted);
    if (!admitted) return store::Object::make(parts, nullptr);
    bool const lies_well = body->size() > store::Object::dense_body_max && body->charged() == body->size();
    if (lies_well) return growing_;
    std::string pieces;
    auto in_one = parts;
    in_one.bytes = text_of(*body, pieces);
    in_one.body = nullptr;
    auto object = memory.make_object(in_one, primary());
    return object ? object : store::Object::make(parts, nullptr);
}

}   // namespace garner::cache
