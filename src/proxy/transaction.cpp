#include "proxy/transaction.hpp"

#include <algorithm>
#include <utility>

#include "http/cacheability.hpp"
#include "http/hop_by_hop.hpp"
#include "net/address.hpp"
#include "proxy/decision.hpp"
#include "proxy/internal.hpp"
#include "proxy/refresh.hpp"
#include "proxy/relay.hpp"
#include "proxy/way.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;

namespace {

// What is replaced again and again while the disk is read is fetched in the end.
constexpr int disk_looks_max = 3;
// So often a follower of a slow leader looks for what others have brought beside it.
constexpr int looks_again_max = 8;
constexpr std::string_view hits_only = "This proxy gives this client only what it has stored.";

}  // namespace

net::awaitable<void> Transaction::run(std::shared_ptr<Options const> const& options) {
    begin(options);
    co_await answer();
    drop_exchange();
    finish();
}

net::awaitable<void> Transaction::refresh(std::shared_ptr<Options const> const& options, cache::FillLease lead,
                                          store::ObjectPtr stale) {
    begin(options);
    auto verdict = check();
    if (verdict == Verdict::needs_names) verdict = co_await check_names();
    if (verdict != Verdict::go_on) co_return;
    services_.counters.refreshes.add();
    co_await fetch(std::move(lead), std::move(stale));
    drop_exchange();
}

net::awaitable<void> Transaction::answer() {
    auto verdict = check();
    if (verdict == Verdict::needs_names) verdict = co_await check_names();
    if (verdict == Verdict::refused) co_return co_await error(refusal_.status, refusal_.what, refusal_.rule);
    if (verdict == Verdict::own_answer) co_return co_await answer_as_last_hop();
    if (verdict == Verdict::internal) co_return co_await answer_internally();
    auto const& request = client_.head();
    if (request.method == Method::purge) co_return co_await purge();
    auto why = why_bypassed(request, client_.body_framing(), control_, target_, options_->caching);
    bool const cached = request.method != Method::connect && why == http::Bypass::none;
    if (!cached && !options_->misses.empty() && !may_have_misses(options_->misses, rule_request()))
        co_return co_await error(504, hits_only, "misses");
    if (request.method == Method::connect) co_return co_await tunnel();
    if (!cached) co_return co_await pass(why);
    co_await use_cache();
}

