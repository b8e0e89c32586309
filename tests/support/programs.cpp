#include "support/programs.hpp"

#include <sstream>

#include "support/message.hpp"

namespace garner::test {

namespace {

constexpr auto nginx_origin_configuration = R"(
daemon off; worker_processes 1; pid HERE/pid; error_log HERE/error.log;
events {}
http {
    types { text/html html; text/javascript js; image/svg+xml svg; text/plain txt; }
    log_format path '$request_method $request_uri $status';
    access_log HERE/access.log path;
    client_body_temp_path HERE/body; proxy_temp_path HERE/proxy; fastcgi_temp_path HERE/fastcgi;
    uwsgi_temp_path HERE/uwsgi; scgi_temp_path HERE/scgi;
    gzip on; gzip_vary on; gzip_proxied any; gzip_min_length 100; gzip_types text/plain;
    server {
        listen 127.0.0.1:PORT;
        listen 127.0.0.1:TLS_PORT ssl;
        ssl_certificate HERE/certificate.pem;
        ssl_certificate_key HERE/certificate.pem;
        root HERE/files;
        location / { LOCATION }
    }
}
)";

}   // namespace

std::string filled_in(std::string text, Fields const& words) {
    for (auto const& [word, meaning] : words)
        for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += meaning.size())
            text.replace(at, word.size(), meaning);
    return text;
}

std::string server_program(std::string const& name) {
    auto const path = "/usr/sbin/" + name;
    return std::filesystem::exists(path) ? path : name;
}

std::unique_ptr<Child> start_server(std::vector<std::string> const& command, std::uint16_t port, std::filesystem::path const& log,
                                    std::string const& address) {
    auto child = std::make_unique<Child>(command);
    bool const listens = eventually([&] {
        try {
            Wire::connect(address, port);
            return true;
        } catch (Trouble const&) {
            return !child->running();
        }
    });
    if (!listens || !child->running()) throw Trouble(command[0] + ": " + child->errors() + read_file(log));
    return child;
}

Nginx::Nginx(std::string const& location) : port_(free_port()), tls_port_(free_port()) {
    std::filesystem::create_directory(dir_.path("files"));
    dir_.write("certificate.pem", certificate_.pem_with_key());
    auto const file = dir_.write("nginx.conf", filled_in(nginx_origin_configuration, {{"HERE", dir_.path().string()},
                                                                                      {"TLS_PORT", std::to_string(tls_port_)},
                                                                                      {"PORT", std::to_string(port_)},
                                                                                      {"LOCATION", location}}));
    std::vector<std::string> const command{server_program("nginx"), "-c", file, "-e", dir_.path("error.log").string()};
    child_ = start_server(command, port_, dir_.path("error.log"));
}

void Nginx::file(std::string const& name, std::string const& text) {
    std::filesystem::create_directories((dir_.path("files") / name).parent_path());
    dir_.write("files/" + name, text);
}

std::size_t Nginx::requests(std::string const& path, std::size_t expected) const {
    std::size_t logged = 0;
    eventually([&] { return (logged = count_logged(path)) >= expected; });
    return logged;
}

std::size_t Nginx::count_logged(std::string const& path) const {
    std::size_t count = 0;
    std::istringstream log(read_file(dir_.path("access.log")));
    for (std::string method, target, rest; log >> method >> target && std::getline(log, rest);) count += target.starts_with(path);
    return count;
}

std::string browse(std::string const& url, std::string const& proxy, std::vector<std::string> const& more_flags) {
    TempDir profile;
    // clang-format off
    std::vector<std::string> command{"chromium",       "--headless",       "--no-sandbox",
                                     "--disable-gpu",  "--disable-quic",   "--no-first-run",
                                     "--disable-sync", "--disable-dev-shm-usage",
                                     "--disable-background-networking",    "--disable-component-update",
                                     "--user-data-dir=" + profile.path().string()};
    // clang-format on
    if (!proxy.empty()) {
        command.push_back("--proxy-server=" + proxy);
        // By default Chromium does not use the proxy for loopback.
        command.push_back("--proxy-bypass-list=<-loopback>");
    }
    command.insert(command.end(), more_flags.begin(), more_flags.end());
    command.insert(command.end(), {"--dump-dom", url});
    auto const finished = run(command, Millis{90'000});
    if (finished.output.empty()) throw Trouble("chromium: " + finished.errors);
    return finished.output;
}

}   // namespace garner::test
