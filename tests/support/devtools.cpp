#include "support/devtools.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace garner::test {

namespace {

constexpr Millis browser_patience{60'000};

int open_pipe(std::string const& path) {
    // Open for both directions, so that neither side waits for the other.
    if (::mkfifo(path.c_str(), 0600) != 0) throw Trouble("no pipe");
    return ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}

}   // namespace

DevTools::DevTools(std::string const& proxy, std::vector<std::string> const& more_flags) {
    auto const in = dir_.path("in").string(), out = dir_.path("out").string();
    to_ = open_pipe(in);
    from_ = open_pipe(out);
    // Chromium reads commands from descriptor 3 and writes to 4.
    std::string line = "exec chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
                       "--disable-dev-shm-usage --disable-background-networking --disable-component-update "
                       "--remote-debugging-pipe '--proxy-bypass-list=<-loopback>' --proxy-server=" +
                       proxy + " --user-data-dir=" + dir_.path("profile").string();
    for (auto const& flag : more_flags) line += " '" + flag + "'";
    child_ = std::make_unique<Child>(std::vector<std::string>{"bash", "-c", line + " about:blank 3<" + in + " 4>" + out});
    auto const target = call("Target.createTarget", {{"url", "about:blank"}}).at("targetId");
    session_ = call("Target.attachToTarget", {{"targetId", target}, {"flatten", true}}).at("sessionId");
    for (auto const* domain : {"Page", "Runtime", "Log"}) call(std::string(domain) + ".enable", Json::object());
    call("Page.setLifecycleEventsEnabled", {{"enabled", true}});
    call("Fetch.enable", {{"handleAuthRequests", true}});
}

DevTools::~DevTools() {
    ::close(to_);
    ::close(from_);
}

void DevTools::log_in_as(std::string user, std::string password) {
    user_ = std::move(user);
    password_ = std::move(password);
    answered_.clear();
}

/// An event of the page before may still come: the events of this one have the id of its loader.
std::string DevTools::open(std::string const& url) {
    auto const loader = call("Page.navigate", {{"url", url}}).value("loaderId", "");
    while (!loader.empty() && !loaded_.contains(loader)) handle(receive());   // empty: another place of the same page
    auto const got = call("Runtime.evaluate", {{"expression", "document.body ? document.body.innerText : ''"}}).at("result");
    return got.value("value", "");
}

DevTools::Json DevTools::evaluate(std::string const& expression) {
    auto const got = call("Runtime.evaluate",
                          {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}, {"userGesture", true}});
    if (got.contains("exceptionDetails")) throw Trouble(expression + ": " + got["exceptionDetails"].dump());
    return got.at("result").value("value", Json());
}

void DevTools::press(std::string const& key) {
    Json event{{"type", "keyDown"}, {"key", key}};
    if (key.size() == 1) event["text"] = key;
    if (key == "Tab") event["windowsVirtualKeyCode"] = 9;
    if (key == "Enter") event["windowsVirtualKeyCode"] = 13, event["text"] = "\r";
    if (key == "Escape") event["windowsVirtualKeyCode"] = 27;
    call("Input.dispatchKeyEvent", event);
    event.erase("text");
    event["type"] = "keyUp";
    call("Input.dispatchKeyEvent", event);
}

void DevTools::type(std::string const& text) { call("Input.insertText", {{"text", text}}); }

void DevTools::send(std::string const& method, Json parameters) {
    Json message{{"id", ++number_}, {"method", method}, {"params", std::move(parameters)}};
    if (!session_.empty()) message["sessionId"] = session_;
    auto const text = message.dump();
    if (::write(to_, text.c_str(), text.size() + 1) < 0) throw Trouble("the browser does not read");
}

/// The result; events that come before it are handled.
DevTools::Json DevTools::call(std::string const& method, Json parameters) {
    send(method, std::move(parameters));
    for (auto const number = number_;;) {
        auto const message = receive();
        if (message.value("id", 0) != number) {
            handle(message);
            continue;
        }
        if (message.contains("error")) throw Trouble(method + ": " + message["error"].dump());
        return message.at("result");
    }
}

/// Messages end with NUL.
DevTools::Json DevTools::receive() {
    for (;;) {
        if (auto const end = buffer_.find('\0'); end != buffer_.npos) {
            auto message = Json::parse(buffer_.substr(0, end));
            buffer_.erase(0, end + 1);
            return message;
        }
        pollfd readable{from_, POLLIN, 0};
        if (::poll(&readable, 1, static_cast<int>(browser_patience.count())) != 1)
            throw Trouble("chromium does not answer: " + child_->errors());
        std::array<char, 65'536> chunk;
        auto const got = ::read(from_, chunk.data(), chunk.size());
        if (got > 0) buffer_.append(chunk.data(), static_cast<std::size_t>(got));
    }
}

void DevTools::handle(Json const& event) {
    auto const method = event.value("method", "");
    if (method == "Page.lifecycleEvent" && event["params"]["name"] == "load") loaded_.insert(event["params"]["loaderId"]);
    if (method == "Runtime.consoleAPICalled" || method == "Runtime.exceptionThrown" || method == "Log.entryAdded")
        console_.push_back(event["params"].dump());
    if (method == "Fetch.requestPaused") requests_.push_back(event["params"]["request"].value("url", ""));
    if (method == "Fetch.requestPaused") send("Fetch.continueRequest", {{"requestId", event["params"]["requestId"]}});
    if (method != "Fetch.authRequired") return;
    auto const& asked = event["params"];
    auto const& challenge = asked["authChallenge"];
    challenges_.push_back({challenge.value("source", ""), challenge.value("scheme", ""), challenge.value("realm", "")});
    std::string const request = asked["requestId"];
    bool const again = std::exchange(answered_, request) == request;
    Json answer{{"response", "CancelAuth"}};
    if (!again) answer = {{"response", "ProvideCredentials"}, {"username", user_}, {"password", password_}};
    send("Fetch.continueWithAuth", {{"requestId", request}, {"authChallengeResponse", answer}});
}

}   // namespace garner::test