net::awaitable<void> Transaction::use_cache() {
    using Kind = cache::Lookup::Kind;
    auto collapse = collapse_of(client_.head(), control_, options_->caching);
    auto found = look_in_memory(collapse);
    if (found.object && ++services_.memory_hits % services_.hits_a_use == 0) services_.cache.tell_disk(key_, *found.object);
    for (int looks = 0; looks < disk_looks_max && services_.cache.may_be_on_disk(found, key_, client_.head()); ++looks) {
        auto const here = services_.worker.io.get_executor();
        if (co_await services_.cache.look_on_disk(found, key_, client_.head(), control_, now_, collapse, here)) break;
        found = look_in_memory(collapse);
    }

    // What an address gave that is denied to this client is denied from the store too, whatever DNS says by now.
    if (found.object && source_matters_) {
        auto const source = found.object->source();
        auto decision = permits(rule_request(), source);
        // What came through a peer has no address of its own, where no rule wanted to know it then.
        bool allowed = decision.allowed();
        if (source.is_unspecified()) allowed = co_await may_use_peers();
        if (!allowed) {
            found.lead.drop();
            denied(decision);
            co_return co_await error(refusal_.status, refusal_.what, refusal_.rule);
        }
    }
    auto course = course_of(found.kind, found.object.get(), client_.head(), control_, options_->caching);
    bool room = services_.refreshing < services_.shared.refreshes_max;
    if (course == Course::refresh && found.lead && room && !failed_lately())
        Refresh::start(services_, client_, target_.host_field, origin_, options_, std::move(found.lead), found.object);
    if (course != Course::ask) found.lead.drop();
    if (course == Course::deliver || course == Course::refresh) {
        if (found.answer.reuse != http::Reuse::fresh) {
            say(found.answer.why());
            bool refreshed = course == Course::refresh;
            services_.counters.stale_used.add(refreshed ? StaleUse::while_revalidate : StaleUse::max_stale);
        }
        status_.hit = true;
        status_.ttl = found.answer.ttl;
        counted_ = Answer::hit;
        tag_ = found.from_disk ? ResultTag::tcp_hit : ResultTag::tcp_mem_hit;
        if (found.object->terms().negative) {
            counted_ = Answer::negative;
            tag_ = ResultTag::tcp_negative_hit;
            say("negative");
        }
        say_departure(found.object->terms());
        co_return co_await deliver(std::move(found.object), nullptr);
    }
    if (course == Course::pass) co_return co_await pass(http::Bypass::authorization);
    if (course == Course::deliver_offline) {
        status_.hit = true;
        status_.ttl = found.answer.ttl;
        say(text(StaleUse::offline));
        services_.counters.stale_used.add(StaleUse::offline);
        counted_ = Answer::stale;
        tag_ = ResultTag::tcp_offline_hit;
        co_return co_await deliver(std::move(found.object), nullptr);
    }
    if (course == Course::only_if_cached) {
        co_return co_await error(504, "The client wants a stored answer only, and there is no fresh one.",
                                 "only-if-cached");
    }
    tag_ = control_.no_cache ? ResultTag::tcp_client_refresh_miss : ResultTag::tcp_miss;
    status_.fwd = found.kind == Kind::stale ? http::Fwd::stale
                  : found.part_missing     ? http::Fwd::partial
                  : found.variant_missing  ? http::Fwd::vary_miss
                                           : http::Fwd::uri_miss;
    if (found.kind == Kind::stale) {
        if (http::is_by_request(found.answer.reason)) status_.fwd = http::Fwd::request;
        status_.ttl = found.answer.ttl;
        say(found.answer.why());
        services_.counters.not_fresh.add(found.answer.reason);
    }
    if (!options_->misses.empty() && !may_have_misses(options_->misses, rule_request())) {
        found.lead.drop();
        co_return co_await error(504, hits_only, "misses");
    }
    if (failed_lately()) co_return co_await answer_known_failure(std::move(found.lead), std::move(found.object));
    if (found.follow) co_return co_await follow(std::move(found.follow), std::move(found.object));
    co_await fetch(std::move(found.lead), std::move(found.object));
}

/// What is whole, else the parts that a range asks for.
cache::Lookup Transaction::look_in_memory(cache::Collapse collapse) {
    using Kind = cache::Lookup::Kind;
    auto found = services_.cache.lookup(key_, client_.head(), control_, now_, collapse);
    bool const absent = found.kind == Kind::absent || found.kind == Kind::pass;
    if (!absent || !client_.head().fields.has(Name::range)) return found;
    auto parts = services_.cache.lookup_parts(key_, client_.head(), control_, now_);
    found.part_missing = parts.part_missing;
    if (parts.object) found = std::move(parts);
    return found;
}

