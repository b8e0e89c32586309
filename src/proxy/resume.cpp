#include "proxy/resume.hpp"

#include <optional>

#include "proxy/decision.hpp"
#include "proxy/way.hpp"
#include "proxy/whole_request.hpp"
#include "store/body_source.hpp"

namespace garner::proxy {

using client::Trouble;
using http::Method;

namespace {

constexpr char const* broke_off = "an answer broke off in its body";

/// A peer that ends a connection in order passes on, as a rule, that the origin has done so: it may be in best health.
bool is_peers_own(Trouble trouble) { return trouble == Trouble::reset || trouble == Trouble::timed_out; }

}  // namespace

bool Transaction::may_go_on() const {
    bool const of_peer = at_source_ < sources_.size() && source().peer != nullptr;
    return of_peer && client_.head().method == Method::get && !wants_upgrade() && may_try_next();
}

net::awaitable<bool> Transaction::go_on_elsewhere(http::Remainder const& missing, Trouble trouble) {
    if (trouble == Trouble::cancelled || !missing.is_obtainable(wall_now()) || !may_try_next()) co_return false;
    auto const broken = source().peer;
    ++at_source_;
    if (!co_await ask_for_rest(missing)) co_return false;
    if (is_peers_own(trouble)) broken->connect_failed(broke_off, steady_now());
    co_return true;
}

/// What the disk has lost or is too slow to give, and what went on without a client that was too slow itself, is asked for
/// where it would be fetched: the client has the beginning. An object that has lost bytes for good answers nobody any more.
/// `is_there`: memory still has the rest, but needs the room; then the source gets 2 s for its head.
net::awaitable<bool> Transaction::fetch_lost(store::Object const& object, http::BrokenBody broken, bool is_there) {
    auto const& body = *object.body();
    bool const complete = body.state() == store::Body::State::complete;
    if (complete && body.source() && !body.source()->is_whole()) services_.cache.forget(key_, object);
    http::Remainder missing(object.head(), broken);
    if (!may_fetch_lost() || !missing.is_obtainable(wall_now())) co_return false;
    hierarchical_ = true;
    if (sources_.empty()) co_await choose_sources();
    hurried_ = is_there;
    bool const found = co_await ask_for_rest(missing);
    hurried_ = false;
    if (!found) drop_exchange();
    if (!found) co_return false;
    reason_ = is_there        ? "memory was needed: the rest was fetched"
              : body.source() ? "the disk did not give all of it: the rest was fetched"
                              : "the reader was too slow: the rest was fetched";
    co_return true;
}

bool Transaction::may_fetch_lost() const {
    bool const may_miss = options_->misses.empty() || may_have_misses(options_->misses, rule_request());
    bool const may_ask = may_miss && !options_->caching.offline && !control_.only_if_cached;
    return may_ask && client_.head().method == Method::get && !wants_upgrade() && !aborted_;
}

/// Along the sources that are left, this one first. What it was asked for is not said to the client, which has the head
/// that came first.
net::awaitable<bool> Transaction::ask_for_rest(http::Remainder const& missing) {
    auto const said = status_.fwd_status;
    http::Validators none;
    std::optional<Bytes> skipped;
    resuming_ = true;
    for (;; ++at_source_) {
        note_source();
        range_text_ = missing.request_lines(wall_now());
        bool const answered = co_await ask_source(none, true);
        if (answered) skipped = missing.skipped_in(exchange_->head(), exchange_->framing(), wall_now());
        if (skipped || !may_try_next()) break;
    }
    resuming_ = false;
    status_.fwd_status = said;
    if (!skipped) co_return false;
    exchange_->go_on_behind(*skipped, missing.left_in(exchange_->head(), exchange_->framing()));
    services_.counters.resumed.add();
    co_return true;
}

net::awaitable<Rest> Transaction::find_rest(std::shared_ptr<Options const> const& options,
                                            std::span<icp::Source const> sources, std::size_t& at,
                                            http::Remainder const& missing, Trouble trouble) {
    begin(options);
    Rest rest;
    auto verdict = check();
    if (verdict == Verdict::needs_names) verdict = co_await check_names();
    if (verdict != Verdict::go_on) co_return rest;
    sources_.assign(sources.begin(), sources.end());
    at_source_ = at;
    bool const found = may_go_on() && co_await go_on_elsewhere(missing, trouble);
    at = at_source_;
    if (found) {
        rest.exchange = std::move(exchange_);
        rest.use = std::move(use_);
        rest.pool_key = pool_key_;
    }
    drop_exchange();
    co_return rest;
}

Resumption::Resumption(Services& services, ClientStream const& client, std::string_view host,
                       std::vector<icp::Source> sources, std::size_t at, http::BrokenBody body)
    : services_(services), request_(whole_request(client.head(), host)), client_(client.peer()), listener_(client.listener()),
      sources_(std::move(sources)), at_(at), body_(body) {}

net::awaitable<Rest> Resumption::find(std::shared_ptr<Options const> const& options, store::Object const& growing,
                                      Trouble trouble) {
    auto broken = body_;
    broken.done = growing.body()->size() - body_.first;
    http::Remainder missing(growing.head(), broken);
    if (!asking_) asking_ = std::make_unique<Asking>(services_, request_, client_, listener_);
    co_return co_await asking_->transaction.find_rest(options, sources_, at_, missing, trouble);
}

}  // namespace garner::proxy
