// The proxy actor: the real program as a child process on free ports, with its own configuration.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/child.hpp"

namespace garner::test {

class Origin;

/// The program under test: $GARNER, or the one built beside the tests.
std::string garner_binary();

/// One line of the access log.
struct Logged {
    std::string tag;   // TCP_HIT …
    int status = 0;
    std::string method;
    std::string url;
    nlohmann::json all;
};

class Proxy {
public:
    struct Setup {
        /// Merged over the tests' configuration (RFC 7396); may have comments.
        std::string patch = "{}";
        /// If set, adds a listener that is an accelerator for this origin, "http://127.0.0.1:1234".
        std::string accelerates = "";
        std::uint16_t accelerator_port = 0;   // 0: a free one
        /// If set, adds a listener that speaks TLS, with this as its `tls` part; for `secure_origin` if that is given.
        std::string tls = "";
        std::string secure_origin = "";
        std::string address = "127.0.0.1";           // address of the listeners
        std::uint16_t port = 0;                      // 0: a free one
        std::uint16_t admin_port = 0;                // 0: a free one
        std::vector<std::string> arguments = {};     // "--set", "a=b"
        std::vector<std::string> environment = {};   // "NAME=value"
        std::string errors = "";                     // if set: the file or pipe for its standard error
    };
    Proxy() : Proxy(Setup{}) {}
    explicit Proxy(std::string const& patch) : Proxy(Setup{.patch = patch}) {}
    explicit Proxy(Setup);
    Proxy(Proxy const&) = delete;
    /// Stops it with SIGTERM; the test fails if the exit code is not 0, or a sanitizer reports an error.
    ~Proxy();

    std::string const& address() const { return address_; }
    std::uint16_t port() const { return port_; }
    std::uint16_t accelerator() const { return accelerator_; }
    std::uint16_t secure() const { return secure_; }
    std::uint16_t admin() const { return admin_; }
    std::string url() const { return "http://" + address_ + ":" + std::to_string(port_); }

    Child& child() { return *child_; }
    void signal(int number) { child_->signal(number); }
    /// Sends SIGTERM, waits, and checks the exit like the destructor.
    void stop(Millis limit = Millis{30'000});
    /// SIGKILL: it cannot clean up.
    void kill();
    /// Its standard error so far.
    std::string errors() const { return child_->errors(); }
    bool says(std::string const& text) const { return child_->says(text); }
    /// Waits until the listening sockets are closed; false if they stay open.
    bool refuses_connections() const;
    /// Waits until it ends by itself; returns its exit code, or -1 if it still runs.
    int ended();

    /// Rewrites the configuration with `patch` merged over it; for SIGHUP.
    void reconfigure(std::string const& patch);
    /// Replaces the configuration by any text.
    void rewrite(std::string const& text);
    nlohmann::json const& configuration() const { return configuration_; }

    std::filesystem::path log_file() const { return dir_.path("access.log"); }
    TempDir const& dir() const { return dir_; }
    std::vector<Logged> log() const;
    /// The newest line whose URL ends with `path`, once there are `count` such lines; throws Trouble if they do not come. The order
    /// of lines is fixed only with one worker.
    Logged logged(std::string const& path, std::size_t count = 1) const;

    nlohmann::json stats() const;
    std::string metrics() const;

private:
    void wait_until_it_listens(bool greets);
    void judge(std::optional<int> code);

    TempDir dir_;
    std::string address_;
    std::uint16_t port_;
    std::uint16_t accelerator_;
    std::uint16_t secure_ = free_port();
    std::uint16_t admin_;
    nlohmann::json configuration_;
    std::unique_ptr<Child> child_;
    bool stopped_ = false;
};

}   // namespace garner::test
