#include "proxy/fill_pump.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstring>

#include "group/group.hpp"
#include "net/waiter.hpp"

namespace garner::proxy {

using client::Trouble;

namespace {

// A body without followers is still received to its end when at most this much is missing.
constexpr Bytes worth_finishing_bytes = 256 * KiB;
constexpr Bytes worth_finishing_fraction = 10;
char const* text(Trouble trouble) {
    switch (trouble) {
    case Trouble::timed_out: return "the origin stopped sending the body";
    case Trouble::malformed: return "the body from the origin is invalid";
    case Trouble::cancelled: return "the fetch was cancelled";
    default: return "the origin closed the connection before the end of the body";
    }
}

}   // namespace

void FillPump::start(std::unique_ptr<FillPump> pump) {
    auto executor = pump->services_.worker.io.get_executor();
    auto running = run_and_destroy(std::move(pump));
    net::asio::co_spawn(executor, std::move(running), net::asio::detached);
}

/// The follower that has had least pays for each piece, so that none waits for another's debt.
void FillPump::pay_by(std::unique_ptr<share::Account> account) {
    account_ = std::move(account);
    account_->pay_with(writer_->shared_fill(), false);
    account_->wait_unless([this] { return !worth_finishing(); });
    exchange_->read_at_most(account_->piece(share::Direction::down));
}

net::awaitable<void> FillPump::run_and_destroy(std::unique_ptr<FillPump> pump) { co_await pump->run(); }

net::awaitable<void> FillPump::run() {
    auto const limit = std::min(options_->deadlines.body, net::recheck_interval);
    auto give_up = steady_now() + options_->deadlines.body;
    for (;;) {
        auto open = writer_->room_at_hand();
        if (open.empty() && exchange_->reads_straight()) {
            open = co_await writer_->room();   // received in place
            if (open.empty()) co_return co_await finish(Trouble::cancelled);
            give_up = steady_now() + options_->deadlines.body;   // the origin did not have to send meanwhile
        }
        // In short steps: while the origin is silent, an abandoned body must be noticed.
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
        if (piece.data.empty()) co_return co_await finish(Trouble::none);
        count_traffic();
        if (!co_await append(piece.data)) co_return co_await finish(Trouble::cancelled);
        if (must_pay()) co_await account_->settle(share::Direction::down);
        if (account_) exchange_->read_at_most(account_->piece(share::Direction::down));   // the slow lane may have begun
        if (account_ && account_->is_over() && !exchange_->body_done()) co_return end_by_quota();
        give_up = steady_now() + options_->deadlines.body;   // to wait for the line is no silence of the origin
        if (!worth_finishing()) co_return co_await finish(Trouble::cancelled);
    }
}

bool FillPump::must_pay() const { return account_ && account_->owes(share::Direction::down) && !account_->is_over(); }

/// No follower is left within its quota.
void FillPump::end_by_quota() {
    auto reason = account_->over_reason();   // a new follower may pay the bytes that are counted below
    count_traffic();
    writer_->fail({429, std::move(reason), cache::FailureKind::quota});
}

/// A body without a length may be a stream of events: no minimum rate applies.
bool FillPump::comes_too_slowly() const {
    bool const owes = writer_->growing()->body()->expected() && !exchange_->body_done();
    return owes && pace_.is_below(options_->limits.min_rate);
}

bool FillPump::worth_finishing() {
    if (writer_->fill().followers() > 0) {
        abandoned_at_ = {};
        return true;
    }
    if (writer_->is_kept() && steady_now() < keep_until_) return true;
    if (abandoned_at_ == SteadyTime{}) abandoned_at_ = steady_now();
    if (steady_now() - abandoned_at_ > options_->deadlines.abandoned) return false;
    auto const& body = *writer_->growing()->body();
    if (!writer_->is_kept() || !body.expected()) return false;
    auto missing = *body.expected() - body.size();
    return missing <= worth_finishing_bytes || missing <= *body.expected() / worth_finishing_fraction;
}

/// Keeps the broken connection until there is a new one, so that abort() finds one. Its peer is released at once.
net::awaitable<bool> FillPump::go_on_elsewhere(Trouble trouble) {
    if (trouble == Trouble::cancelled || !worth_finishing()) co_return false;
    count_traffic();
    use_.end();
    received_ = 0;
    pace_ = {};
    auto rest = co_await resumption_->find(options_, *writer_->growing(), trouble);
    if (!rest.exchange) co_return false;
    if (exchange_->is_doubtful()) writer_->stop_storing(http::StoreRefusal::framing);
    exchange_ = std::move(rest.exchange);
    use_ = std::move(rest.use);
    pool_key_ = std::move(rest.pool_key);
    co_return true;
}

net::awaitable<bool> FillPump::append(std::string_view data) {
    while (!data.empty()) {
        auto room = co_await writer_->room();
        if (room.empty()) co_return false;
        auto bytes = std::min(room.size(), data.size());
        if (room.data() != data.data()) std::memcpy(room.data(), data.data(), bytes);
        writer_->grow(bytes);
        data.remove_prefix(bytes);
    }
    writer_->flush();
    co_return true;
}

net::awaitable<void> FillPump::finish(Trouble trouble) {
    count_traffic();
    if (trouble != Trouble::none) co_return writer_->fail({502, text(trouble)});
    if (exchange_->is_doubtful()) writer_->stop_storing(http::StoreRefusal::framing);
    use_.fetched(received_);
    if (auto* const group = services_.group)
        group->note_received(pace_.moved, std::chrono::duration_cast<microseconds>(pace_.waited));
    co_await store_whole();
    if (!exchange_->reusable()) co_return;
    auto const idle_max = exchange_->idle_max();
    services_.worker.pool.give(pool_key_, exchange_->release(), idle_max);
}

/// An invalidation that came meanwhile has kept it from being stored.
net::awaitable<void> FillPump::store_whole() {
    auto const growing = writer_->growing();
    auto const asked = writer_->fill().asked();
    co_await writer_->finish();
    if (!offer_ || !writer_->is_kept() || services_.cache.invalidations.judge(*growing, asked)) co_return;
    auto& offer = offer_->offer;
    auto const passed = std::chrono::duration_cast<std::chrono::seconds>(steady_now() - offer_->made).count();
    if (passed >= offer.life) co_return;
    offer.life -= static_cast<std::uint32_t>(passed);
    offer.length = growing->body()->size();
    services_.group->offer(std::move(offer));
}

void FillPump::count_traffic() {
    auto const traffic = exchange_->take_traffic();
    if (is_replicated_) services_.counters.replicated.add(use_.replication_source(), traffic.received);
    received_ += traffic.received;
    use_.received(traffic.received);
    if (!use_.of_peer()) services_.counters.add_origin_traffic(traffic.received, traffic.sent);
    if (account_ && !use_.of_sibling()) account_->charge_both(traffic.received, traffic.sent);
}

}   // namespace garner::proxy
