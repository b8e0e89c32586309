#include "admin/admin_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <future>

#include "io/log.hpp"
#include "util/awaited.hpp"
#include "web/http_service.hpp"

namespace garner::admin {

namespace asio = net::asio;

namespace {

constexpr unsigned too_many_requests = 429;   // after too many failed logins

}   // namespace

Result<std::unique_ptr<AdminServer>> AdminServer::open(Options const& options, proxy::Server& server, int handed,
                                                       FormerTotals const* former) {
    std::unique_ptr<AdminServer> admin(new AdminServer(options, server, former));
    web::HttpService::Options http{options.enabled ? options.address : std::string(), options.port, options.connections};
    http.limits = {options.head_bytes, options.body_bytes, options.request, options.progress};
    http.closes_busy = true;
    http.thread = "admin";
    auto opened = web::HttpService::open(
        http, [&self = *admin](web::HttpConnection& connection) { return self.serve(connection); }, handed);
    if (!opened) return opened.fault().at("the admin address cannot be " + opened.fault().where);
    admin->http_ = *std::move(opened);
    admin->tick_.emplace(admin->http_->io());
    admin->pauses_.emplace(admin->http_->io());
    admin->events_.emplace(admin->http_->io(), [&routes = admin->routes_] { return routes.model(); });
    return admin;
}

AdminServer::AdminServer(Options const& options, proxy::Server& server, FormerTotals const* former)
    : options_(options), of_requests_(std::make_shared<Options const>(options)), access_(options.tokens),
      routes_(server, access_, former) {}
AdminServer::~AdminServer() { stop(); }
std::string AdminServer::address() const { return http_->address(); }
void AdminServer::pause() { http_->pause(); }
void AdminServer::resume() { http_->resume(); }
int AdminServer::descriptor() const { return http_->descriptor(); }

void AdminServer::start() {
    auto sampling = sample();
    asio::co_spawn(http_->io().get_executor(), std::move(sampling), asio::detached);
    http_->start();
}

Result<Prepared> AdminServer::prepare(Options const& fresh) {
    bool const both_off = !fresh.enabled && !options_.enabled;
    bool const stays = fresh.enabled == options_.enabled && fresh.address == options_.address && fresh.port == options_.port;
    Prepared move = [] {};
    if (!stays && !both_off) {
        auto moved = http_->prepare(fresh.enabled ? fresh.address : std::string(), fresh.port);
        if (!moved)
            return Fault{.what = moved.fault().where + " cannot be opened: " + moved.fault().what,
                         .mend = moved.fault().mend,
                         .where = "admin.address"};
        move = *std::move(moved);
    }
    return Prepared([this, fresh, move] {
        options_ = fresh;
        auto of_requests = std::make_shared<Options const>(fresh);
        asio::post(http_->io(), [this, of_requests] {
            of_requests_ = of_requests;
            access_.set_tokens(of_requests->tokens);
        });
        move();
    });
}

std::optional<Past> AdminServer::past() {
    constexpr milliseconds patience{500};   // requests wait meanwhile
    auto promise = std::make_shared<std::promise<Past>>();
    auto answer = promise->get_future();
    asio::post(http_->io(), [this, promise = std::move(promise)] { promise->set_value(routes_.past()); });
    return awaited(answer, patience);
}

void AdminServer::stop() {
    if (!http_) return;
    http_->stop({}, [this] {
        stopped_ = true;
        tick_->cancel();
        events_->stop();
        pauses_->stop();
    });
}

net::awaitable<void> AdminServer::serve(web::HttpConnection& connection) {
    std::string body;
    web::TakePiece const take = [&body](std::string_view piece) { return body.append(piece), true; };
    while (co_await connection.receive()) {
        body.clear();
        auto const& request = connection.request();
        auto const options = of_requests_;
        auto reply = Routes::refusal(request, options->allow, options->names);
        if (!reply) reply = co_await connection.read_body(take);
        Visitor visitor;
        if (!reply) reply = co_await answer(request, body, visitor);
        // A token may be removed while the events go on.
        std::function<bool()> const may_stay = [this, &visitor] { return access_.holds(visitor); };
        if (reply->status == 200 && reply->type == Events::type) {
            co_await events_->serve(connection, may_stay);
            continue;
        }
        bool answers = true;
        if (reply->status == too_many_requests) answers = co_await pauses_->wait(options->login_pause);
        if (!answers) co_return;   // the connection ends without a reply
        co_await connection.send(*reply);
    }
}

net::awaitable<web::Reply> AdminServer::answer(web::Request const& request, std::string_view body, Visitor& visitor) {
    auto reply = access_.identify(request, visitor);
    if (!reply) reply = Routes::denial(request, body, visitor);
    if (reply) co_return *std::move(reply);
    if (Routes::explains(request))
        reply = co_await explained_page(request);
    else if (Routes::waits(request))
        reply = co_await answer_apart(request, body, visitor);
    else
        reply = routes_.answer(request, body, visitor);
    log_change(request, body, visitor, reply->status);
    co_return *std::move(reply);
}

/// The token and the client of a change, for the log.
void AdminServer::log_change(web::Request const& request, std::string_view body, Visitor const& visitor, unsigned status) {
    auto const change = Routes::change(request, body);
    if (change.empty()) return;
    auto const by = visitor.name.empty() ? std::string() : visitor.name + " at ";
    spdlog::info("admin: {}{}: {}: {}", by, request.client.text(), change, status);
}

/// The explanation may wait, and the figures are those of this thread.
net::awaitable<web::Reply> AdminServer::explained_page(web::Request const& request) {
    auto const begin = [this, &request](auto handler) {
        asio::post(explaining_, [this, &request, handler = std::move(handler)]() mutable {
            auto explained = std::make_shared<Explained>(routes_.explain_first(request));
            asio::post(http_->io(), [this, &request, handler = std::move(handler), explained]() mutable {
                std::move(handler)(routes_.page_with(request, explained.get()));
            });
        });
    };
    auto token = net::as_values;
    auto [reply] = co_await asio::async_initiate<decltype(token), void(web::Reply)>(begin, token);
    co_return reply;
}

/// The request and its body live as long as the coroutine, which waits here.
net::awaitable<web::Reply> AdminServer::answer_apart(web::Request const& request, std::string_view body, Visitor const& visitor) {
    auto& thread = Routes::changes(request) ? changing_ : explaining_;
    auto const begin = [this, &thread, &request, body, &visitor](auto handler) {
        asio::post(thread, [this, &request, body, &visitor, handler = std::move(handler)]() mutable {
            auto reply = routes_.answer(request, body, visitor);
            asio::post(http_->io(), [handler = std::move(handler), reply = std::move(reply)]() mutable {
                std::move(handler)(std::move(reply));
            });
        });
    };
    auto token = net::as_values;
    auto [reply] = co_await asio::async_initiate<decltype(token), void(web::Reply)>(begin, token);
    co_return reply;
}

net::awaitable<void> AdminServer::sample() {
    while (!stopped_) {
        tick_->expires_after(Samples::interval);
        auto [error] = co_await tick_->async_wait(net::as_values);
        if (!error) routes_.sample();
    }
}

}   // namespace garner::admin
