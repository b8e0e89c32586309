#include "support/programs.hpp"

#include <sstream>

namespace garner::test {

Nginx::Nginx(std::string const& location) : port_(free_port()), tls_port_(free_port()) {
    std::filesystem::create_directory(dir_.path("files"));
    dir_.write("certificate.pem", certificate_.pem_with_key());
    auto const here = dir_.path().string();
    auto const temp = [&](std::string const& kind) { return kind + "_temp_path " + here + "/" + kind + ";\n"; };
    auto const file = dir_.write("nginx.conf",
        "daemon off; worker_processes 1; pid " + here + "/pid; error_log " + here + "/error.log;\n"
        "events {}\n"
        "http {\n"
        "types { text/html html; text/javascript js; image/svg+xml svg; text/plain txt; }\n"
        "log_format path '$request_method $request_uri $status';\n"
        "access_log " + here + "/access.log path;\n" +
        temp("client_body") + temp("proxy") + temp("fastcgi") + temp("uwsgi") + temp("scgi") +
        "server { listen 127.0.0.1:" + std::to_string(port_) + "; listen 127.0.0.1:" + std::to_string(tls_port_) + " ssl;\n"
        "ssl_certificate " + here + "/certificate.pem; ssl_certificate_key " + here + "/certificate.pem;\n"
        "root " + here + "/files; gzip on; gzip_vary on; gzip_proxied any; gzip_min_length 100; gzip_types text/plain;\n"
        "location / { " + location + " } } }\n");
    child_ = std::make_unique<Child>(std::vector<std::string>{
        std::filesystem::exists("/usr/sbin/nginx") ? "/usr/sbin/nginx" : "nginx", "-c", file, "-e", here + "/error.log"});
    bool const listens = eventually([&] {
        try {
            Wire::connect("127.0.0.1", port_);
            return true;
        } catch (Trouble const&) {
            return !child_->running();
        }
    });
    if (!listens || !child_->running()) throw Trouble("nginx: " + child_->errors() + read_file(dir_.path("error.log")));
}

void Nginx::file(std::string const& name, std::string const& text) {
    std::filesystem::create_directories((dir_.path("files") / name).parent_path());
    dir_.write("files/" + name, text);
}

std::size_t Nginx::requests(std::string const& path) const {
    std::size_t count = 0;
    std::istringstream log(read_file(dir_.path("access.log")));
    for (std::string method, target, rest; log >> method >> target && std::getline(log, rest);)
        count += target.starts_with(path);
    return count;
}

std::string browse(std::string const& url, std::string const& proxy, std::vector<std::string> const& more_flags) {
    TempDir profile;
    std::vector<std::string> command{"chromium",       "--headless",       "--no-sandbox",
                                     "--disable-gpu",  "--disable-quic",   "--no-first-run",
                                     "--disable-sync", "--disable-dev-shm-usage",
                                     "--disable-background-networking",    "--disable-component-update",
                                     "--user-data-dir=" + profile.path().string()};
    if (!proxy.empty()) {
        command.push_back("--proxy-server=" + proxy);
        // Without this it goes past the proxy to loopback.
        command.push_back("--proxy-bypass-list=<-loopback>");
    }
    command.insert(command.end(), more_flags.begin(), more_flags.end());
    command.insert(command.end(), {"--dump-dom", url});
    auto const finished = run(command, Millis{90'000});
    if (finished.output.empty()) throw Trouble("chromium: " + finished.errors);
    return finished.output;
}

}  // namespace garner::test
