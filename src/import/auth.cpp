// auth_param and external_acl_type.
#include <algorithm>
#include <optional>

#include "import/context.hpp"
#include "import/squid_units.hpp"
#include "import/words.hpp"
#include "util/text.hpp"
#include "util/units.hpp"

namespace garner::importing {
namespace {

/// The words of a command line: quotes enclose white space.
std::vector<std::string> command_words(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    bool inside = false;
    char quote = 0;
    for (char c : text) {
        if (quote != 0 ? c == quote : c == '"' || c == '\'') {
            quote = quote != 0 ? 0 : c;
            inside = true;
        } else if (quote == 0 && white_space.find(c) != npos) {
            if (inside) words.push_back(std::move(word));
            word.clear();
            inside = false;
        } else {
            word += c;
            inside = true;
        }
    }
    if (inside) words.push_back(std::move(word));
    return words;
}

std::string program_name(std::string const& path) { return path.substr(path.rfind('/') + 1); }

/// The options of a helper. Those in `flags` have no value; "-b BASE" and "-bBASE" are the same.
struct Options {
    std::map<char, std::string> values;
    std::vector<std::string> operands;

    Options(std::vector<std::string> const& words, std::string_view flags) {
        for (std::size_t i = 1; i < words.size(); ++i) {
            auto const& word = words[i];
            bool const is_option = word.size() > 1 && word.front() == '-';
            if (!is_option)
                operands.push_back(word);
            else if (flags.find(word[1]) != npos)
                values[word[1]] = "";
            else if (word.size() > 2)
                values[word[1]] = word.substr(2);
            else
                values[word[1]] = i + 1 < words.size() ? words[++i] : "";
        }
    }
    bool has(char option) const { return values.contains(option); }
    std::string of(char option, std::string const& otherwise = "") const {
        auto const found = values.find(option);
        return found == values.end() ? otherwise : found->second;
    }
};

void add_htpasswd(Context& context, Line const& line, std::vector<std::string> const& words) {
    if (words.size() < 2) return context.report.needs_you(line, "names no file of users; add a source of type htpasswd");
    auto source = Json::object();
    source["type"] = Json::string("htpasswd");
    source["file"] = Json::string(words.back());
    context.auth_sources.push_back({line, std::move(source)});
}

std::string url_of(Options const& options) {
    if (options.has('H')) {
        auto url = options.of('H');
        while (url.ends_with('/')) url.pop_back();
        return url;
    }
    auto const host = options.has('h') ? options.of('h') : options.operands.empty() ? "localhost" : options.operands.front();
    return "ldap://" + host + (options.has('p') ? ":" + options.of('p') : "");
}

/// Squid's filter with %s for the user; nothing if it has other escapes.
std::optional<std::string> filter_of(Options const& options) {
    auto filter = options.of('f', options.of('u', "uid") + "=%s");
    for (auto at = filter.find('%'); at != filter.npos; at = filter.find('%', at)) {
        if (filter.substr(at, 2) != "%s") return std::nullopt;
        filter.replace(at, 2, "{user}");
    }
    return filter.starts_with('(') ? filter : "(" + filter + ")";
}

void add_ldap(Context& context, Line const& line, std::vector<std::string> const& words) {
    Options const options(words, "PRZd");
    auto const filter = filter_of(options);
    if (!filter) return context.report.needs_you(line, "has a filter with other escapes than %s; add a source of type ldap");
    if (options.of('b').empty()) return context.report.needs_you(line, "has no base (-b); add a source of type ldap");
    if (options.has('Z')) return context.report.needs_you(line, "uses StartTLS; add a source of type ldap with a URL of ldaps://");
    auto source = Json::object();
    source["type"] = Json::string("ldap");
    source["url"] = Json::string(url_of(options));
    source["base"] = Json::string(options.of('b'));
    source["filter"] = Json::string(*filter);
    // Without the password in a file the search is anonymous.
    if (options.has('D') && options.has('W')) {
        source["bind_dn"] = Json::string(options.of('D'));
        source["bind_password_file"] = Json::string(options.of('W'));
    }
    if (options.has('w'))
        context.report.needs_you(line, "has the password of -w; write it to a file, and add bind_dn and bind_password_file");
    context.auth_sources.push_back({line, std::move(source)});
}

void add_negotiate(Context& context, Line const& line, std::vector<std::string> const& words) {
    Options const options(words, "dirv");
    auto source = Json::object();
    source["type"] = Json::string("negotiate");
    source["keytab"] = Json::string(options.of('k', "/etc/krb5.keytab"));
    auto const principal = options.of('s');
    auto const at = principal.find('@');
    // Without -r Squid's names of users have their realm, as Garner's have without `realm`.
    if (options.has('r') && at != principal.npos) source["realm"] = Json::string(principal.substr(at + 1));
    if (options.has('r') && at == principal.npos)
        context.report.needs_you(line, "leaves the realm out of users' names (-r); add the realm to the source");
    context.auth_sources.push_back({line, std::move(source)});
    context.facts.exact_users = true;
}

void take_program(Context& context, Line const& line, std::string const& scheme, std::string_view command) {
    auto const words = command_words(command);
    auto const program = words.empty() ? "" : program_name(words.front());
    if (scheme == "basic" && (program == "basic_ncsa_auth" || program == "ncsa_auth")) return add_htpasswd(context, line, words);
    if (scheme == "basic" && (program == "basic_ldap_auth" || program == "squid_ldap_auth")) return add_ldap(context, line, words);
    if (scheme == "negotiate" && (program == "negotiate_kerberos_auth" || program == "squid_kerb_auth"))
        return add_negotiate(context, line, words);
    context.report.needs_you(line, "Garner starts no helpers such as " + printable(program) +
                                       "; add a source of `auth.sources`: htpasswd, ldap, negotiate, jwt or address");
}

}   // namespace

void take_auth_param(Context& context, Line const& line, Directive const&) {
    auto const words = split(line.rest);
    if (words.size() < 2) return context.report.drop(line, "has no parameter");
    auto const& scheme = words[0];
    auto const& parameter = words[1];
    auto const value = trimmed(line.rest.substr(line.rest.find(parameter, scheme.size()) + parameter.size()));
    auto const value_words = split(value);
    if (parameter == "program") return take_program(context, line, scheme, value);
    if (scheme == "basic" && parameter == "realm") {
        constexpr std::size_t longest = 100;
        bool const fits = value.size() < longest && printable(value) == value && value.find_first_of("\"\\") == npos;
        if (!fits) return context.report.drop(line, "auth.realm cannot have quotes, backslashes and more than 100 bytes");
        return context.set("auth.realm", Json::string(value));
    }
    if (scheme == "basic" && parameter == "credentialsttl") {
        auto const time = squid_time(value_words);
        if (!time || *time == milliseconds{0}) return context.report.drop(line, "is not a time; auth.remember keeps its default");
        constexpr milliseconds longest = std::chrono::hours(24);
        return context.set("auth.remember", Json::string(time_text(std::min(*time, longest))));
    }
    if (scheme == "basic" && parameter == "casesensitive") {
        context.facts.exact_users = context.facts.exact_users || value == "on";
        return context.report.drop(line, "Garner compares users without case");
    }
    context.report.drop(line, "Garner checks users on threads of its own (auth.threads), and has no such setting");
}

void take_external_acl_type(Context& context, Line const& line, Directive const&) {
    auto const words = split(line.rest);
    auto const names_user = [](std::string const& word) { return word.find("%LOGIN") != npos || word.find("%{LOGIN") != npos; };
    if (!words.empty() && std::ranges::any_of(words, names_user)) context.facts.login_helpers.insert(words.front());
    context.report.needs_you(line, "Garner asks no helper; replace the ACL by users, a group of `groups`, or a list in a file");
}

}   // namespace garner::importing
