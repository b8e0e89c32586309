// The checks of a request before the lookup: target, loops, and access rules.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/login_check.hpp"
#include "proxy/name_check.hpp"
#include "proxy/request.hpp"

namespace garner::proxy {

/// Belongs to one request.
class RequestCheck {
public:
    explicit RequestCheck(Request& request) : request_(request), login_(request), name_(request) {}

    enum class Verdict : std::uint8_t {
        go_on,
        own_answer,   // the proxy itself answers: OPTIONS *, Max-Forwards: 0
        internal,     // a path of the proxy itself, for other caches
        refused       // refusal() has the reason
    };
    /// All checks that need no waiting; nothing when names must be resolved for the rules, or credentials be verified: then
    /// check_further() follows. A plain function, so that a hit allocates no coroutine frame.
    std::optional<Verdict> check();
    net::awaitable<Verdict> check_further();

    struct Refusal {
        std::uint16_t status = 400;
        std::string_view what;
        std::string_view rule;
        cache::FailureKind kind = cache::FailureKind::other;
        std::string_view fields = {};   // lines for the response
    };
    Refusal const& refusal() const { return refusal_; }
    /// This client is allowed cached responses only.
    void refuse_misses();
    /// The client sent only-if-cached (RFC 9111 5.2.1.7).
    void refuse_to_fetch();
    /// The rules deny the request, or a stored response by the address it came from. `destination`: the address, if it decided.
    Verdict denied(http::Decision const& decision, std::optional<IpAddress> const& destination = std::nullopt);

private:
    std::optional<Verdict> check_inside();
    std::optional<Verdict> check_unverified();
    std::optional<Verdict> check_access();
    std::optional<Verdict> resume_access();
    net::awaitable<std::optional<Verdict>> check_names();
    net::awaitable<std::optional<Verdict>> check_origin();
    net::awaitable<std::optional<Verdict>> check_login();
    std::optional<Verdict> require_login();
    std::optional<Verdict> judge(LoginCheck::State);
    Verdict refuse_login(LoginCheck::State);
    void note_unknown_groups();
    bool user_may_matter() const;
    Verdict check_internal();
    Verdict prepare();
    Verdict refused(std::uint16_t status, std::string_view what, std::string_view rule);
    void apply_reload_rule();

    /// The next wait of check_further().
    enum class Missing : std::uint8_t {
        names,
        origin,   // whether the host of an intercepted request leads to its destination
        user,
        user_if_valid   // no rule needs it yet
    };

    Request& request_;
    LoginCheck login_;
    NameCheck name_;
    Missing missing_ = Missing::names;
    bool has_tried_login_ = false;
    std::string login_fields_;
    Refusal refusal_;
};

}   // namespace garner::proxy
