#include "proxy/own_answers.hpp"

#include <algorithm>

#include "group/group.hpp"
#include "http/dates.hpp"
#include "icp/https.hpp"
#include "icp/peer.hpp"
#include "proxy/internal.hpp"
#include "proxy/line_account.hpp"
#include "proxy/login_check.hpp"
#include "proxy/pac_answer.hpp"
#include "proxy/quota_page.hpp"
#include "proxy/refusals_page.hpp"
#include "proxy/via.hpp"

namespace garner::proxy {

using http::Method;
using http::Name;

namespace {

constexpr std::string_view digest_path = "/squid-internal-periodic/store_digest";
constexpr seconds next_soon{10};   // the next digest is late, and is being built

std::string const unconfirmed = "The object is purged, but the disk has not confirmed it, so the object may return after a "
                                "crash, or after the disk works again. ";

bool is_at(icp::Peer const& peer, IpAddress const& address) {
    auto const addresses = peer.addresses();
    return std::ranges::find(addresses, address) != addresses.end();
}

}   // namespace

// ---- purge ----

/// The default of AccessRules is for reading. Behind a TLS terminator on this machine all visitors of an accelerator come from
/// loopback.
http::Decision OwnAnswers::may_purge() const {
    auto const& options = *request_.options;
    bool const knows_proxy = !request_.accelerated_origin && !request_.intercepted_origin;
    bool const is_local = request_.client.peer().address.is_loopback() && knows_proxy;
    using enum http::Decision::Verdict;
    if (!request_.target.may_use_store()) return {.verdict = deny};
    if (options.purge.empty()) return {.verdict = is_local ? allow : deny};
    auto decision = options.purge.decide(request_.facts(), std::nullopt);
    if (decision.allowed() && decision.place().empty()) decision.verdict = deny;   // no rule matches
    return decision;
}

/// For a request whose client is not known yet. True if the response is sent: 407, 429 or 503.
net::awaitable<bool> OwnAnswers::ask_to_log_in(char const* why, char const* key) {
    using enum LoginCheck::State;
    LoginCheck login(request_);
    auto state = login.look();
    if (state == unknown) state = co_await login.verify();
    auto const fields = login.fields(state);
    if (fields.empty()) co_return false;
    request_.record.answer = Answer::refused;
    request_.record.tag = ResultTag::tcp_denied;
    request_.record.texts.reason = login.reason();
    std::uint16_t status = 407;
    if (state != login_needed) status = state == limited ? 429 : 503;
    co_await writer_.error(status, why, key, cache::FailureKind::other, fields);
    co_return true;
}

net::awaitable<void> OwnAnswers::purge() {
    auto decision = may_purge();
    if (decision.verdict == http::Decision::Verdict::needs_identity) {
        bool const is_answered = co_await ask_to_log_in("Only users that the rules name may purge.", "purge");
        if (is_answered) co_return;
        decision = may_purge();
    }
    if (!decision.allowed()) {
        request_.record.answer = Answer::refused;
        request_.record.tag = ResultTag::tcp_denied;
        co_return co_await writer_.error(403, "This client is not allowed to purge.", "purge");
    }
    request_.record.answer = Answer::purged;
    auto& cache = request_.services.cache;
    bool here = cache.purge(request_.key);
    std::vector<icp::PurgeResult> peers;
    if (request_.services.agent) {
        std::string url(request_.target.url);
        peers = co_await request_.services.agent->purge(std::move(url));
        // A peer may have sent the old object before its own purge.
        here |= !peers.empty() && cache.purge(request_.key);
    }
    auto const of_group = co_await tell_group();
    if (!co_await request_.outlives(store::Survives::power)) {
        auto const told = unconfirmed + icp::text_of(peers);
        co_return co_await writer_.error(503, told, "purge");
    }
    if (of_group && !of_group->accepted) {
        auto const told = "The object is purged here, but the group may still have it: " + of_group->text() + ".";
        co_return co_await writer_.error(503, told, "group");
    }
    auto text = (here ? "purged\n" : "had nothing\n") + icp::text_of(peers);
    if (of_group) text += "group: " + of_group->text() + "\n";
    if (here || of_group || icp::any_gone(peers)) co_return co_await writer_.own_answer(200, "text/plain", text);
    std::string_view const where =
        peers.empty() ? "Nothing is stored for this URL." : "Nothing was purged for this URL, here or at the peers.";
    co_await writer_.error(404, where, "purge");
}

/// Nothing: this proxy is in no group, or the group does not cover the URL.
net::awaitable<std::optional<group::SubmissionResult>> OwnAnswers::tell_group() {
    auto& services = request_.services;
    if (!services.group || !services.cache.invalidations.covers_url(request_.target.url)) co_return std::nullopt;
    cache::Invalidation what{
        .kind = cache::Invalidation::Kind::url, .soft = false, .origin = {}, .text = std::string(request_.target.url)};
    auto const told = std::make_shared<group::SubmissionResult>();
    net::Waiter waiter(request_.executor());
    services.group->submit(what, [told, handle = waiter.handle()](group::SubmissionResult const& outcome) {
        *told = outcome;
        handle.wake(net::Wake::ready);
    });
    auto const woken = co_await waiter.wait(services.group->patience());
    if (woken == net::Wake::ready) co_return *told;
    group::SubmissionResult silent;
    silent.why = "the group of this proxy does not respond";
    co_return silent;
}

// ---- the last hop ----

net::awaitable<void> OwnAnswers::answer_as_last_hop() {
    auto const& head = request_.head();
    if (head.method != Method::trace)
        co_return co_await writer_.own_answer(200, "", "",
                                              "Allow: GET, HEAD, POST, PUT, DELETE, OPTIONS, TRACE, CONNECT, PATCH\r\n");
    std::string echo(head.method_text);
    echo.append(" ").append(head.target).append(" HTTP/1.1\r\n");
    for (auto const& field : head.fields) {
        if (field.id == Name::cookie || field.id == Name::authorization || field.id == Name::proxy_authorization) continue;
        echo.append(field.name).append(": ").append(field.value).append("\r\n");
    }
    echo.append("\r\n");
    co_await writer_.own_answer(200, "message/http", echo);
}

// ---- for other caches ----

/// The digest reveals what clients have requested: only peers, caches in an allow list and this machine may have it.
bool OwnAnswers::is_other_cache(IpAddress const& client) const {
    auto const peer_table = request_.services.mesh->peer_table();
    auto const& icp = peer_table->options;
    return client.is_loopback() || is_among(client, icp.allow) || is_among(client, icp.htcp.allow) ||
           std::ranges::any_of(peer_table->peers, [&](auto const& peer) { return is_at(*peer, client); });
}

/// The digest of https:// URLs is sent in clear text only to a peer that the operator allows to get such URLs so.
bool OwnAnswers::may_read_https() const {
    auto const& client = *request_.client.client();
    auto const peer_table = request_.services.mesh->peer_table();
    return client.secure || std::ranges::any_of(peer_table->peers, [&](auto const& peer) {
               return icp::https_of(peer->options) == icp::Https::clear && is_at(*peer, client.peer.address);
           });
}

net::awaitable<void> OwnAnswers::answer_internally() {
    if (is_refusals_page(request_.target, request_.head().method, *request_.options)) co_return co_await send_refusals();
    if (request_.target.path == root_path) co_return co_await send_root();
    if (is_quota_path(request_.target.path)) co_return co_await send_quotas();
    if (is_pac_path(request_.target.path)) {
        PacAnswer pac(request_, writer_);
        co_return co_await pac.run();
    }
    auto const method = request_.head().method;
    auto* mesh = request_.services.mesh;
    bool const wants_digest = request_.target.path == digest_path && (method == Method::get || method == Method::head);
    if (!wants_digest || !mesh)
        co_return co_await writer_.error(404, "This cache has no resource for other caches at this path.", "internal");
    if (!is_other_cache(request_.client.peer().address)) {
        request_.record.tag = ResultTag::tcp_denied;
        co_return co_await writer_.error(403, "Only peers of this cache are allowed to fetch its digest.", "icp.allow");
    }
    // The lease ends after the digest was built: the digest may name outdated objects.
    if (!request_.services.cache.invalidations.lease.is_current())
        co_return co_await writer_.error(404, "This cache is cut off from its group: its digest may name outdated objects.",
                                         "group");
    auto const published = mesh->published();
    auto const& digest = may_read_https() ? published.with_https : published.digest;
    if (!digest) {
        mesh->rebuild_digest();
        co_return co_await writer_.error(404, "This cache has no digest, or is building its first one.", "internal");
    }
    auto const expires = std::max<WallTime>(published.expires, request_.now + next_soon);
    auto const extra = "Expires: " + http::format_http_date(unix_seconds(expires)) + "\r\n";
    co_await writer_.own_answer(200, "application/cache-digest", *digest, extra);
}

// ---- for clients ----

net::awaitable<void> OwnAnswers::send_root() {
    auto const method = request_.head().method;
    auto const& interception = request_.services.interception;
    bool const is_read = method == Method::get || method == Method::head;
    if (!is_read || !interception || interception->root.empty())
        co_return co_await writer_.error(404, "This proxy has no root certificate to install.", "bump.ca_chain");
    auto const kept = interception;
    co_await writer_.own_answer(200, "application/x-x509-ca-cert", kept->root, "Cache-Control: no-cache\r\n");
}

/// No rule may have asked the client for a login, and its address may be that of many users.
bool OwnAnswers::counts_users() const {
    auto const& options = *request_.options;
    return !request_.identity && options.logins && options.share.by == share::By::user;
}

/// The use that counts for this client: that of its user or network, and that of all clients of a rule which it belongs to. Clients
/// behind a proxy that names none of them are one network.
net::awaitable<void> OwnAnswers::send_quotas() {
    auto const method = request_.head().method;
    auto const& rules = request_.options->quotas;
    if (rules.empty()) co_return co_await writer_.error(404, "This proxy has no quotas.", "quotas");
    if (method != Method::get && method != Method::head)
        co_return co_await writer_.error(405, "The quotas can only be read.", "internal", cache::FailureKind::other,
                                         "Allow: GET, HEAD\r\n");
    if (counts_users()) {
        bool const is_answered = co_await ask_to_log_in("The quotas of this proxy are those of its users.", "quotas");
        if (is_answered) co_return;
    }
    auto const standings = own_quotas(request_);
    auto const format = error_format(request_.head().fields);
    auto const page = quota_page(standings, request_.now, format);
    auto const type = format == ErrorFormat::json ? std::string_view("application/json") : content_type(format);
    co_await writer_.own_answer(200, type, page,
                                "Cache-Control: no-store\r\nVary: Accept\r\nX-Content-Type-Options: nosniff\r\n"
                                "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n");
}

/// A proxy in between has many users behind one address, so it gets none.
net::awaitable<void> OwnAnswers::send_refusals() {
    std::vector<Refused> refused;
    std::string challenges;
    if (!is_forwarded(request_.head().fields)) {
        challenges = co_await log_in_for_refusals();
        auto const user = request_.identity ? std::string_view(request_.identity->user) : "";
        refused = request_.services.shared.refusals.of(request_.client.peer().address, user);
    }
    std::uint16_t const status = challenges.empty() ? 200 : 407;
    auto const fields = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n" + challenges;
    auto const format = error_format(request_.head().fields);
    auto const page = refusals_page(refused, format);
    auto const type = format == ErrorFormat::json ? std::string_view("application/json") : content_type(format);
    co_await writer_.own_answer(status, type, page, fields);
}

/// The challenges, if a login would show more; else nothing. Browsers send no ticket before they are asked for one.
net::awaitable<std::string> OwnAnswers::log_in_for_refusals() {
    using enum LoginCheck::State;
    LoginCheck login(request_);
    auto state = request_.identity ? known : login.look();
    if (state == known || !request_.services.shared.refusals.has_users(request_.client.peer().address)) co_return std::string();
    if (state == unknown) state = co_await login.verify();
    if (state != login_needed) co_return std::string();
    auto challenges = login.fields(state);
    if (!challenges.empty()) {
        request_.record.tag = ResultTag::tcp_denied;
        request_.record.texts.reason = login.reason();
    }
    co_return challenges;
}

}   // namespace garner::proxy
