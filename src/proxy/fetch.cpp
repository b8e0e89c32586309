// From the origin: asking, retrying, judging, storing, passing on.
#include "cache/parts.hpp"
#include "http/cacheability.hpp"
#include "http/dates.hpp"
#include "http/hop_by_hop.hpp"
#include "http/invalidation.hpp"
#include "net/address.hpp"
#include "proxy/decision.hpp"
#include "proxy/fill_pump.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

using client::Trouble;
using http::Method;
using http::Name;

namespace {

bool has_conditions(http::RequestHead const& request) {
    return request.fields.has(Name::if_none_match) || request.fields.has(Name::if_modified_since) ||
           request.fields.has(Name::if_range);
}

}  // namespace

net::awaitable<void> Transaction::fetch(cache::FillLease lead, store::ObjectPtr stale) {
    counted_ = Answer::miss;
    // Beside the client's own conditions ours would ask another question.
    if (stale && cache::is_incomplete(*stale) && has_conditions(client_.head())) stale = nullptr;
    bool of_parts = stale && cache::is_incomplete(*stale);
    http::Validators validators;
    if (stale) {
        parse_text_.assign(stale->head()).append("\r\n");
        std::size_t scanned = 0;
        http::parse_response_head(parse_text_, {.bytes = SIZE_MAX, .fields = SIZE_MAX}, scanned, stored_head_);
        validators = http::validators_of(stored_head_);
    }
    conditional_ = !validators.empty() && client_.head().method == Method::get;
    if (!conditional_) validators = {};
    // Who leads wants the whole answer, for itself and for others. What is fetched beside others goes out as it came, so
    // that the client's own validators do their work where nothing is stored; so does the Range that stale parts answer.
    bool leads = lead && lead.leads_others();
    bool whole = !of_parts && (conditional_ || leads);
    widened_ = whole && client_.head().fields.has(Name::range);
    if (!stale && leads) find_parts();
    // Registered before the origin is asked: a purge meanwhile must keep the answer from being stored. To a HEAD it can
    // only freshen.
    if (!lead && (stale || client_.head().method == Method::get)) lead = services_.cache.lease_alone(key_, stale);
    if (!co_await ask_origin(validators, whole)) co_return co_await fetch_failed(std::move(lead), std::move(stale));
    co_await take_response(std::move(lead), std::move(stale));
}

net::awaitable<void> Transaction::pass(http::Bypass why) {
    using http::Bypass;
    counted_ = Answer::passed;
    services_.counters.passed.add(why);
    tag_ = ResultTag::tcp_miss;
    status_.fwd = why == Bypass::method             ? http::Fwd::method
                  : why == Bypass::no_store_request ? http::Fwd::request
                                                    : http::Fwd::bypass;
    say(text(why));
    // Registered before the origin is asked: a purge meanwhile must keep the answer from being stored.
    cache::FillLease lead;
    if (why == Bypass::method && client_.head().method == Method::post) lead = services_.cache.lease_alone(key_, nullptr);
    http::Validators unconditional;
    store::ObjectPtr none;
    if (!co_await ask_origin(unconditional, false)) {
        if (went_out_ && http::invalidates(client_.head().method, std::nullopt)) services_.cache.purge(key_);
        co_return co_await answer_failure(std::move(lead), std::move(none));
    }
    if (exchange_->head().status == 101) co_return co_await switch_protocols();
    invalidate(lead.fill().get());
    bool sent_whole = !upload_.started || upload_.whole;
    if (lead && sent_whole && http::represents_target(exchange_->head(), target_.uri))
        co_return co_await take_response(std::move(lead), std::move(none));
    lead.drop();
    co_await stream_through(text(why));
}

/// RFC 9111 4.4. `own`: the fetch that brought the answer.
void Transaction::invalidate(cache::Fill const* own) {
    auto const& response = exchange_->head();
    if (!http::invalidates(client_.head().method, response.status)) return;
    services_.cache.purge(key_, own);
    for (auto const& url : http::also_invalidated(response, target_.uri)) {
        std::string text;
        write_key_text(target_.partition(), url, text);
        services_.cache.purge(services_.cache.key(text), own);
    }
}

