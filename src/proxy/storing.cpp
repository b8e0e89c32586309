#include "proxy/storing.hpp"

#include <algorithm>
#include <utility>

#include "cache/parts.hpp"
#include "group/group.hpp"
#include "http/dates.hpp"
#include "http/gateway.hpp"
#include "http/partial.hpp"
#include "proxy/fill_pump.hpp"
#include "proxy/group_offer.hpp"
#include "proxy/head_writer.hpp"
#include "proxy/resume.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;
using http::StoreRefusal;

namespace {

std::optional<std::uint64_t> length_of(http::Framing const& framing) {
    return framing.kind == http::Framing::Kind::length ? std::optional(framing.length) : std::nullopt;
}

}   // namespace

// ---- may it be stored ----

StoreRefusal Storing::why_not_stored(http::ResponseHead const& response, http::ResponseCacheControl const& control,
                                     http::StoredAs what) const {
    // The origin knows the connection's user, also for a request without credentials.
    if (request_.client.client()->own_connections != 0) return StoreRefusal::authorization;
    auto const& options = *request_.options;
    auto content_type = response.fields.first(Name::content_type);
    auto freshness = request_.freshness_options(content_type);
    http::StoreOptions how;
    how.set_cookie = options.caching.store_set_cookie;
    how.keeps_errors = freshness.negative_ttl.value_or(0) > 0;
    how.has_own_ttl = freshness.default_ttl > 0 || freshness.ttl_min > 0;
    how.combinable = is_combinable(response);
    how.what = what;
    bool const passes_gateway =
        !drops_gateway_fields(options, request_.target.accelerated, request_.client.client()->sender().address);
    how.overrides_method = passes_gateway && http::has_method_override(request_.head().fields);
    how.represents_target = request_.head().method == Method::post && http::represents_target(response, request_.target.uri);
    auto refusal = http::why_not_store(request_.head(), request_.control, response, control, how);
    if (refusal != StoreRefusal::none) return refusal;
    if (request_.bumped_origin && response.fields.has(Name::set_cookie)) return StoreRefusal::set_cookie;
    if (vary_of(response).star) return StoreRefusal::vary_too_long;   // with the names added to its Vary
    if (what == http::StoredAs::answer && is_too_large()) return StoreRefusal::too_large;
    auto const& peer = upstream_.sources().current().peer;
    if (peer && peer->options.proxy_only) return StoreRefusal::proxy_only;
    if (upstream_.is_doubtful()) return StoreRefusal::framing;
    bool never = rule_forbids_storing(options.caching, request_.facts(), content_type);
    return never ? StoreRefusal::by_rule : StoreRefusal::none;
}

bool Storing::is_too_large() const {
    auto const length = length_of(upstream_.exchange().framing());
    return length && refusal_of(request_.services.cache, *length) == StoreRefusal::too_large;
}

/// A 206 that may be stored as a part. A 206 to a request without Range is an error of the origin. A request for the whole
/// leads followers that want the whole.
bool Storing::is_combinable(http::ResponseHead const& response) const {
    bool const asked = request_.head().fields.has(Name::range) && !state_.widened;
    return response.status == 206 && asked && http::describes_itself(request_.head(), response) &&
           http::part_of(response, length_of(upstream_.exchange().framing()));
}

http::VaryNames Storing::vary_of(http::ResponseHead const& response) const {
    return http::effective_vary(response.fields, request_.options->caching.key_fields);
}

std::string Storing::variant_of(http::VaryNames const& vary) const {
    return vary.empty() || vary.star ? std::string() : http::variant_key(vary, request_.head().fields);
}

/// Valid until the next call.
std::string_view Storing::key_of(http::VaryNames const& vary, std::string const& variant) {
    if (vary.empty() || vary.star) return request_.key.text;
    return variant_key_ = cache::variant_text(request_.key.text, variant);
}

// ---- a new response ----

