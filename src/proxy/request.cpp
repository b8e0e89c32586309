#include "proxy/request.hpp"

#include "group/group.hpp"
#include "http/hop_by_hop.hpp"
#include "proxy/connection_login.hpp"
#include "proxy/line_account.hpp"
#include "proxy/login_check.hpp"
#include "proxy/named_client.hpp"
#include "proxy/way.hpp"

namespace garner::proxy {

namespace {

void drop_if_large(std::string& text) {
    if (text.capacity() > Scratch::usual) [[unlikely]]
        std::string().swap(text);
}

}   // namespace

void Scratch::drop_large() {
    stored_head.fields.drop_large();
    std::size_t capacities = 0;   // each bit of any of them: no less than the largest
    auto const note = [&](auto const&... texts) { ((capacities |= texts.capacity()), ...); };
    note(head_text, stored_text, upstream_text, pool_key, target.key_text, target.plain_url);
    target.resolved.each(note);
    record.each(note);
    if (capacities <= usual) return;
    auto const drop = [](auto&... texts) { (drop_if_large(texts), ...); };
    drop(head_text, stored_text, upstream_text, pool_key, target.key_text, target.plain_url);
    target.resolved.each(drop);
    record.each(drop);
}

void Scratch::read_head_of(store::Object const& object) {
    stored_text.assign(object.head()).append("\r\n");
    http::read_stored_head(stored_text, stored_head);
}

namespace {

FixedOrigin const* if_kind(FixedOrigin const* origin, FixedOrigin::Kind kind) {
    return origin && origin->kind == kind ? origin : nullptr;
}

}   // namespace

Request::Request(Services& services, ClientStream& client, FixedOrigin const* only_origin, Scratch& scratch,
                 std::shared_ptr<Options const> const& options)
    : services(services), client(client), accelerated_origin(if_kind(only_origin, FixedOrigin::Kind::accelerated)),
      bumped_origin(if_kind(only_origin, FixedOrigin::Kind::bumped)),
      intercepted_origin(if_kind(only_origin, FixedOrigin::Kind::intercepted)), scratch(scratch), options(options),
      target(scratch.target), record(scratch.record, options->via_name), close(!http::keeps_alive(client.head())) {
    bool const may_be_named = !options->forwarded_trust.empty() && !bumped_origin && !intercepted_origin && !client.is_absent();
    if (may_be_named) client.set_client(client_of_request(client.client(), client.head().fields, *options, services.own.get()));
    if (authenticates_connection(client.head().fields)) client.set_client(with_own_connections(client.client()));
    identity = bound_identity(services, client, bumped_origin || client.is_absent());
    target.clear();
    target.secure = client.client()->secure;
    if (scratch.made_for == options) return;
    scratch.made_for = options;
    scratch.signature = signature_of(options->via_name);
    auto const& names = options->caching.targeted_cache_control;
    scratch.targeted.assign(names.begin(), names.end());
}

bool Request::may_have_misses() const { return options->misses.empty() || proxy::may_have_misses(options->misses, facts()); }

bool Request::is_offered() const {
    return services.group && !only_origin() && head().method == http::Method::get && services.group->is_offered(target.url);
}

std::shared_ptr<Client const> Request::kept_client() const { return with_identity(client.client(), identity, 0); }

IpAddress Request::client_network() const {
    auto const& limits = options->limits;
    return first_bits(client.peer().address, limits.client_prefix4, limits.client_prefix6);
}

http::FreshnessOptions Request::freshness_options(std::string_view content_type) const {
    auto freshness = proxy::freshness_options(options->caching, facts(), content_type);
    // RFC 9213 2.2: the operator configures which targeted fields apply to this proxy; by default none does.
    freshness.targeted = scratch.targeted;
    return freshness;
}

void Request::record_rule_override(http::Terms const& terms) {
    auto const* why = rule_override(reload_ignored, terms);
    if (*why != '\0') record.say(why);
}

share::Account* Request::line_account() {
    if (!account && limits_line(*options)) account = open_account(*this);
    return account.get();
}

net::awaitable<bool> Request::outlives(store::Survives what) {
    auto const here = executor();
    co_return co_await services.cache.disk().settled(what, here);
}

}   // namespace garner::proxy