namespace {

cache::FetchFailure origin_answers(std::uint16_t status) {
    return {status, "The origin answers " + std::to_string(status) + "."};
}

}  // namespace

// ---- asking ----

void Transaction::write_request(http::Validators validators, bool strip_conditions) {
    auto const& request = client_.head();
    RequestExtras extras;
    extras.target = target_.path;
    extras.host = target_.host_field;
    extras.via = services_.shared.via_name;
    extras.body = client_.body_framing();
    extras.validators = validators;
    extras.strip_conditions = strip_conditions;
    if (parts_) extras.range_lines = range_text_;
    extras.upgrade = wants_upgrade();
    auto forwarded = forwarded_line(options_->forwarded, client_.peer().address.text());
    extras.forwarded_line = forwarded;
    if ((request.method == Method::trace || request.method == Method::options) && request.fields.has(Name::max_forwards)) {
        auto hops = parse_decimal(request.fields.first(Name::max_forwards));
        if (hops && *hops > 0) extras.max_forwards = static_cast<std::uint32_t>(std::min<std::uint64_t>(*hops, 1'000'000) - 1);
    }
    request_text_.clear();
    append_request_head(request, extras, request_text_);
}

/// True when a final head (or a 101) is there; else failure_ says what went wrong.
net::awaitable<bool> Transaction::ask_origin(http::Validators validators, bool strip_conditions) {
    write_request(validators, strip_conditions);
    if (co_await try_origin(false)) co_return true;
    // RFC 9110 9.2.2, RFC 9112 9.3.1: once more, when an idle connection had died under a request that can be repeated.
    bool closed = trouble_ == Trouble::closed || trouble_ == Trouble::reset;
    bool died = closed && exchange_ && exchange_->reused() && !exchange_->answered() && !aborted_ && !client_gone_;
    if (!died || !http::is_idempotent(client_.head().method) || upload_.started) co_return false;
    services_.counters.origin_retries.add();
    co_return co_await try_origin(true);
}

net::awaitable<bool> Transaction::try_origin(bool fresh_connection) {
    drop_exchange();
    failure_ = {};
    fault_ = Fault::nobodys;
    trouble_ = Trouble::none;
    auto const& authority = target_.uri.authority;
    bool tls = target_.uri.scheme == http::Scheme::https;
    net::PoolKey key{.tls = tls, .host = authority.host, .port = authority.port, .peer = {}, .server_name = authority.host};
    net::pool_key(key, pool_key_);
    hierarchy_ = Hierarchy::direct;
    std::unique_ptr<net::Transport> transport;
    if (!fresh_connection) transport = take_pooled();
    bool reused = transport != nullptr;
    if (!reused) {
        transport = co_await connect();
        if (!transport) co_return false;
    }
    (reused ? services_.counters.origin_reused : services_.counters.origin_connections).add();
    exchange_ = std::make_unique<client::Exchange>(std::move(transport), services_.worker.buffers.take(), reused,
                                                   options_->limits.head);
    asked_at_ = wall_now();
    went_out_ = true;
    iovec part{request_text_.data(), request_text_.size()};
    std::span<iovec> parts(&part, 1);
    auto trouble = co_await exchange_->send(parts, options_->deadlines.body);
    if (trouble == Trouble::none) {
        if (!client_.body_done()) start_upload();
        trouble = co_await read_final_head();
    }
    if (trouble == Trouble::none) co_return true;
    trouble_ = trouble;
    co_await join_upload();
    if (failure_.reason.empty()) failed_by(trouble);
    co_return false;
}

/// A pooled connection may have been opened for somebody whom other rules let further.
std::unique_ptr<net::Transport> Transaction::take_pooled() {
    while (auto transport = services_.worker.pool.take(pool_key_)) {
        peer_ = transport->remote();
        if (permits(rule_request(), peer_).allowed()) return transport;
    }
    return nullptr;
}

