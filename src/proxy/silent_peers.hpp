// Peers that let a request wait while the next sources are asked: the first response is used.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/exchange.hpp"
#include "icp/source.hpp"
#include "net/wake.hpp"
#include "proxy/origin_seats.hpp"
#include "proxy/source_use.hpp"

namespace garner::proxy {

/// A request at a peer that has not responded yet.
struct SilentExchange {
    OriginSeat seat;                              // of the connection
    std::unique_ptr<client::Exchange> exchange;   // null: given up, the next source gets the request instead
    SourceUse use;
    icp::Source source;
    std::string pool_key;
    WallTime asked_at{};
    SteadyTime sent_at{};
    std::uint32_t passed = 0;
    IpAddress address;
};

/// Belongs to one request, whose end cancels the exchanges.
class SilentPeers {
public:
    /// `came`: called once for each response head, also inside keep().
    explicit SilentPeers(std::function<void()> came) : came_(std::move(came)) {}
    ~SilentPeers();
    SilentPeers(SilentPeers const&) = delete;

    /// Waits for the response head for `limit` more. Interim responses are dropped.
    void keep(SilentExchange exchange, net::Executor const& executor, http::Method method, milliseconds limit);
    bool has_response() const;
    /// The exchange whose head has come; has_response() must be true.
    SilentExchange take_response();
    /// Some may still respond.
    bool is_waiting() const;
    /// Returns when one has responded, none may respond any more, or wake() is called.
    net::awaitable<void> wait(net::Executor executor);
    void wake() { waiting_.wake(net::Wake::ready); }
    /// Another source, asked at that time, has answered the request.
    void lose_to_source_of(SteadyTime asked_at);

private:
    struct Silent;
    static net::awaitable<void> read_head(std::shared_ptr<Silent> silent, http::Method method, milliseconds limit);
    void ended(Silent& silent);

    std::function<void()> came_;
    std::vector<std::shared_ptr<Silent>> silent_;
    net::WakeHandle waiting_;
};

}   // namespace garner::proxy
