#include "control/control_commands.hpp"

#include <poll.h>

#include <ostream>
#include <utility>

#include "util/build_id.hpp"
#include "util/version.hpp"

namespace garner::control {
namespace {

constexpr std::size_t channels_max = 64;
constexpr std::size_t line_max = 4'000;
constexpr std::size_t lines_a_message = 4;   // an invalid byte of a line becomes three of UTF-8

constexpr char const* closed = "the connection is closed";
constexpr char const* as_whom = "run the command as root, or as the user of the proxy";

std::string text_at(Json const& message, char const* name) {
    auto const member = message.find(name);
    return member != message.end() && member->is_string() ? member->get<std::string>() : std::string();
}

/// CBOR texts are UTF-8; a configuration may have any bytes.
std::string valid_utf8(std::string const& text) {
    auto const json = Json(text.substr(0, line_max)).dump(-1, ' ', false, Json::error_handler_t::replace);
    return Json::parse(json).get<std::string>();
}

/// False if the client is slow: it must not hold the thread up.
bool send_answer(Channel& channel, CommandResult const& answer) {
    auto const until = steady_now() + seconds{5};
    Json lines = Json::array();
    for (auto const& line : answer.lines) {
        lines.push_back(valid_utf8(line));
        if (lines.size() < lines_a_message) continue;
        if (steady_now() > until) return false;
        if (!channel.send({{"do", "said"}, {"lines", std::exchange(lines, Json::array())}})) return false;
    }
    return channel.send({{"do", "done"}, {"lines", lines}, {"code", answer.code}, {"version", version}, {"build", build_id()}});
}

}   // namespace

void CommandServer::add_to(std::vector<pollfd>& descriptors) const {
    if (socket_->may_accept()) descriptors.push_back({.fd = socket_->descriptor(), .events = POLLIN, .revents = 0});
    for (auto const& channel : channels_) descriptors.push_back({.fd = channel.descriptor(), .events = POLLIN, .revents = 0});
}

void CommandServer::serve(Execute const& execute, Greet const& greet) {
    accept();
    std::erase_if(channels_, [&](Channel& channel) { return !serve_one(channel, execute, greet); });
}

/// The oldest connection ends for a new one.
void CommandServer::accept() {
    while (auto channel = socket_->accept()) {
        channels_.push_back(*std::move(channel));
        if (channels_.size() > channels_max) channels_.pop_front();
    }
}

/// False if the connection is over.
bool CommandServer::serve_one(Channel& channel, Execute const& execute, Greet const& greet) {
    auto const command = channel.poll();
    if (!command) return false;
    if (!*command) return true;
    auto const& json = (*command)->json;
    auto const name = text_at(json, "do");
    if (name.empty()) return false;
    if (name != "hello") return send_answer(channel, execute(json));
    greet(std::move(channel), json);
    return false;
}

Result<Executed> execute(std::string const& path, Json const& command, milliseconds patience, std::ostream& out) {
    auto channel = Channel::connect(path);
    if (!channel) return channel.fault();
    if (!channel->send(command)) return Fault{closed, as_whom, path};
    while (true) {
        auto const reply = channel->receive(patience);
        if (!reply) return Fault{reply.fault().what, reply.fault().what == closed ? as_whom : "", path};
        auto const lines = reply->find("lines");
        if (lines == reply->end() || !lines->is_array()) return Fault{"the process that listens is no Garner", "", path};
        for (auto const& line : *lines)
            if (line.is_string()) out << line.get_ref<std::string const&>() << "\n";
        auto const code = reply->find("code");
        if (code != reply->end() && code->is_number_integer())
            return Executed{code->get<int>(), text_at(*reply, "version"), text_at(*reply, "build")};
        out.flush();
    }
}

}   // namespace garner::control