net::awaitable<std::unique_ptr<net::Transport>> Transaction::connect() {
    auto const& authority = target_.uri.authority;
    net::ConnectTarget where;
    where.host = std::string(authority.host);
    where.port = authority.port;
    where.tls = target_.uri.scheme == http::Scheme::https && client_.head().method != Method::connect;
    net::AddressFilter filter = [this](net::Address const& address) -> char const* {
        auto decision = permits(rule_request(), net::to_ip(address));
        if (decision.allowed()) return nullptr;
        rule_text_ = decision.text();
        return rule_text_.c_str();
    };
    if (reloads()) services_.worker.resolver.forget_failure(where.host);
    net::ConnectStop stop;
    connecting_ = &stop;
    client_.watch([this] {
        client_gone_ = true;
        if (connecting_) connecting_->request();
    });
    auto connected = co_await services_.worker.connector.connect(where, filter, &stop);
    client_.unwatch();
    connecting_ = nullptr;
    peer_ = net::to_ip(connected.address);
    if (connected.failure == net::ConnectFailure::none) {
        connected.transport->set_remote(peer_);
        co_return std::move(connected.transport);
    }
    failed_to_connect(connected);
    co_return nullptr;
}

net::awaitable<Trouble> Transaction::read_final_head() {
    for (std::uint32_t interim = 0;;) {
        bool uploading = upload_.running;
        bool watch = !uploading;
        if (watch)
            client_.watch([this] {
                client_gone_ = true;
                exchange_->cancel();
            });
        auto trouble = co_await exchange_->read_head(client_.head().method, options_->deadlines.first_byte);
        if (watch) client_.unwatch();
        // The head may have come in the very moment: the exchange is cancelled all the same.
        if (client_gone_) co_return Trouble::cancelled;
        // While the body was still on its way the origin had nothing to answer; the body's own deadline watched that.
        if (trouble == Trouble::timed_out && uploading) continue;
        if (trouble != Trouble::none) co_return trouble;
        auto status = exchange_->head().status;
        if (status >= 200 || status == 101) {
            status_.fwd_status = status;
            co_return Trouble::none;
        }
        if (interim++ >= options_->limits.interim_responses) {
            failed(502, "The origin sends interim responses without end.", Fault::answer);
            co_return Trouble::malformed;
        }
        if (!co_await pass_interim()) co_return Trouble::cancelled;
    }
}

/// RFC 9110 15.2: interim responses are passed on, but not to HTTP/1.0.
net::awaitable<bool> Transaction::pass_interim() {
    if (client_.head().version == http::Version::http_1_0) co_return true;
    head_text_.clear();
    auto const& interim = exchange_->head();
    append_status_line(interim.status, interim.reason, head_text_);
    http::HopByHop hop_by_hop(interim.fields);
    for (auto const& field : interim.fields)
        if (!hop_by_hop.dropped(field) && field.id != Name::content_length)
            head_text_.append(field.name).append(": ").append(field.value).append("\r\n");
    head_text_.append("\r\n");
    iovec part{head_text_.data(), head_text_.size()};
    co_return co_await send(std::span<iovec>(&part, 1));
}

// ---- judging ----

