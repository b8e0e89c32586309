#include "config/rules_command.hpp"

#include <algorithm>
#include <istream>
#include <memory>
#include <ostream>
#include <utility>

#include "auth/groups.hpp"
#include "config/check_command.hpp"
#include "config/log_replay.hpp"
#include "config/rule_lines.hpp"
#include "config/rule_tests.hpp"
#include "config/rules_why.hpp"
#include "proxy/moment.hpp"
#include "sim/buffered_lines.hpp"
#include "sim/trace_formats.hpp"
#include "sim/unpacked_file.hpp"
#include "util/exit_code.hpp"
#include "util/option_words.hpp"
#include "util/text.hpp"

namespace garner::config {
namespace {

constexpr char const* who = "garner rules: ";

/// A configuration to ask.
struct Rules {
    Config config;
    std::unique_ptr<auth::Groups> groups;

    proxy::RuleInquiry inquiry() const { return {config.proxy, own_addresses(config), groups.get()}; }
};

enum class FailedTests : std::uint8_t {
    are_faults,
    are_notices   // the question may be why a test fails
};

/// Prints faults, and returns nothing then.
std::optional<Rules> load_rules(std::string const& file, std::span<std::string const> sets, std::ostream& err,
                                FailedTests tests = FailedTests::are_faults) {
    auto loaded = file.empty() ? load_defaults(sets) : load_file(file, sets);
    if (loaded.only_tests_fail && tests == FailedTests::are_notices)
        print_notices(std::exchange(loaded.faults, {}), err);
    else
        print_faults(loaded.faults, err);
    if (!loaded.faults.empty()) return std::nullopt;
    auto groups = auth::Groups::load(loaded.config.auth.groups);
    if (groups) return Rules{std::move(loaded.config), *std::move(groups)};
    err << who << groups.fault().at("groups." + groups.fault().where).text() << '\n';
    return std::nullopt;
}

// ---- why ----

Result<proxy::RuleQuestion> question_of(CommandLine const& line) {
    proxy::RuleQuestion question{.at = wall_now(), .method = line.method, .url = line.url, .fields = line.fields};
    if (!line.client.empty()) {
        auto const source = parse_ip(line.client);
        if (!source) return garner::Fault{quoted_word(line.client) + " is not an IP address", "write it like 10.0.0.7", "--source"};
        question.source = *source;
    }
    if (!line.rules.destination.empty()) {
        question.destination = parse_ip(line.rules.destination);
        if (!question.destination)
            return garner::Fault{quoted_word(line.rules.destination) + " is not an IP address", "write it like 192.0.2.7",
                                 "--destination"};
    }
    if (!line.rules.at.empty()) {
        auto const at = proxy::parse_moment(line.rules.at);
        if (!at)
            return garner::Fault{quoted_word(line.rules.at) + " is not a time", R"(write "Mon 09:00" or 2026-11-23T09:30:10Z)",
                                 "--at"};
        question.at = *at;
    }
    if (!line.rules.user.empty() || !line.rules.groups.empty())
        question.identity = http::Identity{line.rules.user, line.rules.groups};
    if (question.identity) question.identity->unknown_groups = line.rules.unknown_groups;
    question.listener = line.rules.listener;
    return question;
}

int explain_rules(CommandLine const& line, std::ostream& out, std::ostream& err) {
    auto const rules = load_rules(line.config_file, line.sets, err, FailedTests::are_notices);
    if (!rules) return exit_failed;
    auto const question = question_of(line);
    if (!question) return err << who << question.fault().text() << '\n', exit_usage;
    auto inquiry = rules->inquiry();
    if (auto const fault = inquiry.ask(*question); !fault.empty()) return err << who << fault << '\n', exit_usage;
    auto const trace = trace_rules(inquiry, rules->config.proxy.access);
    if (line.json)
        out << as_json(trace).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    else
        out << text_of(trace);
    return exit_done;
}

// ---- decide ----

int decide_lines(CommandLine const& line, std::istream& in, std::ostream& out, std::ostream& err) {
    auto const rules = load_rules(line.config_file, line.sets, err);
    if (!rules) return exit_failed;
    auto inquiry = rules->inquiry();
    bool good = true;
    for (std::string question; std::getline(in, question);) {
        if (trim(question).empty()) continue;
        auto const answer = decide_line(inquiry, question, wall_now());
        good = good && !answer.starts_with(R"({"error")");
        out << answer << '\n';
        if (in.rdbuf()->in_avail() <= 0) out.flush();   // for a caller that waits for each answer
    }
    out.flush();
    if (!out) return err << who << "the decisions cannot be written\n", exit_failed;
    return good ? exit_done : exit_failed;
}

// ---- test ----

sim::LogFormatRow const* log_format(std::string const& name, std::string_view head, bool whole) {
    auto const* found = sim::find_format(name, head, whole);
    auto const row = std::ranges::find_if(sim::log_formats(), [&](auto const& one) { return found && one.name == found->name; });
    return row == sim::log_formats().end() ? nullptr : &*row;
}

/// Replays the file; returns why it cannot be read.
std::string replay(std::string const& path, LogReplay& replay) {
    sim::UnpackedFile file(path);
    sim::BufferedLines lines(file, sim::line_bytes_max);
    auto const head = lines.head();
    auto const* format = log_format(path, head, lines.head_is_whole());
    if (!file.fault().empty()) return file.fault();
    if (!format) return path + " is no access log of the formats squid, combined and json";
    for (std::string_view text; lines.next_line(text);) {
        if (trim(text).empty() || text.starts_with('#')) continue;
        sim::LoggedRequest request;
        bool const fits = text.size() <= sim::line_bytes_max && text.find('\0') == text.npos;
        if (!fits || format->read(text, request).kind == sim::Record::Kind::broken)
            replay.count_broken();
        else
            replay.take(request, *format);
    }
    return file.fault();
}

int test_log(CommandLine const& line, std::ostream& out, std::ostream& err) {
    auto const rules = load_rules(line.config_file, line.sets, err);
    auto const former = line.rules.against.empty() ? std::nullopt : load_rules(line.rules.against, {}, err);
    if (!rules || (!line.rules.against.empty() && !former)) return exit_failed;
    auto after = rules->inquiry();
    std::optional<proxy::RuleInquiry> before;
    if (former) before.emplace(former->config.proxy, own_addresses(former->config), former->groups.get());
    LogReplay report(after, before ? &*before : nullptr);
    if (auto const fault = replay(line.rules.log, report); !fault.empty()) return err << who << fault << '\n', exit_failed;
    out << report.text();
    if (!line.rules.new_denials_max) return exit_done;
    auto const most = *line.rules.new_denials_max * static_cast<double>(report.requests());
    return static_cast<double>(report.newly_denied()) <= most ? exit_done : exit_failed;
}

}   // namespace

int rules_command(CommandLine const& line, std::istream& in, std::ostream& out, std::ostream& err) {
    auto const& operation = line.rest.front();
    if (operation == "why") return explain_rules(line, out, err);
    if (operation == "decide") return decide_lines(line, in, out, err);
    return test_log(line, out, err);
}

}   // namespace garner::config
