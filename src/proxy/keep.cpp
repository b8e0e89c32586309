// Keeping what the origin answered: a new response, or new fields of a stored one.
#include "cache/parts.hpp"
#include "http/dates.hpp"
#include "http/partial.hpp"
#include "proxy/decision.hpp"
#include "proxy/fill_pump.hpp"
#include "proxy/transaction.hpp"

namespace garner::proxy {

using http::Name;

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
    auto vary = vary_of(response);
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
    parts.source = source_address();
    status_.ttl = std::int64_t{parts.terms.lifetime} - http::current_age(parts.terms, arrived);
    say_departure(parts.terms);

    // Who is given the new one shall not meet the old one again, though this process be killed.
    if (services_.cache.disk()) {
        auto const here = services_.worker.io.get_executor();
        store::ObjectPtr known;
        if (response.status == 206) known = co_await services_.cache.parts_on_disk(parts.key, here);
        auto const newer = cache::outline(parts);
        if (services_.cache.supersede_on_disk(*lead.fill(), *newer, vary, known))
            co_await outlives(store::DiskStore::Survives::process);
    }

    bool whole = exchange_->framing().kind == http::Framing::Kind::none;
    if (!whole && !begun && response.status != 206) {
        parts.bytes = whole_body_at_hand();
        whole = exchange_->body_done();
    }
    if (whole) {
        bool const fits = parts.bytes.size() <= services_.cache.object_max();
        bool const admitted = services_.cache.admits(parts, key_.fingerprint);
        auto object = admitted ? services_.cache.make_object(parts, key_.fingerprint) : nullptr;
        bool const in_memory = object != nullptr;
        if (!object) object = store::Object::make(parts, nullptr);
        bool const kept = lead.complete(object, std::move(vary), std::move(variant));
        status_.stored = in_memory || kept;
        if (!status_.stored) {
            auto why = admitted ? http::StoreRefusal::no_room : http::StoreRefusal::not_admitted;
            if (!fits) why = too_large_for_memory(parts.bytes.size());
            services_.counters.not_stored.add(why);
            say(text(why));
        }
        object = as_it_came(parts, std::move(object));
        finish_exchange();
        co_return co_await deliver(std::move(object), nullptr);
    }
    parts.body = std::move(begun);
    co_await start_fill(std::move(lead), parts, std::move(vary), std::move(variant));
}

http::VaryNames Transaction::vary_of(http::ResponseHead const& response) const {
    return http::effective_vary(response.fields, options_->caching.key_fields);
}

/// What is too large for memory alone is for the disk to take: where it is not there, that did not let it in.
http::StoreRefusal Transaction::too_large_for_memory(Bytes body) const {
    bool const is_for_disk = services_.cache.disk() && body <= services_.cache.longest_body();
    return is_for_disk ? http::StoreRefusal::not_admitted : http::StoreRefusal::too_large;
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
    auto disk = begin_on_disk(lead, parts, expected);
    if (disk) body->set_source(disk->source());
    bool const fits = !expected || *expected <= services_.cache.object_max();
    bool const admitted =
        completing || !expected || services_.cache.admits(parts, key_.fingerprint, *expected);
    auto growing = services_.cache.make_object(parts, key_.fingerprint);
    if (!growing || services_.cache.room(*body, key_.fingerprint).empty()) {
        store::ObjectPtr none;
        if (completing) co_return co_await ask_again(std::move(lead), std::move(none));
        services_.counters.not_stored.add(http::StoreRefusal::no_room);
        if (auto* on_disk = services_.cache.disk()) on_disk->not_offered(store::NotStored::no_room);
        auto const* why = text(http::StoreRefusal::no_room);
        note_use(store::Object::make(parts, nullptr));   // another policy would have found room
        auto const newer = cache::outline(parts);
        if (!client_.nobody()) services_.cache.supersede_in_memory(*lead.fill(), *newer, vary);
        lead.refuse(why);
        co_return co_await stream_through(why);
    }
    // A small one that memory does not want goes to the disk when it is whole.
    bool const waits = !admitted && !disk && parts.status != 206 && services_.cache.disk() && *expected <= store::Object::inline_body_max;
    status_.stored = admitted || disk || waits;
    auto fill = lead.fill();
    cache::Follower follower(services_.cache, fill);
    lead.head_is_storable(growing, vary, variant);
    auto pump = std::make_unique<FillPump>(services_, options_, std::move(lead), std::move(exchange_), std::move(use_),
                                           pool_key_, growing,
                                           std::move(vary), std::move(variant), freshness_options(content_type_));
    if (disk) pump->write_to(std::move(disk));
    if (waits) pump->gather_for_disk();
    if (!admitted && !waits) {
        auto const why = fits ? http::StoreRefusal::not_admitted : too_large_for_memory(*expected);
        if (!status_.stored) say(text(why));
        pump->leave_memory(why);
    }
    if (may_go_on()) {
        http::BrokenBody coming{.first = body->size(), .done = 0, .announced = expected, .length = body->expected()};
        pump->may_resume(std::make_unique<Resumption>(services_, client_, target_.host_field, sources_, at_source_, coming));
    }
    if (client_.nobody()) pump->keep_until(steady_now() + options_->deadlines.fill);
    FillPump::start(std::move(pump));
    growing = as_it_came(parts, std::move(growing));
    co_await deliver(std::move(growing), &follower);
}