net::awaitable<void> Transaction::take_response(cache::FillLease lead, store::ObjectPtr stale) {
    auto const& response = exchange_->head();
    if (response.status == 101) {
        lead.refuse("101");
        failed(502, "The origin switches protocols, and nobody asked it to.", Fault::answer);
        cache::FillLease nothing;
        co_return co_await fetch_failed(std::move(nothing), std::move(stale));
    }
    if (response.status == 304 && !conditional_ && !http::is_conditional(client_.head().fields)) {
        failed(502, "The origin answers 304 to a request without conditions.", Fault::answer);
        co_return co_await fetch_failed(std::move(lead), std::move(stale));
    }
    services_.cache.failures().forget(key_, steady_now());
    auto parts = std::exchange(parts_, nullptr);
    if (parts) {
        if (completes(*parts)) co_return co_await complete(std::move(lead), std::move(parts));
        bool of_range = response.status == 206 || response.status == 416;
        if (of_range) co_return co_await ask_again(std::move(lead), std::move(stale));
    }
    if (stale && conditional_ && response.status == 304) {
        if (http::is_about(response, stored_head_)) co_return co_await freshen(std::move(lead), std::move(stale));
        co_return co_await ask_again(std::move(lead), std::move(stale));
    }
    if (stale && http::is_stale_if_error_status(response.status) &&
        http::may_serve_stale_on_error(stale->terms(), control_, wall_now(), http::StaleOnErrorKind::error_status)) {
        lead.fail(origin_answers(response.status));
        finish_exchange();
        co_return co_await serve_stale(std::move(stale), StaleUse::if_error);
    }
    if (stale && client_.head().method == Method::head && response.status == 200)
        co_return co_await take_head(std::move(lead), std::move(stale));
    if (stale) {
        counted_ = Answer::refreshed;
        tag_ = ResultTag::tcp_refresh_modified;
    }
    auto control = http::parse_response_cache_control(response.fields, freshness_options({}).targeted);
    using http::StoreRefusal;
    auto why = why_not_stored(response, control, http::Storing::answer);
    bool too_large = exchange_->framing().kind == http::Framing::Kind::length &&
                     exchange_->framing().length > services_.cache.object_max();
    if (why == StoreRefusal::none && too_large) why = StoreRefusal::too_large;
    if (why == StoreRefusal::none && !lead) why = StoreRefusal::method;
    store::BodyPtr nothing_yet;
    if (why == StoreRefusal::none)
        co_return co_await store_response(std::move(lead), response, control, std::move(nothing_yet));
    services_.counters.not_stored.add(why);
    bool in_trouble = stale && http::is_stale_if_error_status(response.status);
    if (lead && in_trouble)
        // RFC 9111 4.3.3: to those who wait it is as if the origin had not answered; a thousand of them must not ask it
        // again now, one by one.
        lead.fail(origin_answers(response.status));
    else if (lead)
        lead.refuse(text(why));
    auto const& outdated = stale ? stale : parts;
    if (outdated && http::supersedes(client_.head(), response)) services_.cache.forget(key_, *outdated);
    if (widened_ && response.status == 200) co_return co_await ask_for_range();
    co_await stream_through(text(why));
}

/// As far as the head tells.
http::StoreRefusal Transaction::why_not_stored(http::ResponseHead const& response,
                                               http::ResponseCacheControl const& control,
                                               http::Storing what) const {
    auto content_type = response.fields.first(Name::content_type);
    auto freshness = freshness_options(content_type);
    http::StoreOptions how;
    how.set_cookie = options_->caching.store_set_cookie;
    how.keeps_errors = freshness.negative_ttl.value_or(0) > 0;
    how.has_own_ttl = freshness.default_ttl > 0 || freshness.min_ttl > 0;
    how.combinable = is_combinable(response);
    how.what = what;
    how.represents_target = client_.head().method == Method::post && http::represents_target(response, target_.uri);
    auto refusal = http::why_not_store(client_.head(), control_, response, control, how);
    if (refusal != http::StoreRefusal::none) return refusal;
    bool never = rule_forbids_storing(options_->caching, rule_request(), content_type);
    return never ? http::StoreRefusal::by_rule : http::StoreRefusal::none;
}

http::FreshnessOptions Transaction::freshness_options(std::string_view content_type) const {
    auto freshness = proxy::freshness_options(options_->caching, rule_request(), content_type);
    // RFC 9213 2.2: who is the target is the operator's to say, and by default this proxy is none.
    freshness.targeted = targeted_;
    return freshness;
}

/// RFC 9111 4.3.3: the answer is about another response than ours. The request is repeated without our conditions.
net::awaitable<void> Transaction::ask_again(cache::FillLease lead, store::ObjectPtr stale) {
    finish_exchange();
    conditional_ = false;
    http::Validators none;
    bool whole = !stale || !cache::is_incomplete(*stale);
    if (!co_await ask_origin(none, whole)) co_return co_await fetch_failed(std::move(lead), std::move(stale));
    co_await take_response(std::move(lead), std::move(stale));
}

