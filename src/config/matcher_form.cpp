#include "config/matcher_form.hpp"

#include <algorithm>

#include "config/address_form.hpp"
#include "config/rule_context.hpp"
#include "config/value_files.hpp"
#include "util/idna.hpp"
#include "util/nearest.hpp"
#include "util/text.hpp"

namespace garner::config {
namespace {

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

Form<http::TextPattern> text_pattern(http::TextPattern::Case letters = http::TextPattern::Case::matters) {
    auto parse = [letters](std::string const& text, http::TextPattern& into, std::string& why) {
        auto pattern = http::TextPattern::parse(text, letters);
        if (!pattern) return why += ": " + shortened(pattern.fault().text()), false;
        into = *std::move(pattern);
        return true;
    };
    return parsed<http::TextPattern>("regular expression", "a regular expression", "use RE2 syntax, at most 1024 bytes", parse);
}

/// Hosts of URLs have neither: the expression would match nothing, without a word.
void notice_what_no_host_has(Reader& reader, std::string_view expression) {
    if (!is_ascii(expression))
        reader.notice(quoted_value(expression) + " has letters that no host of a URL has: hosts are in ASCII",
                      R"(write the name as "xn--…", or use host, which converts it)");
    if (expression.find('/') != npos)
        reader.notice(quoted_value(expression) + " has a slash, which no host has", "remove it, or use url_matches");
}

Form<http::TextPattern> host_expression() {
    auto form = text_pattern(http::TextPattern::Case::ignored);
    form.read_by([read = std::move(form.read_any)](Reader& reader, Json const& value, http::TextPattern& into) {
        if (!read(reader, value, &into)) return false;
        notice_what_no_host_has(reader, value.get_ref<std::string const&>());
        return true;
    });
    return form;
}

Form<http::FieldPattern> field_pattern() {
    auto parse = [](std::string const& text, http::FieldPattern& into, std::string& why) {
        auto pattern = http::FieldPattern::parse(text);
        if (!pattern) return why += ": " + shortened(pattern.fault().text()), false;
        into = *std::move(pattern);
        return true;
    };
    return parsed<http::FieldPattern>("field pattern", "a field and a regular expression",
                                      R"(write it like "User-Agent: ^curl/", in RE2 syntax)", parse);
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

Form<http::PortRange> port_range() {
    auto read = [](Reader& reader, Json const& value, http::PortRange& into) {
        std::string const mend = R"(write 443 or "8000-8999", between 1 and 65535)";
        if (!value.is_number_integer() && !value.is_string())
            return reader.fault("expects a port or a range of ports, not " + kind_of(value), mend);
        auto const text = value.is_string() ? value.get<std::string>() : value.dump();
        auto const range = http::PortRange::parse(text);
        if (!range) return reader.fault(quoted_value(text) + " is not a port or a range of ports", mend);
        into = *range;
        return true;
    };
    auto describe = []() -> Description {
        auto const number = type_schema("integer").number("minimum", 1).number("maximum", 65'535);
        auto const range = type_schema("string").text("pattern", "^(file:.+|[0-9]+(-[0-9]+)?)$");
        return either_schema(number, range);
    };
    return {"port range", describe, read, nullptr};
}

Form<std::string> user_name() {
    auto const accept = [](std::string const& text, std::string&) {
        auto const is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
        return !text.empty() && text.size() <= 256 && std::ranges::none_of(text, is_control);
    };
    return checked("name", "a name", "write 1 to 256 bytes without control characters", accept);
}

/// The faults of the lines of a file: those of the first lines are kept, further lines are counted.
class BadLines {
public:
    BadLines(Reader& reader, std::string const& path) : reader_(reader), path_(path) {}

    /// Calls read(), which notes faults and returns false if the line is bad.
    template <class Read>
    void read_line(unsigned line, Read const& read) {
        Reader::InFile const at(reader_, path_, line);
        auto const before = reader_.faults().size();
        if (!read() && ++count_ > told_max) reader_.faults().resize(before);
    }
    /// False: further faults are not kept.
    bool tells() const { return count_ < told_max; }
    /// After the last line. False if any was bad.
    bool finish() {
        if (count_ > told_max)
            reader_.fault(path_ + " has " + std::to_string(count_ - told_max) + " more bad lines", "correct the file");
        return count_ == 0;
    }

private:
    static constexpr std::size_t told_max = 5;
    Reader& reader_;
    std::string const& path_;
    std::size_t count_ = 0;
};

/// Reads the value of a list, or each value of the file that it names.
template <class V>
bool read_values_into(Reader& reader, Json const& value, Form<V> const& item, std::vector<V>& into) {
    auto const path = value.is_string() ? path_of_file(value.get_ref<std::string const&>()) : std::nullopt;
    if (!path) {
        V one{};
        if (!item.read(reader, value, one)) return false;
        into.push_back(std::move(one));
        return true;
    }
    if (!reader.rules().reads_files) return true;
    auto const text = read_values(*path);
    if (!text) return reader.fault(*path + " " + text.fault().what, "name a readable file with a value on each line");
    BadLines lines(reader, *path);
    each_value(*text, [&](unsigned line, std::string_view one) {
        lines.read_line(line, [&] {
            V read{};
            bool const good = item.read(reader, Json(std::string(one)), read);
            if (good) into.push_back(std::move(read));
            return good;
        });
    });
    return lines.finish();
}

/// Reads the hosts of a list, or those of the file that it names as one list.
bool read_hosts_into(Reader& reader, Json const& value, Form<http::HostPattern> const& item,
                     std::vector<http::HostPattern>& patterns, http::HostSet::Lists& lists) {
    auto const path = value.is_string() ? path_of_file(value.get_ref<std::string const&>()) : std::nullopt;
    if (!path) return read_values_into(reader, value, item, patterns);
    if (!reader.rules().reads_files) return true;
    BadLines lines(reader, *path);
    auto const list = read_host_list(*path, [&](unsigned line, std::string_view host) {
        lines.read_line(line, [&] { return lines.tells() ? fault_of_host(reader, host) : false; });
    });
    if (!list) return reader.fault(*path + " " + list.fault().what, "name a readable file with a host on each line");
    if (!(*list)->empty()) lists.push_back(*list);
    return lines.finish();
}

/// Calls read(item) at each item of a list, or at the only value.
template <class Read>
bool each_item(Reader& reader, Json const& value, Read const& read) {
    if (!value.is_array()) return read(value);
    bool good = true;
    for (std::size_t i = 0; i < value.size(); ++i) {
        Reader::Step const step(reader, i);
        good = read(value[i]) && good;
    }
    return good;
}

/// A list whose values may come from files.
template <class V>
Form<std::vector<V>> values_of(Form<V> item) {
    auto form = list_of(item);
    form.read_by([item](Reader& reader, Json const& value, std::vector<V>& into) {
        into.clear();
        return each_item(reader, value, [&](Json const& one) { return read_values_into(reader, one, item, into); });
    });
    return form;
}

Form<http::HostSet> hosts() {
    auto const item = host_pattern();
    auto const list = list_of(item);
    auto read = [item](Reader& reader, Json const& value, http::HostSet& into) {
        std::vector<http::HostPattern> patterns;
        http::HostSet::Lists lists;
        auto const read_one = [&](Json const& one) { return read_hosts_into(reader, one, item, patterns, lists); };
        bool const good = each_item(reader, value, read_one);
        into = http::HostSet(std::move(patterns), std::move(lists));
        return good;
    };
    return {list.written, list.describe, read, nullptr};
}

Form<http::NamedMatcher> named_matcher() {
    auto read = [](Reader& reader, Json const& value, http::NamedMatcher& into) {
        if (!value.is_string())
            return reader.fault("expects the name of a matcher, not " + kind_of(value), "write a name of the section matchers");
        into.name = value.get<std::string>();
        into.matcher = reader.rules().named.use(reader, into.name);
        return into.matcher != nullptr;
    };
    return {"matcher name", described_as("string"), read, nullptr};
}

/// A key of a matcher. A list that files leave empty matches nothing, and the matcher keeps the name of the key.
template <class V, class Member>
Row<Matcher> list_key(Literal name, Member member, Form<V> form, Literal what) {
    auto row = key<Matcher>(name, member, std::move(form), what);
    row.read_by([read = std::move(row.read_any), member, name](Reader& reader, Json const& value, Matcher& into) {
        bool const good = read(reader, value, &into);
        bool const given = !value.is_array() || !value.empty();
        if (good && given && std::invoke(member, into).empty()) into.never = name.data();
        return good;
    });
    return row;
}

/// For networks and certificates such a word stands for all.
void notice_names_like_all(Reader& reader, http::NameSet const& names) {
    for (auto const& name : names)
        if (name == "any" || name == "all")
            reader.notice(quoted_value(name) + " is one name", R"(write "*" if all names are meant)");
}

/// Without the section `auth` no client has a user: its author should learn that.
Row<Matcher> identity_key(Literal name, http::NameSet Matcher::*member, Literal what) {
    auto row = list_key(name, member, values_of(user_name()), what);
    row.read_by([read = std::move(row.read_any), member](Reader& reader, Json const& value, Matcher& into) {
        if (reader.rules().has_users) {
            bool const good = read(reader, value, &into);
            notice_names_like_all(reader, std::invoke(member, into));
            return good;
        }
        return reader.fault("no client has a user: auth has no sources", "add auth.sources, or use source");
    });
    return row;
}

/// A deny with a mistyped group would deny nothing.
bool is_group(Reader& reader, std::string const& name) {
    auto const section = reader.root().find("groups");
    std::vector<std::string_view> names;
    if (section != reader.root().end() && section->is_object())
        for (auto const& [one, members] : section->items()) names.push_back(one);
    bool const found = std::ranges::any_of(names, [&](auto one) { return equals_ignoring_case(one, name); });
    if (found || name == "*") return true;
    auto const meant = nearest(name, names);
    return reader.fault("no group is named " + quoted_value(name),
                        meant.empty() ? "define it in groups" : "did you mean " + in_quotes(meant) + "?");
}

Row<Matcher> group_key(Literal what) {
    auto row = identity_key("group", &Matcher::group, what);
    row.read_by([read = std::move(row.read_any)](Reader& reader, Json const& value, Matcher& into) {
        if (!read(reader, value, &into)) return false;
        bool good = true;
        for (auto const& name : into.group) good = is_group(reader, name) && good;
        return good;
    });
    return row;
}

}   // namespace

Table<Matcher> matcher_keys() {
    return {
        list_key("source", &Matcher::source, values_of(network()), "Networks of the client's address."),
        list_key("destination", &Matcher::destination, values_of(network()),
                 "Networks of the origin's address that Garner connects to."),
        list_key("host", &Matcher::host, hosts(),
                 "Host of the URL: a name, or `.example.com` for that name and all its subdomains. `bücher.example` is compared as "
                 "`xn--bcher-kva.example`. An IP address is compared as an address; names are not resolved (use `destination` for "
                 "that). A file may have the format of a hosts file, or of an Adblock list of domains, and millions of names."),
        list_key("host_matches", &Matcher::host_matches, values_of(host_expression()),
                 "Regular expressions (RE2) found anywhere in the host of the URL, without case and without its final dot."),
        list_key("port", &Matcher::port, values_of(port_range()), "Port of the URL: a number or `\"8000-8999\"`."),
        list_key("listener", &Matcher::listener, values_of(port_range()), "Port of `listen` that the client connected to."),
        list_key("certificate", &Matcher::certificate, values_of(certificate_pattern()),
                 "Names in the client's certificate (see `listen[].tls.client_ca`): a DNS name, URI, e-mail address or CN, "
                 "`.example.org` for that domain and all its subdomains, or `any`."),
        identity_key(
            "user", &Matcher::user,
            "Users by the name of their login, without case; `*`: every user who has logged in. Only in `access` and "
            "`purge`, and in `share`, `caps` and `quotas`, which do not ask for a login. A rule asks for the login only if its "
            "other matchers match."),
        group_key("Groups of the section `groups` that the user belongs to, like `user`."),
        list_key("method", &Matcher::method, values_of(method()),
                 "Request methods; case-sensitive, but `deny` rules match in any case, because some servers ignore the case."),
        list_key("header", &Matcher::header, values_of(field_pattern()),
                 "A field of the request and a regular expression (RE2) found anywhere in its value: `\"User-Agent: ^curl/\"`. "
                 "If the field has several lines, `deny` and caching rules match if a line or all lines combined match (RFC 9110 "
                 "5.3), `allow` rules only if each line and the combined ones do."),
        list_key(
            "content_type", &Matcher::content_type, values_of(media_type()),
            "Media types of the request's body: `text/css` or `image/*`. Several lines of Content-Type count as for `header`."),
        list_key("url_contains", &Matcher::url_contains, values_of(part_of_url()),
                 "Text contained in the URL; case-sensitive. Scheme and host are in lower case and without a default "
                 "port; path and query are as the client sent them. Spellings that origins resolve to another path do not evade "
                 "rules: `deny` and caching rules also match the URL with its escapes decoded (`/%61ds/`, `/%2561ds/`, "
                 "`/a%2fads/`), without dot segments and empty segments (`/x/../ads/`, `//ads/`), and with `\\` as `/`. `allow` "
                 "rules match only if the URL matches as sent, with escapes of letters, digits and `-._~` decoded, and, if it "
                 "has a segment `..`, without it."),
        list_key("url_matches", &Matcher::url_matches, values_of(text_pattern()),
                 "Regular expressions (RE2) found anywhere in the URL; the URL has the same forms as for `url_contains`."),
        list_key("decoded_url_matches", &Matcher::decoded_url_matches, values_of(text_pattern()),
                 "Regular expressions (RE2) found anywhere in the URL after all its percent-escapes were decoded once, as by "
                 "Squid's url_regex. Segments such as `..` are resolved as for `url_contains`."),
        list_key("decoded_path_matches", &Matcher::decoded_path_matches, values_of(text_pattern()),
                 "Like `decoded_url_matches`, for path and query alone, as by Squid's urlpath_regex. Never matches CONNECT."),
        list_key("time", &Matcher::time, values_of(time_window()),
                 "Local time and day of the week: `\"Mon-Fri 08:00-18:00\"`, `\"Sat,Sun\"`, `\"22:00-06:00\"`."),
        key<Matcher>("is", &Matcher::is, list_of(named_matcher()), "Names of the section `matchers`: all of them match."),
        key<Matcher>("not", &Matcher::is_not, list_of(named_matcher()), "Names of the section `matchers`: none of them matches."),
    };
}

std::string text_of_matchers(Json const& matchers) {
    auto text = matchers.is_string() ? matchers.get<std::string>() : matchers.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > matchers_max) text.replace(matchers_max - 3, text.npos, "...");
    return text;
}

namespace {

/// A part with scheme and host as URLs are compared: lower case, the host in ASCII and without a default port.
std::optional<std::string> in_form_of_urls(std::string const& part) {
    auto const scheme = part.find("://");
    // The path and the query, where a URL may be quoted, are as the client sent them.
    if (scheme == npos || !std::ranges::all_of(part.substr(0, scheme), is_alpha)) return part;
    auto const begin = scheme + 3;
    auto const end = std::min(part.find_first_of("/?#", begin), part.size());
    auto form = lower_case(part.substr(0, begin));
    auto const host = part.substr(begin, end - begin);
    if (is_ascii(host))
        append_lower_case(host, form);
    else if (!append_ascii_name(host, form))
        return std::nullopt;
    std::string_view const port = form.ends_with(":443") && form.starts_with("https:") ? ":443"
                                  : form.ends_with(":80") && form.starts_with("http:") ? ":80"
                                                                                       : "";
    if (end < part.size()) form.resize(form.size() - port.size());
    return form + part.substr(end);
}

}   // namespace

Form<std::string> part_of_url() {
    auto parse = [](std::string const& text, std::string& into, std::string& why) {
        if (text.empty()) return why = "is empty and would match every URL", false;
        auto form = in_form_of_urls(text);
        if (!form) return why = "has an invalid host", false;
        into = *std::move(form);
        return true;
    };
    return parsed<std::string>("text", "part of a URL", R"(write it like "cgi-bin")", parse);
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

namespace {

Form<Matcher> members_form() { return object_of<Matcher>(matcher_keys()); }

}   // namespace

Form<Matcher> matcher_form() {
    auto read = [members = lazy(members_form)](Reader& reader, Json const& value, Matcher& into) {
        into = {};
        if (value == "all") return true;
        if (value.is_object()) {
            bool const good = members.read(reader, value, into);
            auto const asks_nothing = [](Json const& matcher) { return matcher.is_array() && matcher.empty(); };
            if (good && std::all_of(value.begin(), value.end(), asks_nothing))
                reader.notice("matches every request", R"(write "all" if this is intended)");
            return good;
        }
        auto const found = value.is_string() ? quoted_value(value.get_ref<std::string const&>()) : kind_of(value);
        return reader.fault("expects matchers, not " + found, R"(write "all" or { "source": … })");
    };
    auto describe = []() -> Description { return Schema().text("$ref", "#/definitions/matchers"); };
    return {"matchers", describe, read, nullptr};
}

Schema matcher_schema() { return either_schema(Schema().text("const", "all"), members_form().describe().schema); }

std::vector<KeyNote> matcher_notes() { return members_form().describe().notes; }

bool check_without_users(Reader& reader, Matcher const& match) {
    using enum Matcher::Member;
    for (auto const& [member, name] : {std::pair(user, "user"), std::pair(group, "group")})
        if (match.has(member)) return reader.fault(std::string(name) + " is only for access and purge", "use source, host or port");
    return true;
}

}   // namespace garner::config
