#include "config/log_replay.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "util/text.hpp"

namespace garner::config {
namespace {

using Verdict = http::Decision::Verdict;

constexpr std::size_t groups_max = 100'000;   // further users and hosts count as one
constexpr std::size_t groups_shown = 20;

bool is_none(std::string_view text) { return text.empty() || text == "-"; }

bool is_other_protocol(sim::LoggedRequest const& line) {
    return line.method.starts_with("ICP_") || line.method.starts_with("HTCP_");
}

/// Lines about connections without a request, and requests without a valid URL. Squid logs the URL as "error:…".
bool has_no_url(sim::LoggedRequest const& line) {
    return is_none(line.method) || is_none(line.url) || line.url.starts_with("error:");
}

Verdict logged_verdict(sim::LoggedRequest const& line) {
    if (!line.denied) return Verdict::allow;
    return line.status == "407" ? Verdict::needs_identity : Verdict::deny;
}

bool is_certain(Verdict verdict) { return verdict == Verdict::allow || verdict == Verdict::deny; }

std::string percent_of(std::uint64_t part, std::uint64_t whole) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g %%", whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0);
    return text;
}

}   // namespace

bool LogReplay::read_question(sim::LoggedRequest const& line, sim::LogFormatRow const& format) {
    auto const client = parse_ip(line.client);
    auto const seconds = format.seconds(line.time);
    if (!client || !seconds) return false;
    auto const plain = [&](std::string_view text) { return line.escaped ? sim::unescaped(text, scratch_) : text; };
    question_.source = *client;
    question_.at = from_unix_seconds(*seconds);
    question_.method.assign(plain(line.method));
    question_.url.assign(plain(line.url));
    question_.destination = line.direct ? parse_ip(line.peer) : std::nullopt;
    question_.identity.reset();
    if (!is_none(line.user)) question_.identity = http::Identity{.user = std::string(plain(line.user)), .groups_known = false};
    return true;
}

LogReplay::Change LogReplay::change_of(Verdict before, Verdict after) {
    if (before == after) return Change::none;
    if (!is_certain(after)) return Change::undecidable;
    if (before == Verdict::needs_identity) return after == Verdict::allow ? Change::allowed : Change::none;
    if (!is_certain(before)) return Change::undecidable;
    return after == Verdict::deny ? Change::denied : Change::allowed;
}

void LogReplay::take(sim::LoggedRequest const& line, sim::LogFormatRow const& format) {
    if (is_other_protocol(line)) return void(++other_protocols_);
    if (has_no_url(line)) return void(++malformed_);
    if (!read_question(line, format)) return count_broken();
    if (!after_.ask(question_).empty()) return void(++malformed_);
    if (after_.is_own_page()) return void(++own_pages_);
    if (question_.method == "PURGE") return void(++purges_);
    if (!before_ && line.status == "429") return void(++limited_);
    ++requests_;
    auto const decision = after_.decide();
    auto before = logged_verdict(line);
    if (before_) {
        if (!before_->ask(question_).empty()) return;
        before = before_->decide().verdict;
    }
    switch (change_of(before, decision.verdict)) {
    case Change::none: return;
    case Change::denied: return note(denied_, decision);
    case Change::allowed: return note(allowed_, decision);
    case Change::undecidable: return note(undecidable_, decision);
    }
}

void LogReplay::note(Changes& changes, http::Decision const& decision) {
    ++changes.count;
    auto const user = question_.identity ? question_.identity->user : "-";
    auto key = user + " " + std::string(after_.facts().host);
    if (changes.groups.size() >= groups_max && !changes.groups.contains(key)) key = "(others)";
    auto& group = changes.groups[key];
    if (group.count++ > 0) return;
    group.example = question_.method + " " + question_.url.substr(0, 200) + " from " + question_.source.text();
    group.rule = std::string(proxy::name_of(decision.verdict)) + " by " + decision.text();
}

std::string LogReplay::text_of(char const* what, Changes const& changes) const {
    auto text = std::string(what) + ": " + std::to_string(changes.count) + " (" + percent_of(changes.count, requests_) + ")\n";
    std::vector<std::pair<std::string_view, Group const*>> all;
    for (auto const& [key, group] : changes.groups) all.emplace_back(key, &group);
    std::ranges::sort(all, [](auto const& a, auto const& b) {
        return a.second->count != b.second->count ? a.second->count > b.second->count : a.first < b.first;
    });
    for (std::size_t i = 0; i < std::min(all.size(), groups_shown); ++i) {
        auto const& [key, group] = all[i];
        text.append("  ").append(std::to_string(group->count)).append(" ").append(key).append(", such as ");
        text.append(group->example).append(": ").append(group->rule).append("\n");
    }
    if (all.size() > groups_shown) text += "  and " + std::to_string(all.size() - groups_shown) + " more users and hosts\n";
    return text;
}

std::string LogReplay::text() const {
    auto const count = [](std::uint64_t number, char const* what) { return std::to_string(number) + what; };
    return count(requests_, " requests replayed; skipped: ") + count(malformed_, " malformed, ") +
           count(own_pages_, " for the proxy's own pages, ") + count(purges_, " purges, ") +
           count(limited_, " refused by limits or quotas, ") + count(other_protocols_, " of other protocols; ") +
           count(broken_, " lines unreadable\n") + text_of("newly denied", denied_) + text_of("newly allowed", allowed_) +
           text_of("undecidable", undecidable_);
}

}   // namespace garner::config
