// Parts (RFC 9111 3.3, 3.4): which 206 are kept, and how what they lack is fetched to make them the whole.
#include "http/partial.hpp"

#include "cache/parts.hpp"
#include "proxy/decision.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

using http::Name;

namespace {

std::optional<std::uint64_t> length_of(http::Framing const& framing) {
    return framing.kind == http::Framing::Kind::length ? std::optional(framing.length) : std::nullopt;
}

}  // namespace

/// A 206 that may be stored as a part. One to a request without Range answers a question that nobody asked; and who asked
/// for the whole leads others, who want that.
bool Transaction::is_combinable(http::ResponseHead const& response) const {
    auto const& request = client_.head();
    bool asked = request.fields.has(Name::range) && !widened_;
    return response.status == 206 && asked && http::describes_itself(request, response) &&
           http::part_of(response, length_of(exchange_->framing()));
}

/// What is to be fetched whole may be there in parts: then the origin is asked for the rest of it alone.
net::awaitable<void> Transaction::find_parts() {
    auto parts = services_.cache.parts(key_, client_.head());
    auto const here = services_.worker.io.get_executor();
    if (!parts && services_.cache.disk()) parts = co_await services_.cache.parts_from_disk(key_, client_.head(), here);
    if (parts) ask_for_rest(std::move(parts));
}

void Transaction::ask_for_rest(store::ObjectPtr parts) {
    auto length = parts->body()->size();
    auto missing = lacks(*parts, services_.cache.object_max());
    bool reachable = !source_matters_ || permits(rule_request(), parts->source()).allowed();
    if (!reachable || !missing) return;
    read_head_of(*parts);
    missing_ = *missing;
    range_text_ = http::ask_for_missing(stored_head_, {missing_.first, missing_.last}, length, now_);
    parts_ = std::move(parts);
    status_.fwd = http::Fwd::partial;
}

/// The answer is exactly what was missing, of the same representation by a strong validator, and from the same address:
/// by that the rules decide who may have it from the store.
bool Transaction::completes(store::Object const& parts) const {
    auto const& response = exchange_->head();
    http::Part wanted{{missing_.first, missing_.last}, parts.body()->size()};
    return source_address() == parts.source() && http::part_of(response, length_of(exchange_->framing())) == wanted &&
           http::is_same_representation(response, stored_head_, wall_now());
}

/// RFC 9111 3.4: the stored head with what the 206 says anew, over the bytes of both; it grows like any other fetch.
net::awaitable<void> Transaction::complete(cache::FillLease lead, store::ObjectPtr parts) {
    auto targeted = freshness_options({}).targeted;
    auto merged = http::head_of_whole(exchange_->head(), &stored_head_, targeted) + "\r\n";
    http::ResponseHead head;
    http::read_stored_head(merged, head);
    auto control = http::parse_response_cache_control(head.fields, targeted);
    store::ObjectPtr none;
    auto why = why_not_stored(head, control, http::Storing::answer);
    if (why != http::StoreRefusal::none) co_return co_await ask_again(std::move(lead), std::move(none));
    auto body = parts->body()->completing(missing_);
    co_await store_response(std::move(lead), head, control, std::move(body));
}

/// All of it was asked for to be kept, and it cannot be: the client gets its range alone.
net::awaitable<void> Transaction::ask_for_range() {
    widened_ = conditional_ = false;
    finish_exchange();
    auto lead = services_.cache.lease_alone(key_, nullptr);
    store::ObjectPtr stale;
    http::Validators none;
    if (!co_await ask_sources(none, false)) co_return co_await fetch_failed(std::move(lead), std::move(stale));
    co_await take_response(std::move(lead), std::move(stale));
}

}  // namespace garner::proxy
