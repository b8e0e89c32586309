// Requests that the proxy itself answers: PURGE, OPTIONS and TRACE at the last hop, and its own paths.
#pragma once
#include <optional>

#include "group/state.hpp"
#include "proxy/request.hpp"
#include "proxy/response_writer.hpp"

namespace garner::proxy {

/// Belongs to one request.
class OwnAnswers {
public:
    OwnAnswers(Request& request, ResponseWriter& writer) : request_(request), writer_(writer) {}

    net::awaitable<void> purge();
    /// OPTIONS * to a forward proxy, and Max-Forwards: 0 (RFC 9110 7.6.2). TRACE echoes the received request without its
    /// secrets.
    net::awaitable<void> answer_as_last_hop();
    /// Answers a path of proxy/internal.
    net::awaitable<void> answer_internally();

private:
    net::awaitable<void> send_root();
    net::awaitable<void> send_refusals();
    net::awaitable<std::string> log_in_for_refusals();
    net::awaitable<void> send_quotas();
    bool counts_users() const;
    http::Decision may_purge() const;
    net::awaitable<bool> ask_to_log_in(char const* why, char const* key);
    net::awaitable<std::optional<group::SubmissionResult>> tell_group();
    bool is_other_cache(IpAddress const& client) const;
    bool may_read_https() const;

    Request& request_;
    ResponseWriter& writer_;
};

}   // namespace garner::proxy