net::awaitable<Step> Storing::store(http::ResponseHead const& response, http::ResponseCacheControl const& control,
                                    store::BodyPtr begun) {
    auto& texts = request_.record.texts;
    auto& head = request_.scratch.head_text;
    texts.content_type = response.fields.first(Name::content_type);
    auto const arrived = request_.now = wall_now();
    bool const restricted = !control.no_cache_fields.empty() || !control.private_fields.empty();
    head.clear();
    append_response_head(response, &control, unix_seconds(arrived), head);
    own_head_.clear();
    if (restricted) append_response_head(response, nullptr, unix_seconds(arrived), own_head_);
    auto vary = vary_of(response);
    auto variant = variant_of(vary);
    auto const key = key_of(vary, variant);

    store::Object::Parts parts;
    parts.key = key;
    parts.head = head;
    parts.terms = http::terms_of(response, control, upstream_.asked_at(), arrived, request_.freshness_options(texts.content_type));
    parts.terms.passed = upstream_.passed();
    parts.status = response.status;
    parts.source = upstream_.source_address();
    set_ttl(parts.terms, arrived);
    auto const here = request_.executor();
    if (request_.services.cache.disk())
        co_await state_.lead.give_after_disk(parts, vary, here);
    else
        state_.lead.give(parts, vary);

    bool whole = upstream_.exchange().framing().kind == http::Framing::Kind::none;
    if (!whole && !begun && response.status != 206) {
        parts.bytes = whole_body_at_hand();
        whole = upstream_.exchange().body_done();
    }
    if (whole) co_return store_whole(parts, std::move(vary), std::move(variant));
    parts.body = std::move(begun);
    co_return start_fill(parts, std::move(vary), std::move(variant));
}

void Storing::set_ttl(http::Terms const& terms, WallTime arrived) {
    request_.record.cache_status.ttl = std::int64_t{terms.lifetime} - http::current_age(terms, arrived);
    request_.record_rule_override(terms);
}

Step Storing::store_whole(store::Object::Parts const& parts, http::VaryNames vary, std::string variant) {
    auto& cache = request_.services.cache;
    auto& memory = cache.memory();
    bool const admitted = memory.admits(parts, request_.key.fingerprint);
    auto object = admitted ? memory.make_object(parts, request_.key.fingerprint) : nullptr;
    bool const in_memory = object != nullptr;
    if (!object) object = store::Object::make(parts, nullptr);
    bool const kept = state_.lead.complete(object, std::move(vary), std::move(variant));
    auto& status = request_.record.cache_status;
    status.stored = in_memory || kept;
    if (!status.stored) {
        auto const why = admitted ? StoreRefusal::no_room : refusal_of(cache, parts.bytes.size());
        request_.services.counters.not_stored.add(why);
        request_.record.say(text(why));
    }
    if (status.stored && (request_.in_group.offered || is_to_be_offered(request_))) offer_now(parts, parts.bytes.size());
    state_.object = as_it_came(parts, std::move(object));
    upstream_.finish_exchange();
    return Step::deliver;
}

/// The offer of a body that is still being received.
std::optional<group::Offer> Storing::offer_for_later(store::Object const& growing) const {
    if (request_.in_group.offered || !is_to_be_offered(request_)) return std::nullopt;
    auto offer = offer_of(request_, {growing.status(), growing.head(), growing.terms(), std::nullopt});
    return offer ? std::optional(*std::move(offer)) : std::nullopt;
}

void Storing::offer_now(store::Object::Parts const& parts, std::optional<Bytes> length) {
    auto offer = offer_of(request_, {parts.status, parts.head, parts.terms, length});
    auto const offered = std::exchange(request_.in_group.offered, nullptr);
    if (offer) return request_.services.group->offer(*std::move(offer), offered);
    if (offered) offered(not_offered(offer.fault().what));
}

