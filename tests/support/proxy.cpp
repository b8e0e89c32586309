#include "support/proxy.hpp"
#include "support/places.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <sstream>

#include "support/client.hpp"

namespace garner::test {

using nlohmann::json;

namespace {

json parse(std::string const& text) { return json::parse(text, nullptr, true, true); }

std::string last_lines(std::string const& text) { return text.size() > 6000 ? text.substr(text.size() - 6000) : text; }

}   // namespace

std::string garner_binary() {
    if (char const* named = std::getenv("GARNER")) return named;
    return built("garner");
}

Proxy::Proxy(Setup setup)
    : address_(setup.address), port_(setup.port ? setup.port : free_port()),
      accelerator_(setup.accelerator_port ? setup.accelerator_port : free_port()),
      admin_(setup.admin_port ? setup.admin_port : free_port()) {
    auto const place = address_ + ":";
    configuration_ = {
        {"listen", {{{"address", place + std::to_string(port_)}}}},
        {"workers", 2},
        {"user", "root"},   // if tests run as root, folders belong to root
        {"memory", {{"size", "64 MiB"}}},
        {"deadlines", {{"drain_idle", "100ms"}}},   // actors keep idle connections to the end
        {"access", {{{"allow", {{"destination", {"127.0.0.0/8", "::1"}}, {"port", {"1-65535"}}}}}}},
        // Longer limits for followers and peers, for busy machines.
        {"caching", {{"follow_timeout", "1m"}}},
        {"icp", {{"timeout_min", "500ms"}}},
        {"log", {{"access", log_file().string()}, {"format", "json"}, {"level", "info"}}},
        {"admin", {{"address", "127.0.0.1:" + std::to_string(admin_)}}},
    };
    if (!setup.accelerates.empty())
        configuration_["listen"].push_back({{"address", place + std::to_string(accelerator_)}, {"origin", setup.accelerates}});
    if (!setup.tls.empty()) {
        json secure{{"address", place + std::to_string(secure_)}, {"tls", parse(setup.tls)}};
        if (!setup.secure_origin.empty()) secure["origin"] = setup.secure_origin;
        configuration_["listen"].push_back(secure);
    }
    configuration_.merge_patch(parse(setup.patch));
    auto const file = dir_.write("garner.json", configuration_.dump(2));

    std::vector<std::string> command{garner_binary(), "--config", file};
    command.insert(command.end(), setup.arguments.begin(), setup.arguments.end());
    if (!setup.errors.empty()) {
        std::string const start = "exec \"$0\" \"$@\" 2>'" + setup.errors + "'";
        command.insert(command.begin(), {"/bin/sh", "-c", start});
    }
    child_ = std::make_unique<Child>(command, setup.environment);
    wait_until_it_listens(setup.errors.empty());
}

Proxy::~Proxy() {
    if (!stopped_) stop();
}

/// The kernel accepts connections before the program has opened its disk: the greeting comes when it serves.
void Proxy::wait_until_it_listens(bool greets) {
    bool const listens = eventually([&] {
        if (!child_->running()) return true;
        if (greets && child_->errors().find("garner listens on ") == std::string::npos) return false;
        try {
            Wire::connect(address_, port_);
            Wire::connect("127.0.0.1", admin_);
            return true;
        } catch (Trouble const&) {
            return false;
        }
    });
    if (listens && child_->running()) return;
    stopped_ = true;
    throw Trouble(garner_binary() + (listens ? " ended at once:\n" : " does not listen:\n") + last_lines(child_->errors()) +
                  child_->output() + "\n" + configuration_.dump(2));
}

bool Proxy::refuses_connections() const {
    return eventually([&] {
        try {
            Wire::connect(address_, port_);
            return false;
        } catch (Trouble const&) {
            return true;
        }
    });
}

void Proxy::stop(Millis limit) {
    stopped_ = true;
    child_->signal(SIGTERM);
    judge(child_->exit_code(limit));
}

void Proxy::kill() {
    stopped_ = true;
    child_->signal(SIGKILL);
    auto const code = child_->exit_code();
    if (code != 128 + SIGKILL) judge(code);   // it had ended before
}

int Proxy::ended() {
    stopped_ = true;
    return child_->exit_code().value_or(-1);
}

void Proxy::judge(std::optional<int> code) {
    auto const errors = child_->errors();
    if (!code)
        ADD_FAILURE() << "garner does not end after SIGTERM\n" << last_lines(errors);
    else if (*code != 0)
        ADD_FAILURE() << "garner ended with " << *code << "\n" << last_lines(errors);
    else if (errors.find("Sanitizer") != errors.npos || errors.find("runtime error:") != errors.npos)
        ADD_FAILURE() << "a sanitizer found something\n" << last_lines(errors);
    else if (::testing::Test::HasFailure() && !errors.empty())
        std::fprintf(stderr, "garner said:\n%s\n", last_lines(errors).c_str());
}

void Proxy::reconfigure(std::string const& patch) {
    configuration_.merge_patch(parse(patch));
    rewrite(configuration_.dump(2));
}

void Proxy::rewrite(std::string const& text) { dir_.write("garner.json", text); }

std::vector<Logged> Proxy::log() const {
    std::vector<Logged> lines;
    std::istringstream text(read_file(log_file()));
    for (std::string line; std::getline(text, line);) {
        auto const all = json::parse(line, nullptr, false);
        if (!all.is_object()) continue;   // the line is not complete yet
        lines.push_back({all.value("result", ""), all.value("status", 0), all.value("method", ""), all.value("url", ""), all});
    }
    return lines;
}

Logged Proxy::logged(std::string const& path, std::size_t count) const {
    std::vector<Logged> matching;
    eventually([&] {
        matching.clear();
        for (auto const& line : log())
            if (line.url.ends_with(path)) matching.push_back(line);
        return matching.size() >= count;
    });
    if (matching.size() < count) throw Trouble("no line for " + path + " in the log:\n" + read_file(log_file()));
    return matching.back();
}

json Proxy::stats() const {
    auto reply = Client("127.0.0.1", admin_).get("/stats.json");
    if (reply.status() != 200) throw Trouble("/stats.json: " + std::to_string(reply.status()) + " " + reply.body());
    return json::parse(reply.body());
}

std::string Proxy::metrics() const {
    auto reply = Client("127.0.0.1", admin_).get("/metrics");
    if (reply.status() != 200) throw Trouble("/metrics: " + std::to_string(reply.status()) + " " + reply.body());
    return reply.body();
}

}   // namespace garner::test
