#include "admin/query_commands.hpp"

#include <ostream>

#include "admin/admin_client.hpp"
#include "admin/explain_text.hpp"
#include "admin/group_json.hpp"
#include "admin/json_members.hpp"
#include "admin/peers_text.hpp"
#include "admin/quota_text.hpp"
#include "admin/summary.hpp"
#include "bump/pinned.hpp"
#include "http/message.hpp"
#include "http/uri.hpp"
#include "util/exit_code.hpp"
#include "util/option_words.hpp"

namespace garner::admin {

namespace {

// With a lease of a minute.
constexpr milliseconds purge_patience{75'000};

int print_purged(Command const& command, Json const& answer, std::ostream& out) {
    bool const here = is(answer, "purged");
    bool anywhere = here, confirmed = true;
    out << (here ? "purged " : "nothing is cached for ") << command.url << "\n";
    for (auto const& peer : at(answer, "peers")) {
        auto const said = text_at(peer, "answer");
        auto const why = text_at(peer, "why");
        out << "peer " << text_at(peer, "name") << ": " << said << (why.empty() ? "" : ": " + why) << "\n";
        anywhere |= said == "purged";
        confirmed &= said == "purged" || said == "had nothing";
    }
    auto const& group = at(answer, "group");
    if (group.is_object()) out << "group: " << text_at(group, "text") << "\n";
    bool const has_group = group.is_object();
    if (has_group && !is(group, "accepted")) return exit_failed;
    if (!confirmed) return exit_partial;
    return anywhere || has_group ? exit_done : exit_failed;
}

int print_explained(Command const& command, Json const& answer, std::ostream& out) {
    out << (command.json ? answer.dump(2) + "\n" : explain_text(answer));
    return exit_done;
}

int print_stats(Command const& command, Json const& answer, std::ostream& out) {
    out << (command.what_if ? what_if_text(answer) : summary_text(answer));
    return exit_done;
}

int print_peers(Command const& command, Json const& answer, std::ostream& out) {
    out << (command.json ? answer.at("peers").dump(2) + "\n" : peers_text(answer));
    return exit_done;
}

int print_group(Command const& command, Json const& answer, std::ostream& out) {
    out << (command.json ? answer.dump(2) + "\n" : group_text(answer));
    return text_at(answer, "state") == "cut off" ? exit_failed : exit_done;
}

int print_rebuilding(Command const&, Json const& answer, std::ostream& out) {
    bool const rebuilding = is(answer, "rebuilding");
    out << (rebuilding ? "the cache digest is being rebuilt\n" : "digest.publish is false: there is no cache digest\n");
    return rebuilding ? exit_done : exit_failed;
}

int print_pins(Command const& command, Json const& answer, std::ostream& out) {
    std::vector<bump::Pins::Row> rows;
    for (auto const& pin : at(answer, "pins"))
        rows.push_back({text_at(pin, "host"), text_at(pin, "client"), WallTime(seconds(number_at(pin, "until")))});
    out << (command.json ? answer.at("pins").dump(2) + "\n" : bump::pins_text(rows));
    return exit_done;
}

int print_erased(Command const&, Json const& answer, std::ostream& out) {
    auto const erased = number_at(answer, "erased");
    out << "erased " << erased << (erased == 1 ? " pin\n" : " pins\n");
    return exit_done;
}

int print_quotas(Command const& command, Json const& answer, std::ostream& out) {
    out << (command.json ? at(answer, "quotas").dump(2) + "\n" : quotas_text(answer));
    return exit_done;
}

int print_reset(Command const& command, Json const&, std::ostream& out) {
    out << "the quota " << command.quota << " begins anew for " << command.subject.value_or("all") << "\n";
    return exit_done;
}

int print_health(Command const& command, Json const& answer, std::ostream& out) {
    auto const health = text_at(answer, "health");
    out << text_at(answer, "state") << "\n";
    if (health == "attention" || health == "trouble") out << text_at(answer, "sentence") << "\n";
    if (health.empty() && !command.level.empty())
        out << "problems unknown: a token of the role viewer is needed (--token-file), or another version runs\n";
    bool const is_bad = !command.level.empty() && (health.empty() || health == "trouble" || health == command.level);
    return is(answer, "live") && (is(answer, "ready") || !command.ready) && !is_bad ? exit_done : exit_failed;
}

int print_reopened(Command const&, Json const&, std::ostream& out) {
    out << "the log files are reopened\n";
    return exit_done;
}

struct Endpoint {
    char const *method, *target, *wanted;
    int (*print)(Command const&, Json const& answer, std::ostream&);
};

Endpoint endpoint_of(Command const& command) {
    using Kind = Command::Kind;
    if (command.kind == Kind::purge) return {"POST", "/purge", "purged", print_purged};
    if (command.kind == Kind::explain) return {"POST", "/explain", "outcome", print_explained};
    if (command.kind == Kind::stats) return {"GET", "/stats.json", "version", print_stats};
    if (command.kind == Kind::group) return {"GET", "/group", "state", print_group};
    if (command.kind == Kind::pins && command.erase) return {"POST", "/bump/pins/erase", "erased", print_erased};
    if (command.kind == Kind::pins) return {"GET", "/bump/pins", "pins", print_pins};
    if (command.kind == Kind::quota) return {"GET", "/stats.json", "quotas", print_quotas};
    if (command.kind == Kind::reset_quota) return {"POST", "/quota/reset", "reset", print_reset};
    if (command.kind == Kind::health) return {"GET", "/health.json?problems=1", "live", print_health};
    if (command.kind == Kind::reopen_logs) return {"POST", "/log/reopen", "reopened", print_reopened};
    if (command.rebuild_digest) return {"POST", "/rebuild-digest", "rebuilding", print_rebuilding};
    return {"GET", "/stats.json", "peers", print_peers};
}

/// Fails if the command does not describe a valid request.
Result<void> check_request(Command const& command) {
    http::UriError error;
    bool const has_url = command.kind == Command::Kind::purge || command.kind == Command::Kind::explain;
    if (has_url && !http::parse_absolute(command.url, error))
        return Fault{quoted_word(command.url) + " is not a URL like http://example.com/page: " + error.refusal};
    if (!command.method.empty() && !http::is_token(command.method))
        return Fault{quoted_word(command.method) + " is not a method like GET"};
    for (auto const& line : command.fields) {
        http::Field field;
        if (auto const* refusal = http::parse_field_line(line, field))
            return Fault{quoted_word(line) + " is not a field like \"Accept: text/html\": " + refusal};
    }
    for (auto const* address : {&command.client, &command.intercepted})
        if (!address->empty() && !parse_ip(*address)) return Fault{quoted_word(*address) + " is not an IP address"};
    return {};
}

}   // namespace

int run_command(Command const& command, std::ostream& out, std::ostream& err) {
    auto const fail = [&err](int code, Fault const& fault) { return err << "garner: " << fault.text() << "\n", code; };
    auto const place = place_at(command.address, command.port);
    if (!place) return fail(exit_usage, place.fault());
    if (auto const right = check_request(command); !right) return fail(exit_usage, right.fault());
    auto const endpoint = endpoint_of(command);
    Question question{.place = *place, .method = endpoint.method, .target = endpoint.target};
    question.token = command.token;
    if (command.kind == Command::Kind::purge) question.patience = purge_patience;
    question.body_max = 64 * MiB;   // the statistics have a row for each rule
    if (!command.url.empty()) question.form = {{"url", command.url}, {"method", command.method}, {"client", command.client}};
    if (command.erase) question.form = {{"host", command.host}};
    bool const resets = command.kind == Command::Kind::reset_quota;
    if (resets) question.form = {{"name", command.quota}};
    if (resets && command.subject) question.form.emplace_back("client", *command.subject);
    for (auto const& field : command.fields) question.form.emplace_back("field", field);
    if (!command.user.empty()) question.form.emplace_back("user", command.user);
    for (auto const& group : command.groups) question.form.emplace_back("group", group);
    if (!command.intercepted.empty()) question.form.emplace_back("intercepted", command.intercepted);
    if (!command.server_name.empty()) question.form.emplace_back("sni", command.server_name);
    if (command.accelerator) question.form.emplace_back("accelerator", "1");
    unsigned status = 0;
    auto const answer = ask(question, endpoint.wanted, &status);
    constexpr unsigned ambiguous = 409;
    if (!answer) return fail(resets && status == ambiguous ? exit_usage : exit_failed, answer.fault());
    return endpoint.print(command, *answer, out);
}

}   // namespace garner::admin