/// The body, if all of it came with the head; the bytes stay valid until the exchange reads again.
std::string_view Storing::whole_body_at_hand() {
    auto& exchange = upstream_.exchange();
    auto const& framing = exchange.framing();
    if (framing.kind != http::Framing::Kind::length || framing.length > store::Object::inline_body_max ||
        exchange.leftover().size() < framing.length)
        return {};
    auto piece = exchange.body_at_hand();
    if (piece.data.size() != framing.length) return {};   // a zero length has no data step
    exchange.body_at_hand();
    return piece.data;
}

/// From here on the body belongs to the worker's pump, and this client is its first follower.
Step Storing::start_fill(store::Object::Parts parts, http::VaryNames vary, std::string variant) {
    auto const expected = length_of(upstream_.exchange().framing());
    bool const completing = parts.body != nullptr;
    cache::Writer::Response response{.parts = parts,
                                     .vary = std::move(vary),
                                     .variant = std::move(variant),
                                     .freshness = request_.freshness_options(request_.record.texts.content_type),
                                     .expected = expected,
                                     .place = {}};
    if (parts.status == 206) response.place = http::part_of(upstream_.head(), expected);
    auto& counters = request_.services.counters;
    auto writer = cache::Writer::begin(request_.services.cache, state_.lead, response,
                                       {.executor = request_.executor(),
                                        .laggard = request_.options->deadlines.laggard,
                                        .refused = [&counters](StoreRefusal why) { counters.not_stored.add(why); }});
    if (!writer) {
        state_.stale = nullptr;
        return completing ? Step::ask_again : refuse_for_room(parts, response.vary);
    }
    request_.record.cache_status.stored = writer->refusal() == StoreRefusal::none;
    if (writer->refusal() != StoreRefusal::none) request_.record.say(text(writer->refusal()));
    state_.follower.emplace(writer->shared_fill());
    if (auto const* const account = request_.line_account()) state_.follower->pay_as(account->own(), account->own_cap());
    writer->publish_head();
    if (request_.in_group.offered && writer->refusal() == StoreRefusal::none) offer_now(parts, expected);
    auto const growing = writer->growing();
    start_pump(std::move(writer), expected);
    state_.object = as_it_came(growing->parts(), growing);
    return Step::deliver;
}

void Storing::start_pump(std::unique_ptr<cache::Writer> writer, std::optional<Bytes> expected) {
    auto const growing = writer->growing();
    bool const is_stored = writer->refusal() == StoreRefusal::none;
    auto const& body = *growing->body();
    http::BrokenBody const coming{.first = body.size(), .done = 0, .announced = expected, .length = body.expected()};
    auto fetch = upstream_.hand_over();
    auto pump = std::make_unique<FillPump>(request_.services, request_.options, std::move(writer), std::move(fetch.exchange),
                                           std::move(fetch.use), std::move(fetch.pool_key), std::move(fetch.seat));
    auto const& sources = upstream_.sources();
    if (rest_.may_go_on()) pump->may_resume(std::make_unique<Resumption>(request_, sources.all(), sources.at(), coming));
    if (request_.client.is_absent()) pump->keep_until(steady_now() + request_.options->deadlines.fill);
    if (request_.in_group.of_offer || request_.in_group.replicates) pump->counts_as_replicated();
    if (auto offer = is_stored ? offer_for_later(*growing) : std::nullopt) pump->offer_when_whole(*std::move(offer));
    if (request_.account) pump->pay_by(request_.account->another());
    FillPump::start(std::move(pump));
}

Step Storing::refuse_for_room(store::Object::Parts const& parts, http::VaryNames const& vary) {
    request_.services.counters.not_stored.add(StoreRefusal::no_room);
    request_.record.note_use(request_, store::Object::make(parts, nullptr));   // another policy might have stored it
    if (!request_.client.is_absent()) state_.lead.give_unstored(parts, vary);
    state_.why_not_stored = text(StoreRefusal::no_room);
    state_.lead.refuse(state_.why_not_stored);
    return Step::stream;
}