// ---- storing ----

net::awaitable<void> Transaction::store_response(cache::FillLease lead, http::ResponseHead const& response,
                                                 http::ResponseCacheControl const& control, store::BodyPtr begun) {
    content_type_ = response.fields.first(Name::content_type);
    auto arrived = wall_now();
    now_ = arrived;
    bool restricted = !control.no_cache_fields.empty() || !control.private_fields.empty();
    head_text_.clear();
    append_response_head(response, &control, unix_seconds(arrived), head_text_);
    own_head_.clear();
    if (restricted) append_response_head(response, nullptr, unix_seconds(arrived), own_head_);
    auto vary = http::parse_vary(response.fields);
    auto variant = vary.empty() ? std::string() : http::variant_key(vary, client_.head().fields);

    store::Object::Parts parts;
    std::string variant_key;
    parts.key = key_.text;
    if (!vary.empty()) {
        variant_key = cache::variant_text(key_.text, variant);
        parts.key = variant_key;
    }
    parts.head = head_text_;
    parts.terms = http::terms_of(response, control, asked_at_, arrived, freshness_options(content_type_));
    parts.status = response.status;
    parts.sequence = services_.cache.next_sequence();
    parts.source = peer_;
    status_.ttl = std::int64_t{parts.terms.lifetime} - http::current_age(parts.terms, arrived);
    say_departure(parts.terms);

    bool whole = exchange_->framing().kind == http::Framing::Kind::none;
    if (!whole && !begun && response.status != 206) {
        parts.bytes = whole_body_at_hand();
        whole = exchange_->body_done();
    }
    if (whole) {
        auto object = services_.cache.make_object(parts, key_.fingerprint);
        status_.stored = object != nullptr;
        if (!object) object = store::Object::make(parts, nullptr);
        lead.complete(object, std::move(vary), std::move(variant));
        object = as_it_came(parts, std::move(object));
        finish_exchange();
        co_return co_await deliver(std::move(object), nullptr);
    }
    parts.body = std::move(begun);
    co_await start_fill(std::move(lead), parts, std::move(vary), std::move(variant));
}

/// The body, when all of it came with the head; the bytes stay valid until the exchange reads again.
std::string_view Transaction::whole_body_at_hand() {
    auto const& framing = exchange_->framing();
    if (framing.kind != http::Framing::Kind::length || framing.length > store::Object::inline_body_max ||
        exchange_->leftover().size() < framing.length)
        return {};
    auto piece = exchange_->body_at_hand();
    if (piece.data.size() != framing.length) return {};   // a zero length has no data step
    exchange_->body_at_hand();
    return piece.data;
}

/// From here on the body belongs to the worker's pump, and this client is its first follower.
net::awaitable<void> Transaction::start_fill(cache::FillLease lead, store::Object::Parts parts, http::VaryNames vary,
                                             std::string variant) {
    auto const& framing = exchange_->framing();
    std::optional<Bytes> expected;
    if (framing.kind == http::Framing::Kind::length) expected = framing.length;
    bool completing = parts.body != nullptr;
    auto body = completing ? parts.body : services_.cache.make_body(expected);
    parts.bytes = {};
    parts.body = body;
    auto growing = services_.cache.make_object(parts, key_.fingerprint);
    if (!growing || services_.cache.room(*body, key_.fingerprint).empty()) {
        store::ObjectPtr none;
        if (completing) co_return co_await ask_again(std::move(lead), std::move(none));
        services_.counters.not_stored.add(http::StoreRefusal::no_room);
        auto const* why = text(http::StoreRefusal::no_room);
        lead.refuse(why);
        co_return co_await stream_through(why);
    }
    status_.stored = true;
    auto fill = lead.fill();
    cache::Follower follower(services_.cache, fill);
    lead.head_is_storable(growing, vary, variant);
    auto pump = std::make_unique<FillPump>(services_, options_, std::move(lead), std::move(exchange_), pool_key_, growing,
                                           std::move(vary), std::move(variant));
    FillPump::start(std::move(pump));
    growing = as_it_came(parts, std::move(growing));
    co_await deliver(std::move(growing), &follower);
}

