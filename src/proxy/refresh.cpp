#include "proxy/refresh.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include "http/hop_by_hop.hpp"

namespace garner::proxy {

using http::Name;

namespace {

/// Ours are the validators, and what the client wanted of this one answer is answered.
bool about_one_answer(Name id) {
    switch (id) {
    case Name::range:
    case Name::if_range:
    case Name::if_match:
    case Name::if_none_match:
    case Name::if_modified_since:
    case Name::if_unmodified_since:
    case Name::cache_control:
    case Name::pragma:
    case Name::content_length:
    case Name::expect: return true;
    default: return false;
    }
}

/// The client's request as one for the whole response. HTTP/1.0 may have come without Host.
std::string whole_request(http::RequestHead const& head, std::string_view host) {
    std::string text("GET ");
    text.append(head.target).append(" HTTP/1.1\r\n");
    http::HopByHop hop_by_hop(head.fields);
    for (auto const& field : head.fields)
        if (!hop_by_hop.dropped(field) && !about_one_answer(field.id))
            text.append(field.name).append(": ").append(field.value).append("\r\n");
    if (!head.fields.has(Name::host)) text.append("Host: ").append(host).append("\r\n");
    return text.append("\r\n");
}

}  // namespace

Refresh::Refresh(Services& services, ClientStream const& client, std::string_view host, AcceleratedOrigin const* origin)
    : services_(services), nobody_(whole_request(client.head(), host), client.peer(), services.worker.wheel),
      transaction_(services, nobody_, origin) {
    services.refreshes.push_back(*this);
    ++services.refreshing;
}

Refresh::~Refresh() { --services_.refreshing; }

void Refresh::start(Services& services, ClientStream const& client, std::string_view host,
                    AcceleratedOrigin const* origin,
                    std::shared_ptr<Options const> options, cache::FillLease lead, store::ObjectPtr stale) {
    std::unique_ptr<Refresh> refresh(new Refresh(services, client, host, origin));
    auto running = run(std::move(refresh), std::move(options), std::move(lead), std::move(stale));
    net::asio::post(services.worker.io, [&services, running = std::move(running)]() mutable {
        net::asio::co_spawn(services.worker.io.get_executor(), std::move(running), net::asio::detached);
    });
}

net::awaitable<void> Refresh::run(std::unique_ptr<Refresh> refresh, std::shared_ptr<Options const> options,
                                  cache::FillLease lead, store::ObjectPtr stale) {
    co_await refresh->transaction_.refresh(options, std::move(lead), std::move(stale));
}

}  // namespace garner::proxy
