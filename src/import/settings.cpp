// Directives that set one key: sizes, times, numbers, names.
#include <algorithm>

#include "import/context.hpp"
#include "import/posix_regex.hpp"
#include "import/squid_units.hpp"
#include "import/words.hpp"
#include "util/ip.hpp"
#include "util/text.hpp"
#include "util/units.hpp"

namespace garner::importing {
namespace {

/// A value that the key cannot have: the default stays.
void keep_default(Context& context, Line const& line, std::string_view key) {
    context.report.drop(line, "the value is not possible for " + std::string(key) + ", which keeps its default");
}

void set_time(Context& context, Line const& line, Directive const& row, std::optional<milliseconds> time) {
    bool const fits =
        time && time->count() >= static_cast<std::int64_t>(row.min) && time->count() <= static_cast<std::int64_t>(row.max);
    if (!fits) return keep_default(context, line, row.text);
    context.set(row.text, Json::string(time_text(*time)));
}

}   // namespace

void Context::set(std::string_view path, Json value) {
    auto* place = &config;
    given.emplace(path);
    for (auto dot = path.find('.'); dot != npos; dot = path.find('.')) {
        place = &(*place)[path.substr(0, dot)];
        path.remove_prefix(dot + 1);
    }
    (*place)[path] = std::move(value);
}

void take_size(Context& context, Line const& line, Directive const& row) {
    auto const size = squid_size(split(line.rest));
    if (!size || *size < row.min || *size > row.max) return keep_default(context, line, row.text);
    context.set(row.text, Json::string(size_text(*size)));
    // The target is a part of the head.
    constexpr Bytes default_target = 16 * KiB;
    if (std::string_view(row.text) == "limits.head_max" && *size <= default_target)
        context.set("limits.target_max", Json::string(size_text(*size / 2)));
}

void take_time(Context& context, Line const& line, Directive const& row) {
    set_time(context, line, row, squid_time(split(line.rest)));
}

void take_milliseconds(Context& context, Line const& line, Directive const& row) {
    auto const number = parse_decimal(trimmed(line.rest));
    set_time(context, line, row, number && *number <= row.max ? std::optional(milliseconds(*number)) : std::nullopt);
}

void take_count(Context& context, Line const& line, Directive const& row) {
    auto const words = split(line.rest);
    auto const number = words.empty() ? std::nullopt : parse_decimal(words.front());
    if (!number || *number < row.min || *number > row.max) return keep_default(context, line, row.text);
    context.set(row.text, Json::number(*number));
}

void take_flag(Context& context, Line const& line, Directive const& row) {
    auto const words = split(line.rest);
    bool const on = !words.empty() && words.front() == "on", off = !words.empty() && words.front() == "off";
    if (!on && !off) return keep_default(context, line, row.text);
    context.set(row.text, Json::flag(on));
}

void take_addresses(Context& context, Line const& line, Directive const& row) {
    std::vector<std::string> addresses;
    for (auto const& word : split(line.rest)) {
        if (auto const address = parse_ip(word))
            addresses.push_back(address->text());
        else
            context.report.drop(line, printable(word) + " is not an address");
    }
    if (!addresses.empty()) context.set(row.text, Json::strings(addresses));
}

void take_name(Context& context, Line const& line, Directive const& row) {
    auto const words = split(line.rest);
    auto const fits = [](char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '_' || c == '.'; };
    constexpr std::size_t longest = 255;
    bool const is_name = !words.empty() && words.front().size() <= longest && std::ranges::all_of(words.front(), fits);
    if (!is_name) return keep_default(context, line, row.text);
    context.set(row.text, Json::string(words.front()));
}

void take_file(Context& context, Line const& line, Directive const& row) {
    auto const words = split(line.rest);
    if (words.empty() || printable(words.front()) != words.front()) return keep_default(context, line, row.text);
    context.set(row.text, Json::string(words.front() == "none" ? "" : words.front()));
}

void take_forwarded_for(Context& context, Line const& line, Directive const& row) {
    auto const value = trimmed(line.rest);
    bool const sends = value == "on" || value == "truncate";
    bool const known = sends || value == "off" || value == "delete" || value == "transparent";
    if (!known) return keep_default(context, line, row.text);
    context.set("forwarded", Json::string(sends ? "x-forwarded-for" : "off"));
    if (value == "delete" || value == "truncate") context.set("forwarded_received", Json::string("delete"));
}

// ---- storage ----

void take_cache_dir(Context& context, Line const& line, Directive const&) {
    auto const words = split(line.rest);
    auto const size = words.size() > 2 ? parse_decimal(words[2]) : std::nullopt;
    constexpr std::uint64_t least = 16, most = 1u << 30;   // MiB
    if (words.size() < 3 || words[0] == "null") return context.report.drop(line, "stores nothing");
    if (context.given.contains("disk.path")) return context.report.drop(line, "Garner has one store; add its size to disk.size");
    if (!size || *size < least || *size > most || printable(words[1]) != words[1])
        return context.report.drop(line, "its size is not from 16 MiB to 1 PiB");
    if (auto const why_not = context.why_not("disk.path", Json::string(words[1])); !why_not.empty())
        return context.report.drop(line, why_not);
    context.set("disk.path", Json::string(words[1]));
    context.set("disk.size", Json::string(size_text(*size * MiB)));
}

void take_policy(Context& context, Line const& line, Directive const& row) {
    auto const words = split(line.rest);
    bool const heap = words.size() > 1 && words[0] == "heap";
    auto const name = words.empty() ? "" : lower_case(heap ? words[1] : words[0]);
    if (name != "lru" && !(heap && (name == "gdsf" || name == "lfuda"))) return keep_default(context, line, row.text);
    context.set(row.text, Json::string(name));
}

void take_range_offset(Context& context, Line const& line, Directive const& row) {
    auto const words = split(line.rest);
    bool const whole = !words.empty() && (words.front() == "none" || words.front() == "-1");
    if (words.empty() || words.size() > 2) return context.report.drop(line, "a limit by ACLs has no equivalent");
    context.set(row.text, Json::flag(whole));
}

namespace {

constexpr std::uint64_t percent_max = 100;

/// Squid's maximum ends heuristic lifetimes only. Garner ends them after a day.
void report_maximum(Context& context, Line const& line, std::uint64_t percent, std::string const& word) {
    constexpr std::uint64_t day = 24 * 60;
    auto const minutes = parse_decimal(word);
    if (percent == 0 || minutes == day) return;
    auto const what = "the maximum " + printable(word);
    if (!minutes) return context.report.drop(line, what + " is not a number");
    context.report.drop(line,
                        what + (*minutes > day ? ": heuristic lifetimes are at most 1440 minutes in Garner"
                                               : " has no equivalent: `ttl_max` would lower lifetimes that origins give, too"));
}

}   // namespace

/// The regular expression, three numbers and options. The first line that matches decides, and Garner's first rule with a key
/// does: every rule has the same keys.
void take_refresh_pattern(Context& context, Line const& line, Directive const&) {
    auto const values = values_of(line, line.rest, Values::expressions, context.files).values;
    bool const flagged = !values.empty() && (values[0] == "-i" || values[0] == "+i");
    auto const words = std::vector<std::string>(values.begin() + (flagged ? 1 : 0), values.end());
    if (words.size() < 4) return context.report.drop(line, "write refresh_pattern REGEX MIN PERCENT MAX");
    if (words[0].starts_with("^ftp:") || words[0].starts_with("^gopher:"))
        return context.report.drop(line, "Garner fetches by http and https only");
    auto const translated = to_re2(words[0], flagged && values[0] == "-i");
    if (translated.kind != Translated::Kind::done)
        return context.report.needs_you(line, "the expression has no equivalent for RE2: " + translated.why);
    auto const minutes = parse_decimal(words[1]);
    auto const percent = parse_decimal(std::string_view(words[2]).substr(0, words[2].find('%')));
    constexpr std::uint64_t year = 365 * 24 * 60;
    if (!minutes || !percent) return context.report.drop(line, "its numbers are not numbers");
    bool const overrides = std::ranges::count(words, "override-expire") > 0;
    auto rule = Json::object();
    if (words[0] != ".") rule["url_matches"] = Json::strings(translated.patterns);
    // Squid compares the age with the maximum first.
    auto const lifetime = std::min({*minutes, parse_decimal(words[3]).value_or(year), year});
    auto const time = time_text(milliseconds(lifetime * 60'000));
    rule[overrides ? "ttl_min" : "default_ttl"] = Json::string(time);
    auto const hundredths = std::min(*percent, percent_max);
    if (*percent > percent_max) context.report.drop(line, "a share above 100 %: `heuristic_factor` is at most 1");
    report_maximum(context, line, *percent, words[3]);
    rule["heuristic_factor"] = Json::plain(hundredths == 100 ? "1" : (hundredths < 10 ? "0.0" : "0.") + std::to_string(hundredths));
    rule["reload"] = Json::string(std::ranges::count(words, "ignore-reload") > 0 ? "ignore" : "honour");
    context.caching_rules.push_back(std::move(rule));
    for (auto const* option : {"ignore-no-store", "ignore-private", "ignore-must-revalidate", "ignore-auth", "override-lastmod",
                               "reload-into-ims", "refresh-ims", "store-stale"})
        if (std::ranges::count(words, option) > 0)
            context.report.drop(line, std::string("the option ") + option + " has no equivalent");
}

// ---- logs, ports, TLS ----

void take_access_log(Context& context, Line const& line, Directive const&) {
    auto const words = split(line.rest);
    if (words.empty()) return context.report.drop(line, "names no file");
    if (context.given.contains("log.access")) return context.report.drop(line, "Garner has one access log");
    if (words[0] == "none") return context.set("log.access", Json::string(""));
    auto file = words[0];
    for (auto const* module : {"daemon:", "stdio:"})
        if (file.starts_with(module)) file.erase(0, std::string_view(module).size());
    if (!file.starts_with('/') || printable(file) != file)
        return context.report.drop(line, "Garner logs to a file or to standard output");
    auto const why_not = context.why_not("log.access", Json::string(file));
    if (why_not.empty())
        context.set("log.access", Json::string(file));
    else
        context.report.drop(line, why_not + "; the log goes to standard output until `log.access` names another file");
    auto format = words.size() > 1 ? words[1] : "squid";
    if (format.starts_with("logformat=")) format.erase(0, std::string_view("logformat=").size());
    if (format == "combined" || format == "common") context.set("log.format", Json::string("combined"));
    bool const is_known = format == "squid" || format == "combined" || format == "common";
    if (!is_known) context.report.drop(line, "the format " + printable(format) + ": log.format has squid, combined and json");
    if (words.size() > 2) context.report.drop(line, "Garner logs all requests, without options and ACLs");
}

void take_udp(Context& context, Line const& line, Directive const& row) {
    auto const words = split(line.rest);
    bool const is_address = std::string_view(row.text) == "address";
    auto const address = words.empty() ? std::nullopt : parse_ip(words.front());
    if (is_address && address) {
        context.udp_address = address->is_v4() ? address->text() : "[" + address->text() + "]";
        return;
    }
    auto const port = words.empty() ? std::nullopt : parse_decimal(words.front());
    if (is_address || !port || *port > 65'535) return keep_default(context, line, std::string(row.text) + ".address");
    auto& to = std::string_view(row.text) == "icp" ? context.icp_port : context.htcp_port;
    to = *port == 0 ? "" : std::to_string(*port);
}

namespace {

void take_ca_file(Context& context, Line const& line, std::string const& file) {
    auto const why_not = context.why_not("tls.ca_file", Json::string(file));
    if (why_not.empty()) return context.set("tls.ca_file", Json::string(file));
    context.report.needs_you(line, why_not + "; the CAs of the system verify origins until tls.ca_file names a file");
}

}   // namespace

void take_tls(Context& context, Line const& line, Directive const&) {
    for (auto const& word : split(line.rest)) {
        auto const value = word.substr(std::min(word.find('=') + 1, word.size()));
        if (word.starts_with("cafile="))
            take_ca_file(context, line, value);
        else if (word.starts_with("flags=") && value == "DONT_VERIFY_PEER")
            context.set("tls.verify", Json::flag(false));
        else
            context.report.needs_you(
                line, printable(word.substr(0, word.find('='))) + " has no equivalent; `tls` has verify and ca_file");
    }
}

void take_read_timeout(Context& context, Line const& line, Directive const& row) {
    auto each = row;
    for (auto const* key : {"deadlines.first_byte", "deadlines.body", "deadlines.stream"}) {
        each.text = key;
        take_time(context, line, each);
    }
}

}   // namespace garner::importing