/// For a body that goes to the disk as it comes; a small one goes when it is whole.
std::unique_ptr<store::DiskFill> Transaction::begin_on_disk(cache::FillLease& lead, store::Object::Parts const& parts,
                                                            std::optional<Bytes> expected) {
    auto* disk = services_.cache.disk();
    bool const part = parts.status == 206;
    if (!disk || (!part && expected.value_or(UINT64_MAX) <= store::Object::inline_body_max)) return nullptr;
    if (part) {
        auto const place = http::part_of(exchange_->head(), expected);
        if (!place || place->length > disk->options().object_max) return nullptr;
    }
    // Who must be asked for twice is asked about once: what memory holds whole comes to the disk from there.
    bool const by_itself = part || !expected || *expected > services_.cache.object_max();
    if (disk->options().admit != store::DiskOptions::Admit::all && !by_itself) return nullptr;
    auto why = store::NotStored::none;
    auto fill = disk->begin(parts.key, expected, part ? store::DiskFill::Of::part : store::DiskFill::Of::whole, why);
    if (!fill) lead.keep_off_disk();   // it is not asked again when the body is whole
    return fill;
}

/// What goes to this client: the response as it came, where some of its fields are not kept (RFC 9111 5.2.2.4, 5.2.2.7).
store::ObjectPtr Transaction::as_it_came(store::Object::Parts parts, store::ObjectPtr kept) const {
    if (own_head_.empty()) return kept;
    parts.head = own_head_;
    return store::Object::make(parts, nullptr);
}

/// RFC 9111 4.3.5: whoever sees the new head shall not meet an older body, that of a fetch which began before.
void Transaction::tell_fetches(http::ResponseHead const& head, cache::Fill const* by) {
    auto const control = http::parse_response_cache_control(head.fields, freshness_options({}).targeted);
    auto const vary = vary_of(head);
    if (vary.star || http::is_personal(client_.head(), control)) return;
    auto const variant = vary.empty() ? std::string() : http::variant_key(vary, client_.head().fields);
    auto const key = vary.empty() ? std::string(key_.text) : cache::variant_text(key_.text, variant);
    head_text_.clear();
    append_response_head(head, nullptr, unix_seconds(now_), head_text_);
    store::Object::Parts parts;
    parts.key = key;
    parts.head = head_text_;
    services_.cache.heard(key_, cache::outline(parts), vary, by);
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
    http::read_stored_head(merged, head);
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
    parts.source = stale->source();   // where its bytes came from
    auto vary = vary_of(head);
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
        co_await outlives(store::DiskStore::Survives::process);
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

/// The origin has something else by now: what is stored is kept for the day the origin cannot be reached.
void Transaction::outdate(cache::FillLease lead, store::Object const& stale) {
    auto vary = vary_of(stored_head_);
    auto variant = vary.empty() ? std::string() : http::variant_key(vary, client_.head().fields);
    auto object = services_.cache.make_object(cache::outdated(stale), key_.fingerprint);
    if (!object) services_.cache.forget(key_, stale);
    lead.complete(std::move(object), std::move(vary), std::move(variant));
}

}  // namespace garner::proxy
