// c-ares on a worker's io_context: one name per query, one answer.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/asio.hpp"
#include "net/deadline.hpp"
#include "net/srv_answer.hpp"
#include "util/clock.hpp"
#include "util/result.hpp"

typedef struct ares_channeldata* ares_channel;
struct ares_addrinfo;

namespace garner::net {

struct DnsAnswer {
    std::vector<Address> addresses;   // in the order to try them (RFC 6724), without duplicates
    seconds ttl{0};                   // the shortest of all records involved
    std::string failure;              // text for messages; empty when there are addresses
    bool about_the_name = true;       // false: the failure is local and must not be remembered
};

struct SrvReply {
    SrvAnswer answer;
    std::string failure;   // text for messages; empty if there is an answer
};

/// One per worker; not thread-safe. Must be destroyed before the io_context and the wheel.
class DnsChannel {
public:
    using Done = std::function<void(DnsAnswer)>;
    using SrvDone = std::function<void(SrvReply)>;

    /// `servers`: in the syntax of the key dns.servers; empty: those of /etc/resolv.conf. All tries together end within
    /// about `limit`. The fault names the key. From any thread.
    static Result<std::unique_ptr<DnsChannel>> make(asio::io_context&, DeadlineWheel&, std::vector<std::string> const& servers,
                                                    milliseconds limit);
    /// Like cancel().
    ~DnsChannel();

    /// Queries AAAA and A together, over UDP, and over TCP when the answer is truncated. Calls `done` once, possibly before
    /// this returns.
    void ask(std::string const& host, Done done);
    /// Like ask(), for the servers of a service such as "_http._tcp.caches.example".
    void ask_srv(std::string const& service, SrvDone done);

    /// Running queries end with the failure "shutting down".
    void cancel();
    /// No query runs.
    bool is_idle() const { return running_ == 0; }

private:
    struct Watch;
    struct Query;
    struct SrvQuery;
    void begin_query();
    DnsChannel(asio::io_context&, DeadlineWheel&);
    int open_all(std::vector<std::string> const& servers, milliseconds limit);
    int open(milliseconds timeout, int tries, std::vector<std::string> const& servers);
    std::size_t server_count() const;
    void socket_state(int descriptor, bool wants_read, bool wants_write);
    void await_ready(std::shared_ptr<Watch> watch, bool read);
    void tick();
    static DnsAnswer answer(int status, ares_addrinfo const* found);

    asio::io_context& io_;
    ares_channel channel_ = nullptr;
    std::size_t running_ = 0;
    Deadline tick_;   // drives c-ares' own timeouts while queries run
    std::unordered_map<int, std::shared_ptr<Watch>> watches_;
};

}   // namespace garner::net
