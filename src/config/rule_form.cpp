// Reads rules.
#include "config/rule_form.hpp"

#include <algorithm>

#include "config/address_form.hpp"
#include "config/key_parts.hpp"
#include "util/text.hpp"
#include "util/units.hpp"

namespace garner::config {
namespace {

using http::AccessRule;
using http::CachingRule;
using http::Matcher;

constexpr std::size_t matchers_max = 100;

Form<std::string> method() {
    auto const accept = [](std::string const& text, std::string& why) {
        if (!http::is_token(text)) return false;
        if (http::method_of(text) != http::Method::other) return true;
        auto upper = text;
        for (char& c : upper)
            if (is_lower(c)) c = static_cast<char>(c - 32);
        if (http::method_of(upper) != http::Method::other) return why = "is not " + upper + ": case matters", false;
        return true;
    };
    return checked("method", "a method", R"(write it like "GET")", accept);
}

Form<http::UrlPattern> url_pattern() {
    auto parse = [](std::string const& text, http::UrlPattern& into, std::string& why) {
        auto pattern = http::UrlPattern::parse(text);
        if (!pattern) return why += ": " + pattern.fault().text(), false;
        into = *std::move(pattern);
        return true;
    };
    return parsed<http::UrlPattern>("regular expression", "a regular expression", "use RE2 syntax, at most 1024 bytes", parse);
}

Form<http::CertificatePattern> certificate_pattern() {
    auto parse = [](std::string const& text, http::CertificatePattern& into, std::string&) {
        auto const pattern = http::CertificatePattern::parse(text);
        if (pattern) into = *pattern;
        return pattern.has_value();
    };
    return parsed<http::CertificatePattern>("certificate name", "a name in a certificate",
                                            R"(write it like "alice@example.org", ".example.org" or "any")", parse);
}

Form<http::TimeWindow> time_window() {
    auto parse = [](std::string const& text, http::TimeWindow& into, std::string&) {
        auto const window = http::TimeWindow::parse(text);
        if (window) into = *window;
        return window.has_value();
    };
    return parsed<http::TimeWindow>("weekly time", "a time of the week",
                                    R"(write it like "Mon-Fri 08:00-18:00", "Sat,Sun" or "22:00-06:00")", parse);
}

Form<std::string> media_type() {
    auto parse = [](std::string const& text, std::string& into, std::string&) {
        auto const slash = text.find('/');
        if (slash == text.npos) return false;
        std::string_view const all = text;
        if (!http::is_token(all.substr(0, slash)) || !http::is_token(all.substr(slash + 1))) return false;
        if (all.substr(0, slash).find('*') != all.npos) return false;
        into = lower_case(text);
        return true;
    };
    return parsed<std::string>("media type", "a media type", R"(write it like "text/css" or "image/*")", parse);
}

Form<http::PortRange> port_range() {
    auto read = [](Reader& reader, Json const& value, http::PortRange& into) {
        std::string const mend = R"(write 443 or "8000-8999", between 1 and 65535)";
        if (!value.is_number_integer() && !value.is_string())
            return reader.fault("expects a port or a range of ports, not " + kind_of(value), mend);
        auto const text = value.is_string() ? value.get<std::string>() : value.dump();
        auto const range = http::PortRange::parse(text);
        if (!range) return reader.fault(in_quotes(text) + " is not a port or a range of ports", mend);
        into = *range;
        return true;
    };
    auto const number = type_schema("integer").number("minimum", 1).number("maximum", 65'535);
    auto const range = type_schema("string").text("pattern", "^[0-9]+(-[0-9]+)?$");
    return {"port range", either_schema(number, range), read, nullptr};
}

// Refused rather than unknown: its author should learn that the proxy authenticates no users.
Row<Matcher> refused_user_key() {
    auto read = [](Reader& reader, Json const&, Matcher&) {
        return reader.fault("there are no users: this proxy does not authenticate clients", "remove it, or use source");
    };
    std::string const what = "Rejected: this proxy has no authentication.";
    Row<Matcher> row{"user", read, Schema().json("not", "{}").text("description", what), {{"user", "text", "", what}}};
    row.offered = false;
    return row;
}

Table<Matcher> matchers() {
    return {
        key<Matcher>("source", &Matcher::source, list_of(network()), "Networks of the client's address."),
        key<Matcher>("destination", &Matcher::destination, list_of(network()),
                     "Networks of the origin's address that Garner connects to."),
        key<Matcher>("host", &Matcher::host, list_of(host_pattern()),
                     "Host of the URL: a name, or `.example.com` for that name and all its subdomains. An IP address is "
                     "compared as an address; names are not resolved (use `destination` for that)."),
        key<Matcher>("port", &Matcher::port, list_of(port_range()), "Port of the URL: a number or `\"8000-8999\"`."),
        key<Matcher>("listener", &Matcher::listener, list_of(port_range()), "Port of `listen` that the client connected to."),
        key<Matcher>("certificate", &Matcher::certificate, list_of(certificate_pattern()),
                     "Names in the client's certificate (see `listen[].tls.client_ca`): a DNS name, URI, e-mail address or CN, "
                     "`.example.org` for that domain and all its subdomains, or `any`."),
        key<Matcher>("method", &Matcher::method, list_of(method()), "Request methods; case-sensitive."),
        key<Matcher>("url_contains", &Matcher::url_contains, list_of(part_of_url()),
                     "Text contained in the URL; case-sensitive. Scheme and host are in lower case and without a default "
                     "port; path and query are as the client sent them. Percent-escapes of letters, digits and `-._~` "
                     "(`/%61ds/`, `/%2561ds/`) do not evade rules: `deny` and caching rules match the URL as sent or "
                     "decoded, `allow` rules only if both match."),
        key<Matcher>("url_matches", &Matcher::url_matches, list_of(url_pattern()),
                     "Regular expressions (RE2) found anywhere in the URL; the URL has the same form as for `url_contains`."),
        key<Matcher>("time", &Matcher::time, list_of(time_window()),
                     "Local time and day of the week: `\"Mon-Fri 08:00-18:00\"`, `\"Sat,Sun\"`, `\"22:00-06:00\"`."),
        refused_user_key(),
    };
}

/// The keys of an Inner inside an Outer, as keys of the Outer itself.
template <class Outer, class Inner>
Table<Outer> lifted(Table<Inner> const& table, Inner Outer::*member) {
    Table<Outer> out;
    for (auto const& row : table) {
        auto read = [row, member](Reader& reader, Json const& value, Outer& into) { return row.read(reader, value, into.*member); };
        out.push_back({row.name, read, row.schema, row.notes, row.required, row.offered});
    }
    return out;
}

}   // namespace

std::string text_of_matchers(Json const& matchers) {
    auto text = matchers.is_string() ? matchers.get<std::string>() : matchers.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > matchers_max) text.replace(matchers_max - 3, text.npos, "...");
    return text;
}

Form<std::string> part_of_url() {
    auto const accept = [](std::string const& text, std::string& why) {
        if (text.empty()) why = "is empty and would match every URL";
        return !text.empty();
    };
    return checked("text", "part of a URL", R"(write it like "cgi-bin")", accept);
}

Form<Matcher> matcher() {
    auto const members = object_of<Matcher>(matchers());
    auto read = [members](Reader& reader, Json const& value, Matcher& into) {
        into = {};
        if (value == "all") return true;
        if (value.is_object()) {
            bool const good = members.read(reader, value, into);
            auto const asks_nothing = [](Json const& matcher) { return matcher.is_array() && matcher.empty(); };
            if (good && std::all_of(value.begin(), value.end(), asks_nothing))
                reader.notice("matches every request", R"(write "all" if this is intended)");
            return good;
        }
        auto const found = value.is_string() ? in_quotes(value.get<std::string>()) : kind_of(value);
        return reader.fault("expects matchers, not " + found, R"(write "all" or { "source": … })");
    };
    return {"matchers", Schema().text("$ref", "#/definitions/matchers"), read, nullptr};
}

Schema matcher_schema() { return either_schema(Schema().text("const", "all"), object_of<Matcher>(matchers()).schema); }

std::vector<KeyNote> matcher_notes() { return object_of<Matcher>(matchers()).inner; }

Form<AccessRule> access_rule() {
    auto const match = matcher();
    auto read = [match](Reader& reader, Json const& value, AccessRule& into) {
        std::string const mend = R"(write { "allow": … } or { "deny": … })";
        if (!value.is_object()) return reader.fault("expects a rule, not " + kind_of(value), mend);
        bool good = true;
        std::string_view const verbs[]{"allow", "deny"};
        for (auto const& [verb, matchers] : value.items()) {
            Reader::Step const step(reader, std::string_view(verb));
            if (verb != "allow" && verb != "deny") {
                reader.unknown_key(verbs);
                good = false;
                continue;
            }
            good = match.read(reader, matchers, into.match) && good;
            into.allow = verb == "allow";
        }
        if (value.contains("allow") == value.contains("deny"))
            good = reader.fault("a rule is either allow or deny", mend);
        else
            into.matchers = text_of_matchers(*value.begin());
        into.name = reader.path() + (into.allow ? ": allow" : ": deny");
        return good;
    };
    auto const verbs_of = Schema().object("allow", match.schema).object("deny", match.schema);
    auto schema = type_schema("object")
                      .json("additionalProperties", "false")
                      .number("minProperties", 1)
                      .number("maxProperties", 1)
                      .object("properties", verbs_of);
    std::vector<KeyNote> notes{{"allow", match.written, "", "Matching requests are served."},
                               {"deny", match.written, "", "Matching requests get 403."}};
    return {"rules", std::move(schema), read, nullptr, std::move(notes), true};
}

Form<CachingRule> caching_rule() {
    Table<Matcher> matching = matchers();
    std::erase_if(matching, [](auto const& row) { return row.name == "destination"; });
    Table<CachingRule> table = lifted(matching, &CachingRule::match);
    auto const ttl = time(milliseconds{0}, year);
    table.insert(table.end(),
                 {key<CachingRule>("type", &CachingRule::type, list_of(media_type()), "Media type of the response."),
                  key<CachingRule>("never", &CachingRule::never, flag(), "`true`: matching responses are not stored."),
                  key<CachingRule>("default_ttl", &CachingRule::default_ttl, ttl, "Replaces `caching.default_ttl`."),
                  key<CachingRule>("min_ttl", &CachingRule::min_ttl, ttl, "Shorter freshness lifetimes are raised to this."),
                  key<CachingRule>("max_ttl", &CachingRule::max_ttl, ttl,
                                   "Longer freshness lifetimes are lowered to this, even if `min_ttl` of any rule raised them."),
                  key<CachingRule>(
                      "negative_ttl", &CachingRule::negative_ttl, ttl,
                      "Replaces `caching.negative_ttl`; also the lifetime of stored error responses without explicit freshness."),
                  key<CachingRule>("heuristic_factor", &CachingRule::heuristic_factor, fraction(0, 1),
                                   "Heuristic freshness lifetime as a share of the time since Last-Modified (RFC 9111 4.2.2)."),
                  key<CachingRule>("reload", &CachingRule::reload,
                                   one_of<http::Reload>({{"honour", http::Reload::honour}, {"ignore", http::Reload::ignore}}),
                                   "`ignore`: no-cache, max-age=0 and Pragma of clients do not force a fetch.")});
    std::vector<std::string> picking{"type"};
    for (auto const& row : matching) picking.push_back(row.name);
    auto check = [picking](Reader& reader, Json const& value, CachingRule& into) {
        into.name = reader.path();
        if (into.min_ttl && into.max_ttl && *into.min_ttl > *into.max_ttl)
            reader.fault("min_ttl is longer than max_ttl", "exchange the two values");
        if (into.reload && !into.type.empty())
            reader.fault("reload applies before the type of the response is known", "remove type or reload");
        // A faulty setting was reported already; the rule would have an effect.
        auto const picks = [&](auto const& item) { return std::ranges::count(picking, item.key()) > 0; };
        auto const items = value.items();
        if (std::all_of(items.begin(), items.end(), picks))
            reader.notice("this rule has no setting and no effect", "add a setting such as never or default_ttl");
    };
    // Lists of matchers are documented once, and not at every key that takes them.
    auto form = object_of<CachingRule>(std::move(table), check);
    auto const is_matcher = [&](KeyNote const& note) {
        return std::any_of(matching.begin(), matching.end(), [&](auto const& row) { return row.name == note.path; });
    };
    std::erase_if(form.inner, is_matcher);
    form.written = "caching rules";
    return form;
}

}   // namespace garner::config