/// The object for this client: the unmodified response, if some of its fields are not stored (RFC 9111 5.2.2.4, 5.2.2.7).
store::ObjectPtr Storing::as_it_came(store::Object::Parts const& parts, store::ObjectPtr kept) const {
    if (own_head_.empty()) return kept;
    auto own = parts;
    own.head = own_head_;
    return store::Object::make(own, nullptr);
}

// ---- HEAD and 304 ----

void Storing::tell_fetches(http::ResponseHead const& head, cache::Fill const* by) {
    auto const control = http::parse_response_cache_control(head.fields, request_.freshness_options({}).targeted);
    auto const vary = vary_of(head);
    if (vary.star || http::is_personal(request_.head(), control)) return;
    auto const key = key_of(vary, variant_of(vary));
    auto& text = request_.scratch.head_text;
    text.clear();
    append_response_head(head, nullptr, unix_seconds(request_.now), text);
    store::Object::Parts parts;
    parts.key = key;
    parts.head = text;
    request_.services.cache.tell(request_.key, *cache::outline(parts), vary, by);
}

net::awaitable<Step> Storing::take_head() {
    if (http::head_agrees(upstream_.head(), request_.scratch.stored_head, state_.stale->length())) co_return co_await freshen();
    request_.record.answer = Answer::refreshed;
    request_.record.tag = ResultTag::tcp_refresh_modified;
    outdate(std::move(state_.stale));
    request_.services.counters.not_stored.add(StoreRefusal::method);
    state_.why_not_stored = text(StoreRefusal::method);
    co_return Step::stream;
}

net::awaitable<Step> Storing::freshen() {
    auto const stale = std::move(state_.stale);
    auto& text_of_head = request_.scratch.head_text;
    auto& content_type = request_.record.texts.content_type;
    auto const targeted = request_.freshness_options({}).targeted;
    request_.record.answer = Answer::revalidated;
    request_.record.tag = ResultTag::tcp_refresh_unmodified;
    auto const arrived = request_.now = wall_now();
    auto const merged = merge_head(*stale, targeted);
    http::ResponseHead head;
    http::read_stored_head(merged, head);
    if (!head.fields.has(Name::date))
        text_of_head.append("Date: ").append(http::format_http_date(unix_seconds(arrived))).append("\r\n");
    content_type = head.fields.first(Name::content_type);
    auto control = http::parse_response_cache_control(head.fields, targeted);
    auto vary = vary_of(head);
    auto variant = variant_of(vary);
    std::string key(key_of(vary, variant));
    if (cache::is_incomplete(*stale)) key = cache::parts_text(key);
    auto parts = stale->parts();
    parts.kind = store::Object::Kind::response;
    parts.key = key;
    parts.head = text_of_head;
    // The origin still had the response when the request went out: it is newer than responses and invalidations of before. The body
    // still has its old source.
    auto& cache = request_.services.cache;
    if (state_.lead) parts.sequence = std::max(parts.sequence, state_.lead.fill()->asked());
    parts.terms = http::terms_of(head, control, upstream_.asked_at(), arrived, request_.freshness_options(content_type));
    parts.terms.passed = upstream_.passed();
    upstream_.finish_exchange();
    if (auto const why = why_not_stored(head, control, http::StoredAs::freshened); why != StoreRefusal::none) {
        co_await keep_private(parts, why);
        co_return Step::deliver;
    }
    state_.object = cache.memory().make_object(parts, request_.key.fingerprint);
    request_.record.cache_status.stored = state_.object != nullptr;
    if (!state_.object) state_.object = store::Object::make(parts, nullptr);
    set_ttl(parts.terms, arrived);
    state_.lead.complete(state_.object, std::move(vary), std::move(variant));
    co_return Step::deliver;
}

