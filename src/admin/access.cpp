#include "admin/access.hpp"

#include <algorithm>

#include "admin/form_fields.hpp"
#include "admin/login_page.hpp"
#include "io/log.hpp"
#include "util/random_secret.hpp"
#include "util/text.hpp"

namespace garner::admin {

using web::Reply;

namespace {

constexpr std::string_view challenge = "WWW-Authenticate: Bearer realm=\"Garner\"\r\n";

/// Browsers send a cookie to all ports of a host, where other instances of Garner may listen.
std::string cookie_name(web::Request const& request) { return "garner_session_" + std::to_string(request.own.port); }

std::string_view session_secret(web::Request const& request) { return cookie_value(request.value("Cookie"), cookie_name(request)); }

/// `age` 0 removes it.
std::string cookie_line(web::Request const& request, std::string const& value, std::chrono::seconds age) {
    return "Set-Cookie: " + cookie_name(request) + "=" + value +
           "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(age.count()) + "\r\n";
}

Reply see_other(std::string_view target, std::string const& fields) {
    return {303, "", "text/plain; charset=utf-8", "Location: " + std::string(target) + "\r\n" + fields};
}

Reply wrong_token(web::Request const& request, std::string_view next) {
    if (request.path == "/login") return login_form(401, next, "This token is not valid.");
    return {401, "The token is not valid: see admin.tokens of the configuration. garner token makes a new one.\n",
            "text/plain; charset=utf-8", "WWW-Authenticate: Bearer realm=\"Garner\", error=\"invalid_token\"\r\n"};
}

Reply too_many(web::Request const& request, std::string_view next, milliseconds wait) {
    auto const left = std::to_string(std::chrono::ceil<seconds>(wait).count());
    auto const text =
        "This token is not valid. After many failed logins from this address the replies are slow: try again in " + left + " s.";
    auto reply = request.path == "/login" ? login_form(429, next, text) : Reply{429, text + "\n"};
    reply.fields += "Retry-After: " + left + "\r\n";
    return reply;
}

}   // namespace

void Access::set_tokens(std::vector<Token> tokens) {
    tokens_ = std::move(tokens);
    sessions_.keep(tokens_);
}

/// A right token is always let in, because its holder may share the address with a client that guesses.
Token const* Access::check(web::Request const& request, std::string_view text, std::string_view next,
                           std::optional<Reply>& refusal) {
    if (auto const* const token = token_of(tokens_, text)) return token;
    auto const now = wall_now();
    auto const wait = failures_.blocked(request.client, failures_max, now);
    failures_.note(request.client, now);
    ++logins_failed_;
    if (!wait)
        spdlog::warn("admin: a login from {} failed: no token in admin.tokens matches; use one that garner token printed",
                     request.client.text());
    refusal = wait ? too_many(request, next, *wait) : wrong_token(request, next);
    return nullptr;
}

std::optional<Reply> Access::identify(web::Request const& request, Visitor& visitor) {
    if (tokens_.empty()) {
        visitor.role = Role::operator_;
        return std::nullopt;
    }
    if (request.count("Authorization") == 0) {
        show_session(session_secret(request), visitor);
        return std::nullopt;
    }
    std::optional<Reply> refusal;
    auto const sent = request.count("Authorization") == 1 ? bearer_token(request.value("Authorization")) : std::string_view();
    if (auto const* const token = check(request, sent, "", refusal)) visitor = {token->role, token->name, {}, token->digest, {}};
    return refusal;
}

/// The role is that of the present configuration.
void Access::show_session(std::string_view secret, Visitor& visitor) const {
    auto const* const session = sessions_.find(secret, steady_now());
    if (!session) return;
    auto const token = std::ranges::find(tokens_, session->token, &Token::digest);
    if (token != tokens_.end()) visitor = {token->role, token->name, session->form_token, token->digest, digest_of(secret)};
}

bool Access::holds(Visitor const& visitor) const {
    if (tokens_.empty()) return true;
    auto const token = std::ranges::find(tokens_, visitor.digest, &Token::digest);
    if (token == tokens_.end() || token->role < visitor.role) return false;
    return visitor.form_token.empty() || sessions_.find(visitor.session, steady_now());
}

Reply Access::login_page(web::Request const&, Visitor const& visitor) const {
    if (tokens_.empty()) return no_login_page();
    return visitor.form_token.empty() ? login_form(200, "/", "") : session_page(visitor);
}

Reply Access::login(web::Request const& request, std::string_view form) {
    if (form.size() > login_bytes_max) return {413, "The body of a login has at most 4 KiB.\n"};
    if (tokens_.empty()) return no_login_page();
    std::optional<Reply> refusal;
    auto const next = form_value(form, "next");
    auto const* const token = check(request, form_value(form, "token"), next, refusal);
    if (!token) return *std::move(refusal);
    auto const secret = random_secret();
    sessions_.open(secret, random_secret(), token->digest, steady_now());
    spdlog::info("admin: {} ({}) has logged in from {}", token->name, name_of(token->role), request.client.text());
    return see_other(is_page_target(next) ? next : "/", cookie_line(request, secret, Sessions::lifetime));
}

Reply Access::logout(web::Request const& request) {
    sessions_.close(session_secret(request));
    return see_other("/login", cookie_line(request, "", seconds{0}));
}

namespace {

/// No browser sends a field twice.
bool is_of_another_site(web::Request const& request) {
    if (request.count("Sec-Fetch-Site") > 1) return true;
    auto const site = request.value("Sec-Fetch-Site");
    return !site.empty() && site != "same-origin" && site != "none";
}

}   // namespace

bool is_embedded(web::Request const& request) {
    bool const is_link = request.value("Sec-Fetch-Mode") == "navigate" && request.value("Sec-Fetch-Dest") == "document";
    return is_of_another_site(request) && !is_link;
}

bool is_foreign(web::Request const& request) {
    if (is_of_another_site(request) || request.count("Origin") > 1) return true;
    if (request.count("Origin") == 0) return false;
    auto origin = request.value("Origin");
    for (std::string_view const scheme : {"http://", "https://"})   // a TLS proxy may stand before this address
        if (origin.starts_with(scheme)) return !equals_ignoring_case(origin.substr(scheme.size()), request.value("Host"));
    return true;
}

Reply needs_token(web::Request const& request) {
    auto reply = request.path == "/" ? login_form(401, request.target, "") : Reply{401};
    if (reply.body.empty())
        reply.body = "A token is needed: send Authorization: Bearer TOKEN. Commands take it from GARNER_TOKEN or --token-file.\n";
    reply.fields += challenge;
    return reply;
}

}   // namespace garner::admin
