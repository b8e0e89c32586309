// The subject that pays for a request that goes over the line, its cap, and its quota.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "http/rule_request.hpp"
#include "proxy/options.hpp"
#include "share/account.hpp"

namespace garner::proxy {

struct Request;

/// True if any request may have to wait for the line, or may be refused it.
inline bool limits_line(Options const& options) {
    return options.share.is_on() || !options.caps.empty() || !options.quotas.empty();
}

struct LinePlace {
    std::string subject;   // share::subject_key
    float weight = 1;
    // Of the options; nullptr: none applies.
    share::CapRule const* cap = nullptr;
    share::QuotaRule const* quota = nullptr;
};

/// `network`: of the client's address. Pure.
LinePlace place_on_line(Options const& options, http::RuleRequest const& facts, IpAddress const& network);
/// The place of all fetches that replicate objects of the group: clients go first, and no cap or quota counts them.
LinePlace place_of_replication();

/// The part of a key that tells apart what a rule counts together; empty: all.
std::string counted_by(share::Each each, std::string const& subject, IpEndpoint const& connection);

/// The use of each quota that counts for the client of the request: the one that would count this request, and those of the client
/// itself that have counted something.
std::vector<share::QuotaStanding> own_quotas(Request const& request);

/// Call only if limits_line().
std::unique_ptr<share::Account> open_account(Request const& request);

/// Before a source is asked: a client with debts waits, because a response arrives in the kernel before it is read.
/// Request::line_account() has opened the account. False if the response is no longer wanted.
net::awaitable<bool> wait_for_line(Request& request);

/// While the response is sent: waits until what has been received is paid. False: the client has disconnected.
net::awaitable<bool> pay_for_piece(Request& request);

}   // namespace garner::proxy
