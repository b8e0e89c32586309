// Where to ask: the ways that the mesh knows, one after the other until one has an answer.
#include <algorithm>

#include "net/address.hpp"
#include "proxy/decision.hpp"
#include "proxy/transaction.hpp"
#include "proxy/way.hpp"

namespace garner::proxy {

using http::Name;

namespace {

/// Made by the next proxy, not by the origin: Squid says so, and what Garner only passes on has a fwd-status or is a hit
/// (RFC 9211 2.1, 2.3).
bool is_own_error(http::ResponseHead const& response) {
    if (response.fields.find("X-Squid-Error")) return true;
    auto const* status = response.fields.find("Cache-Status");
    if (!status) return false;
    auto const member = status->value.substr(status->value.rfind(',') + 1);
    return member.find("fwd-status=") == std::string_view::npos && member.find("; hit") == std::string_view::npos;
}

}  // namespace

net::awaitable<bool> Transaction::ask_sources(http::Validators validators, bool strip_conditions) {
    bool const alone = sources_.empty() && is_lonely();
    if (alone) sources_.push_back({});   // without a coroutine of its own
    if (sources_.empty()) co_await choose_sources();
    for (;;) {
        note_source();
        bool const answered = co_await ask_source(validators, strip_conditions);
        bool const in_vain = answered && is_in_vain();
        if (answered && !in_vain) co_return true;
        if (in_vain && source().promised()) source().peer->false_hit();
        if (in_vain && !may_try_next() && exchange_->head().status == 407) {
            // The client does not know the login that is asked for, and what it would send is not passed on.
            failed(502, source_name() + " wants another login than it was given.");
            co_return false;
        }
        if (!may_try_next()) co_return answered;
        ++at_source_;
    }
}

net::awaitable<void> Transaction::choose_sources() {
    at_source_ = 0;
    sources_.clear();
    bool const through_peers = !is_lonely() && co_await may_use_peers();
    if (!through_peers) {
        // What is forbidden here is refused where it would be connected to, with its rule.
        auto const why = is_lonely() || all_forbidden_ || question(nullptr).direct != icp::Question::Direct::never
                             ? Hierarchy::direct
                             : Hierarchy::no_direct_fail;
        sources_.push_back({nullptr, why});
        co_return;
    }
    IpAddress const* destination = destination_.is_unspecified() ? nullptr : &destination_;
    auto asked = question(destination);
    waiting_ = {};
    client_.watch([this] {
        client_gone_ = true;
        if (!others_wait()) waiting_.wake(net::Wake::client_gone);
    });
    auto resolution = co_await services_.agent->resolve(asked, &waiting_);
    client_.unwatch();
    peers_timed_out_ = resolution.timed_out;
    sources_ = std::move(resolution.sources);
}

bool Transaction::is_lonely() const { return !services_.agent || target_.accelerated || services_.agent->alone(); }

/// Where caches are parents of each other, each may wait for the other's fetch of one URL: a loop that no Via shows until
/// one of them goes on by itself.
bool Transaction::may_be_in_a_circle() const { return client_.head().fields.has(Name::via) && !is_lonely(); }

/// The rules for destinations count though a peer connects, not we: what would be refused here is not asked of others.
/// Where they decide by address, all addresses of the name must be allowed, else only an own connection can tell.
net::awaitable<bool> Transaction::may_use_peers() {
    destination_ = {};
    all_forbidden_ = false;
    auto const& host = target_.uri.authority.host;
    auto const facts = rule_request();
    bool const listed = needs_destination(services_.mesh->roster()->options.direct, facts);
    bool const local = parse_ip(host) || net::is_localhost(host);
    if (!source_matters_ && !listed && !local) co_return true;
    auto names = co_await services_.worker.resolver.resolve(host, &waiting_);
    waiting_ = {};
    if (names->addresses.empty()) co_return !source_matters_ && !local;
    destination_ = net::to_ip(names->addresses.front());
    auto const allowed = std::count_if(names->addresses.begin(), names->addresses.end(), [&](net::Address const& address) {
        return permits(facts, net::to_ip(address)).allowed();
    });
    all_forbidden_ = allowed == 0;
    co_return static_cast<std::size_t>(allowed) == names->addresses.size();
}

icp::Question Transaction::question(IpAddress const* destination) {
    auto const roster = services_.mesh->roster();
    icp::Question asked;
    asked.url = target_.url;
    asked.host = target_.uri.authority.host;
    asked.hierarchical = hierarchical_ && is_hierarchical(client_.head(), control_);
    asked.direct = direct_of(roster->options.direct, rule_request(), destination);
    if (parts_) asked.size = missing_.last - missing_.first + 1;
    if (roster->options.source_ping) {
        auto const known = services_.mesh->origins().find(asked.host, steady_now());
        asked.origin_rtt = known.rtt;
        asked.origin_throughput = known.throughput;
    }
    if (roster->options.source_echo != 0 && destination) asked.echo = IpEndpoint{*destination, roster->options.source_echo};
    return asked;
}

/// False when this way is closed: failure_ says why.
bool Transaction::enter_way() {
    if (source().why == Hierarchy::no_direct_fail)
        failed(503, "No peer can be used, and direct.never forbids to ask the origin.");
    else if (!use_.begin(services_.mesh && services_.mesh->wants_to_know() ? services_.mesh : nullptr, source(),
                         target_.uri.authority.host))
        failed(503, source_name() + " has all the connections that it may have.");
    else
        return true;
    return false;
}

void Transaction::note_source() {
    hierarchy_ = source().why;
    source_text_.clear();
    if (source().peer) source_text_.append(name_of(hierarchy_)).append("/").append(source().peer->options.name);
    status_.source = source_text_;
}

/// The peer does not give what it was asked for, and another source may: a false hit (RFC 2187 5.2.1), or an error of the
/// peer's own. What an origin says goes through.
bool Transaction::is_in_vain() {
    if (!source().peer || is_tunnelled()) return false;
    auto const& response = exchange_->head();
    auto const status = response.status;
    if (source().peer->options.type == icp::PeerOptions::Type::parent)
        return status == 407 || status == 429 || status == 502 || status == 504 || status == 508 ||
               ((status >= 500 || status == 403) && is_own_error(response));
    bool const of_origin = status < 400 || status == 404 || status == 410;   // those may be stored there
    if (!of_origin) return true;
    if (status != 200) return false;
    auto const terms = http::terms_of(response, asked_at_, wall_now(), freshness_options({}));
    return terms.lifetime > 0 && http::current_age(terms, wall_now()) > std::int64_t{terms.lifetime};
}

/// What may have done something somewhere is not repeated (RFC 9110 9.2.2).
bool Transaction::may_try_next() const {
    bool const wanted = !aborted_ && (!client_gone_ || others_wait());
    if (at_source_ + 1 >= sources_.size() || !wanted || upload_.started) return false;
    bool const went_out = exchange_ != nullptr;
    return !went_out || http::is_idempotent(client_.head().method);
}

/// From where what is stored came, for rules that go by it: not the peer's address, but the origin's own.
IpAddress Transaction::source_address() const { return source().peer ? destination_ : peer_; }

}  // namespace garner::proxy
