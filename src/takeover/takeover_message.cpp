#include "takeover/takeover_message.hpp"

#include <algorithm>
#include <utility>

#include "takeover/member_reader.hpp"

namespace garner::takeover {
namespace {

std::string range(unsigned least, unsigned most) {
    return std::to_string(least) + (least == most ? "" : " to " + std::to_string(most));
}

}   // namespace

std::string what_of(Json const& message) {
    if (!message.is_object()) return {};
    auto const what = message.find("do");
    return what != message.end() && what->is_string() ? what->get<std::string>() : std::string();
}

Json plain(std::string_view what) {
    Json message = Json::object();
    message["do"] = std::string(what);
    return message;
}

Json refusal(std::string_view reason) { return {{"do", "refused"}, {"reason", std::string(reason)}}; }

std::optional<std::string> refusal_of(Json const& message) {
    if (what_of(message) != "refused") return std::nullopt;
    auto const reason = message.find("reason");
    return reason == message.end() ? std::string() : text_in(*reason).value_or("");
}

Json json_of(Hello const& hello) {
    Json message{{"do", "hello"},
                 {"least", hello.least},
                 {"most", hello.most},
                 {"version", hello.version},
                 {"record_format", hello.record_format}};
    if (hello.objects) message["objects"] = true;
    if (hello.counters) message["counters"] = true;
    if (hello.clients) message["clients"] = true;
    if (hello.state) message["state"] = true;
    if (hello.quotas) message["quotas"] = true;
    return message;
}

Json json_of(Welcome const& welcome) {
    return {{"do", "welcome"},
            {"protocol", welcome.protocol},
            {"version", welcome.version},
            {"record_format", welcome.record_format},
            {"sequence", welcome.sequence},
            {"via", welcome.via},
            {"ticket_keys", bytes_of(welcome.ticket_keys)},
            {"ticket_age_ms", static_cast<std::uint64_t>(welcome.ticket_age.count())},
            {"notify_socket", bytes_of(welcome.notify_socket)},
            {"watchdog_us", static_cast<std::uint64_t>(welcome.watchdog.count())}};
}

Json json_of(Sockets const& sockets) { return {{"do", "sockets"}, {"names", sockets.names}, {"last", sockets.last}}; }

Json json_of(Serving const& serving) {
    Json message{{"do", "serving"}, {"control", serving.control}};
    if (serving.disk) message["disk"] = bytes_of(*serving.disk);
    return message;
}

Json json_of(Forget const& forget, std::string_view what) {
    Json keys = Json::array();
    for (auto const& key : forget.keys) keys.push_back(bytes_of(key));
    return {{"do", std::string(what)},
            {"number", forget.number},
            {"keys", std::move(keys)},
            {"power", forget.power},
            {"everything", forget.everything}};
}

Json settled(std::uint64_t number) { return {{"do", "settled"}, {"number", number}}; }

Json objects() {
    auto message = plain("objects");
    message["wants"] = true;
    return message;
}

Json counters(Json add) {
    auto message = plain("counters");
    message["add"] = std::move(add);
    return message;
}

Json quotas(std::string const& rows) {
    auto message = plain("quotas");
    message["rows"] = bytes_of(rows);
    return message;
}

Result<Hello> hello_of(Json const& message) {
    Hello hello;
    Reader reader(message);
    reader.number("least", hello.least);
    reader.number("most", hello.most);
    reader.text("version", hello.version);
    reader.number("record_format", hello.record_format);
    if (reader.has("objects")) reader.flag("objects", hello.objects);
    if (reader.has("counters")) reader.flag("counters", hello.counters);
    if (reader.has("clients")) reader.flag("clients", hello.clients);
    if (reader.has("state")) reader.flag("state", hello.state);
    if (reader.has("quotas")) reader.flag("quotas", hello.quotas);
    return reader.result(std::move(hello));
}

Result<Welcome> welcome_of(Json const& message) {
    Welcome welcome;
    Reader reader(message);
    reader.number("protocol", welcome.protocol);
    reader.text("version", welcome.version);
    reader.number("record_format", welcome.record_format);
    reader.number("sequence", welcome.sequence);
    reader.text("via", welcome.via);
    reader.text("ticket_keys", welcome.ticket_keys);
    reader.time("ticket_age_ms", welcome.ticket_age);
    reader.text("notify_socket", welcome.notify_socket);
    reader.time("watchdog_us", welcome.watchdog);
    return reader.result(std::move(welcome));
}

Result<Sockets> sockets_of(Json const& message) {
    Sockets sockets;
    Reader reader(message);
    reader.texts("names", sockets.names);
    reader.flag("last", sockets.last);
    return reader.result(std::move(sockets));
}

Result<Serving> serving_of(Json const& message) {
    Serving serving;
    Reader reader(message);
    if (reader.has("disk")) reader.text("disk", serving.disk.emplace());
    if (reader.has("control")) reader.flag("control", serving.control);
    return reader.result(std::move(serving));
}

Result<Forget> forget_of(Json const& message) {
    Forget forget;
    Reader reader(message);
    reader.number("number", forget.number);
    reader.texts("keys", forget.keys);
    reader.flag("power", forget.power);
    reader.flag("everything", forget.everything);
    return reader.result(std::move(forget));
}

Result<std::uint64_t> settled_of(Json const& message) {
    std::uint64_t number = 0;
    Reader reader(message);
    reader.number("number", number);
    return reader.result(number);
}

bool answers_wants(Json const& message) {
    auto const wants = message.find("wants");
    return wants != message.end() && wants->is_boolean() && wants->get<bool>();
}

Result<Json> counters_of(Json const& message) {
    auto const add = message.find("add");
    if (add == message.end() || !add->is_object()) return Fault{"the message \"counters\" has no valid member \"add\""};
    return *add;
}

Result<std::string> quotas_of(Json const& message) {
    auto const rows = message.find("rows");
    auto text = rows == message.end() ? std::nullopt : text_in(*rows);
    if (!text || what_of(message) != "quotas") return Fault{"the message \"quotas\" has no valid member \"rows\""};
    return *std::move(text);
}

Result<unsigned> common_protocol(Hello const& hello, std::string const& own_version) {
    auto const most = std::min(hello.most, protocol_most);
    if (most >= std::max(hello.least, protocol_least)) return most;
    return Fault{"no common protocol: garner " + hello.version + " takes over by protocol " + range(hello.least, hello.most) +
                     ", and the running garner " + own_version + " by " + range(protocol_least, protocol_most),
                 "restart the proxy"};
}

}   // namespace garner::takeover
