// The admin address: /metrics, /stats.json, a page, and purges.
#pragma once
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <optional>
#include <string>

#include "admin/events.hpp"
#include "admin/pauses.hpp"
#include "admin/routes.hpp"
#include "net/asio.hpp"
#include "util/prepared.hpp"
#include "util/result.hpp"

namespace garner::web {
class HttpService;
class HttpConnection;
}   // namespace garner::web

namespace garner::admin {

struct Options {
    bool enabled = true;   // otherwise it listens nowhere
    std::string address = "127.0.0.1";
    std::uint16_t port = 3131;         // 0: any free port
    std::uint32_t connections = 128;   // above this, the connection that has waited longest for a request is closed
    std::uint32_t head_bytes = 8 * KiB;
    std::uint32_t body_bytes = 16 * KiB;
    std::vector<IpNetwork> allow = {};     // clients in addition to those on loopback
    std::vector<std::string> names = {};   // allowed values of Host in addition to the address; in lower case, without a port
    std::vector<Token> tokens = {};        // empty: each client may do everything
    milliseconds request{15'000};          // from the end of the last response to the end of the head
    milliseconds progress{15'000};         // until the next byte of a body arrives, or the client accepts the reply
    milliseconds login_pause{1'000};       // delay of the reply 429, after Access::failures_max failed logins
};

/// Runs on its own thread. Answers clients on loopback and those of `allow`, and only if Host is its own literal address or
/// one of `names`. Changes state only for POST or PURGE with the field "Garner-Admin: 1" or a session's form token, and only for
/// operators if there are tokens; sends no CORS fields.
class AdminServer {
public:
    /// Fails when the address cannot be bound. `server` must outlive it. Figures are sampled even if it is not enabled.
    /// `handed`: as in HttpService. `former`: null, or outlives it.
    static Result<std::unique_ptr<AdminServer>> open(Options const& options, proxy::Server& server, int handed = -1,
                                                     FormerTotals const* former = nullptr);
    /// Also stops it.
    ~AdminServer();

    void start();
    /// For a reload, after start(): another address, names, tokens and clients, or none. Limits do not change. The fault names the
    /// key. Established connections to a former address may send one more request.
    Result<Prepared> prepare(Options const& fresh);
    /// See HttpService.
    void pause();
    void resume();
    int descriptor() const;
    /// For another process, from any thread, after start(). Nothing: the thread does not respond in time.
    std::optional<Past> past();
    /// That of a former process, before start().
    void adopt(Past const& past) { routes_.adopt(past); }
    /// Ends all connections and the thread. It cannot be started again.
    void stop();
    /// The address it listens on: "127.0.0.1:3131"; empty: none.
    std::string address() const;

private:
    AdminServer(Options const&, proxy::Server&, FormerTotals const*);

    net::awaitable<void> serve(web::HttpConnection&);
    net::awaitable<web::Reply> answer(web::Request const&, std::string_view body, Visitor&);
    static void log_change(web::Request const&, std::string_view body, Visitor const&, unsigned status);
    net::awaitable<web::Reply> answer_apart(web::Request const&, std::string_view body, Visitor const&);
    net::awaitable<web::Reply> explained_page(web::Request const&);
    net::awaitable<void> sample();

    Options options_;                              // used by the thread of reloads
    std::shared_ptr<Options const> of_requests_;   // used by the service's thread
    Access access_;
    Routes routes_;
    std::unique_ptr<web::HttpService> http_;
    std::optional<net::Timer> tick_;
    std::optional<Events> events_;
    std::optional<Pauses> pauses_;
    bool stopped_ = false;
    // For requests that may wait, so that no explanation waits for a purge; joined before the objects they use are destroyed.
    net::asio::thread_pool changing_{1}, explaining_{1};
};

}   // namespace garner::admin
