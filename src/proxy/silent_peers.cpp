#include "proxy/silent_peers.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "net/waiter.hpp"
#include "util/check.hpp"

namespace garner::proxy {

using client::Trouble;

/// Shared with the coroutine that reads.
struct SilentPeers::Silent : SilentExchange {
    explicit Silent(SilentExchange one) : SilentExchange(std::move(one)) {}
    SilentPeers* owner = nullptr;   // null: the request has ended
    bool is_reading = false;
    Trouble trouble = Trouble::timed_out;   // `none`: the head has come
    bool has_response() const { return exchange && !is_reading && trouble == Trouble::none; }
};

SilentPeers::~SilentPeers() {
    for (auto const& silent : silent_) {
        silent->owner = nullptr;
        if (silent->is_reading) silent->exchange->cancel();
    }
}

void SilentPeers::keep(SilentExchange exchange, net::Executor const& executor, http::Method method, milliseconds limit) {
    silent_.push_back(std::make_shared<Silent>(std::move(exchange)));
    auto const& silent = silent_.back();
    if (!silent->exchange) return;
    silent->owner = this;
    silent->is_reading = true;
    net::asio::co_spawn(executor, read_head(silent, method, limit), net::asio::detached);
}

net::awaitable<void> SilentPeers::read_head(std::shared_ptr<Silent> silent, http::Method method, milliseconds limit) {
    constexpr std::uint32_t interim_responses_max = 16;
    auto& exchange = *silent->exchange;
    for (std::uint32_t heads = 0; heads <= interim_responses_max; ++heads) {
        silent->trouble = co_await exchange.read_head(method, limit);
        bool const is_final = exchange.head().status >= 200 || exchange.head().status == 101;
        if (silent->trouble != Trouble::none || is_final) break;
        silent->trouble = Trouble::malformed;
    }
    silent->is_reading = false;
    if (silent->owner) silent->owner->ended(*silent);
}

void SilentPeers::ended(Silent& silent) {
    bool const is_cut = silent.trouble == Trouble::closed || silent.trouble == Trouble::reset;
    if (is_cut && !silent.exchange->answered())
        silent.source.peer->connect_failed("closed the connection without a response", steady_now());
    wake();
    if (silent.has_response()) came_();
}

bool SilentPeers::has_response() const { return std::ranges::any_of(silent_, &Silent::has_response); }

SilentExchange SilentPeers::take_response() {
    auto const found = std::ranges::find_if(silent_, &Silent::has_response);
    check(found != silent_.end());
    SilentExchange exchange = std::move(**found);
    silent_.erase(found);
    return exchange;
}

bool SilentPeers::is_waiting() const { return std::ranges::any_of(silent_, &Silent::is_reading); }

net::awaitable<void> SilentPeers::wait(net::Executor executor) {
    if (has_response() || !is_waiting()) co_return;
    net::Waiter waiter(executor);
    waiting_ = waiter.handle();
    constexpr milliseconds long_time{3'600'000};   // each exchange has a limit of its own
    co_await waiter.wait(long_time);
    waiting_ = {};
}

/// A slow origin makes all sources slow: only a peer that had more time than the answer took has failed. One that was given up got
/// its patience, so the answer must have come in that time.
void SilentPeers::lose_to_source_of(SteadyTime asked_at) {
    auto const now = steady_now();
    for (auto const& silent : silent_) {
        auto& peer = *silent->source.peer;
        bool const had_time = silent->exchange ? silent->sent_at < asked_at : now - asked_at < peer.patience();
        bool const is_slower = had_time && (!silent->exchange || silent->is_reading);
        if (is_slower) peer.waited(silent->sent_at, now);
    }
}

}   // namespace garner::proxy
