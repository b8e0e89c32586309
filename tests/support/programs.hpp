// Third-party programs as actors: a real origin, client and browser.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/certificate.hpp"
#include "support/child.hpp"
#include "support/message.hpp"

namespace garner::test {

/// Skips the test if a program is not installed, unless $GARNER_NEED_REAL requires it.
#define NEEDS(program)                                                                 \
    if (!is_installed(program)) {                                                      \
        if (std::getenv("GARNER_NEED_REAL")) FAIL() << program << " is not installed"; \
        GTEST_SKIP() << program << " is not installed";                                \
    }

/// `text` with each word of `words` replaced by its value, to create a configuration.
std::string filled_in(std::string text, Fields const& words);
/// The path of a server program, which may be outside the PATH of normal users.
std::string server_program(std::string const& name);
/// Starts a server and waits until it listens on loopback. On failure it throws with the server's output and `log`.
std::unique_ptr<Child> start_server(std::vector<std::string> const& command, std::uint16_t port, std::filesystem::path const& log,
                                    std::string const& address = "127.0.0.1");

/// nginx serving the files of a folder on free ports, plain and TLS.
class Nginx {
public:
    /// `location`: directives for the files, e.g. "expires 1h;".
    explicit Nginx(std::string const& location = "expires 1h;");

    /// Writes a file to be served.
    void file(std::string const& name, std::string const& text);
    std::string url(std::string const& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }
    std::string secure_url(std::string const& path) const { return "https://127.0.0.1:" + std::to_string(tls_port_) + path; }
    std::string certificate_file() const { return dir_.path("certificate.pem").string(); }
    /// The number of logged requests whose path starts with `path`. nginx logs
    /// after it has answered, so this waits for `expected` entries.
    std::size_t requests(std::string const& path, std::size_t expected) const;

private:
    std::size_t count_logged(std::string const& path) const;
    TempDir dir_;
    Certificate certificate_;
    std::uint16_t port_;
    std::uint16_t tls_port_;
    std::unique_ptr<Child> child_;
};

/// Opens a page in a headless Chromium with its own profile and returns the document after loading. `proxy`:
/// "http://127.0.0.1:3128", or empty for none.
std::string browse(std::string const& url, std::string const& proxy, std::vector<std::string> const& more_flags = {});

}   // namespace garner::test