/// Waits for somebody else's fetch, then answers by what it brought.
net::awaitable<void> Transaction::follow(cache::FillPtr fill, store::ObjectPtr stale) {
    using Phase = cache::FillView::Phase;
    std::optional<cache::Follower> follower;
    follower.emplace(services_.cache, fill);
    auto patience = options_->deadlines.fill;
    if (may_be_in_a_circle()) patience = std::min(patience, circle_wait);
    auto const begun = steady_now();
    bool const waited = looks_again_ > 0;
    auto const give_up = (waited ? started_ : begun) + patience;
    auto const beside_at = waited ? begun : begun + patience_with_leader();
    for (;;) {
        auto view = follower->view();
        if (follower->promoted()) {
            auto lead = follower->take_lead();
            follower.reset();
            if (auto failure = lead.fill()->failure_of(witness())) {
                failure_ = std::move(*failure);
                own_failure_ = status_.collapsed = true;
                co_return co_await answer_failure(std::move(lead), std::move(stale));
            }
            co_return co_await fetch(std::move(lead), std::move(stale));
        }
        if (follower->dropped()) break;
        if (view.phase == Phase::body || view.phase == Phase::complete) {
            auto const& terms = view.object->terms();
            bool reachable = !source_matters_ || permits(rule_request(), view.object->source()).allowed();
            auto const answer = http::may_reuse(terms, control_, wall_now());
            bool const recent = answer.reuse == http::Reuse::fresh || (stale && http::is_recent_enough(answer, control_));
            bool usable = reachable && recent && fill->selects(client_.head().fields) && !terms.no_cache && !control_.no_cache;
            if (!usable) break;
            status_.collapsed = true;
            counted_ = Answer::collapsed;
            tag_ = ResultTag::tcp_cf_hit;
            say_departure(terms);
            co_return co_await deliver(view.object, &*follower);
        }
        if (view.phase == Phase::look_again) {
            follower.reset();
            co_return co_await use_cache();
        }
        if (view.phase == Phase::refused) {
            reason_ = view.reason;
            break;
        }
        if (view.phase == Phase::failed) {
            failure_ = view.failure;
            status_.collapsed = true;
            follower.reset();
            cache::FillLease nothing;
            co_return co_await answer_failure(std::move(nothing), std::move(stale));
        }
        auto const now = steady_now();
        if (now >= give_up && patience >= options_->deadlines.fill) co_return co_await waited_too_long();
        if (now >= give_up) break;
        if (now >= beside_at) {
            // Before the head only those that fetch beside the leader make the version change: one may have brought it.
            if (looks_again_ < looks_again_max && std::exchange(looked_at_, view.version) != view.version) {
                ++looks_again_;
                follower.reset();
                co_return co_await use_cache();
            }
            beside_ = cache::Fill::go_beside(fill, client_network());
            if (beside_) break;
        }
        auto const until = now < beside_at ? std::min(beside_at, give_up) : give_up;
        auto const limit = std::chrono::ceil<milliseconds>(until - now);
        if (!co_await wait_for_growth(*follower, view.version, limit)) co_return;
    }
    // Not ours to share: at once, beside the others, for ourselves.
    follower.reset();
    tag_ = ResultTag::tcp_cf_miss;
    auto lead = services_.cache.lease_alone(key_, stale);
    co_await fetch(std::move(lead), std::move(stale));
}

milliseconds Transaction::patience_with_leader() const {
    return follow_patience(options_->caching.follow_patience, services_.first_bytes.usual(origin_fingerprint()));
}

/// Addresses of one network are one client. A gateway that is trusted to name its clients is not one itself.
IpAddress Transaction::client_network() const {
    auto const& limits = options_->limits;
    return first_bits(named_client(*options_, client_.head(), client_.peer().address), limits.client_prefix4, limits.client_prefix6);
}

// ---- check ----

/// Everything that can be said without waiting. A plain function: it costs a hit no coroutine frame.
Transaction::Verdict Transaction::check() {
    auto const& request = client_.head();
    auto const& framing = client_.begin_body();
    if (framing.refusal) return refused(framing.status, framing.refusal, "RFC 9112 message framing");
    if (auto const* fault = read_target(request, origin_, target_))
        return refused(400, fault, "RFC 9112 request target");
    if (request.method == Method::connect && !client_.body_done())
        return refused(400, "CONNECT with a body", "RFC 9110 9.3.6");
    if (is_loop(request, services_.shared.via_name, options_->limits))
        return refused(508, "This request has been here before: the proxies form a loop.", "Via");
    if (request.target == "*" && !origin_) {
        auto decision = options_->access.decide(rule_request(), std::nullopt);
        return decision.denied() ? denied(decision) : Verdict::own_answer;
    }
    if (is_internal(target_, *services_.own)) return check_internal();
    control_ = http::parse_request_cache_control(request.fields);
    heed_reload();
    auto verdict = check_access();
    if (verdict != Verdict::go_on) return verdict;
    return prepare();
}

/// Access rules. When one of them needs the destination and the host is a name, it is resolved first: a hit must not
/// go past a deny.
Transaction::Verdict Transaction::check_access() {
    auto admission = admit(*options_, *services_.own, target_, rule_request());
    source_matters_ = admission.source_matters;
    if (admission.decision.verdict == http::Decision::Verdict::needs_destination) return Verdict::needs_names;
    return admission.decision.allowed() ? Verdict::go_on : denied(admission.decision);
}

