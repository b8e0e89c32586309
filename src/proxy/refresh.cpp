#include "proxy/refresh.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include "proxy/whole_request.hpp"

namespace garner::proxy {

Refresh::Refresh(Services& services, ClientStream const& client, std::string_view host, AcceleratedOrigin const* origin)
    : services_(services), nobody_(whole_request(client.head(), host), client.client()), origin_(origin),
      kept_(origin ? origin->weak_from_this().lock() : nullptr) {
    services.refreshes.push_back(*this);
    ++services.refreshing;
}

Refresh::~Refresh() { --services_.refreshing; }

void Refresh::start(Services& services, ClientStream const& client, std::string_view host, AcceleratedOrigin const* origin,
                    std::shared_ptr<Options const> options, cache::FillLease lead, store::ObjectPtr stale) {
    std::unique_ptr<Refresh> refresh(new Refresh(services, client, host, origin));
    auto running = run(std::move(refresh), std::move(options), std::move(lead), std::move(stale));
    net::asio::post(services.worker.io, [&services, running = std::move(running)]() mutable {
        net::asio::co_spawn(services.worker.io.get_executor(), std::move(running), net::asio::detached);
    });
}

net::awaitable<void> Refresh::run(std::unique_ptr<Refresh> refresh, std::shared_ptr<Options const> options, cache::FillLease lead,
                                  store::ObjectPtr stale) {
    Transaction transaction(refresh->services_, refresh->nobody_, refresh->origin_, refresh->scratch_, options);
    refresh->transaction_ = &transaction;
    co_await transaction.refresh(std::move(lead), std::move(stale));
    refresh->transaction_ = nullptr;
}

}   // namespace garner::proxy
