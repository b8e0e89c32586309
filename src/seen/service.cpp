#include "seen/service.hpp"

#include <pthread.h>

#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>

#include "net/address.hpp"
#include "net/asio.hpp"
#include "seen/conversation.hpp"
#include "seen/desk.hpp"
#include "util/link.hpp"

namespace garner::seen {

namespace asio = net::asio;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, net::Executor>;

namespace {

constexpr milliseconds no_descriptors_pause{100};
constexpr milliseconds drain_step{20};

}  // namespace

struct Service::Inside {
    explicit Inside(Options const& options) : options(options) {}

    bool open(std::string& fault);
    bool listen(std::string& fault);
    void start();
    std::string stop();

    net::awaitable<void> accept();
    void admit(net::TcpSocket);
    net::awaitable<void> converse(std::unique_ptr<Conversation>);
    net::awaitable<void> drain();
    bool make_room();

    Options const options;
    std::string address;
    asio::io_context io{1};
    std::unique_ptr<Desk> desk;
    Acceptor acceptor{io};
    net::Timer pause{io};
    List<Conversation> conversations;
    std::thread thread;
};

std::unique_ptr<Service> Service::open(Options const& options, std::string& fault) {
    auto inside = std::make_unique<Inside>(options);
    if (!inside->open(fault)) return nullptr;
    return std::unique_ptr<Service>(new Service(std::move(inside)));
}

Service::Service(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Service::~Service() { stop(); }
void Service::start() { inside_->start(); }
std::string Service::stop() { return inside_->stop(); }
std::string const& Service::address() const { return inside_->address; }

std::string Service::set_text() const {
    auto const& keeper = inside_->desk->keeper();
    return keeper.set_name() + ", " + std::to_string(keeper.stats().entries) + " URLs";
}

bool Service::Inside::open(std::string& fault) {
    // The address first: a set takes its time to open.
    if (fault = fault_of(options); !fault.empty() || !listen(fault)) return false;
    desk = Desk::open(options, io, fault);
    return desk != nullptr;
}

bool Service::Inside::listen(std::string& fault) {
    net::Error error;
    net::TcpEndpoint const endpoint(asio::ip::make_address(options.address, error), options.port);
    if (!error) acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error && endpoint.protocol() == asio::ip::tcp::v6()) acceptor.set_option(asio::ip::v6_only(!endpoint.address().is_unspecified()), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
        fault = "cannot listen on " + options.address + " port " + std::to_string(options.port) + ": " + error.message();
        return false;
    }
    auto const local = acceptor.local_endpoint();
    address = IpEndpoint{net::to_ip(local.address()), local.port()}.text();
    return true;
}

void Service::Inside::start() {
    auto accepting = accept();
    asio::co_spawn(io.get_executor(), std::move(accepting), asio::detached);
    for (auto const& link : desk->links()) {
        if (!link) continue;
        auto running = link->run();
        asio::co_spawn(io.get_executor(), std::move(running), asio::detached);
    }
    thread = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "seen");
        io.run();
    });
}

std::string Service::Inside::stop() {
    if (!thread.joinable()) return {};
    asio::post(io, [this] {
        desk->draining = true;
        net::Error ignored;
        acceptor.close(ignored);
        auto draining = drain();
        asio::co_spawn(io.get_executor(), std::move(draining), asio::detached);
    });
    thread.join();
    return desk->keeper().close();
}

net::awaitable<void> Service::Inside::drain() {
    auto const until = steady_now() + options.drain;
    while (!conversations.empty() && steady_now() < until) {
        for (auto* conversation : conversations)
            if (conversation->idle()) conversation->close();
        pause.expires_after(drain_step);
        auto [woken] = co_await pause.async_wait(net::as_values);
        (void)woken;
    }
    for (auto* conversation : conversations) conversation->close();
    for (auto const& link : desk->links())
        if (link) link->stop();
}

net::awaitable<void> Service::Inside::accept() {
    while (!desk->draining) {
        auto [error, socket] = co_await acceptor.async_accept(net::as_values);
        if (desk->draining) break;
        if (!error) {
            admit(std::move(socket));
            continue;
        }
        pause.expires_after(no_descriptors_pause);
        auto [ended] = co_await pause.async_wait(net::as_values);
        (void)ended;
    }
}

void Service::Inside::admit(net::TcpSocket socket) {
    net::Error error;
    auto const client = socket.remote_endpoint(error);
    if (error) return;   // gone already
    socket.set_option(asio::ip::tcp::no_delay(true), error);
    if (desk->connections_now >= options.connections && !make_room()) return;
    auto conversation = std::make_unique<Conversation>(*desk, std::move(socket), net::to_ip(client.address()));
    conversations.push_back(*conversation);
    auto conversing = converse(std::move(conversation));
    asio::co_spawn(io.get_executor(), std::move(conversing), asio::detached);
}

net::awaitable<void> Service::Inside::converse(std::unique_ptr<Conversation> conversation) {
    co_await conversation->run();
}

/// Of those that ask nothing the one that is silent longest goes; false when all of them ask.
bool Service::Inside::make_room() {
    Conversation* longest = nullptr;
    for (auto* one : conversations)
        if (one->idle() && (!longest || one->idle_since() < longest->idle_since())) longest = one;
    if (!longest) return false;
    longest->unlink();
    longest->close();
    return true;
}

}  // namespace garner::seen
