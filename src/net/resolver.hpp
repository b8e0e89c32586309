// Host names to addresses: the cache, then DNS.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "net/asio.hpp"
#include "net/deadline.hpp"
#include "net/name_cache.hpp"
#include "net/options.hpp"
#include "net/wake.hpp"

namespace garner::net {

class DnsChannel;
struct DnsAnswer;

/// One per worker; not thread-safe. Queries for the same name run once. Names are taken as they are given: no search
/// domains. May be destroyed while resolve() waits: the wait then ends with a failure.
class Resolver {
public:
    /// Servers are written as the key dns.servers wants them; `cache` must outlive this.
    Resolver(asio::io_context&, DeadlineWheel&, NameCache& cache, ResolverOptions const&);
    ~Resolver();

    /// Never nullptr. Takes at most `lookup_limit`; suspends only when DNS must be asked. IP literals (IPv6 without
    /// brackets) and localhost (RFC 6761 6.3) are answered at once. `host` must live until the first suspension.
    /// While it waits, `*waiting` wakes it early; the failure is then "cancelled".
    awaitable<NamesPtr> resolve(std::string_view host, WakeHandle* waiting = nullptr);

    /// A failure that is remembered of this name is forgotten; addresses stay.
    void forget_failure(std::string_view host);

    /// Ends what runs and refuses what comes with the failure "shutting down"; then nothing here keeps the io_context
    /// from running out of work.
    void stop();

    static constexpr milliseconds lookup_limit{5'000};
    static constexpr std::size_t lookups_max = 10'000;   // at once; more are refused

private:
    struct Lookup;
    NamesPtr known(std::string_view host);
    std::shared_ptr<Lookup> ask();
    void finish(Lookup&, DnsAnswer);

    Executor executor_;
    bool stopped_ = false;
    NameCache& cache_;
    std::string host_;   // the name in hand, in the cache's form; kept for its memory
    std::unordered_map<std::string, std::shared_ptr<Lookup>> lookups_;
    std::unique_ptr<DnsChannel> channel_;   // the last member: while it dies, it still ends the look-ups above
};

/// True for "localhost" and names below it, which resolve to loopback addresses without DNS (RFC 6761 6.3). `host` in lower
/// case.
bool is_localhost(std::string_view host);

}  // namespace garner::net
