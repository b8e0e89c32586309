// Chromium driven through a pipe by the DevTools protocol: it opens pages and answers the login dialogue.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
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

    using Json = nlohmann::json;
    /// The value of an expression in the page, which may be a promise.
    Json evaluate(std::string const& expression);
    /// Presses and releases a key: "Tab", "Enter", "/".
    void press(std::string const& key);
    /// Writes into the element that has the focus.
    void type(std::string const& text);
    /// Any other command of the protocol; returns its result.
    Json command(std::string const& method, Json parameters) { return call(method, std::move(parameters)); }

    /// The URLs that the pages have requested.
    std::vector<std::string> const& requests() const { return requests_; }
    /// Messages of the console, exceptions, and reports of the browser such as those of a violated Content-Security-Policy.
    std::vector<std::string> const& console() const { return console_; }

    struct Challenge {
        std::string source;   // "Proxy", "Server"
        std::string scheme;   // "basic"
        std::string realm;
    };
    std::vector<Challenge> const& challenges() const { return challenges_; }

private:
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
    std::set<std::string> loaded_;   // the loaders of pages and frames that are complete
    std::string user_, password_, answered_;
    std::vector<Challenge> challenges_;
    std::vector<std::string> requests_, console_;
};

}   // namespace garner::test