http::Decision Transaction::permits(http::RuleRequest const& facts, IpAddress const& destination) const {
    return proxy::permits(*options_, *services_.own, target_, facts, destination);
}

Transaction::Verdict Transaction::prepare() {
    auto const& request = client_.head();
    bool counts_hops = request.method == Method::trace || request.method == Method::options;
    if (counts_hops && request.fields.has(Name::max_forwards) &&
        parse_decimal(request.fields.first(Name::max_forwards)) == 0u)
        return Verdict::own_answer;
    cache::write_key_text(target_.partition(), target_.url, key_text_);
    key_ = services_.cache.key(key_text_);
    return Verdict::go_on;
}

Transaction::Verdict Transaction::refused(std::uint16_t status, std::string_view what, std::string_view rule) {
    refusal_ = {status, what, rule};
    counted_ = Answer::refused;
    close_ = close_ || status == 400 || status == 501 || !client_.body_done();
    return Verdict::refused;
}

Transaction::Verdict Transaction::denied(http::Decision const& decision) {
    tag_ = ResultTag::tcp_denied;
    close_ = true;   // a client that gets nothing keeps no connection
    note_rule(decision);
    return refused(403, "This proxy's rules do not allow the request.", rule_text_);
}

/// The log has the whole rule; a client does not see which networks and names the rules are about.
void Transaction::note_rule(http::Decision const& decision) {
    rule_text_ = decision.text_for_client();
    logged_rule_ = decision.text();
}

net::awaitable<Transaction::Verdict> Transaction::check_names() {
    if (reloads()) services_.worker.resolver.forget_failure(target_.uri.authority.host);
    auto names = co_await services_.worker.resolver.resolve(target_.uri.authority.host, &waiting_);
    waiting_ = {};
    // What is stored is judged by the address it came from; a fetch fails on the name again, and says so.
    if (!names->failure.empty()) co_return prepare();
    auto facts = rule_request();
    http::Decision decision;
    for (auto const& address : names->addresses) {
        decision = permits(facts, net::to_ip(address));
        if (decision.allowed()) co_return prepare();
    }
    co_return denied(decision);
}

/// OPTIONS * to a forward proxy, and Max-Forwards: 0 (RFC 9110 7.6.2): we are who answers. TRACE shows the request as it came, without its secrets.
net::awaitable<void> Transaction::answer_as_last_hop() {
    auto const& request = client_.head();
    if (request.method != Method::trace)
        co_return co_await own_answer(200, "", "", "Allow: GET, HEAD, POST, PUT, DELETE, OPTIONS, TRACE, CONNECT, PATCH\r\n");
    std::string echo(request.method_text);
    echo.append(" ").append(request.target).append(" HTTP/1.1\r\n");
    for (auto const& field : request.fields) {
        if (field.id == Name::cookie || field.id == Name::authorization || field.id == Name::proxy_authorization) continue;
        echo.append(field.name).append(": ").append(field.value).append("\r\n");
    }
    echo.append("\r\n");
    co_await own_answer(200, "message/http", echo);
}

http::RuleRequest Transaction::rule_request() const {
    return proxy::rule_request(client_.head(), target_, client_.peer().address, client_.listener(), now_);
}

bool Transaction::wants_upgrade() const { return proxy::wants_upgrade(client_.head(), client_.body_framing()); }

void Transaction::heed_reload() {
    if (!control_.is_reload() || options_->caching.rules.empty()) return;
    reload_ignored_ = ignores_reload(options_->caching, control_, rule_request());
    if (reload_ignored_) control_.forget_reload();
}

/// Where the operator's rules, not RFC 9111, made this answer what it is, client and log are told.
void Transaction::say_departure(http::Terms const& terms) {
    auto const* why = departure(reload_ignored_, terms);
    if (*why != '\0') say(why);
}

/// To the client in Cache-Status, and to the log.
void Transaction::say(char const* why) {
    status_.detail = why;
    reason_ = why;
}