/// Writes the stored head with the fields of the 304 to Scratch::head_text. Returns it with the empty line, for a parser.
std::string Storing::merge_head(store::Object const& stale, std::span<std::string_view const> targeted) {
    auto const& stored_head = request_.scratch.stored_head;
    auto& merged = request_.scratch.head_text;
    merged.clear();
    append_status_line(stale.status(), stored_head.reason, merged);
    merged += http::merged_head_fields(stored_head, upstream_.head(), targeted);
    return merged + "\r\n";
}

/// The fields of the 304 have made the response private to this client: it is neither stored nor shared.
net::awaitable<void> Storing::keep_private(store::Object::Parts const& parts, StoreRefusal why) {
    request_.services.counters.not_stored.add(why);
    request_.record.say(text(why));
    state_.lead.refuse(text(why));
    request_.services.cache.purge(request_.key);
    co_await request_.outlives(store::Survives::process);
    state_.object = store::Object::make(parts, nullptr);
}

void Storing::outdate(store::ObjectPtr stale) {
    auto vary = vary_of(request_.scratch.stored_head);
    auto variant = vary.empty() ? std::string() : http::variant_key(vary, request_.head().fields);
    auto& cache = request_.services.cache;
    auto object = cache.memory().make_object(cache::outdated(*stale), request_.key.fingerprint);
    if (!object) cache.forget(request_.key, *stale);
    state_.lead.complete(std::move(object), std::move(vary), std::move(variant));
}

// ---- parts (RFC 9111 3.3, 3.4) ----

bool Storing::find_parts() {
    auto parts = request_.services.cache.parts(request_.query(cache::Collapse::alone));
    bool const found = parts != nullptr;
    if (found) ask_for_rest(std::move(parts));
    return found;
}

net::awaitable<void> Storing::find_parts_on_disk() {
    auto const query = request_.query(cache::Collapse::alone);
    auto const here = request_.executor();
    auto parts = co_await request_.services.cache.parts_from_disk(query, here);
    if (parts) ask_for_rest(std::move(parts));
}

void Storing::ask_for_rest(store::ObjectPtr parts) {
    auto const length = parts->body()->size();
    auto const missing = lacks(*parts, request_.services.cache.memory().object_max());
    if (!missing || !request_.may_have(*parts)) return;
    request_.scratch.read_head_of(*parts);
    state_.missing = *missing;
    state_.changes.range_lines =
        http::ask_for_missing(request_.scratch.stored_head, {missing->first, missing->last}, length, request_.now);
    upstream_.sources().expect_bytes(missing->last - missing->first + 1);
    state_.parts = std::move(parts);
    request_.record.cache_status.fwd = http::Fwd::partial;
}

/// Requires a strong validator, and the same address: the rules decide by it which clients may have the stored response.
bool Storing::completes(store::Object const& parts) const {
    auto const& response = upstream_.head();
    http::Part wanted{{state_.missing.first, state_.missing.last}, parts.body()->size()};
    return upstream_.source_address() == parts.source() &&
           http::part_of(response, length_of(upstream_.exchange().framing())) == wanted &&
           http::is_same_representation(response, request_.scratch.stored_head, wall_now());
}

/// The completed object grows like any other fill.
net::awaitable<Step> Storing::complete() {
    auto const parts = std::exchange(state_.parts, nullptr);
    auto const targeted = request_.freshness_options({}).targeted;
    auto const merged = http::head_of_whole(upstream_.head(), &request_.scratch.stored_head, targeted) + "\r\n";
    http::ResponseHead head;
    http::read_stored_head(merged, head);
    auto control = http::parse_response_cache_control(head.fields, targeted);
    state_.stale = nullptr;
    if (why_not_stored(head, control, http::StoredAs::answer) != StoreRefusal::none) co_return Step::ask_again;
    auto body = parts->body()->completing(state_.missing);
    co_return co_await store(head, control, std::move(body));
}

}   // namespace garner::proxy
