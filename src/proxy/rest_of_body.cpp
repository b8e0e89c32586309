#include "proxy/rest_of_body.hpp"

namespace garner::proxy {

using client::Trouble;
using http::Method;

namespace {

/// A peer that closes in order usually passes on that its origin closed: the peer itself may be healthy.
bool is_peers_own(Trouble trouble) { return trouble == Trouble::reset || trouble == Trouble::timed_out; }

constexpr char const* broke_off = "truncated body";
// Limit for the head if memory already holds the bytes for the client: a long wait is not worthwhile then.
constexpr milliseconds soon{2'000};

}   // namespace

bool RestOfBody::may_go_on() const {
    bool const of_peer = sources().at() < sources().all().size() && sources().peer();
    return of_peer && request_.head().method == Method::get && !request_.wants_upgrade() && upstream_.may_try_next();
}

net::awaitable<bool> RestOfBody::go_on_elsewhere(http::Remainder const& missing, Trouble trouble) {
    if (trouble == Trouble::cancelled || !missing.is_obtainable(wall_now()) || !upstream_.may_try_next()) co_return false;
    auto const broken = sources().current().peer;
    sources().go_to_next();
    if (!co_await ask(missing, milliseconds::max())) co_return false;
    if (is_peers_own(trouble)) broken->connect_failed(broke_off, steady_now());
    co_return true;
}

/// The client has the beginning. The disk lost the rest or is too slow, or the client was too slow for a body that
/// continued without it. An object that has lost bytes permanently is removed.
net::awaitable<bool> RestOfBody::fetch(store::Object const& object, http::BrokenBody broken, bool is_there) {
    auto const& body = *object.body();
    bool const complete = body.state() == store::Body::State::complete;
    if (complete && body.source() && !body.source()->is_whole()) request_.services.cache.forget(request_.key, object);
    http::Remainder missing(object.head(), broken);
    bool const may_ask = request_.may_have_misses() && !request_.options->caching.offline && !request_.control.only_if_cached &&
                         request_.head().method == Method::get && !request_.wants_upgrade() && !request_.aborted;
    if (!may_ask || !missing.is_obtainable(wall_now())) co_return false;
    sources().ask_who_has_it();
    co_await sources().choose();
    auto const first_byte_max = is_there ? soon : milliseconds::max();
    bool const found = co_await ask(missing, first_byte_max);
    if (!found) upstream_.drop_exchange();
    if (!found) co_return false;
    request_.record.texts.reason = is_there        ? "memory was needed: the rest of the body was fetched again"
                                   : body.source() ? "the disk did not deliver all of the body: the rest was fetched again"
                                                   : "the client read too slowly: the rest of the body was fetched again";
    co_return true;
}

/// Asks the remaining sources, the current one first. The client is not told the status, since it has the first head.
net::awaitable<bool> RestOfBody::ask(http::Remainder const& missing, milliseconds first_byte_max) {
    auto const said = request_.record.cache_status.fwd_status;
    RequestChanges changes;
    changes.strip_conditions = changes.of_rest = true;
    changes.first_byte_max = first_byte_max;
    std::optional<Bytes> skipped;
    for (;; sources().go_to_next()) {
        changes.range_lines = missing.request_lines(wall_now());
        bool const answered = co_await upstream_.ask_current(changes);
        if (answered && !upstream_.is_doubtful())
            skipped = missing.skipped_in(upstream_.head(), upstream_.exchange().framing(), wall_now());
        if (skipped || !upstream_.may_try_next()) break;
    }
    request_.record.cache_status.fwd_status = said;
    if (!skipped) co_return false;
    upstream_.exchange().go_on_behind(*skipped, missing.left_in(upstream_.head(), upstream_.exchange().framing()));
    request_.services.counters.resumed.add();
    co_return true;
}

}   // namespace garner::proxy
