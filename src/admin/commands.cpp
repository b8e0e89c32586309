#include "admin/commands.hpp"

#include <nlohmann/json.hpp>
#include <ostream>

#include "admin/ask.hpp"
#include "admin/explain_text.hpp"
#include "admin/peers_text.hpp"
#include "admin/summary.hpp"
#include "http/message.hpp"
#include "http/uri.hpp"
#include "util/exit_code.hpp"

namespace garner::admin {

namespace {

using Json = nlohmann::ordered_json;

/// The JSON object of a good answer, which has the member `wanted`; else nothing, and the reason has been told.
std::optional<Json> ask_for_json(Question const& question, char const* wanted, std::ostream& err) {
    auto const answered = ask(question);
    auto const place = question.place.text();
    if (!answered.trouble.empty()) {
        err << "garner: no garner answers at " << place << ": " << answered.trouble
            << "; start it or pass --config FILE\n";
        return std::nullopt;
    }
    if (answered.status != 200) {
        err << "garner: " << place << " answers " << answered.status << ": " << answered.body.substr(0, 500);
        if (!answered.body.ends_with('\n')) err << '\n';
        return std::nullopt;
    }
    auto json = Json::parse(answered.body, nullptr, false);
    if (!json.is_object() || !json.contains(wanted)) {
        err << "garner: what answers at " << place << " is not garner\n";
        return std::nullopt;
    }
    return json;
}

bool is_url(std::string const& url, std::ostream& err) {
    http::UriError error;
    if (http::parse_absolute(url, error)) return true;
    err << "garner: \"" << url << "\" is not a URL like http://example.com/page: " << error.refusal << "\n";
    return false;
}

int purge(Question question, std::string const& url, std::ostream& out, std::ostream& err) {
    if (!is_url(url, err)) return exit_usage;
    question.method = "POST";
    question.target = "/purge";
    question.body = "url=" + form_encoded(url);
    auto const answer = ask_for_json(question, "purged", err);
    if (!answer) return exit_failed;
    bool const here = answer->at("purged") == true;
    bool anywhere = here;
    out << (here ? "purged " : "not in the cache: ") << url << "\n";
    for (auto const& peer : answer->value("peers", Json::array())) {
        auto const said = peer.value("answer", "");
        out << "peer " << peer.value("name", "") << ": " << said << "\n";
        anywhere |= said == "purged";
    }
    return anywhere ? exit_done : exit_failed;
}

/// False, and the reason has been told, when it is no request.
bool is_request(Command const& command, std::ostream& err) {
    if (!is_url(command.url, err)) return false;
    if (!command.method.empty() && !http::is_token(command.method)) {
        err << "garner: \"" << command.method << "\" is not a method like GET\n";
        return false;
    }
    for (auto const& line : command.fields) {
        http::Field field;
        auto const* refusal = http::parse_field_line(line, field);
        if (!refusal) continue;
        err << "garner: \"" << line << "\" is not a field like \"Accept: text/html\": " << refusal << "\n";
        return false;
    }
    if (command.client.empty() || parse_ip(command.client)) return true;
    err << "garner: \"" << command.client << "\" is not an IP address\n";
    return false;
}

int explain(Question question, Command const& command, std::ostream& out, std::ostream& err) {
    if (!is_request(command, err)) return exit_usage;
    question.method = "POST";
    question.target = "/explain";
    question.body = "url=" + form_encoded(command.url) + "&method=" + form_encoded(command.method);
    for (auto const& field : command.fields) question.body += "&field=" + form_encoded(field);
    if (!command.client.empty()) question.body += "&client=" + form_encoded(command.client);
    if (command.accelerator) question.body += "&accelerator=1";
    auto const answer = ask_for_json(question, "outcome", err);
    if (!answer) return exit_failed;
    out << (command.json ? answer->dump(2) + "\n" : explain_text(*answer));
    return exit_done;
}

int stats(Question question, Command const& command, std::ostream& out, std::ostream& err) {
    question.target = "/stats.json";
    auto const answer = ask_for_json(question, "version", err);
    if (!answer) return exit_failed;
    out << (command.what_if ? what_if_text(*answer) : summary_text(*answer));
    return exit_done;
}

int rebuild_digest(Question question, std::ostream& out, std::ostream& err) {
    question.method = "POST";
    question.target = "/rebuild-digest";
    auto const answer = ask_for_json(question, "rebuilding", err);
    if (!answer) return exit_failed;
    bool const rebuilding = answer->at("rebuilding") == true;
    out << (rebuilding ? "the cache digest is being built anew\n" : "digest.publish is false: there is no cache digest\n");
    return rebuilding ? exit_done : exit_failed;
}

int peers(Question question, Command const& command, std::ostream& out, std::ostream& err) {
    if (command.rebuild_digest) return rebuild_digest(std::move(question), out, err);
    question.target = "/stats.json";
    auto const answer = ask_for_json(question, "peers", err);
    if (!answer) return exit_failed;
    out << (command.json ? answer->at("peers").dump(2) + "\n" : peers_text(*answer));
    return exit_done;
}

}  // namespace

int run_command(Command const& command, std::ostream& out, std::ostream& err) {
    auto const place = place_at(command.address, command.port);
    if (!place) {
        err << "garner: the admin address \"" << command.address << "\" is not an IP address\n";
        return exit_usage;
    }
    Question question;
    question.place = *place;
    if (command.kind == Command::Kind::purge) return purge(std::move(question), command.url, out, err);
    if (command.kind == Command::Kind::explain) return explain(std::move(question), command, out, err);
    if (command.kind == Command::Kind::peers) return peers(std::move(question), command, out, err);
    return stats(std::move(question), command, out, err);
}

}  // namespace garner::admin
