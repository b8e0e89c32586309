// The keys of the line: fair shares and caps.
#include <set>

#include "config/key_parts.hpp"
#include "config/matcher_form.hpp"
#include "config/rule_form.hpp"

namespace garner::config {
namespace {

constexpr Bytes rate_max = Bytes{1} << 40;   // bytes a second

bool is_of_subject(Row<http::Matcher> const& row) { return row.name == "source" || row.name == "user" || row.name == "group"; }

/// A matcher that other rules have.
template <class Rule>
Row<Rule> not_for(std::string const& rules, std::string name, std::string mend) {
    auto read = [text = name + " is not for " + rules, mend = std::move(mend)](Reader& reader, Json const&, Rule&) {
        return reader.fault(text, mend);
    };
    return {.name = std::move(name), .read = std::move(read), .describe = {}, .offered = false, .retired = true};
}

/// A weight is the subject's, and not that of one of its requests.
Table<http::Matcher> matchers_of_subjects() {
    auto table = matcher_keys();
    std::erase_if(table, [](auto const& row) { return !is_of_subject(row); });
    return table;
}

/// The other matchers, which caps have.
void refuse_matchers_of_requests(Table<share::Weight>& table) {
    for (auto const& row : matcher_keys())
        if (!is_of_subject(row))
            table.push_back(not_for<share::Weight>("weights, which are of clients", row.name, "use source, user or group"));
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
Table<http::Matcher> matchers_without_destination() {
    auto table = matcher_keys();
    std::erase_if(table, [](auto const& row) { return row.name == "destination"; });
    return table;
}

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

}   // namespace

Form<share::Options> line_share() {
    using T = share::Options;
    using enum share::By;
    return object_of<T>({
        key<T>("down", &T::down, rate(0, rate_max),
               "Rate of the line from origins and parents: what is divided. Write a little less than the line has, about 95 %, so "
               "that its queue is here and not at the provider. 0: not divided."),
        key<T>("up", &T::up, rate(0, rate_max), "Rate of the line to origins and parents; 0: not divided."),
        key<T>("by", &T::by, one_of<share::By>({{"user", user}, {"source", source}}),
               "Subject of a share. `user`: each user by login, if the rules ask for one, otherwise each client address. `source`: "
               "each client address. Addresses of one network count as one (`limits.client_prefix4`, `limits.client_prefix6`)."),
        key<T>("credit", &T::credit, size(0, GiB), "Bytes by which a user below the fair share is served before the others."),
        key<T>("weights", &T::weights, list_of(weight()), "Users with a larger share. The first rule that matches applies."),
    });
}

Form<std::vector<share::CapRule>> line_caps() {
    auto const list = list_of(cap());
    auto read = [list](Reader& reader, Json const& value, std::vector<share::CapRule>& into) {
        bool good = list.read(reader, value, into);
        std::set<std::string> names;
        for (std::size_t i = 0; i < into.size(); ++i)
            if (!names.insert(into[i].name).second)
                good = reader.fault({i, "name"}, in_quotes(into[i].name) + " is already the name of another cap",
                                    "give each its own name");
        return good;
    };
    auto form = list;
    form.read = std::move(read);
    return form;
}

}   // namespace garner::config
