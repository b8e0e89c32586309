#include "net/resolver.hpp"

#include <algorithm>

#include "net/dns_channel.hpp"
#include "net/waiter.hpp"
#include "util/check.hpp"

namespace garner::net {

namespace {

// c-ares must end before the lookup does: if one family's records come too late, the other family's would be lost.
constexpr milliseconds queries_limit = Resolver::lookup_limit - milliseconds{500};

constexpr std::size_t name_max = 253;   // RFC 1035 2.3.4, in dotted form

NamesPtr failure(char const* words) { return std::make_shared<Names const>(Names{{}, words, {}}); }

NamesPtr loopback() {
    static NamesPtr const both =
        std::make_shared<Names const>(Names{{asio::ip::address_v6::loopback(), asio::ip::address_v4::loopback()}, {}, {}});
    return both;
}

NamesPtr literal(std::string_view host) {
    bool possible = host.find(':') != host.npos || host.find_first_not_of("0123456789.") == host.npos;
    if (!possible) return nullptr;
    Error fault;
    auto address = asio::ip::make_address(host, fault);
    if (fault) return nullptr;
    return std::make_shared<Names const>(Names{{address}, {}, {}});
}

}   // namespace

bool is_localhost(std::string_view host) { return host == "localhost" || host.ends_with(".localhost"); }

/// Shared by the map of running lookups, c-ares and the waiting coroutines. After the wait the coroutines access only this
/// object: the resolver may be destroyed.
struct Resolver::Lookup {
    std::string host;
    SteadyTime give_up;
    NamesPtr names;      // set when c-ares has answered
    NamesPtr too_late;   // the failure returned since give_up
    WakeHandles waiting;
};

/// Shared by c-ares and the waiting coroutine.
struct Resolver::SrvLookup {
    SrvReply reply{{}, "DNS server did not respond"};
    bool done = false;
    WakeHandle waiting;
};

Resolver::Resolver(asio::io_context& io, DeadlineWheel& wheel, NameCache& cache, ResolverOptions const& options)
    : io_(io), wheel_(wheel), cache_(cache) {
    auto opened = open_channel(options);
    check(static_cast<bool>(opened));
    channel_ = *std::move(opened);
}

Resolver::~Resolver() = default;

Result<std::unique_ptr<DnsChannel>> Resolver::open_channel(ResolverOptions const& options) const {
    return DnsChannel::make(io_, wheel_, options.servers, queries_limit);
}

void Resolver::use(std::unique_ptr<DnsChannel> channel) {
    channel_.swap(channel);
    former_.push_back(std::move(channel));
    drop_former();
}

void Resolver::drop_former() {
    std::erase_if(former_, [](auto const& channel) { return channel->is_idle(); });
}

void Resolver::stop() {
    stopped_ = true;
    channel_->cancel();
    for (auto const& channel : former_) channel->cancel();
}

awaitable<NamesPtr> Resolver::resolve(std::string_view host, WakeHandle* waiting) {
    if (auto names = known(host)) co_return names;
    auto lookup = ask();
    if (lookup->names) co_return lookup->names;
    if (lookup->too_late) co_return lookup->too_late;

    Waiter waiter(io_.get_executor());
    lookup->waiting.push_back(waiter.handle());
    if (waiting) *waiting = waiter.handle();
    auto& cache = cache_;
    auto left = std::chrono::ceil<milliseconds>(lookup->give_up - steady_now());
    auto limit = std::max(left, milliseconds::zero());
    auto wake = co_await waiter.wait(limit);
    if (lookup->names) co_return lookup->names;
    if (wake != Wake::deadline) co_return failure("cancelled");
    // The query continues; if it is still answered, the next request finds the answer in the cache.
    if (!lookup->too_late) lookup->too_late = cache.store_failure(lookup->host, "DNS server did not respond");
    co_return lookup->too_late;
}

awaitable<SrvReply> Resolver::resolve_srv(std::string service) {
    auto lookup = std::make_shared<SrvLookup>();
    if (stopped_) {
        lookup->reply.failure = "shutting down";
        co_return lookup->reply;
    }
    drop_former();
    channel_->ask_srv(service, [lookup](SrvReply reply) {
        lookup->reply = std::move(reply);
        lookup->done = true;
        lookup->waiting.wake(Wake::ready);
    });
    if (lookup->done) co_return lookup->reply;
    Waiter waiter(io_.get_executor());
    lookup->waiting = waiter.handle();
    co_await waiter.wait(lookup_limit);
    auto reply = lookup->reply;
    co_return reply;
}

NamesPtr Resolver::known(std::string_view host) {
    if (auto names = literal(host)) return names;
    write_cached_form(host, host_);
    if (is_localhost(host_)) return loopback();
    if (host_.empty() || host_.size() > name_max) return failure("the host name is not valid");
    return cache_.find(host_);
}

void Resolver::forget(std::string_view host) {
    write_cached_form(host, host_);
    cache_.forget(host_);
}

void Resolver::forget_failure(std::string_view host) {
    auto names = known(host);
    if (names && !names->failure.empty()) cache_.forget(host_);
}

std::shared_ptr<Resolver::Lookup> Resolver::ask() {
    if (auto found = lookups_.find(host_); found != lookups_.end()) return found->second;
    auto lookup = std::make_shared<Lookup>();
    if (stopped_ || lookups_.size() >= lookups_max) {
        lookup->names = failure(stopped_ ? "shutting down" : "too many DNS queries at once");
        return lookup;
    }
    drop_former();
    lookup->host = host_;
    lookup->give_up = steady_now() + lookup_limit;
    lookups_.emplace(host_, lookup);
    channel_->ask(host_, [this, lookup](DnsAnswer answer) { finish(*lookup, std::move(answer)); });
    return lookup;
}

void Resolver::finish(Lookup& lookup, DnsAnswer answer) {
    if (answer.failure.empty() || answer.about_the_name) cache_.health().note(lookup.host, answer.failure);
    if (answer.failure.empty())
        lookup.names = cache_.store(lookup.host, std::move(answer.addresses), answer.ttl);
    else if (!answer.about_the_name)
        lookup.names = failure(answer.failure.c_str());
    else if (lookup.too_late)   // already in the cache
        lookup.names = lookup.too_late;
    else
        lookup.names = cache_.store_failure(lookup.host, std::move(answer.failure));
    lookups_.erase(lookup.host);
    wake_all(std::move(lookup.waiting), Wake::ready);
}

}   // namespace garner::net
