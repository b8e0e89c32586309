#include "proxy/fill_pump.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <cstring>

#include "cache/parts.hpp"
#include "net/waiter.hpp"
#include "util/check.hpp"

namespace garner::proxy {

using client::Trouble;
using store::Body;

namespace {

// With nobody left to read it, a body is still received to its end when this little is missing.
constexpr Bytes worth_finishing_bytes = 256 * KiB;
constexpr Bytes worth_finishing_fraction = 10;
// What memory keeps of a body that only the disk keeps whole, for readers that are close behind: at least one, at most two.
// A small memory has room for few pieces on their way to the disk. None is longer than the least window.
constexpr Bytes window_most = MiB, window_least = 256 * KiB, windows_in_memory = 64;
constexpr milliseconds disk_pause{5};

char const* text(Trouble trouble) {
    switch (trouble) {
    case Trouble::timed_out: return "the origin stalled in the body";
    case Trouble::malformed: return "the origin's body is malformed";
    case Trouble::cancelled: return "the fetch was given up";
    default: return "the origin closed before the end of the body";
    }
}

/// Of a complete body that is in memory.
std::string text_of(Body const& body) {
    std::string bytes;
    bytes.reserve(body.size());
    store::BodyReader reader(&body);
    std::array<std::string_view, 16> pieces;
    while (auto count = reader.next(pieces, body.size()))
        for (std::size_t i = 0; i < count; ++i) {
            bytes.append(pieces[i]);
            reader.advance(pieces[i].size());
        }
    check(bytes.size() == body.size());
    return bytes;
}

}  // namespace

Bytes FillPump::window() const {
    return std::clamp(services_.cache.budget().capacity() / windows_in_memory, window_least, window_most);
}

Bytes FillPump::most_in_memory() const { return std::max(services_.cache.object_max(), gathered_most_); }

void FillPump::start(std::unique_ptr<FillPump> pump) {
    auto executor = pump->services_.worker.io.get_executor();
    auto running = run_and_destroy(std::move(pump));
    net::asio::co_spawn(executor, std::move(running), net::asio::detached);
}

net::awaitable<void> FillPump::run_and_destroy(std::unique_ptr<FillPump> pump) { co_await pump->run(); }

net::awaitable<void> FillPump::run() {
    auto const limit = std::min(options_->deadlines.body, net::recheck_interval);
    auto give_up = steady_now() + options_->deadlines.body;
    for (;;) {
        auto open = growing_->body()->room([](Bytes) { return false; });
        if (open.empty() && exchange_->reads_straight()) {
            open = co_await room();   // it is received where it stays
            if (open.empty()) co_return co_await finish(Trouble::cancelled);
        }
        // In short steps: an origin that says nothing must not keep a body that nobody wants any more.
        auto const asked = steady_now();
        auto piece = co_await exchange_->read_body(limit, open);
        pace_.add(piece.data.size(), steady_now() - asked);
        bool silent = piece.trouble == Trouble::timed_out && steady_now() < give_up;
        if (silent && worth_finishing()) continue;
        if (piece.trouble == Trouble::none && comes_too_slowly()) piece.trouble = Trouble::timed_out;
        if (piece.trouble != Trouble::none) {
            if (!resumption_) co_return co_await finish(piece.trouble);
            if (!co_await go_on_elsewhere(piece.trouble)) co_return co_await finish(piece.trouble);
            give_up = steady_now() + options_->deadlines.body;
            continue;
        }
        give_up = steady_now() + options_->deadlines.body;
        if (piece.data.empty()) co_return co_await finish(Trouble::none);
        count_traffic();
        if (!co_await append(piece.data)) co_return co_await finish(Trouble::cancelled);
        if (!worth_finishing()) co_return co_await finish(Trouble::cancelled);
    }
}

/// A body without a length may be a stream of events.
bool FillPump::comes_too_slowly() const {
    bool const owes = growing_->body()->expected() && !exchange_->body_done();
    return owes && pace_.is_below(options_->limits.min_rate);
}

bool FillPump::worth_finishing() {
    if (lease_.fill()->followers() > 0) {
        abandoned_at_ = {};
        return true;
    }
    if (kept_ != Kept::nowhere && steady_now() < keep_until_) return true;
    if (abandoned_at_ == SteadyTime{}) abandoned_at_ = steady_now();
    if (steady_now() - abandoned_at_ > options_->deadlines.abandoned) return false;
    auto const& body = *growing_->body();
    if (kept_ == Kept::nowhere || !body.expected()) return false;
    auto missing = *body.expected() - body.size();
    return missing <= worth_finishing_bytes || missing <= *body.expected() / worth_finishing_fraction;
}

/// The broken connection stays until there is another, so that abort() finds one; its peer is let go of at once.
net::awaitable<bool> FillPump::go_on_elsewhere(Trouble trouble) {
    if (trouble == Trouble::cancelled || !worth_finishing()) co_return false;
    count_traffic();
    use_.end();
    received_ = 0;
    pace_ = {};
    auto rest = co_await resumption_->find(options_, *growing_, trouble);
    if (!rest.exchange) co_return false;
    exchange_ = std::move(rest.exchange);
    use_ = std::move(rest.use);
    pool_key_ = std::move(rest.pool_key);
    co_return true;
}

net::awaitable<bool> FillPump::append(std::string_view data) {
    auto& body = *growing_->body();
    while (!data.empty()) {
        auto room = co_await this->room();
        if (room.empty()) co_return false;
        auto bytes = std::min(room.size(), data.size());
        if (room.data() != data.data()) std::memcpy(room.data(), data.data(), bytes);
        body.grow(bytes);
        data.remove_prefix(bytes);
    }
    // Where memory is to have it all, a slow disk may be behind until the end.
    if (disk_ && !disk_->take(body)) disk_ = nullptr;
    lease_.fill()->grown();
    co_return true;
}

net::awaitable<std::span<char>> FillPump::room() {
    auto& body = *growing_->body();
    if (kept_ == Kept::in_memory) {
        std::span<char> free;
        bool small = body.size() < most_in_memory();
        if (small) free = services_.cache.room(body, lease_.fill()->primary());
        if (!free.empty()) co_return free;
        leave_memory(small ? http::StoreRefusal::no_room : http::StoreRefusal::too_large);
    }
    if (kept_ == Kept::on_disk) {
        auto const free = co_await room_before_disk();
        if (!free.empty()) co_return free;
        if (disk_) services_.cache.disk()->not_offered(store::NotStored::no_room);
        keep_nothing(why_not_on_disk());
    }
    co_return co_await room_in_window();
}

/// What the disk has makes room for more, at the pace of the disk. Empty when it gave up, or memory has not even room for a
/// window.
net::awaitable<std::span<char>> FillPump::room_before_disk() {
    auto& body = *growing_->body();
    if (!co_await disk_keeps_up(window())) co_return std::span<char>{};
    forget_what_disk_has(window());
    auto const primary = lease_.fill()->primary();
    auto const reserve = [&](Bytes bytes) { return services_.cache.reserve(bytes, primary); };
    auto const give_up = steady_now() + services_.cache.disk()->options().patience;
    for (;;) {
        auto free = services_.cache.room(body, primary);
        // Nothing but the end of the body that the disk has not yet: then that makes room for itself.
        if (free.empty() && body.size() > 0 && disk_->take(body)) {
            forget_what_disk_has(0);
            if (disk_->taken() == body.size()) free = body.recycle(reserve);
        }
        if (!free.empty()) co_return free;
        if (steady_now() > give_up || !co_await pause_for_disk()) co_return std::span<char>{};
    }
}

/// True when the disk has all but so many bytes; it is handed a few pieces at a time. One whose buffers have no room for a
/// piece for disk.timeout gets no more.
net::awaitable<bool> FillPump::disk_keeps_up(Bytes behind) {
    if (!disk_) co_return false;
    auto const& body = *growing_->body();
    auto const patience = services_.cache.disk()->options().patience;
    auto const here = services_.worker.io.get_executor();
    auto give_up = steady_now() + patience;
    for (auto before = disk_->taken(); disk_->take(body); before = disk_->taken()) {
        if (body.size() - disk_->taken() <= behind) co_return true;
        if (disk_->taken() > before) {
            give_up = steady_now() + patience;
            co_await net::asio::post(here, net::as_values);
            continue;
        }
        if (steady_now() > give_up) break;
        if (!co_await pause_for_disk()) break;
    }
    disk_ = nullptr;
    co_return false;
}

/// False: the worker is going down.
net::awaitable<bool> FillPump::pause_for_disk() {
    lease_.fill()->grown();   // they may be waiting for what is there
    net::Waiter waiter(services_.worker.io.get_executor());
    waiting_ = waiter.handle();
    auto const wake = co_await waiter.wait(disk_pause);
    waiting_ = {};
    co_return wake != net::Wake::shutdown;
}

/// Where the disk gave up, or memory has not even room for a window.
http::StoreRefusal FillPump::why_not_on_disk() const {
    bool const too_large = growing_->body()->size() > services_.cache.longest_body();
    return too_large ? http::StoreRefusal::too_large : http::StoreRefusal::no_room;
}

/// Up to `but` bytes before the end, where that is worth while.
void FillPump::forget_what_disk_has(Bytes but) {
    auto const taken = disk_->taken();
    if (taken <= forgotten_ + 2 * but) return;
    forgotten_ = taken - but;
    growing_->body()->forget_before(forgotten_);
}

/// Too large to be kept: what everybody has read makes room for more, at the pace of the readers.
net::awaitable<std::span<char>> FillPump::room_in_window() {
    auto& body = *growing_->body();
    auto& fill = *lease_.fill();
    auto free = body.room([](Bytes) { return false; });
    if (!free.empty()) co_return free;
    auto const allowance = options_->deadlines.laggard;
    auto const look_again = std::min(allowance, net::recheck_interval);
    for (auto looked = steady_now();;) {
        auto const now = steady_now();
        fill.charge_laggards(body.size(), now - std::exchange(looked, now), allowance);
        net::Waiter waiter(services_.worker.io.get_executor());
        waiting_ = waiter.handle();
        fill.wake_on_reading(waiter.handle());
        auto slowest = fill.slowest_follower();
        if (fill.followers() == 0 || slowest == UINT64_MAX) co_return std::span<char>{};
        auto reserve = [&](Bytes bytes) { return services_.cache.reserve(bytes, fill.primary(), cache::Cache::Purpose::window); };
        if (slowest >= body.size()) co_return body.recycle(reserve);
        fill.grown();   // they may be waiting for what is there
        auto wake = co_await waiter.wait(look_again);
        waiting_ = {};
        if (wake == net::Wake::shutdown) co_return std::span<char>{};
    }
}

net::awaitable<void> FillPump::finish(Trouble trouble) {
    auto& body = *growing_->body();
    count_traffic();
    if (trouble == Trouble::none) {
        body.finish(Body::State::complete);
        use_.fetched(received_);
        if (disk_ && (is_part() || !lies_in_one())) {
            auto& fill = *lease_.fill();
            // Somebody has all of it by then, and shall not meet the old one again.
            if (fill.is_given()) services_.cache.supersede_in_memory(fill, *growing_, vary_);
            fill.grown();   // nobody waits for the disk
            co_await disk_keeps_up(0);
        }
        if (is_part()) co_await look_for_parts();
        store();
        if (exchange_->reusable()) services_.worker.pool.give(pool_key_, exchange_->release());
        co_return;
    }
    body.finish(Body::State::failed);
    cache::FetchFailure failure{502, text(trouble)};
    lease_.fail(std::move(failure));
}

/// Where others come to the disk meanwhile, a part of a response may be lost; what is there is of one response.
net::awaitable<void> FillPump::look_for_parts() {
    constexpr int looks_max = 3;
    auto const here = services_.worker.io.get_executor();
    for (int looks = 0; looks < looks_max; ++looks) {
        services_.cache.begin_to_read(lease_);
        parts_on_disk_ = co_await services_.cache.parts_on_disk(growing_->key(), here);
        if (!services_.cache.is_overtaken(*lease_.fill())) co_return;
    }
}

void FillPump::count_traffic() {
    auto const traffic = exchange_->take_traffic();
    received_ += traffic.received;
    if (!use_.of_peer()) services_.counters.add_origin_traffic(traffic.received, traffic.sent);
}

void FillPump::leave_memory(http::StoreRefusal why) {
    if (disk_)
        kept_ = Kept::on_disk;
    else
        keep_nothing(why);
}

void FillPump::keep_nothing(http::StoreRefusal why) {
    kept_ = Kept::nowhere;
    disk_ = nullptr;
    services_.counters.not_stored.add(why);
    // Who was worth too little may be worth more at the next request.
    lease_.stop_storing(why == http::StoreRefusal::not_admitted ? nullptr : http::text(why));
}

void FillPump::store() {
    // Its length was unknown: what has outgrown object_max by the last segment is not kept.
    if (kept_ == Kept::in_memory && growing_->body()->size() > most_in_memory())
        leave_memory(http::StoreRefusal::too_large);
    if (kept_ == Kept::on_disk && !disk_) keep_nothing(why_not_on_disk());
    auto object = to_keep();
    // Followers keep reading the body they have; what is stored may be another object with the same bytes.
    lease_.complete(std::move(object), std::move(vary_), std::move(variant_), disk_.get());
}

/// Of a complete body: it is short, and nothing of it has been left to the disk.
bool FillPump::lies_in_one() const {
    auto const& body = *growing_->body();
    return body.size() <= store::Object::inline_body_max && body.is_resident();
}

/// A small body moves into one allocation with its head; the segments go when the last reader is done. So does one that has
/// more room than it needs, for its length was unknown. A part joins those that are there. What memory does not keep has its
/// source alone.
store::ObjectPtr FillPump::to_keep() {
    auto const& body = growing_->body();
    auto const primary = lease_.fill()->primary();
    auto parts = growing_->parts();
    if (kept_ == Kept::nowhere) return growing_;
    bool const is_small = lies_in_one();
    if (kept_ == Kept::on_disk && (!is_small || is_part())) {
        std::vector<Body::Span> all{{0, body->size() - 1}};
        parts.body = store::BodyPtr(new Body(body->size(), std::move(all), disk_->source()));
    }
    if (is_part()) {
        auto const part = kept_ == Kept::on_disk ? store::Object::make(parts, nullptr) : growing_;
        auto joined = cache::join_part(services_.cache, *part, parts_on_disk_, primary, freshness_);
        return joined ? joined : growing_;
    }
    if (!is_small) return kept_ == Kept::on_disk ? store::Object::make(parts, nullptr) : growing_;
    disk_ = nullptr;   // it is written with its head
    bool const admitted = services_.cache.admits(parts, primary, body->size());
    if (!admitted && !services_.cache.disk()) services_.counters.not_stored.add(http::StoreRefusal::not_admitted);
    if (!admitted) return store::Object::make(parts, nullptr);
    bool const lies_well = body->size() > store::Object::dense_body_max && body->charged() == body->size();
    if (lies_well) return growing_;
    auto const bytes = text_of(*body);
    auto in_one = parts;
    in_one.bytes = bytes;
    in_one.body = nullptr;
    auto object = services_.cache.make_object(in_one, primary);
    return object ? object : store::Object::make(parts, nullptr);
}

}  // namespace garner::proxy
