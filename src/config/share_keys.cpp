// The keys of the line: fair shares, caps and quotas.
#include <set>

#include "config/key_parts.hpp"
#include "config/matcher_form.hpp"
#include "config/rule_form.hpp"

namespace garner::config {
namespace {

constexpr Bytes rate_max = Bytes{1} << 40;   // bytes a second

bool is_of_subject(AnyRow const& row) { return row.name == "source" || row.name == "user" || row.name == "group"; }

/// A matcher that other rules have.
template <class Rule>
Row<Rule> not_for(std::string const& rules, Literal name, std::string mend) {
    return refused<Rule>(name, std::string(name) + " is not for " + rules, std::move(mend));
}

/// A weight is the subject's, and not that of one of its requests.
Table<http::Matcher> matchers_of_subjects() {
    auto table = matcher_keys();
    std::erase_if(table.rows, [](AnyRow const& row) { return !is_of_subject(row); });
    return table;
}

/// The other matchers, which caps have.
void refuse_matchers_of_requests(Table<share::Weight>& table) {
    for (auto const& row : matcher_keys().rows)
        if (!is_of_subject(row))
            table.add(not_for<share::Weight>("weights, which are of clients", row.name, "use source, user or group"));
}

Form<share::Weight> weight() {
    using T = share::Weight;
    Table<T> settings{required(key<T>("weight", &T::weight, count(1, 1'000),
                                      "Share relative to users without a rule, which is 1. Matchers: `source`, `user`, "
                                      "`group`; without matchers, the rule matches every user."))};
    refuse_matchers_of_requests(settings);
    return matching_rule<T>(matchers_of_subjects(), settings, nullptr);
}

/// The rules of `caps` are checked after the login, and before the origin's address is known.
Table<http::Matcher> matchers_without_destination() { return matcher_keys().without({"destination"}); }

/// A quota has a limit named `time`.
Table<http::Matcher> matchers_of_quotas() { return matcher_keys().without({"destination", "time"}); }

void check_cap(Reader& reader, Json const& value, share::CapRule& rule) {
    if (rule.name.empty()) rule.name = reader.path();
    if (rule.match.has(http::Matcher::Member::destination))
        reader.fault("a matcher that it uses names destination, which is not known when caps are chosen", "use host");
    if (rule.down == 0 && rule.up == 0 && !value.contains("down") && !value.contains("up"))
        reader.notice("this cap has no rate and exempts what it matches", R"(add "down": "20 Mbit/s", or write "down": 0)");
}

Form<share::CapRule> cap() {
    using T = share::CapRule;
    using enum share::Each;
    return matching_rule<T>(
        matchers_without_destination(),
        {
            key<T>("name", &T::name, text(), "Name in metrics and explanations."),
            key<T>("each", &T::each, one_of<share::Each>({{"client", client}, {"connection", connection}, {"all", all}}),
                   "Scope of the rates: each client (user or network, as `share.by` says), each connection of a client, or all "
                   "matching clients together."),
            key<T>("down", &T::down, rate(0, rate_max), "Rate from origins; 0: no limit."),
            key<T>("up", &T::up, rate(0, rate_max), "Rate to origins; 0: no limit."),
            not_for<T>("caps, which are chosen before the address of the origin is known", "destination", "use host"),
        },
        check_cap);
}

constexpr std::uint32_t requests_max = 1'000'000'000;

milliseconds length_of(share::Per per) { return per == share::Per::day ? day : per == share::Per::week ? 7 * day : 31 * day; }

void check_limits(Reader& reader, Json const& value, share::QuotaRule const& rule) {
    auto const per = std::string(share::text(rule.per));
    if (rule.time.count() % 60'000 != 0) reader.fault({"time"}, "is not in whole minutes", "write minutes, such as \"90m\"");
    if (rule.time >= length_of(rule.per))
        reader.fault({"time"}, "is never used up: a " + per + " has no more minutes", "write less, or a longer \"per\"");
    if (rule.slow == 0 && rule.over == share::Over::slow)
        reader.fault({"over"}, "is \"slow\", but the quota has no rate for that", R"(add "slow": "1 Mbit/s")");
    if (rule.slow == 0 && value.contains("soft"))
        reader.notice({"soft"}, "has no effect without a rate of the slow lane", R"(add "slow": "1 Mbit/s")");
    if (rule.slow > 0 && rule.soft >= 1 && rule.over == share::Over::refuse)
        reader.notice({"slow"}, "has no effect: the slow lane would begin where requests are refused",
                      R"(write a smaller "soft", or "over": "slow")");
    bool const slows_only = rule.over == share::Over::slow && rule.soft >= 1;
    if (slows_only && value.contains("soft"))
        reader.notice({"soft"}, "has no effect: the limit begins the slow lane, too", "remove it, or write a smaller part");
}

void check_quota(Reader& reader, Json const& value, share::QuotaRule& rule) {
    if (rule.name.empty()) rule.name = reader.path();
    if (rule.match.has(http::Matcher::Member::destination))
        reader.fault("a matcher that it uses names destination, which is not known when quotas are chosen", "use host");
    bool const exempts = !value.contains("bytes") && !value.contains("requests") && !value.contains("time");
    if (!rule.has_limit() && exempts)
        reader.notice("this quota has no limit and exempts what it matches", R"(add "bytes": "2 GB", or write "bytes": 0)");
    if (!rule.has_limit() && (value.contains("slow") || value.contains("over")))
        reader.fault("has no limit, so that its \"slow\" and \"over\" contradict it", R"(add "bytes": "2 GB", or remove them)");
    if (rule.has_limit()) check_limits(reader, value, rule);
}

Form<share::QuotaRule> quota() {
    using T = share::QuotaRule;
    using enum share::Each;
    using enum share::Per;
    using enum share::Over;
    return matching_rule<T>(
        matchers_of_quotas(),
        {
            key<T>("name", &T::name, text(), "Name in the ledger, metrics and error pages. The ledger keeps the use by this name."),
            key<T>("each", &T::each, one_of<share::Each>({{"client", client}, {"all", all}}),
                   "Subject of the limits: each client (user or network, as `share.by` says), or all matching clients together."),
            key<T>("per", &T::per, one_of<share::Per>({{"day", share::Per::day}, {"week", week}, {"month", month}}),
                   "Window in local time after which the use begins anew; a week begins on Monday."),
            key<T>("bytes", &T::bytes, size(0, size_max), "Bytes from and to origins and parents; 0: no limit."),
            key<T>("requests", &T::requests, count(0, requests_max), "Requests to origins and parents; 0: no limit."),
            key<T>(
                "time", &T::time, time(milliseconds{0}, 31 * config::day),
                "Minutes in which bytes from or to origins and parents have moved; 0: no limit. For the matcher `time` use `is`."),
            key<T>("soft", &T::soft, fraction(0, 1), "Part of a limit from which on `slow` applies."),
            key<T>("slow", &T::slow, rate(0, rate_max),
                   "Rate of each subject from and to origins in the slow lane, which begins at `soft`; 0: there is none."),
            key<T>(
                "over", &T::over, one_of<share::Over>({{"refuse", refuse}, {"slow", slow}}),
                "Effect of a limit that is reached. `refuse`: 429 with Retry-After; running bodies and tunnels are ended. `slow`: "
                "the slow lane."),
            not_for<T>("quotas, which are chosen before the address of the origin is known", "destination", "use host"),
        },
        check_quota);
}

/// A list whose rules have names of their own. `what`: "cap"
template <class Rule>
Form<std::vector<Rule>> named_rules(Form<Rule> rule, std::string what) {
    auto form = list_of(std::move(rule));
    form.read_by(
        [read = std::move(form.read_any), what = std::move(what)](Reader& reader, Json const& value, std::vector<Rule>& into) {
            bool good = read(reader, value, &into);
            std::set<std::string> names;
            for (std::size_t i = 0; i < into.size(); ++i)
                if (!names.insert(into[i].name).second)
                    good = reader.fault({i, "name"}, in_quotes(into[i].name) + " is already the name of another " + what,
                                        "give each its own name");
            return good;
        });
    return form;
}

}   // namespace

Form<share::Options> line_share() {
    using T = share::Options;
    using enum share::By;
    return object_of<T>({
        key<T>("down", &T::down, rate(0, rate_max),
               "Rate of the line from origins and parents, about 95 % of what it has. 0: not divided."),
        key<T>("up", &T::up, rate(0, rate_max), "Rate of the line to origins and parents; 0: not divided."),
        key<T>("by", &T::by, one_of<share::By>({{"user", user}, {"source", source}}),
               "Subject of a share. `user`: each user by login, if the rules ask for one, otherwise each client address. `source`: "
               "each client address. Addresses of one network count as one (`limits.client_prefix4`, `limits.client_prefix6`)."),
        key<T>("credit", &T::credit, size(0, GiB), "Bytes by which a user below the fair share is served before the others."),
        key<T>("weights", &T::weights, list_of(weight()), "Users with a larger share. The first rule that matches applies."),
    });
}

Form<std::vector<share::CapRule>> line_caps() { return named_rules(lazy(cap), "cap"); }

Form<std::vector<share::QuotaRule>> line_quotas() { return named_rules(lazy(quota), "quota"); }

}   // namespace garner::config
