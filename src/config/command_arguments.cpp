#include "config/command_arguments.hpp"

#include <algorithm>

#include "cache/invalidation.hpp"
#include "http/uri.hpp"
#include "util/text.hpp"
#include "util/units.hpp"

namespace garner::config {

CommandForm::Take appended_to(std::vector<std::string>& to) {
    return [&to](std::string_view, std::string_view value) { return to.emplace_back(value), std::string(); };
}

std::string check_url(CommandLine& line) {
    auto const given = line.url;
    bool const authority = line.method == "CONNECT" && http::parse_authority(given);
    if (authority) line.url = "https://" + given + "/";
    return http::parse_absolute(line.url) ? "" : quoted_word(given) + " is not a URL like http://example.com/page";
}

std::string check_intercept(CommandLine::Intercept const& intercept) {
    if (intercept.print == intercept.check) return "intercept takes --print or --check";
    auto const is_plain = [](char c) {
        return is_alpha(c) || is_digit(c) || c == '-' || c == '_' || c == '.' || c == '@' || c == ':';
    };
    for (auto const& name : intercept.interfaces)
        if (name.empty() || name.size() > 15 || !std::ranges::all_of(name, is_plain))
            return "--interface: " + quoted_word(name) + " is not the name of a network interface like lan0";
    return {};
}

std::string check_urls(std::span<std::string const> urls) {
    for (auto const& url : urls)
        if (!http::parse_absolute(url)) return quoted_word(url) + " is not a URL like http://example.com/page";
    return {};
}

std::string check_purge(CommandLine& line) {
    auto const& purge = line.purge_of;
    int const given = !line.url.empty() + !purge.prefix.empty() + !purge.tag.empty() + purge.all;
    if (given != 1) return "purge takes one of URL, --prefix, --tag, --all and -";
    bool const has_tags = !purge.tag.empty() || line.url == "-";
    if (!purge.origin.empty() && !has_tags) return "--origin is only for --tag";
    if (!purge.origin.empty() && !http::parse_absolute(purge.origin))
        return "--origin: " + quoted_word(purge.origin) + " is not a URL like http://example.com";
    if (!purge.prefix.empty()) return cache::prefix_invalidation(purge.prefix, purge.soft).fault_text();
    if (!purge.tag.empty()) return cache::tag_invalidation(purge.tag, purge.origin, purge.soft).fault_text();
    return purge.all || line.url == "-" ? "" : check_url(line);
}

CommandForm::Take percent_into(std::optional<double>& to) {
    return [&to](std::string_view name, std::string_view value) -> std::string {
        auto const digits = value.ends_with('%') ? value.substr(0, value.size() - 1) : value;
        double percent = 0;
        bool const good = read_whole_number(digits, percent) && percent >= 0 && percent <= 100;
        if (!good) return std::string(name) + ": " + quoted_word(value) + " is not a share like 0.1%";
        to = percent / 100;
        return {};
    };
}

CommandForm::Take time_of_trial_into(seconds& to) {
    return [&to](std::string_view name, std::string_view value) -> std::string {
        auto const time = parse_time(value);
        bool const good = time && *time >= seconds{1} && *time <= seconds{86'400};
        if (!good) return std::string(name) + ": " + quoted_word(value) + " is not a time from 1s to 24h";
        to = std::chrono::duration_cast<seconds>(*time);
        return {};
    };
}

CommandForm::Take shell_into(std::string& to) {
    return [&to](std::string_view name, std::string_view value) {
        to = value;
        bool const known = value == "bash" || value == "zsh";
        return known ? "" : std::string(name) + ": " + quoted_word(value) + " is neither bash nor zsh";
    };
}

CommandForm::Take level_into(std::string& to) {
    return [&to](std::string_view name, std::string_view value) {
        to = value;
        bool const known = value == "attention" || value == "trouble";
        return known ? "" : std::string(name) + ": " + quoted_word(value) + " is neither attention nor trouble";
    };
}

}   // namespace garner::config
