#include "proxy/record.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "group/group.hpp"
#include "http/trace_id.hpp"
#include "proxy/request.hpp"
#include "proxy/rule_hits.hpp"
#include "util/random_bits.hpp"
#include "util/text.hpp"
#include "util/units.hpp"

namespace garner::proxy {

namespace {

/// Queries inside TLS are not logged: they may be secret.
std::string_view logged_url(Request const& request, std::string_view url) {
    return request.options->log.query && !request.bumped_origin ? url : url.substr(0, url.find('?'));
}

/// Several fields are not valid (W3C Trace Context 3.2).
std::string_view trace_of(http::RequestHead const& head) {
    std::string_view id;
    for (auto const& field : head.fields) {
        if (field.id != http::Name::other || !equals_ignoring_case(field.name, "traceparent")) continue;
        if (!id.empty()) return {};
        id = http::trace_id(field.value);
    }
    return id;
}

constexpr Bytes listed_at_once = 1 * MiB;   // the step in which a transfer under way is counted

bool is_miss(Answer answer) {
    using enum Answer;
    return answer == miss || answer == revalidated || answer == refreshed || answer == passed;
}

/// It ended after its 200: most of its time was that of the client.
bool is_refused_tunnel(Record const& record) { return record.answer == Answer::refused && record.sent_status == 200; }

/// Without requests and bytes. The host is empty if the target could not be read.
TopUse use_of(Request const& request, Record const& record) {
    auto const& target = request.target;
    TopUse use;
    use.client = request.client.peer().address;
    use.client_text = request.client.client()->text;
    if (target.url.empty()) return use;
    use.host = target.uri.authority.host;
    use.is_hit = record.answer == Answer::hit;
    if (!is_miss(record.answer)) return use;
    use.missed_url = logged_url(request, target.url);
    auto const& status = record.cache_status;
    use.reason = status.detail.empty() ? http::text(status.fwd) : status.detail;
    return use;
}

}   // namespace

void Record::Texts::clear() {
    each([](std::string& text) { text.clear(); });
}

Record::Record(Texts& texts, std::string_view via_name) : texts(texts) {
    texts.clear();
    cache_status.cache_name = via_name;
}

void Record::say(char const* why) {
    cache_status.detail = why;
    texts.reason = why;
}

/// The log shows the whole rule; a client does not learn which networks and names the rules contain.
void Record::set_rule(http::Decision const& decision, std::optional<IpAddress> const& destination) {
    texts.rule = decision.text_for_client();
    texts.because = decision.because;
    texts.logged_rule = decision.text();
    by_destination = decision.closed && !decision.closed_port;
    by_port = decision.closed && decision.closed_port;
    refused_address = destination;
    note_rule(decision);
}

void Record::set_rule(FixedOrigin::Refusal const& refusal) {
    texts.rule = refusal.rule;
    texts.because = refusal.because;
    texts.logged_rule = refusal.logged_rule;
}

std::string_view Record::draw_id() {
    drawn_at_ = wall_now();
    auto const since_1970 = std::max<std::int64_t>(drawn_at_->time_since_epoch().count(), 0);
    auto const millis = std::to_string(since_1970 % 1000);
    auto& id = texts.id;
    id = std::to_string(since_1970 / 1000);
    id.append(".").append(3 - millis.size(), '0').append(millis).append("-");
    // The id is no secret, and the system is not asked for each response to a flood of requests.
    thread_local std::mt19937_64 random(random_bits());
    append_hex(random(), id);
    id.resize(id.size() - 8);   // pages of one millisecond need no more
    return id;
}

void Record::count_traffic(Request& request) {
    auto& counters = request.services.counters;
    auto const traffic = request.client.take_traffic();
    counters.client_received.add(traffic.received);
    counters.client_sent.add(traffic.sent);
    sent_ += traffic.sent;
    if (sent_ - listed_ >= listed_at_once) list(request, steady_now());
    if (answer == Answer::tunnelled) return;
    auto const body = body_sent - std::exchange(body_counted_, body_sent);
    counters.client_body_bytes.add(body);
    if (answer == Answer::hit) counters.client_hit_bytes.add(body);
}

/// Ranges and partial responses are left out: the shadow cache simulates whole objects only.
void Record::note_use(Request const& request, store::ObjectPtr const& object) {
    auto* sampler = request.services.sampler;
    auto const& head = request.head();
    if (!sampler || head.method != http::Method::get || object->status() == 206 || head.fields.has(http::Name::range)) return;
    auto const cost = object->cost_at_rest();
    if (!cost) {
        unsized_ = object;
        return;
    }
    auto& cache = request.services.cache;
    if (object->length() > cache.memory().object_max()) return;   // no policy may keep it
    constexpr Bytes place_in_index = 48;                          // about, including the policy's entry
    auto const size = *cost + place_in_index;
    if (!sampler->request(request.key.fingerprint, size)) return;
    // All variants of a URL are sampled, or none; each is a separate object.
    auto sample = sim::sample_of(request.key.fingerprint, size);
    if (object->key().size() != request.key.text.size())
        sample.key = static_cast<std::uint32_t>(cache.key(object->key()).fingerprint);
    sampler->sample(sample);
}

std::string Record::name(Request const& request) {
    constexpr std::size_t url_bytes = 200;
    auto const& head = request.head();
    auto const& url = request.target.url;
    auto const shown = logged_url(request, url.empty() ? head.target : std::string_view(url)).substr(0, url_bytes);
    std::string text(head.method_text);
    text.append(" ").append(shown).append(" for ").append(request.client.client()->text);
    return text + ", for " + time_text(std::chrono::duration_cast<seconds>(steady_now() - request.started));
}

void Record::finish(Request& request) {
    if (auto used = std::exchange(unsized_, nullptr); used && used->length()) note_use(request, used);
    auto& counters = request.services.counters;
    count_traffic(request);
    auto const elapsed = std::chrono::duration_cast<microseconds>(steady_now() - request.started);
    counters.answers[static_cast<std::size_t>(answer)].add();
    if (answer == Answer::hit) {
        counters.hit_time.add(elapsed);
        bool const is_far = !request.client.peer().address.is_loopback();
        if (request.services.group && is_far && !request.client_gone) request.services.group->note_sent(body_sent, elapsed);
    } else if (answer != Answer::tunnelled && !is_refused_tunnel(*this)) {
        counters.miss_time.add(elapsed);
    }
    if (request.client_gone) counters.client_aborts.add();
    count_rule(request);
    if (answer == Answer::hit && !is_listed_)
        list_hit(request, request.started + elapsed);
    else
        list(request, request.started + elapsed);
    note_recent(request, elapsed);
    if (request.services.logs()) log(request, std::chrono::duration_cast<milliseconds>(elapsed));
}

void Record::leave(Request& request) {
    count_traffic(request);
    count_rule(request);
    list(request, steady_now());
}

void Record::count_rule(Request const& request) const {
    auto const& hits = request.options->rule_hits;
    if (hits && rule != http::Decision::no_rule) hits->add(request.services.worker.number, rule);
}

/// Some of the hits stand for all.
void Record::list_hit(Request const& request, SteadyTime now) {
    auto* const top = request.services.top;
    auto const weight = top ? top->hits().weight(now) : 0;
    if (weight == 0) return;
    auto use = use_of(request, *this);
    use.requests = weight;
    use.bytes = weight * sent_;
    if (!use.host.empty()) top->add(use, now);
}

/// A refused request has no key yet. The Services of some tests keep none.
void Record::note_recent(Request const& request, microseconds elapsed) const {
    auto* const recent = request.services.recent;
    auto const& target = request.target;
    if (!recent || answer == Answer::own || target.url.empty()) return;
    bool const has_key = !request.key.text.empty();
    auto const url = has_key ? request.key.fingerprint : request.services.cache.key(target.key_text).fingerprint;
    recent->add({.url = url,
                 .end = request.started + elapsed,
                 .client = request.client.peer().address,
                 .took_us = static_cast<std::uint32_t>(std::min<std::int64_t>(elapsed.count(), UINT32_MAX)),
                 .status = sent_status,
                 .answer = answer,
                 .fwd = cache_status.fwd});
}

/// Called for each part of a long transfer, too.
void Record::list(Request const& request, SteadyTime now) {
    auto* const top = request.services.top;
    auto use = use_of(request, *this);
    if (!top || use.host.empty() || answer == Answer::own || answer == Answer::purged) return;
    use.requests = std::exchange(is_listed_, true) ? 0 : 1;
    use.bytes = sent_ - std::exchange(listed_, sent_);
    top->add(use, now);
}

void Record::log(Request const& request, milliseconds elapsed) const {
    LogEntry entry;
    auto const& head = request.head();
    auto const& url = request.target.url;
    entry.end = drawn_at_.value_or(wall_now());   // the error page's reader finds the line by this time
    entry.elapsed = elapsed;
    entry.client = request.client.client()->text;
    if (request.identity && !request.identity->user.empty())
        entry.user = request.identity->user;
    else if (!request.client.client()->certificate.empty())
        entry.user = request.client.client()->certificate.front();
    entry.tag = tag;
    entry.aborted = request.client_gone;
    entry.truncated = truncated;
    entry.status = sent_status;
    entry.bytes = sent_;
    entry.method = head.method_text;
    entry.url = logged_url(request, url.empty() ? head.target : std::string_view(url));
    entry.version = version_text(head, *request.client.client());
    entry.hierarchy = hierarchy;
    entry.peer = peer;
    entry.peer_reach = peer_reach;
    entry.peers_timed_out = peers_timed_out;
    entry.content_type = texts.content_type;
    if (auto const* referer = head.fields.find("Referer")) entry.referer = logged_url(request, referer->value);
    if (auto const* agent = head.fields.find("User-Agent")) entry.user_agent = agent->value;
    if (request.options->log.format == LogFormat::json) entry.trace = trace_of(head);
    entry.proxy_header = request.client.client()->header.get();
    entry.reason = texts.reason;
    entry.id = texts.id;
    entry.rule = texts.rule;
    char text[http::cache_status_bytes];
    entry.cache_status = {text, http::write_cache_status(text, cache_status)};
    request.services.log->write(request.services.worker.number, entry);
}

}   // namespace garner::proxy
