// The TLS load that wrk and h2load cannot make: handshakes, tunnels, large bodies read in large pieces, idle connections.
//
//   tls_load PORT ORIGIN TARGET BODY_BYTES CONNECTIONS SECONDS hits|tunnels|full|resumed|idle
//
//   hits     requests TARGET on connections that stay open
//   tunnels  the same inside a CONNECT to ORIGIN on each connection
//   full     opens a connection for each request, without a ticket
//   resumed  opens a connection for each request, with the newest ticket
//   idle     requests TARGET once on each connection and keeps all of them open
//
// The proxy is on 127.0.0.1. ORIGIN is host:port. After its preparation (connections, tunnels, first tickets) the program
// prints "ready" and waits for a line on standard input. Then it measures and prints {"good": N, "bad": N}: responses with
// status 200 and a body of BODY_BYTES, and failures. `idle` measures nothing: it ends at that line.
#include "tls_client.hpp"

namespace {

std::function<void()> keep_requesting(Load& load, bool through_tunnel) {
    auto connection = std::make_shared<TlsConnection>(load.context, load.port);
    if (through_tunnel) exchange(*connection, load.connect_request(), 0);
    return [&load, connection] {
        while (load.more()) {
            exchange(*connection, load.get_request(), load.body);
            ++load.good;
        }
    };
}

/// Returns the ticket that the server sent with the response, or `session` if it sent none.
Session request_once(Load& load, Session session) {
    TlsConnection connection(load.context, load.port, session.get());
    if (connection.was_resumed() != (session != nullptr)) throw std::runtime_error("the server did not accept its ticket");
    exchange(connection, load.get_request(), load.body);
    return connection.ticket() ? std::move(connection.ticket()) : std::move(session);
}

std::function<void()> open_fully(Load& load) {
    return [&load] {
        while (load.more()) {
            request_once(load, {nullptr, SSL_SESSION_free});
            ++load.good;
        }
    };
}

std::function<void()> open_resumed(Load& load) {
    auto session = std::make_shared<Session>(request_once(load, {nullptr, SSL_SESSION_free}));
    if (!*session) throw std::runtime_error("the server sent no ticket");
    return [&load, session] {
        while (load.more()) {
            *session = request_once(load, std::move(*session));
            ++load.good;
        }
    };
}

void hold_idle(Load& load) {
    std::vector<std::unique_ptr<TlsConnection>> connections;
    for (int i = 0; i < load.connections; ++i) {
        connections.push_back(std::make_unique<TlsConnection>(load.context, load.port));
        exchange(*connections.back(), load.get_request(), load.body);
    }
    wait_for_go();
    std::printf("{\"good\": %d, \"bad\": 0}\n", load.connections);
}

}   // namespace

int main(int count, char** words) {
    if (count != 8) return std::fprintf(stderr, "tls_load: see the head of tls_load.cpp\n"), 2;
    signal(SIGPIPE, SIG_IGN);
    Load load;
    load.port = std::atoi(words[1]);
    load.origin = words[2];
    load.target = words[3];
    load.body = std::atol(words[4]);
    load.connections = std::atoi(words[5]);
    load.seconds = std::atof(words[6]);
    std::string const mode = words[7];
    try {
        if (mode == "hits" || mode == "tunnels") run_load(load, [&] { return keep_requesting(load, mode == "tunnels"); });
        if (mode == "full") run_load(load, [&] { return open_fully(load); });
        if (mode == "resumed") run_load(load, [&] { return open_resumed(load); });
        if (mode == "idle") hold_idle(load);
    } catch (std::exception const& error) {
        return std::fprintf(stderr, "tls_load: %s\n", error.what()), 1;
    }
}
