#include "seen/service.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "seen/crawler_requests.hpp"
#include "seen/service_state.hpp"
#include "web/http_service.hpp"

namespace garner::seen {

namespace asio = net::asio;

Service::Service() = default;
Service::~Service() { (void)stop(); }

Result<std::unique_ptr<Service>> Service::open(Options const& options, int handed) {
    if (auto const fits = validate(options); !fits) return fits.fault();
    std::unique_ptr<Service> service(new Service);
    web::HttpService::Options http{options.address, options.port, options.connections};
    http.limits = {options.head_bytes, options.body_bytes, options.idle, options.progress};
    http.thread = "seen";
    // Listens first, because opening a set may take long.
    auto opened = web::HttpService::open(
        http, [&state = service->state_](web::HttpConnection& connection) { return converse(*state, connection); }, handed);
    if (!opened) return opened.fault().at("cannot listen on " + opened.fault().where);
    service->http_ = *std::move(opened);
    auto state = ServiceState::open(options, service->http_->io());
    if (!state) return state.fault();
    service->state_ = *std::move(state);
    return service;
}

void Service::start() {
    for (auto const& link : state_->links()) {
        if (!link) continue;
        auto running = link->run();
        asio::co_spawn(http_->io().get_executor(), std::move(running), asio::detached);
    }
    http_->start();
}

Result<void> Service::stop() {
    if (!state_) return {};
    http_->stop(state_->options().drain, [&] {
        for (auto const& link : state_->links())
            if (link) link->stop();
    });
    return state_->keeper().close();
}

std::string Service::address() const { return http_->address(); }
int Service::descriptor() const { return http_->descriptor(); }

std::string Service::set_text() const {
    auto const& keeper = state_->keeper();
    return keeper.set_name() + ", " + std::to_string(keeper.stats().entries) + " URLs";
}

}   // namespace garner::seen
