#include "proxy/refresh.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include "proxy/whole_request.hpp"

namespace garner::proxy {

Refresh::Refresh(Request const& request)
    : services_(request.services), no_client_(whole_request(request.head(), request.target.host_field), request.kept_client()),
      origin_(request.only_origin()), kept_(origin_ ? origin_->weak_from_this().lock() : nullptr) {
    auto& services = services_;
    services.background.refreshes.push_back(*this);
    ++services.background.refreshing;
}

Refresh::~Refresh() { --services_.background.refreshing; }

void Refresh::start(Request const& request, cache::FillLease lead, store::ObjectPtr stale) {
    auto& services = request.services;
    std::unique_ptr<Refresh> refresh(new Refresh(request));
    auto running = run(std::move(refresh), request.options, std::move(lead), std::move(stale));
    net::asio::post(services.worker.io, [&services, running = std::move(running)]() mutable {
        net::asio::co_spawn(services.worker.io.get_executor(), std::move(running), net::asio::detached);
    });
}

net::awaitable<void> Refresh::run(std::unique_ptr<Refresh> refresh, std::shared_ptr<Options const> options, cache::FillLease lead,
                                  store::ObjectPtr stale) {
    Transaction transaction(refresh->services_, refresh->no_client_, refresh->origin_, refresh->scratch_, options);
    refresh->transaction_ = &transaction;
    co_await transaction.refresh(std::move(lead), std::move(stale));
    refresh->transaction_ = nullptr;
}

}   // namespace garner::proxy
