// c-ares on a worker's io_context: one name per query, one answer.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/asio.hpp"
#include "net/deadline.hpp"
#include "net/options.hpp"
#include "net/srv_answer.hpp"
#include "util/clock.hpp"
#include "util/result.hpp"

typedef struct ares_channeldata* ares_channel;

namespace garner::net {

struct DnsAnswer {
    std::vector<Address> addresses;             // in the order to try them (RFC 6724), without duplicates
    seconds ttl{0};                             // the shortest of all records involved
    std::string failure;                        // text for messages; empty when there are addresses
    bool about_the_name = true;                 // false: the failure is local and must not be remembered
    bool is_absent = false;                     // DNS says that the name does not exist, or has no address
    std::optional<seconds> negative_ttl = {};   // then: from the SOA record (RFC 2308 5)
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

    /// To the servers of the options. All tries together end within about `limit`. The fault names the key. From any thread.
    static Result<std::unique_ptr<DnsChannel>> make(asio::io_context&, DeadlineWheel&, ResolverOptions const&, milliseconds limit);
    /// Like cancel().
    ~DnsChannel();

    /// Queries AAAA and A together, over UDP, and over TCP when the answer is truncated. Calls `done` possibly before this
    /// returns: once, or twice if one answer comes more than `family_delay` after the other one and both have addresses. The second
    /// call then has the addresses of both.
    void ask(std::string const& host, Done done);
    /// Like ask(), for the servers of a service such as "_http._tcp.caches.example".
    void ask_srv(std::string const& service, SrvDone done);

    /// RFC 8305 3 waits this long for AAAA after A.
    static constexpr milliseconds family_delay{50};

    /// Running queries end with the failure "shutting down".
    void cancel();
    /// No query runs.
    bool is_idle() const { return running_ == 0; }

private:
    struct Watch;
    struct Query;
    struct FamilyQuery;
    struct SrvQuery;
    void begin_query();
    DnsChannel(asio::io_context&, DeadlineWheel&);
    int open_all(ResolverOptions const&, milliseconds limit);
    int open(milliseconds timeout, int tries, ResolverOptions const&);
    std::size_t server_count() const;
    void socket_state(int descriptor, bool wants_read, bool wants_write);
    void await_ready(std::shared_ptr<Watch> watch, bool read);
    void tick();

    asio::io_context& io_;
    ares_channel channel_ = nullptr;
    std::size_t running_ = 0;
    Deadline tick_;   // drives c-ares' own timeouts while queries run
    std::unordered_map<int, std::shared_ptr<Watch>> watches_;
};

}   // namespace garner::net
