// Resolves host names to addresses: from the cache, then from DNS.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/asio.hpp"
#include "net/deadline.hpp"
#include "net/name_cache.hpp"
#include "net/options.hpp"
#include "net/wake.hpp"
#include "util/file_stamp.hpp"
#include "util/result.hpp"

namespace garner::net {

class DnsChannel;
struct DnsAnswer;
struct SrvReply;

/// One per worker; not thread-safe. Concurrent lookups of one name share a query. A name without a dot is looked up below the
/// search domains of the options first, others unchanged. May be destroyed while
/// resolve() waits: the wait then ends with a failure.
class Resolver {
public:
    /// Servers are in the syntax of the key dns.servers; `cache` must outlive this.
    Resolver(asio::io_context&, DeadlineWheel&, NameCache& cache, ResolverOptions const&);
    ~Resolver();

    /// Never nullptr. Takes at most `lookup_limit`; suspends only when DNS must be queried. IP literals (IPv6 without
    /// brackets) and localhost (RFC 6761 6.3) are answered at once. `host` must live until the first suspension. During the
    /// wait, `*waiting` wakes it early; the failure is then "cancelled".
    awaitable<NamesPtr> resolve(std::string_view host, WakeHandle* waiting = nullptr);

    /// The servers of a service (RFC 2782), always from DNS. Takes at most `lookup_limit`.
    awaitable<SrvReply> resolve_srv(std::string service);

    /// For a reload, from any thread: a channel to the servers of these options. The fault names the key.
    Result<std::unique_ptr<DnsChannel>> open_channel(ResolverOptions const&) const;
    /// Later queries use this channel, which was opened with these options. Running ones end on the former channel, and are not
    /// remembered: a lookup of the same name asks again.
    void use(std::unique_ptr<DnsChannel> channel, ResolverOptions const& options);
    /// Without servers in the options: if /etc/resolv.conf has changed, later queries go to its servers, and the former answers are
    /// forgotten. Call it now and then. A file that is missing or that cannot be used changes nothing.
    void follow_servers_file();

    /// The next resolve() queries DNS. Names of the hosts file are kept.
    void forget(std::string_view host);

    /// Forgets a remembered failure of this name; addresses are kept.
    void forget_failure(std::string_view host);

    /// Ends running lookups and refuses new ones with the failure "shutting down". Afterwards the resolver does not keep
    /// the io_context running.
    void stop();

    static constexpr milliseconds lookup_limit{5'000};
    static constexpr std::size_t lookups_max = 10'000;   // concurrent; more are refused

private:
    struct Lookup;
    struct SrvLookup;
    NamesPtr known(std::string_view host);
    std::shared_ptr<Lookup> ask();
    void ask_next(std::shared_ptr<Lookup> const&);
    void take(std::shared_ptr<Lookup> const&, DnsAnswer);
    std::optional<milliseconds> negative_ttl(DnsAnswer const&) const;
    void finish(Lookup&, DnsAnswer);
    void drop_former();

    asio::io_context& io_;
    DeadlineWheel& wheel_;
    bool stopped_ = false;
    NameCache& cache_;
    ResolverOptions options_;
    std::optional<FileStamp> servers_file_;   // as the channel was opened
    std::string host_;                        // the current name, in the cache's form; a member to reuse its memory
    std::unordered_map<std::string, std::shared_ptr<Lookup>> lookups_;
    // The last members: their destructors still end the lookups above.
    std::unique_ptr<DnsChannel> channel_;
    std::vector<std::unique_ptr<DnsChannel>> former_;   // of earlier options, while their queries run
};

/// True for "localhost" and its subdomains, which resolve to loopback addresses without DNS (RFC 6761 6.3). `host` must be
/// in lower case.
bool is_localhost(std::string_view host);

}   // namespace garner::net
