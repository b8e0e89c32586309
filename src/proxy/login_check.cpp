#include "proxy/login_check.hpp"

#include "auth/authenticator.hpp"
#include "net/waiter.hpp"
#include "proxy/challenge.hpp"
#include "proxy/via.hpp"

namespace garner::proxy {

using http::Name;
using State = LoginCheck::State;

namespace {

/// The identity of the connection while its login holds. Its groups may have to be looked up again.
std::shared_ptr<http::Identity const> bound_login(Services const&, ClientStream const&, WallTime now);

constexpr seconds try_again{5};   // without a hint of the source
constexpr std::string_view malformed_credentials = "Malformed or unsupported credentials.";

/// `field`: well-formed credentials that were rejected.
std::string_view rejected_credentials(std::string_view field) {
    switch (auth::scheme_of(field).value_or(auth::Scheme::basic)) {
    case auth::Scheme::basic: return "Wrong password or unknown user.";
    case auth::Scheme::bearer: return "Invalid token.";
    case auth::Scheme::negotiate: return "Invalid ticket.";
    }
    return "";
}

/// A client that did not log in, and is not asked to.
std::shared_ptr<http::Identity const> const& no_user() {
    static auto const none = std::make_shared<http::Identity const>();
    return none;
}

}   // namespace

State LoginCheck::look() {
    auto* logins = request_.services.logins;
    if (!logins || request_.client.is_absent() || request_.bumped_origin) {
        request_.identity = no_user();
        return State::known;
    }
    if (!uses_credentials()) {
        auto const state = look_without_credentials();
        if (state != State::login_needed || !request_.intercepted_origin) return state;
        request_.identity = no_user();
        return State::known;
    }
    auto const& fields = request_.head().fields;
    if (fields.count(Name::proxy_authorization) > 1)
        return reject(malformed_credentials, "more than one line of Proxy-Authorization");
    auto const field = fields.first(Name::proxy_authorization);
    auto found = logins->find(field, request_.now);
    using Kind = auth::Verified::Found::Kind;
    if (found.kind == Kind::unknown) return State::unknown;
    if (found.kind == Kind::wrong) return reject(rejected_credentials(field), "as at the last check");
    request_.identity = std::move(found.identity);
    return State::known;
}

bool LoginCheck::uses_credentials() const {
    return !request_.intercepted_origin && request_.head().fields.has(Name::proxy_authorization);
}

/// The user that the connection has logged in, whose groups have to be looked up again; or that of the address or certificate.
auth::Facts LoginCheck::facts_without_credentials() const {
    auto const& client = *request_.client.client();
    if (auto const bound = bound_login(request_.services, request_.client, request_.now))
        return {.user = bound->user, .source = bound->source, .until = bound->until};
    return request_.services.logins->facts_without_credentials(client.peer.address, client.certificate, request_.now);
}

/// The address and the certificate belong to the connection, so its later requests need no look-up.
State LoginCheck::look_without_credentials() {
    auto& logins = *request_.services.logins;
    auto& client = request_.client;
    auto const generation = logins.generation();
    auto facts = facts_without_credentials();
    if (facts.user.empty()) return State::login_needed;
    request_.identity = logins.find_user(std::move(facts), request_.now);
    if (!request_.identity) return State::unknown;
    client.set_client(with_identity(client.client(), request_.identity, generation));
    return State::known;
}

net::awaitable<State> LoginCheck::verify() {
    auto& logins = *request_.services.logins;
    bool const has_credentials = uses_credentials();
    auto const address = request_.client.peer().address;
    auto const generation = logins.generation();
    auto const limit = logins.sources()->options().timeout;
    auto const check = has_credentials ? logins.verify(request_.head().fields.first(Name::proxy_authorization), address, wall_now())
                                       : logins.find_groups(facts_without_credentials(), address, wall_now());
    net::Waiter waiter(request_.executor());
    request_.waiting = waiter.handle();
    check->wake_when_done(waiter.handle());
    co_await waiter.wait(limit);
    request_.waiting = {};
    auth::LoginAnswer late;
    late.kind = auth::LoginAnswer::Kind::unavailable;
    late.reason = "login not checked: no answer within auth.timeout";
    late.retry_after = try_again;
    auto const state = take(check->answer().value_or(std::move(late)));
    if (state == State::known && (!has_credentials || may_bind()))
        request_.client.set_client(with_identity(request_.client.client(), request_.identity, generation));
    co_return state;
}

State LoginCheck::take(auth::LoginAnswer const& answer) {
    using Kind = auth::LoginAnswer::Kind;
    if (uses_credentials()) request_.services.counters.logins.add(static_cast<LoginResult>(answer.kind));
    if (answer.kind == Kind::accepted) {
        request_.identity = answer.identity;
        return State::known;
    }
    without_negotiate_ = answer.negotiate_failed;
    retry_after_ = answer.retry_after;
    auto const field = request_.head().fields.first(Name::proxy_authorization);
    if (answer.kind == Kind::rejected)
        return reject(answer.unusable ? malformed_credentials : rejected_credentials(field), answer.reason);
    reason_ = answer.reason;
    return answer.kind == Kind::limited ? State::limited : State::unavailable;
}

/// The log has the detail, too: "Wrong password or unknown user (htpasswd: wrong password)".
State LoginCheck::reject(std::string_view what, std::string_view detail) {
    what_ = what;
    reason_.assign(what.substr(0, what.size() - 1)).append(" (").append(detail).append(")");
    return State::login_needed;
}

std::string LoginCheck::fields(State state) const {
    if (state == State::login_needed)
        return request_.services.logins ? challenges(*request_.services.logins->sources(), without_negotiate_) : std::string();
    if (state != State::limited && state != State::unavailable) return {};
    return "Retry-After: " + std::to_string(retry_after_.count()) + "\r\n";
}

/// A Negotiate token is used once, so its result is the connection's. A proxy or gateway in between shares one connection among
/// its users, also among those with one address, and the streams of HTTP/2 do not wait for each other.
bool LoginCheck::may_bind() const {
    auto const& client = *request_.client.client();
    bool const is_shared = client.http2 || client.gateway || is_forwarded(request_.head().fields);
    return request_.identity->source == "negotiate" && !is_shared;
}

std::shared_ptr<http::Identity const> bound_identity(Services const& services, ClientStream const& stream, bool is_inside_tunnel) {
    auto const& client = *stream.client();
    if (!client.identity || is_inside_tunnel) return client.identity;
    auto const now = wall_now();
    auto bound = bound_login(services, stream, now);
    return bound && bound->groups_until > now ? bound : nullptr;
}

namespace {

std::shared_ptr<http::Identity const> bound_login(Services const& services, ClientStream const& stream, WallTime now) {
    auto const& client = *stream.client();
    auto const& fields = stream.head().fields;
    if (!client.identity) return nullptr;
    if (fields.has(Name::proxy_authorization)) return nullptr;
    if (client.identity->source == "negotiate" && is_forwarded(fields)) return nullptr;
    bool const holds = services.logins && services.logins->generation() == client.generation && client.identity->until > now;
    return holds ? client.identity : nullptr;
}

}   // namespace

std::shared_ptr<Client const> with_identity(std::shared_ptr<Client const> client, std::shared_ptr<http::Identity const> identity,
                                            std::uint64_t generation) {
    if (!identity || client->identity == identity) return client;
    auto changed = *client;
    changed.identity = std::move(identity);
    changed.generation = generation;
    return std::make_shared<Client const>(std::move(changed));
}

}   // namespace garner::proxy
