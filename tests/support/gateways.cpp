#include "support/gateways.hpp"

#include <filesystem>

#include "support/programs.hpp"

namespace garner::test {

namespace {

constexpr auto nginx_configuration = R"(
daemon off; worker_processes 1; pid HERE/pid; error_log HERE/error.log;
events {}
http {
    access_log off;
    client_body_temp_path HERE/body; proxy_temp_path HERE/proxy; fastcgi_temp_path HERE/fastcgi;
    uwsgi_temp_path HERE/uwsgi; scgi_temp_path HERE/scgi;
    keepalive_requests 100000; client_max_body_size 0; server_tokens off;
    upstream onward { server 127.0.0.1:ONWARD; keepalive 4; }
    server {
        listen 127.0.0.1:PORT;
        add_header X-Gateway nginx always;
        location / {
            proxy_pass http://onward;
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Connection "";
            proxy_buffer_size 64k; proxy_buffers 4 64k; proxy_busy_buffers_size 64k;
        }
    }
}
)";

constexpr auto apache_configuration = R"(
ServerRoot HERE
ServerName 127.0.0.1
Listen 127.0.0.1:PORT
DefaultRuntimeDir HERE
PidFile HERE/pid
ErrorLog HERE/error.log
User www-data
Group www-data
LoadModule mpm_event_module MODULES/mod_mpm_event.so
LoadModule authz_core_module MODULES/mod_authz_core.so
LoadModule env_module MODULES/mod_env.so
LoadModule headers_module MODULES/mod_headers.so
LoadModule proxy_module MODULES/mod_proxy.so
LoadModule proxy_http_module MODULES/mod_proxy_http.so
StartServers 1
ServerLimit 2
ThreadsPerChild 8
MaxRequestWorkers 16
MaxKeepAliveRequests 0
KeepAliveTimeout 60
TraceEnable off
AllowEncodedSlashes NoDecode
Header always set X-Gateway apache
# The body is read to its end first.
SetEnv proxy-sendcl 1
ProxyPreserveHost On
ProxyAddHeaders Off
ProxyPass / http://127.0.0.1:ONWARD/ retry=0 nocanon
)";

constexpr auto squid_accelerator = R"(
http_port 127.0.0.1:PORT accel defaultsite=a no-vhost
cache_peer 127.0.0.1 parent ONWARD 0 no-query no-digest originserver name=onward
http_access allow all
cache deny all
pid_filename none
pinger_enable off
netdb_filename none
access_log none
cache_log HERE/cache.log
coredump_dir HERE
visible_hostname squid.test
max_filedescriptors 1024
shutdown_lifetime 0 seconds
)";

constexpr auto haproxy_configuration = R"(
defaults
    mode http
    timeout connect 5s
    timeout client 20s
    timeout server 20s
frontend here
    bind 127.0.0.1:PORT
    default_backend onward
backend onward
    server origin 127.0.0.1:ONWARD
)";

constexpr auto node_program = R"(
const http = require('http');
const agent = new http.Agent({ keepAlive: true });
const server = http.createServer((request, response) => {
  const pieces = [];
  response.setHeader('X-Gateway', 'node');
  request.on('data', piece => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces);
    const headers = { 'Host': request.headers.host ?? '', 'Content-Length': body.length };
    const onward = http.request(
      { host: '127.0.0.1', port: ONWARD, agent, method: request.method, path: request.url, headers },
      answer => {
        answer.resume();
        response.writeHead(answer.statusCode, { ...answer.headers, 'X-Gateway': 'node' });
        response.end();
      });
    onward.on('error', () => response.destroy());
    onward.end(body);
  });
});
// By default Node answers 417 without X-Gateway.
server.on('checkExpectation', (request, response) => server.emit('request', request, response));
server.on('clientError', (error, socket) => {
  if (!socket.writable) return socket.destroy();
  socket.end('HTTP/1.1 400 Bad Request\r\nX-Gateway: node\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
});
server.keepAliveTimeout = 60000;
server.listen(PORT, '127.0.0.1');
)";

}   // namespace

std::unique_ptr<Gateway> Gateway::nginx(std::uint16_t onward) {
    auto const command = [](std::string const& file, TempDir const& dir) {
        return std::vector<std::string>{server_program("nginx"), "-c", file, "-e", dir.path("error.log").string()};
    };
    return std::unique_ptr<Gateway>(new Gateway(nginx_configuration, onward, command));
}

std::unique_ptr<Gateway> Gateway::apache(std::uint16_t onward) {
    auto const command = [](std::string const& file, TempDir const&) {
        return std::vector<std::string>{server_program("apache2"), "-f", file, "-D", "FOREGROUND"};
    };
    return std::unique_ptr<Gateway>(new Gateway(apache_configuration, onward, command));
}

std::unique_ptr<Gateway> Gateway::node(std::uint16_t onward) {
    auto const command = [](std::string const& file, TempDir const&) { return std::vector<std::string>{"node", file}; };
    return std::unique_ptr<Gateway>(new Gateway(node_program, onward, command));
}

std::unique_ptr<Gateway> Gateway::squid(std::uint16_t onward) {
    auto const command = [](std::string const& file, TempDir const&) {
        return std::vector<std::string>{server_program("squid"), "-N", "-f", file};
    };
    return std::unique_ptr<Gateway>(new Gateway(squid_accelerator, onward, command));
}

std::unique_ptr<Gateway> Gateway::haproxy(std::uint16_t onward) {
    auto const command = [](std::string const& file, TempDir const&) {
        return std::vector<std::string>{server_program("haproxy"), "-db", "-f", file};
    };
    return std::unique_ptr<Gateway>(new Gateway(haproxy_configuration, onward, command));
}

Gateway::Gateway(std::string const& configuration, std::uint16_t onward, Command const& command) : port_(free_port()) {
    std::filesystem::permissions(dir_.path(), std::filesystem::perms(0777));   // started by root, Squid becomes the user proxy
    auto const file = dir_.write("gateway.js", filled_in(configuration, {{"HERE", dir_.path().string()},
                                                                         {"MODULES", "/usr/lib/apache2/modules"},
                                                                         {"ONWARD", std::to_string(onward)},
                                                                         {"PORT", std::to_string(port_)}}));
    child_ = start_server(command(file, dir_), port_, dir_.path("error.log"));
}

}   // namespace garner::test