net::awaitable<void> Transaction::purge() {
    static std::string const unconfirmed = "It is purged, but the disk does not confirm it: after a crash, or once it works again, "
                                            "it could be back. ";
    // Behind a TLS terminator on this machine every visitor of an accelerator is on loopback.
    bool allowed = client_.peer().address.is_loopback() && !origin_;
    if (!options_->purge.empty()) {
        http::AccessRules rules(options_->purge);
        auto facts = rule_request();
        facts.accelerated = false;   // a visitor may read, not purge
        allowed = rules.decide(facts, std::nullopt).allowed();
    }
    if (!allowed) {
        counted_ = Answer::refused;
        tag_ = ResultTag::tcp_denied;
        co_return co_await error(403, "This client may not purge.", "purge");
    }
    counted_ = Answer::purged;
    bool here = services_.cache.purge(key_);
    std::vector<icp::Cleared> peers;
    if (services_.agent) {
        auto url = target_.url;
        peers = co_await services_.agent->clear(std::move(url));
        // A peer may have given the old object before it purged its own.
        here |= !peers.empty() && services_.cache.purge(key_);
    }
    if (!co_await outlives(store::DiskStore::Survives::power)) {
        auto const told = unconfirmed + icp::text_of(peers);
        co_return co_await error(503, told, "purge");
    }
    auto const text = (here ? "purged\n" : "had nothing\n") + icp::text_of(peers);
    if (here || icp::any_gone(peers)) co_return co_await own_answer(200, "text/plain", text);
    std::string_view const where = peers.empty() ? "Nothing is stored under this address."
                                                 : "Nothing was purged under this address, here or at the peers.";
    co_await error(404, where, "purge");
}

/// Waits until what was removed stays so, whatever becomes of this process. False: the disk does not say so in time.
net::awaitable<bool> Transaction::outlives(store::DiskStore::Survives what) {
    auto* disk = services_.cache.disk();
    if (!disk) co_return true;
    auto const here = services_.worker.io.get_executor();
    co_return co_await disk->settled(what, here);
}

// ---- begin and end ----

void Transaction::begin(std::shared_ptr<Options const> const& options) {
    if (options_ != options) {
        options_ = options;
        targeted_.assign(options->caching.targeted_cache_control.begin(), options->caching.targeted_cache_control.end());
    }
    now_ = wall_now();
    started_ = steady_now();
    send_pace_.begin(options_->limits.min_rate);
    close_ = !http::keeps_alive(client_.head()) || services_.draining;
    head_sent_ = client_gone_ = conditional_ = widened_ = reload_ignored_ = went_out_ = false;
    exchange_.reset();
    failure_ = {};
    own_failure_ = false;
    multipart_.reset();
    looks_again_ = 0;
    looked_at_ = no_version;
    fault_ = Fault::nobodys;
    upload_ = {};
    status_ = {};
    status_.cache_name = services_.shared.via_name;
    counted_ = Answer::own;
    tag_ = ResultTag::none;
    hierarchy_ = Hierarchy::none;
    sources_.clear();
    at_source_ = 0;
    hierarchical_ = peers_timed_out_ = resuming_ = false;
    source_text_.clear();
    destination_ = peer_ = {};
    target_.url.clear();
    reason_.clear();
    content_type_.clear();
    rule_text_.clear();
    logged_rule_.clear();
    sent_status_ = 0;
    body_sent_ = body_counted_ = 0;
    truncated_ = false;
}

