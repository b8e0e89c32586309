#include "proxy/line_account.hpp"

#include "proxy/request.hpp"

namespace garner::proxy {

namespace {

using http::Matcher;

std::string subject_of(share::By by, http::RuleRequest const& facts, IpAddress const& network) {
    bool const has_name = by == share::By::user && facts.identity && !facts.identity->user.empty();
    return has_name ? share::subject_key(facts.identity->user) : share::subject_key(network);
}

Matcher::Doubt doubt_of(share::Weight const&) { return Matcher::Doubt::fails; }
Matcher::Doubt doubt_of(share::CapRule const& cap) { return cap.has_limit() ? Matcher::Doubt::matches : Matcher::Doubt::fails; }
Matcher::Doubt doubt_of(share::QuotaRule const& quota) {
    return quota.has_limit() ? Matcher::Doubt::matches : Matcher::Doubt::fails;
}

/// An escape in the URL must neither raise the weight nor evade a limit: a rule without a limit exempts.
template <class Rule>
Rule const* first_match(std::vector<Rule> const& rules, http::RuleRequest const& facts) {
    for (auto const& rule : rules)
        if (rule.match.matches(facts, nullptr, doubt_of(rule)) == Matcher::Result::yes) return &rule;
    return nullptr;
}

}   // namespace

std::string counted_by(share::Each each, std::string const& subject, IpEndpoint const& connection) {
    switch (each) {
    case share::Each::client: return subject;
    case share::Each::connection: return connection.text();
    case share::Each::all: break;
    }
    return {};
}

LinePlace place_on_line(Options const& options, http::RuleRequest const& facts, IpAddress const& network) {
    LinePlace place{.subject = subject_of(options.share.by, facts, network)};
    if (auto const* rule = first_match(options.share.weights, facts)) place.weight = static_cast<float>(rule->weight);
    place.cap = first_match(options.caps, facts);
    place.quota = first_match(options.quotas, facts);
    if (place.quota && !place.quota->has_limit()) place.quota = nullptr;
    return place;
}

LinePlace place_of_replication() {
    constexpr float part_of_client = 1.0F / 16;
    return {.subject = share::replication_key(), .weight = part_of_client};
}

/// Rules of hosts do not match the request for the page itself. The first rule that matches it would count it.
std::vector<share::QuotaStanding> own_quotas(Request const& request) {
    auto const& options = *request.options;
    auto const facts = request.facts();
    auto const subject = subject_of(options.share.by, facts, request.client_network());
    auto const* const first = first_match(options.quotas, facts);
    std::vector<share::QuotaStanding> standings;
    for (auto const& rule : options.quotas) {
        if (!rule.has_limit()) continue;
        bool const is_of_all = rule.each == share::Each::all;
        bool const matches = &rule == first;
        if (is_of_all && !matches) continue;
        auto standing = request.services.shared.quotas.look_up(rule.name, is_of_all ? std::string() : subject, request.now);
        if (standing && (matches || !standing->usage.is_empty())) standings.push_back(*std::move(standing));
    }
    return standings;
}

std::unique_ptr<share::Account> open_account(Request const& request) {
    auto const& options = *request.options;
    auto const place =
        request.in_group.replicates ? place_of_replication() : place_on_line(options, request.facts(), request.client_network());
    // Without a cap or quota, too: others, which have one, may join the fetch and outlive the request.
    auto& services = request.services;
    std::shared_ptr<share::Cap> cap;
    if (place.cap) {
        auto const whose = counted_by(place.cap->each, place.subject, request.client.peer());
        cap = services.shared.caps.find(place.cap->name, whose);
    }
    auto& shares = services.shared.shares;
    share::Payer payer(shares.subject(place.subject, place.weight));
    if (auto const* const rule = place.quota)
        payer.quota = services.shared.quotas.find(rule->name, counted_by(rule->each, place.subject, {}));
    return std::make_unique<share::Account>(shares, services.clock, std::move(payer), std::move(cap));
}

net::awaitable<bool> wait_for_line(Request& request) {
    auto& account = *request.account;
    account.pay_with(request.led, true);
    request.watch_client([&account] { account.abort(); });
    co_await account.settle_before_asking();
    request.client.unwatch();
    account.pay_with(nullptr, false);
    co_return !request.aborted && (!request.client_gone || request.others_wait());
}

/// No write shows meanwhile that the client has disconnected. A watch needs a request that is complete.
net::awaitable<bool> pay_for_piece(Request& request) {
    auto& account = *request.account;
    bool const watches = !request.uploading;
    if (watches) request.watch_client([&account] { account.abort(); });
    co_await account.settle(share::Direction::down);
    if (watches) request.client.unwatch();
    if (request.client_gone) request.close = true;
    co_return !request.client_gone;
}

}   // namespace garner::proxy