/// What goes to this client: the response as it came, where some of its fields are not kept (RFC 9111 5.2.2.4, 5.2.2.7).
store::ObjectPtr Transaction::as_it_came(store::Object::Parts parts, store::ObjectPtr kept) const {
    if (own_head_.empty()) return kept;
    parts.head = own_head_;
    return store::Object::make(parts, nullptr);
}

/// RFC 9111 4.3.5: the answer to a HEAD is as good as a 304 about what it agrees with.
net::awaitable<void> Transaction::take_head(cache::FillLease lead, store::ObjectPtr stale) {
    if (http::head_agrees(exchange_->head(), stored_head_, stale->length()))
        co_return co_await freshen(std::move(lead), std::move(stale));
    counted_ = Answer::refreshed;
    tag_ = ResultTag::tcp_refresh_modified;
    outdate(std::move(lead), *stale);
    services_.counters.not_stored.add(http::StoreRefusal::method);
    co_await stream_through(text(http::StoreRefusal::method));
}

/// The origin has something else by now: what is stored is kept for the day the origin cannot be reached.
void Transaction::outdate(cache::FillLease lead, store::Object const& stale) {
    auto parts = stale.parts();
    parts.terms.lifetime = 0;
    parts.terms.stale_while_revalidate = 0;
    auto vary = http::parse_vary(stored_head_.fields);
    auto variant = vary.empty() ? std::string() : http::variant_key(vary, client_.head().fields);
    lead.complete(services_.cache.make_object(parts, key_.fingerprint), std::move(vary), std::move(variant));
}

/// RFC 9111 4.3.4: a 304 gives the stored response a new head over the same body.
net::awaitable<void> Transaction::freshen(cache::FillLease lead, store::ObjectPtr stale) {
    counted_ = Answer::revalidated;
    tag_ = ResultTag::tcp_refresh_unmodified;
    auto const& update = exchange_->head();
    auto arrived = wall_now();
    now_ = arrived;
    head_text_.clear();
    append_status_line(stale->status(), stored_head_.reason, head_text_);
    head_text_ += http::merged_head_fields(stored_head_, update, freshness_options({}).targeted);
    std::string merged = head_text_ + "\r\n";
    http::ResponseHead head;
    std::size_t scanned = 0;
    http::parse_response_head(merged, {.bytes = SIZE_MAX, .fields = SIZE_MAX}, scanned, head);
    if (!head.fields.has(Name::date)) {
        head_text_.append("Date: ").append(http::format_http_date(unix_seconds(arrived))).append("\r\n");
    }
    content_type_ = head.fields.first(Name::content_type);
    auto control = http::parse_response_cache_control(head.fields, freshness_options({}).targeted);
    store::Object::Parts parts;
    parts.head = head_text_;
    parts.bytes = stale->bytes();
    parts.body = stale->body();
    parts.terms = http::terms_of(head, control, asked_at_, arrived, freshness_options(content_type_));
    parts.status = stale->status();
    // A new head makes the old response no newer: one that came meanwhile stays.
    parts.sequence = stale->sequence();
    parts.source = peer_;
    auto vary = http::parse_vary(head.fields);
    auto variant = vary.empty() || vary.star ? std::string() : http::variant_key(vary, client_.head().fields);
    std::string key_text(key_.text);
    if (!vary.empty() && !vary.star) key_text = cache::variant_text(key_.text, variant);
    if (cache::is_incomplete(*stale)) key_text = cache::parts_text(key_text);
    parts.key = key_text;
    finish_exchange();
    // What the 304 says may make the response this client's alone; then nobody else keeps or gets it.
    if (auto why = why_not_stored(head, control, http::Storing::freshened); why != http::StoreRefusal::none) {
        services_.counters.not_stored.add(why);
        say(text(why));
        lead.refuse(text(why));
        services_.cache.purge(key_);
        auto own = store::Object::make(parts, nullptr);
        co_return co_await deliver(std::move(own), nullptr);
    }
    auto object = services_.cache.make_object(parts, key_.fingerprint);
    status_.stored = object != nullptr;
    if (!object) object = store::Object::make(parts, nullptr);
    status_.ttl = std::int64_t{parts.terms.lifetime} - http::current_age(parts.terms, arrived);
    say_departure(parts.terms);
    lead.complete(object, std::move(vary), std::move(variant));
    co_await deliver(std::move(object), nullptr);
}

