// `garner seen serve` as a process, and requests to it.
#pragma once
#include <signal.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "story/scene.hpp"
#include "support/programs.hpp"

namespace garner::test {

using nlohmann::json;

/// The service as a child process.
class Service {
public:
    explicit Service(std::vector<std::string> more = {}, std::uint16_t port = free_port()) : port_(port) {
        std::vector<std::string> command{garner_binary(), "seen", "serve", "--listen", place()};
        command.insert(command.end(), more.begin(), more.end());
        child_ = std::make_unique<Child>(command);
        bool const listens =
            eventually([&] { return !child_->running() || child_->errors().find("listens on") != std::string::npos; });
        if (!listens || !child_->running()) throw Trouble("the service does not listen:\n" + child_->errors());
    }
    ~Service() {
        if (!ended_) stop();
    }

    std::string place() const { return "127.0.0.1:" + std::to_string(port_); }
    std::uint16_t port() const { return port_; }
    Child& child() { return *child_; }

    void stop() {
        ended_ = true;
        child_->signal(SIGTERM);
        EXPECT_EQ(child_->exit_code(), 0) << child_->errors();
        EXPECT_THAT(child_->errors(), Not(AnyOf(HasSubstr("Sanitizer"), HasSubstr("runtime error:"))));
    }
    void kill() {
        ended_ = true;
        child_->signal(SIGKILL);
        EXPECT_EQ(child_->exit_code(), 128 + SIGKILL) << child_->errors();
    }

    Client client() const { return Client("127.0.0.1", port_); }
    /// The answers to `urls`, one per line.
    std::string ask(std::string const& urls, std::string const& query = "") const {
        auto reply = client().post("/seen" + query, urls, {{"Content-Type", "text/plain"}});
        EXPECT_EQ(reply.status(), 200) << reply.body();
        return reply.body();
    }
    json stats() const { return json::parse(client().get("/seen/stats").body()); }

private:
    std::uint16_t port_;
    std::unique_ptr<Child> child_;
    bool ended_ = false;
};

inline std::string urls(std::size_t from, std::size_t to, std::string const& path = "/") {
    std::string text;
    for (auto i = from; i < to; ++i) text += "http://h" + std::to_string(i) + ".example" + path + "\n";
    return text;
}

inline std::string times(std::size_t count, std::string const& word) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += word + "\n";
    return text;
}

inline std::vector<std::string> lines(std::string const& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
}

}   // namespace garner::test