void Transaction::finish() {
    parts_ = nullptr;   // an idle connection pins nothing
    led_ = nullptr;
    beside_.drop();
    if (auto used = std::exchange(unsized_, nullptr); used && used->length()) note_use(used);
    auto& counters = services_.counters;
    count_client_traffic();
    auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(steady_now() - started_);
    counters.answers[static_cast<std::size_t>(counted_)].add();
    if (counted_ == Answer::hit) {
        counters.hit_time.add(elapsed);
    } else if (counted_ != Answer::tunnelled) {
        counters.miss_time.add(elapsed);
    }
    if (client_gone_) counters.client_aborts.add();
    if (!client_.body_done()) close_ = true;
    auto const sent_this_time = sent_before_ - std::exchange(sent_before_request_, sent_before_);
    if (!services_.log) return;
    LogEntry entry;
    auto const& request = client_.head();
    entry.end = wall_now();
    entry.elapsed = std::chrono::duration_cast<milliseconds>(elapsed);
    entry.client = client_.peer_text();
    entry.tag = tag_;
    entry.aborted = client_gone_;
    entry.truncated = truncated_;
    entry.status = sent_status_;
    entry.bytes = sent_this_time;
    entry.method = request.method_text;
    entry.url = logged_url(target_.url.empty() ? request.target : std::string_view(target_.url));
    entry.http_minor = request.version == http::Version::http_1_0 ? 0 : 1;
    entry.hierarchy = hierarchy_;
    std::string peer;
    if (at_source_ < sources_.size() && source().peer)
        peer = source().peer->options.name;
    else if (!peer_.is_unspecified())
        peer = peer_.text();
    entry.peer = peer;
    entry.peers_timed_out = peers_timed_out_;
    entry.content_type = content_type_;
    entry.referer = {};
    if (auto const* referer = request.fields.find("Referer")) entry.referer = logged_url(referer->value);
    if (auto const* agent = request.fields.find("User-Agent")) entry.user_agent = agent->value;
    entry.reason = reason_;
    char text[http::cache_status_bytes];
    entry.cache_status = {text, http::write_cache_status(text, status_)};
    services_.log->write(services_.worker.number, entry);
}

std::string_view Transaction::logged_url(std::string_view url) const {
    return options_->log.query ? url : url.substr(0, url.find('?'));
}

/// Called after each write, so that a transfer of hours shows in the figures while it runs.
void Transaction::count_client_traffic() {
    auto& counters = services_.counters;
    auto const received = client_.transport().received();
    auto const sent = client_.transport().sent();
    counters.client_received.add(received - std::exchange(received_before_, received));
    counters.client_sent.add(sent - std::exchange(sent_before_, sent));
    if (counted_ == Answer::tunnelled) return;
    auto const body = body_sent_ - std::exchange(body_counted_, body_sent_);
    counters.client_body_bytes.add(body);
    if (counted_ == Answer::hit) counters.client_hit_bytes.add(body);
}

/// For the shadow of the cache: a GET that the cache answers, revalidated or not, or whose answer is to be stored. Ranges
/// and their parts are left out: a miniature knows whole objects only.
void Transaction::note_use(store::ObjectPtr const& object) {
    auto* sampler = services_.sampler;
    auto const& request = client_.head();
    if (!sampler || request.method != Method::get || object->status() == 206 || request.fields.has(Name::range)) return;
    auto const cost = object->cost_at_rest();
    if (!cost) {
        unsized_ = object;
        return;
    }
    if (object->length() > services_.cache.object_max()) return;   // no policy may keep it
    constexpr Bytes place_in_index = 48;   // about, and in the policy
    auto const size = *cost + place_in_index;
    if (!sampler->request(key_.fingerprint, size)) return;
    // All variants of a URL are sampled, or none; each is an object of its own.
    auto sample = sim::sample_of(key_.fingerprint, size);
    if (object->key().size() != key_.text.size())
        sample.key = static_cast<std::uint32_t>(services_.cache.key(object->key()).fingerprint);
    sampler->sample(sample);
}

net::awaitable<void> Transaction::refuse_head(std::shared_ptr<Options const> const& options, std::uint16_t status,
                                              std::string_view why) {
    client_.forget_head();
    begin(options);
    target_.url.clear();
    close_ = true;
    counted_ = Answer::refused;
    co_await error(status, why, "RFC 9112 message syntax");
    finish();
}

void Transaction::abort() {
    aborted_ = close_ = true;
    waiting_.wake(net::Wake::shutdown);
    if (connecting_) connecting_->request();
    if (exchange_) exchange_->cancel();
    if (relay_) relay_->abort();
    client_.cancel();
}

}  // namespace garner::proxy