// ---- passing on ----

/// Sends the response as it comes, re-framed, at the client's pace.
net::awaitable<void> Transaction::stream_through(std::string_view why_not_stored) {
    reason_ = why_not_stored;
    status_.detail = why_not_stored;
    auto const& response = exchange_->head();
    auto const& framing = exchange_->framing();
    content_type_ = response.fields.first(Name::content_type);
    sent_status_ = response.status;
    head_text_.clear();
    append_response_head(response, nullptr, unix_seconds(wall_now()), head_text_);
    if (response.fields.has(Name::age))
        head_text_.append("Age: ").append(response.fields.first(Name::age)).append("\r\n");
    Patch patch;
    patch.status = status_;
    using Kind = http::Framing::Kind;
    bool chunked = false;
    if (framing.kind == Kind::length)
        patch.content_length = framing.length;
    else if (framing.kind == Kind::none) {
        // HEAD and 304 say how long the body would be; a 204 has none to speak of.
        auto length = parse_decimal(response.fields.first(Name::content_length));
        if (length && response.status != 204) patch.content_length = length;
    } else {
        chunked = patch.chunked = !starts_closing(patch);
    }
    auto tail = patch_of(patch);
    head_sent_ = true;
    std::array<iovec, 6> parts;
    parts[0] = {head_text_.data(), head_text_.size()};
    parts[1] = {const_cast<char*>(tail.data()), tail.size()};
    std::size_t used = 2;
    char chunk_header[18];
    for (;;) {
        auto piece = exchange_->body_at_hand();
        if (piece.data.empty() && piece.trouble == Trouble::none && !exchange_->body_done()) {
            // Nothing here: let the client have what there is, then wait.
            if (used > 0 && !co_await send(std::span(parts.data(), used))) co_return co_await join_upload();
            used = 0;
            piece = co_await exchange_->read_body(options_->deadlines.body);
        }
        if (piece.trouble != Trouble::none) {
            if (used > 0) co_await send(std::span(parts.data(), used));
            co_return co_await break_off(piece.trouble);
        }
        if (piece.data.empty()) break;
        if (chunked) parts[used++] = {chunk_header, http::write_chunk_header(piece.data.size(), chunk_header)};
        parts[used++] = {const_cast<char*>(piece.data.data()), piece.data.size()};
        if (chunked) parts[used++] = {const_cast<char*>("\r\n"), 2};
        if (!co_await send(std::span(parts.data(), used))) co_return co_await join_upload();
        body_sent_ += piece.data.size();
        used = 0;
    }
    std::string end;
    if (chunked) end.append("0\r\n").append(exchange_->trailers()).append("\r\n");
    if (!end.empty()) parts[used++] = {end.data(), end.size()};
    if (used > 0) co_await send(std::span(parts.data(), used));
    finish_exchange();
    co_await join_upload();
}

/// The origin's body broke off: the client must not take what it has for the whole.
net::awaitable<void> Transaction::break_off(Trouble trouble) {
    reason_ = trouble == Trouble::timed_out ? "the origin stalled in the body" : "the origin's answer broke off";
    services_.counters.origin_failures.add();
    close_ = true;
    co_await join_upload();
    show_truncation();
}

