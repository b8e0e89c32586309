// Forms of rules: all rules use the same matchers.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "config/form.hpp"
#include "http/access_rules.hpp"
#include "http/caching_rules.hpp"
#include "http/matcher.hpp"

namespace garner::config {

/// Rules of the form { "allow": matchers } or { "deny": matchers }, with name and because.
Form<http::AccessRules> access_rules();
/// Without `destination`.
Form<http::AccessRules> purge_rules();
/// Without `destination`, `user` and `group`.
Form<std::vector<http::AccessRule>> miss_rules();
/// Matchers without `destination`, `user` and `group`, `type`, and the settings.
Form<http::CachingRule> caching_rule();

// ---- for rules that have their matchers beside their settings ----

/// The keys of an Inner inside an Outer, as keys of the Outer itself.
template <class Outer, class Inner>
Table<Outer> lifted(Table<Inner> const& table, Inner Outer::*member) {
    Table<Outer> out;
    for (auto const& row : table) {
        auto read = [row, member](Reader& reader, Json const& value, Outer& into) { return row.read(reader, value, into.*member); };
        out.push_back({row.name, read, row.describe, row.required, row.offered});
    }
    return out;
}

/// An object of matchers and settings. The matchers are documented once, and not at every key that takes them.
template <class Rule>
Form<Rule> matching_rule(Table<http::Matcher> const& matching, Table<Rule> const& settings, Afterwards<Rule> check) {
    auto table = lifted(matching, &Rule::match);
    table.insert(table.end(), settings.begin(), settings.end());
    auto form = object_of<Rule>(std::move(table), std::move(check));
    form.describe = [describe = std::move(form.describe), matching] {
        auto description = describe();
        auto const is_matcher = [&](KeyNote const& note) {
            return std::ranges::count(matching, note.path, &Row<http::Matcher>::name) > 0;
        };
        std::erase_if(description.notes, is_matcher);
        return description;
    };
    return form;
}

}   // namespace garner::config
