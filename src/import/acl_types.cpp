// The types of ACLs: a row a type.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "http/message.hpp"
#include "http/uri.hpp"
#include "import/acl.hpp"
#include "import/addresses.hpp"
#include "import/posix_regex.hpp"
#include "import/week_times.hpp"
#include "import/words.hpp"
#include "util/ip.hpp"
#include "util/text.hpp"

namespace garner::importing {
namespace {

/// Builds the leaf of one ACL, line by line.
struct Build {
    Acl const& acl;
    AclFacts const& facts;
    Files const& files;
    Report& report;
    Line const* line = nullptr;
    ValueList list = {};           // values of the line
    bool ignore_case = false;      // -i
    bool addresses_only = false;   // -n
    Leaf leaf = {};
    std::map<IpAddress, IpAddress> taken = {};                                  // the first and last addresses of the ranges so far
    std::map<std::string, std::vector<std::string>, std::less<>> values = {};   // by matcher
    std::vector<Json> others = {};                                              // matchers of more than one key

    void add(std::string_view key, std::string value) {
        // Garner would read a file.
        if (value.starts_with("file:")) return doubt(value, "begins like the name of a file");
        auto const place = values.find(key);
        auto& to = place == values.end() ? values[std::string(key)] : place->second;
        to.push_back(std::move(value));
    }
    void doubt(std::string const& reason) {
        leaf.doubtful = true;
        report.needs_you(*line, "ACL " + printable(acl.name) + ": " + reason);
    }
    void doubt(std::string_view value, std::string const& reason) { doubt(printable(value) + " " + reason); }
};

/// A capital letter that stands for itself.
bool has_capital(std::string_view expression) {
    for (std::size_t i = 0; i < expression.size(); ++i)
        if (is_alpha(expression[i]) && !is_lower(expression[i]) && (i == 0 || expression[i - 1] != '\\')) return true;
    return false;
}

/// An expression for requests with a path: only their URLs have a slash.
void add_with_path(Build& build, std::string const& pattern) {
    auto both = Json::object();
    both["decoded_path_matches"] = Json::string(pattern);
    both["decoded_url_matches"] = Json::string("/");
    build.others.push_back(std::move(both));
}

/// Expressions for `key`, with this text before each.
void add_expressions(Build& build, std::string_view key, std::string const& before, std::vector<std::string> const& values) {
    bool ignore_case = build.ignore_case;
    for (auto const& value : values) {
        if (value == "-i" || value == "+i") {
            ignore_case = value == "-i";
            continue;
        }
        if (key == "host_matches" && !ignore_case && has_capital(value)) {
            build.doubt(value, "has capitals, and Squid compares hosts in lower case; write -i before it");
            continue;
        }
        auto const translated = to_re2(value, ignore_case);
        if (translated.kind == Translated::Kind::invalid)
            build.report.drop(*build.line, "Squid skips the expression " + printable(value) + ": " + translated.why);
        else if (translated.kind == Translated::Kind::unsupported)
            build.doubt(value, "has no equivalent for RE2: " + translated.why);
        for (auto const& pattern : translated.patterns) {
            // Garner would read a file named by "file:".
            auto const* const not_file = pattern.starts_with("file:") ? "(?:)" : "";
            // Squid matches no path of CONNECT, which has none.
            bool const meets_connect = key == "decoded_path_matches" && matches_nothing(pattern);
            if (meets_connect)
                add_with_path(build, not_file + pattern);
            else
                build.add(key, before + not_file + pattern);
        }
    }
}

template <char const* key>
void expressions(Build& build) {
    add_expressions(build, key, "", build.list.values);
}
constexpr char host_matches[] = "host_matches", url_matches[] = "decoded_url_matches", path_matches[] = "decoded_path_matches";

template <char const* field>
void field_expressions(Build& build) {
    add_expressions(build, "header", std::string(field) + ": ", build.list.values);
}
constexpr char user_agent[] = "User-Agent", referer[] = "Referer", content_type[] = "Content-Type";

void request_header(Build& build) {
    if (build.list.values.empty()) return;
    auto values = build.list.values;
    auto const name = values.front();
    values.erase(values.begin());
    if (!http::is_token(name)) return build.doubt(name, "is not the name of a field");
    while (!values.empty() && (values.front() == "-i" || values.front() == "+i")) {
        build.ignore_case = values.front() == "-i";
        values.erase(values.begin());
    }
    add_expressions(build, "header", name + ": ", values);
}

// ---- addresses ----

/// Destinations that Garner blocks by itself.
AddressSet const& closed_destinations() {
    static AddressSet const closed = [] {
        AddressSet set;
        for (auto const* text : {"0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "::/128", "::1/128", "fe80::/10"})
            set = set.united(AddressSet(*parse_addresses(text)));
        return set;
    }();
    return closed;
}

bool is_blocked_anyway(Build const& build, AddressSet const& set) {
    bool const is_standard =
        equals_ignoring_case(build.acl.name, "to_localhost") || equals_ignoring_case(build.acl.name, "to_linklocal");
    return is_standard && !build.facts.opens_blocked && set.without(closed_destinations()).empty();
}

/// False if the value overlaps an earlier one: Squid ignores it then, even if it is the larger one.
bool take(Build& build, std::string const& value, std::vector<AddressRange> const& ranges) {
    for (auto const& range : ranges) {
        auto next = build.taken.upper_bound(range.last);
        if (next == build.taken.begin() || (--next)->second < range.first) continue;
        bool const inside = next->first <= range.first && range.last <= next->second;
        if (!inside)
            build.report.drop(*build.line, "Squid ignores " + printable(value) + ", which overlaps an earlier value of the ACL");
        return false;
    }
    for (auto const& range : ranges) build.taken.emplace(range.first, range.last);
    return true;
}

template <char const* key>
void addresses(Build& build) {
    for (auto const& value : build.list.values) {
        auto const ranges = parse_addresses(value);
        if (!ranges) {
            build.doubt(value, ranges.fault().text());
            continue;
        }
        if (!take(build, value, *ranges)) continue;
        AddressSet const set(*ranges);
        if (is_blocked_anyway(build, set)) continue;
        if (set.is_all() && !build.addresses_only) {
            build.leaf.always = true;
            continue;
        }
        if (std::string_view(key) == "destination" && !set.common(closed_destinations()).empty()) build.leaf.opens = true;
        if (!build.addresses_only) {
            for (auto const& text : set.texts()) build.add(key, text);
            continue;
        }
        auto both = Json::object();
        both[key] = Json::strings(set.texts());
        both["host_matches"] = Json::string("^[0-9.]+$|:");
        build.others.push_back(std::move(both));
    }
}
constexpr char source[] = "source", destination[] = "destination";

// ---- hosts ----

/// A value that Garner's matcher `host` reads as Squid reads it.
bool is_host(std::string_view value) {
    if (parse_ip(value)) return true;
    auto const is_letter = [](char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; };
    return std::ranges::all_of(value, is_letter) && !value.ends_with('.') && value.find("..") == npos &&
           !http::is_mistaken_ipv4(value);
}

/// An allow rule with this host opens blocked addresses.
bool opens_address(std::string const& host) {
    return parse_ip(host) || equals_ignoring_case(host, "localhost") || equals_ignoring_case(host, ".localhost");
}

std::string_view without_brackets(std::string_view value) {
    return value.starts_with('[') && value.ends_with(']') ? value.substr(1, value.size() - 2) : value;
}

void hosts(Build& build) {
    for (auto const& value : build.list.values) {
        auto const host = without_brackets(value);
        if (equals_ignoring_case(host, "none") && !build.addresses_only)
            build.doubt(value, "is Squid's name for addresses without a name, which Garner does not look up");
        else if (host.ends_with('.'))
            build.report.drop(*build.line, "the host " + printable(value) + " ends with a dot and never matches in Squid");
        else if (is_host(host))
            build.add("host", build.leaf.hosts.emplace_back(host));
        else
            build.add("host_matches", re2_for_text(host));
    }
    build.leaf.opens = std::ranges::any_of(build.leaf.hosts, opens_address);
}

// ---- ports, methods, protocols, times ----

template <char const* key>
void ports(Build& build) {
    for (auto const& value : build.list.values) {
        auto const dash = value.find('-');
        auto const first = parse_decimal(std::string_view(value).substr(0, dash));
        auto const last = dash == npos ? first : parse_decimal(std::string_view(value).substr(dash + 1));
        if (!first || !last || *first > *last || *last > 65'535) {
            build.doubt(value, "is not a port or a range of ports");
            continue;
        }
        if (*last == 0) continue;   // no request has port 0
        auto const least = std::max<std::uint64_t>(*first, 1);
        build.add(key, std::to_string(least) + (least == *last ? "" : "-" + std::to_string(*last)));
    }
}
constexpr char port[] = "port", listener[] = "listener";

void port_names(Build& build) {
    for (auto const& value : build.list.values) {
        auto const found = build.facts.listeners.find(value);
        if (found == build.facts.listeners.end())
            build.doubt(value, "is the name of no http_port");
        else
            build.add("listener", found->second);
    }
}

void methods(Build& build) {
    for (auto const& value : build.list.values) {
        auto upper = value;
        for (char& c : upper)
            if (is_lower(c)) c = static_cast<char>(c - 32);
        bool const is_known = http::method_of(upper) != http::Method::other;
        if (!http::is_token(value))
            build.doubt(value, "is not a method");
        else
            build.add("method", is_known ? upper : value);
    }
}

void protocols(Build& build) {
    for (auto const& value : build.list.values) {
        // Garner refuses URLs of all other schemes.
        if (equals_ignoring_case(value, "http") || equals_ignoring_case(value, "https"))
            build.add("decoded_url_matches", "^" + lower_case(value) + "://");
    }
}

void times(Build& build) {
    auto const texts = week_times(build.list.values);
    if (!texts) return build.doubt("the time " + texts.fault().text());
    for (auto const& text : *texts) build.add("time", text);
}

// ---- users ----

void users(Build& build) {
    build.leaf.asks = true;
    if (!build.facts.has_auth) return build.doubt("no auth_param is translated, so no client can log in");
    auto const& values = build.list.values;
    if (!values.empty() && values.front() == "REQUIRED") {
        build.values["user"] = {"*"};
        return;
    }
    // The flag of any line holds for all of them.
    bool const ignore_case = std::ranges::any_of(
        build.acl.lines, [](Line const& line) { return split(line.rest).size() > 0 && split(line.rest).front() == "-i"; });
    for (auto const& value : values) {
        if (value == "*" || printable(value) != value) {
            build.doubt(value, "is not a name of a user here");
            continue;
        }
        // Squid writes users of Basic in lower case, and compares them with case.
        bool const never = !build.facts.exact_users && !ignore_case && lower_case(value) != value;
        if (never)
            build.report.drop(*build.line,
                              "the user " + printable(value) + " never matches in Squid, which writes users in lower case");
        else
            build.add("user", value);
    }
}

void user_expressions(Build& build) {
    build.leaf.asks = true;
    build.doubt("users are compared by name only; write the names, or a group");
}

void external(Build& build) {
    auto const& values = build.list.values;
    build.leaf.asks = !values.empty() && build.facts.login_helpers.contains(values.front());
    build.doubt("Garner asks no helper; write the users, or a group of `groups`");
}

// ---- types without a matcher ----

void nothing(Build&) {}

void everything(Build& build) {
    build.leaf.always = true;
    build.report.drop(*build.line, "Garner has no annotations; the ACL matches every request, as in Squid");
}

void address_names(Build& build) { build.doubt("Garner does not look up the names of clients; write their networks"); }
void connections(Build& build) { build.doubt("set limits.connections_per_client, which is for all clients alike"); }
void user_addresses(Build& build) {
    build.leaf.asks = true;
    build.doubt("Garner does not count the addresses of a user");
}
void hardware(Build& build) { build.doubt("Garner does not see hardware addresses; write the clients' networks"); }
void identities(Build& build) { build.doubt("Garner does not ask ident servers; use proxy_auth"); }
void responses(Build& build) { build.doubt("Garner's rules see no response; for caching, `caching.rules[].type` has media types"); }
void certificates(Build& build) { build.doubt("write the names in certificates with the matcher `certificate`"); }
void unsupported(Build& build) { build.doubt("Garner has no matcher for this type"); }

struct Type {
    std::string_view name;
    void (*read)(Build&);
    Values values = Values::words;
    bool needs_destination = false;
    bool needs_user = false;
};

constexpr auto expression = Values::expressions;

constexpr std::array types{
    Type{"src", addresses<source>},
    Type{"dst", addresses<destination>, Values::words, true},
    Type{"dstdomain", hosts},
    Type{"dstdom_regex", expressions<host_matches>, expression},
    Type{"url_regex", expressions<url_matches>, expression},
    Type{"urlpath_regex", expressions<path_matches>, expression},
    Type{"urllogin", nothing, expression},   // Garner refuses URLs with users
    Type{"port", ports<port>},
    Type{"localport", ports<listener>},
    Type{"myport", ports<listener>},
    Type{"myportname", port_names},
    Type{"method", methods},
    Type{"proto", protocols},
    Type{"time", times},
    Type{"browser", field_expressions<user_agent>, expression},
    Type{"referer_regex", field_expressions<referer>, expression},
    Type{"req_mime_type", field_expressions<content_type>, expression},
    Type{"req_header", request_header, expression},
    Type{"proxy_auth", users, Values::words, false, true},
    Type{"proxy_auth_regex", user_expressions, expression, false, true},
    Type{"external", external},
    Type{"any-of", nothing},
    Type{"all-of", nothing},
    Type{"annotate_client", everything},
    Type{"annotate_transaction", everything},
    Type{"srcdomain", address_names},
    Type{"srcdom_regex", address_names, expression},
    Type{"maxconn", connections},
    Type{"max_user_ip", user_addresses},
    Type{"arp", hardware},
    Type{"eui64", hardware},
    Type{"ident", identities},
    Type{"ident_regex", identities, expression},
    Type{"rep_mime_type", responses, expression},
    Type{"rep_header", responses, expression},
    Type{"http_status", responses},
    Type{"user_cert", certificates},
    Type{"ca_cert", certificates},
    Type{"localip", unsupported},
    Type{"myip", unsupported},
    Type{"src_as", unsupported},
    Type{"dst_as", unsupported},
    Type{"random", unsupported},
    Type{"snmp_community", unsupported},
    Type{"hier_code", unsupported},
    Type{"peername", unsupported},
    Type{"peername_regex", unsupported, expression},
    Type{"ext_user", unsupported},
    Type{"ext_user_regex", unsupported, expression},
    Type{"tag", unsupported},
    Type{"note", unsupported},
    Type{"has", unsupported},
    Type{"at_step", unsupported},
    Type{"adaptation_service", unsupported},
    Type{"transaction_initiator", unsupported},
    Type{"clientside_mark", unsupported},
    Type{"client_connection_mark", unsupported},
    Type{"connections_encrypted", unsupported},
};

Type const* find_type(std::string_view name) {
    auto const found = std::ranges::find(types, name, &Type::name);
    return found == types.end() ? nullptr : &*found;
}

/// Takes flags such as -i from the beginning of the line.
std::string_view take_flags(Build& build, std::string_view text) {
    build.ignore_case = build.addresses_only = false;
    for (;;) {
        text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
        auto const word = text.substr(0, text.find_first_of(white_space));
        if (word == "-i" || word == "+i")
            build.ignore_case = word == "-i";
        else if (word == "-n")
            build.addresses_only = true;
        else if (word != "--")
            return text;
        text.remove_prefix(word.size());
        if (word == "--") return text;
    }
}

// ---- values that stay in their file ----

/// A list of hosts that opens loopback or other blocked addresses: values from files open nothing, and those that are written do.
/// A long list stays in its file in any case.
bool may_open(std::vector<std::string> const& hosts) {
    constexpr std::size_t written_max = 1'000;
    return hosts.size() <= written_max && std::ranges::any_of(hosts, opens_address);
}

/// True if Garner takes the line's values as they are written, and for one matcher. A matcher `method` must show if it has PURGE.
bool can_stay_in_file(Build const& build, std::string const& path) {
    auto const is_plain = [](char c) { return c >= ' ' && c < 0x7f; };
    if (build.values.size() != 1 || !std::ranges::all_of(path, is_plain)) return false;
    auto const& [key, values] = *build.values.begin();
    return values == build.list.values && key != "method" && !(key == "host" && may_open(values));
}

/// Reads the values of one line, all of which are in a file.
void read_file(Build& build, Type const& type) {
    auto all = std::exchange(build.values, {});
    type.read(build);
    auto const path = build.files.locate(build.list.file);
    if (can_stay_in_file(build, path)) build.values.begin()->second = {"file:" + path};
    for (auto& [key, values] : build.values) std::ranges::move(values, std::back_inserter(all[key]));
    build.values = std::move(all);
}

void read_line(Build& build, Type const& type, Line const& line) {
    build.line = &line;
    auto const text = take_flags(build, line.rest);
    if (line.quoted && type.values == Values::expressions)
        return build.doubt("Squid reads no expressions with configuration_includes_quoted_values");
    build.list = values_of(line, text, type.values, build.files);
    if (!build.list.trouble.empty()) build.doubt(build.list.trouble);
    if (!build.list.file.empty()) return read_file(build, type);
    type.read(build);
}

AddressSet sources_of(Build const& build) {
    std::vector<AddressRange> ranges;
    for (auto const& [first, last] : build.taken) ranges.push_back({first, last});
    return AddressSet(std::move(ranges));
}

/// An atom for each matcher: one of them is enough.
std::vector<Atom> atoms_of(Build const& build, Type const& type) {
    std::vector<Json> matchers = build.others;
    for (auto const& [key, list] : build.values) {
        auto matcher = Json::object();
        matcher[key] = Json::strings(list);
        matchers.push_back(std::move(matcher));
    }
    std::vector<Atom> atoms;
    auto const method = build.values.find("method");
    std::optional<bool> takes_purge;
    if (method != build.values.end()) takes_purge = std::ranges::count(method->second, "PURGE") > 0;
    for (auto& matcher : matchers) {
        auto const name = build.acl.name + (atoms.empty() ? "" : "-" + std::to_string(atoms.size() + 1));
        atoms.push_back({name, std::move(matcher), type.needs_destination, type.needs_user, takes_purge});
    }
    return atoms;
}

}   // namespace

bool is_group(std::string_view type) { return type == "any-of" || type == "all-of"; }

Leaf leaf_of(Acl const& acl, AclFacts const& facts, Files const& files, Report& report) {
    Build build{.acl = acl, .facts = facts, .files = files, .report = report};
    static constexpr Type unknown{"", unsupported};
    auto const* const type = find_type(acl.type);
    for (auto const& line : acl.lines) read_line(build, type ? *type : unknown, line);
    build.leaf.atoms = atoms_of(build, type ? *type : unknown);
    if (acl.type == "src") build.leaf.sources = sources_of(build);
    build.leaf.doubtful = build.leaf.doubtful || acl.mixed;
    return std::move(build.leaf);
}

}   // namespace garner::importing
