// Identifies the sender of a request to the admin address, and logs browsers in and out.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admin/roles.hpp"
#include "auth/failures.hpp"
#include "web/http_message.hpp"

namespace garner::admin {

/// Used by the admin thread only.
class Access {
public:
    static constexpr std::uint32_t failures_max = 20;   // failed logins of one client within a minute; further ones get 429
    static constexpr std::size_t login_bytes_max = 4 * 1'024;

    /// `tokens` empty: each client may do everything.
    explicit Access(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    /// The tokens of a new configuration. Sessions of removed tokens end.
    void set_tokens(std::vector<Token> tokens);

    /// Stores the sender in `visitor`. Returns a refusal for a wrong token.
    std::optional<web::Reply> identify(web::Request const&, Visitor& visitor);
    /// For a reply that goes on: false after the token was removed or its role was reduced, or the session has ended.
    bool holds(Visitor const&) const;

    web::Reply login_page(web::Request const&, Visitor const&) const;
    /// `form` has `token`, and `next` for the page that follows.
    web::Reply login(web::Request const&, std::string_view form);
    web::Reply logout(web::Request const&);

    std::uint64_t logins_failed() const { return logins_failed_; }
    std::size_t sessions() const { return sessions_.count(steady_now()); }

private:
    /// The token that is `text`, or nullptr and a refusal. `next`: as in login().
    Token const* check(web::Request const&, std::string_view text, std::string_view next, std::optional<web::Reply>& refusal);
    void show_session(std::string_view secret, Visitor& visitor) const;

    std::vector<Token> tokens_;
    Sessions sessions_;
    auth::Failures failures_;
    std::uint64_t logins_failed_ = 0;
};

/// Whether a page of another site sent the request (Origin, and Fetch Metadata: Sec-Fetch-Site). Browsers send Origin with each
/// POST; programs send neither.
bool is_foreign(web::Request const&);

/// Whether a page of another site loads this as a part of itself: a picture, script, frame or stream. Following a link is none.
bool is_embedded(web::Request const&);

/// 401, for a request without a token that needs one. For the page: with the form that logs in.
web::Reply needs_token(web::Request const&);

}   // namespace garner::admin
