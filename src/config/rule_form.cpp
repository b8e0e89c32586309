// Reads rules.
#include "config/rule_form.hpp"

#include <algorithm>
#include <iterator>

#include "config/key_parts.hpp"
#include "config/matcher_form.hpp"

namespace garner::config {
namespace {

using http::AccessRule;
using http::AccessRules;
using http::CachingRule;
using http::Matcher;

Description description_of_access_rule(Form<Matcher> const& match, Table<AccessRule> const& rest) {
    auto const matcher = match.describe().schema;
    auto properties = Schema().object("allow", matcher).object("deny", matcher);
    std::vector<KeyNote> notes{{"allow", match.written, "", "Matching requests are served."},
                               {"deny", match.written, "", "Matching requests get 403."}};
    for (auto const& row : rest.rows) {
        auto const [schema, inner] = row.describe();
        properties.object(std::string(row.name), schema);
        notes.insert(notes.end(), inner.begin(), inner.end());
    }
    auto const either = R"([{"required":["allow"]},{"required":["deny"]}])";
    return {type_schema("object").json("additionalProperties", "false").json("oneOf", either).object("properties", properties),
            std::move(notes)};
}

Form<AccessRule> access_rule() {
    std::string const mend = R"(write { "allow": … } or { "deny": … })";
    auto const match = matcher_form();
    Table<AccessRule> const rest{
        key<AccessRule>("name", &AccessRule::name, text(), "Name of the rule in logs, tests and on the error page."),
        key<AccessRule>("because", &AccessRule::because, text(), "Reason that the error page shows to a client that is refused."),
    };
    auto read = [match, rest, mend](Reader& reader, Json const& value, AccessRule& into) {
        if (!value.is_object()) return reader.fault("expects a rule, not " + kind_of(value), mend);
        bool good = true;
        std::string_view const keys[]{"allow", "deny", "name", "because"};
        for (auto const& [name, member] : value.items()) {
            Reader::Step const step(reader, std::string_view(name));
            auto const row = std::ranges::find_if(rest.rows, [&](AnyRow const& one) { return one.is_called(name); });
            if (row != rest.rows.end()) {
                good = row->read_any(reader, member, &into) && good;
            } else if (name == "allow" || name == "deny") {
                good = match.read(reader, member, into.match) && good;
                into.allow = name == "allow";
                into.matchers = text_of_matchers(member);
            } else {
                reader.unknown_key(keys);
                good = false;
            }
        }
        if (value.contains("allow") == value.contains("deny")) good = reader.fault("a rule is either allow or deny", mend);
        into.place = reader.path() + (into.allow ? ": allow" : ": deny");
        return good;
    };
    return {"rules", [match, rest] { return description_of_access_rule(match, rest); }, read, nullptr, true};
}

/// An access rule for a check without an address, where a destination could never match.
Form<AccessRule> rule_without_destination(char const* why_not) {
    auto form = access_rule();
    form.read_by([read = std::move(form.read_any), why_not](Reader& reader, Json const& value, AccessRule& into) {
        if (!read(reader, value, &into)) return false;
        if (!into.match.has(Matcher::Member::destination)) return true;
        return reader.fault(why_not, "use source, host, port or URL");
    });
    // The keys are documented at `access`.
    form.describe = [describe = std::move(form.describe)]() -> Description { return describe().schema; };
    return form;
}

Form<AccessRule> miss_rule() {
    auto form = rule_without_destination("the destination is not known when this rule is checked");
    form.read_by([read = std::move(form.read_any)](Reader& reader, Json const& value, AccessRule& into) {
        return read(reader, value, &into) && check_without_users(reader, into.match);
    });
    return form;
}

Form<AccessRules> rules_of(Form<AccessRule> rule) {
    auto const rules = list_of(std::move(rule));
    auto read = [rules](Reader& reader, Json const& value, AccessRules& into) {
        std::vector<AccessRule> all;
        bool const good = rules.read(reader, value, all);
        into = AccessRules(std::move(all));
        return good;
    };
    return {rules.written, rules.describe, read, nullptr};
}

/// A matcher that other rules have.
Row<CachingRule> not_for_caching(Literal name, std::string why) {
    return refused<CachingRule>(name, std::move(why), "use source, host or port");
}

}   // namespace

Form<AccessRules> access_rules() { return rules_of(access_rule()); }

Form<AccessRules> purge_rules() { return rules_of(rule_without_destination("a purge has no destination")); }

Form<std::vector<AccessRule>> miss_rules() { return list_of(miss_rule()); }

AnyForm any_matching_rule(Table<Matcher> const& matching, Place match, std::vector<AnyRow> settings, CheckAny check) {
    std::vector<AnyRow> rows;
    for (auto row : matching.rows) {
        row.read_any = [read = std::move(row.read_any), match](Reader& reader, Json const& value, void* rule) {
            return read(reader, value, match.in(rule));
        };
        rows.push_back(std::move(row));
    }
    std::ranges::move(settings, std::back_inserter(rows));
    auto form = any_object(std::move(rows), std::move(check));
    form.describe = [describe = std::move(form.describe), matching] {
        auto description = describe();
        std::erase_if(description.notes, [&](KeyNote const& note) {
            return std::ranges::any_of(matching.rows, [&](AnyRow const& row) { return row.name == note.path; });
        });
        return description;
    };
    return form;
}

Form<CachingRule> caching_rule() {
    auto const matching = matcher_keys().without({"destination", "user", "group"});
    auto const ttl = time(milliseconds{0}, year);
    Table<CachingRule> const settings{
        key<CachingRule>("type", &CachingRule::type, list_of(media_type()), "Media type of the response."),
        key<CachingRule>("never", &CachingRule::never, flag(), "`true`: matching responses are not stored."),
        key<CachingRule>("default_ttl", &CachingRule::default_ttl, ttl, "Replaces `caching.default_ttl`."),
        key<CachingRule>("ttl_min", &CachingRule::ttl_min, ttl, "Shorter freshness lifetimes are raised to this.").was("min_ttl"),
        key<CachingRule>("ttl_max", &CachingRule::ttl_max, ttl,
                         "Longer freshness lifetimes are lowered to this, even if `ttl_min` of any rule raised them.")
            .was("max_ttl"),
        key<CachingRule>(
            "negative_ttl", &CachingRule::negative_ttl, ttl,
            "Replaces `caching.negative_ttl`; also the lifetime of stored error responses without explicit freshness."),
        key<CachingRule>("heuristic_factor", &CachingRule::heuristic_factor, fraction(0, 1),
                         "Heuristic freshness lifetime as a share of the time since Last-Modified (RFC 9111 4.2.2)."),
        key<CachingRule>("reload", &CachingRule::reload,
                         one_of<http::Reload>({{"honour", http::Reload::honour}, {"ignore", http::Reload::ignore}}),
                         "`ignore`: no-cache, max-age=0 and Pragma of clients do not force a fetch."),
        not_for_caching("destination", "destination is not for caching rules"),
        not_for_caching("user", "user is only for access and purge"),
        not_for_caching("group", "group is only for access and purge")};
    std::vector<std::string> picking{"type"};
    for (auto const& row : matching.rows) picking.emplace_back(row.name);
    auto check = [picking](Reader& reader, Json const& value, CachingRule& into) {
        into.name = reader.path();
        check_without_users(reader, into.match);
        if (into.match.has(Matcher::Member::destination))
            reader.fault("a matcher that it uses names destination, which is not for caching rules", "use host");
        if (into.ttl_min && into.ttl_max && *into.ttl_min > *into.ttl_max)
            reader.fault("ttl_min is longer than ttl_max", "exchange the two values");
        if (into.reload && !into.type.empty())
            reader.fault("reload applies before the type of the response is known", "remove type or reload");
        // A faulty setting was reported already; the rule would have an effect.
        auto const picks = [&](auto const& item) { return std::ranges::count(picking, item.key()) > 0; };
        auto const items = value.items();
        if (std::all_of(items.begin(), items.end(), picks))
            reader.notice("this rule has no setting and no effect", "add a setting such as never or default_ttl");
    };
    auto form = matching_rule<CachingRule>(matching, settings, check);
    form.written = "caching rules";
    return form;
}

}   // namespace garner::config
