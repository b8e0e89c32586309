// The section `matchers`.
#include <algorithm>

#include "config/matcher_form.hpp"
#include "config/rule_context.hpp"
#include "util/nearest.hpp"
#include "util/text.hpp"
#include "util/utf8.hpp"

namespace garner::config {
namespace {

constexpr std::string_view section_name = "matchers";

/// Letters are those of ASCII, and all characters beyond U+009F.
bool is_name(std::string_view name) {
    bool good = !name.empty();
    while (good && !name.empty()) {
        char const c = name.front();
        auto const length = std::max<std::size_t>(utf8_length(name), 1);
        good = length > 1 || is_alpha(c) || is_digit(c) || c == '-' || c == '_';
        name.remove_prefix(length);
    }
    return good;
}

Json const& section_of(Json const& root) {
    static Json const nothing = Json::object();
    auto const found = root.find(section_name);
    return found != root.end() && found->is_object() ? *found : nothing;
}

}   // namespace

NamedMatchers::Entry& NamedMatchers::read(Reader& reader, std::string const& name, Json const& value) {
    auto& entry = all_[name];
    Reader::Elsewhere const section(reader, section_name);
    Reader::Step const key(reader, std::string_view(name));
    http::Matcher matcher;
    bool good = is_name(name) || reader.fault("is not a name of letters, digits, - and _", "rename it");
    good = matcher_form().read(reader, value, matcher) && good;
    if (good) entry.matcher = std::make_shared<http::Matcher const>(std::move(matcher));
    entry.state = State::read;
    return entry;
}

std::shared_ptr<http::Matcher const> NamedMatchers::use(Reader& reader, std::string const& name) {
    auto known = all_.find(name);
    if (known == all_.end()) {
        auto const& section = section_of(reader.root());
        auto const value = section.find(name);
        if (value == section.end()) {
            std::vector<std::string_view> names;
            for (auto const& [one, matcher] : section.items()) names.push_back(one);
            auto const meant = nearest(name, names);
            reader.fault("no matcher is named " + quoted_value(name),
                         meant.empty() ? "define it in matchers" : "did you mean " + in_quotes(meant) + "?");
            return nullptr;
        }
        read(reader, name, *value);
        known = all_.find(name);
    }
    known->second.used = true;
    if (known->second.state == State::being_read) {
        reader.fault("matcher " + in_quotes(name) + " uses itself", "remove this use");
        return nullptr;
    }
    return known->second.matcher;
}

bool NamedMatchers::read_all(Reader& reader, Json const& section) {
    if (!section.is_object()) return reader.fault("expects an object, not " + kind_of(section), "write { \"NAME\": { … } }");
    bool good = true;
    for (auto const& [name, value] : section.items()) {
        auto const known = all_.find(name);
        auto const& entry = known == all_.end() ? read(reader, name, value) : known->second;
        good = entry.matcher && good;
    }
    return good;
}

void NamedMatchers::notice_unused(Reader& reader) const {
    for (auto const& [name, entry] : all_)
        if (!entry.used) reader.notice({section_name, name}, "no rule uses this matcher", "use it with is or not, or remove it");
}

}   // namespace garner::config
