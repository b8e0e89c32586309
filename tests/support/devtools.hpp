// Chromium driven through a pipe by the DevTools protocol: it opens pages and answers the login dialogue.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/child.hpp"

namespace garner::test {

/// One headless browser with one page and a profile of its own. Throws Trouble if the browser does not answer.
class DevTools {
public:
    /// `proxy`: "http://127.0.0.1:3128".
    explicit DevTools(std::string const& proxy, std::vector<std::string> const& more_flags = {});
    ~DevTools();
    DevTools(DevTools const&) = delete;

    /// The next challenges of a proxy are answered with this login, each request's once; a second one is cancelled.
    void log_in_as(std::string user, std::string password);
    /// Opens the page and returns its text.
    std::string open(std::string const& url);

    struct Challenge {
        std::string source;   // "Proxy", "Server"
        std::string scheme;   // "basic"
        std::string realm;
    };
    std::vector<Challenge> const& challenges() const { return challenges_; }

private:
    using Json = nlohmann::json;
    Json call(std::string const& method, Json parameters);
    void send(std::string const& method, Json parameters);
    Json receive();
    void handle(Json const& event);

    TempDir dir_;
    std::unique_ptr<Child> child_;
    int to_ = -1, from_ = -1;
    std::string buffer_;
    std::string session_;
    int number_ = 0;
    bool loaded_ = false;
    std::string user_, password_, answered_;
    std::vector<Challenge> challenges_;
};

}   // namespace garner::test