void Transaction::finish_exchange() {
    if (!exchange_) return;
    count_origin_traffic();
    // Behind half a request's body the next request would be taken for the rest of it.
    bool sent_whole = !upload_.started || upload_.whole;
    // An origin that did not switch may have left HTTP half-way all the same: Node drops what it cannot read from then on.
    bool plain = !wants_upgrade();
    if (sent_whole && plain && !upload_.running && exchange_->reusable())
        services_.worker.pool.give(pool_key_, exchange_->release());
}

/// Closes the connection, unless it went back to the pool.
void Transaction::drop_exchange() {
    garner::check(!upload_.running);
    if (exchange_ && exchange_->connected()) count_origin_traffic();
    exchange_.reset();
}

void Transaction::count_origin_traffic() {
    auto traffic = exchange_->take_traffic();
    services_.counters.origin_received.add(traffic.received);
    services_.counters.origin_sent.add(traffic.sent);
}

// ---- failures ----

net::awaitable<void> Transaction::serve_stale(store::ObjectPtr stale, StaleUse why) {
    services_.counters.stale_used.add(why);
    counted_ = Answer::stale;
    tag_ = ResultTag::tcp_refresh_fail_old;
    status_.hit = true;
    status_.fwd = http::Fwd::none;
    now_ = wall_now();
    status_.ttl = std::int64_t{stale->terms().lifetime} - http::current_age(stale->terms(), now_);
    say(text(why));
    co_await deliver(std::move(stale), nullptr);
}

net::awaitable<void> Transaction::answer_failure(cache::FillLease lead, store::ObjectPtr stale) {
    co_await join_upload();
    drop_exchange();   // the origin hears at once that nobody waits any more
    if (client_gone_ || aborted_) {
        close_ = true;
        lead.drop();
        co_return;
    }
    // What the rules forbid this client they may allow the next: another follower leads then.
    if (failure_.status == 403)
        lead.drop();
    else
        lead.fail(failure_);
    services_.counters.origin_failures.add();
    if (stale && http::may_serve_stale_on_error(stale->terms(), control_, wall_now(), http::StaleOnErrorKind::unreachable))
        co_return co_await serve_stale(std::move(stale), StaleUse::unreachable);
    counted_ = failure_.status == 403 ? Answer::refused : Answer::failed;
    tag_ = failure_.status == 403 ? ResultTag::tcp_denied : stale ? ResultTag::tcp_refresh_fail_err : ResultTag::tcp_miss;
    reason_ = failure_.reason;
    auto what = failure_.reason;
    bool by_client = failure_.status == 400 || failure_.status == 408;
    std::string_view rule = failure_.status == 403 ? std::string_view(rule_text_) : by_client ? "request body" : "origin";
    co_await error(failure_.status, what, rule);
}

void Transaction::failed(std::uint16_t status, std::string reason, Fault fault) {
    failure_ = {status, std::move(reason)};
    fault_ = fault;
}

void Transaction::failed_by(Trouble trouble) {
    constexpr auto fault = Fault::answer;
    switch (trouble) {
    case Trouble::timed_out: return failed(504, "The origin did not answer in time.", fault);
    case Trouble::malformed: return failed(502, std::string("The origin's answer is malformed: ") + exchange_->fault(), fault);
    case Trouble::cancelled: return failed(503, "The request was given up.");
    default: return failed(502, "The origin closed the connection without an answer.", fault);
    }
}

void Transaction::failed_to_connect(net::Connected const& connected) {
    using F = net::ConnectFailure;
    constexpr auto theirs = Fault::connection;
    switch (connected.failure) {
    case F::forbidden: return failed(403, "This proxy's rules do not allow this destination.");
    case F::timed_out: return failed(504, "The origin could not be reached in time: " + connected.reason, theirs);
    case F::no_descriptors: return failed(503, "This proxy has no descriptors left: " + connected.reason);
    case F::no_resources: return failed(502, "The origin could not be reached: " + connected.reason);
    case F::dns: return failed(502, "The name could not be resolved: " + connected.reason);
    case F::cancelled: return failed(503, "The request was given up.");
    default: return failed(502, "The origin could not be reached: " + connected.reason, theirs);
    }
}

}  // namespace garner::proxy
