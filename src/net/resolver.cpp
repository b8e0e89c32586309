#include "net/resolver.hpp"

#include <algorithm>
#include <optional>
#include <ranges>

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
    if (host.ends_with('.')) host.remove_suffix(1);
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
    std::vector<std::string> names_left;   // in DNS, the next one last
    bool asks_former_servers = false;
    std::optional<seconds> negative_ttl;   // the shortest of the names before
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
    : io_(io), wheel_(wheel), cache_(cache), options_(options), servers_file_(stamp_of(options.servers_file)) {
    auto opened = open_channel(options);
    check(static_cast<bool>(opened));
    channel_ = *std::move(opened);
}

Resolver::~Resolver() = default;

Result<std::unique_ptr<DnsChannel>> Resolver::open_channel(ResolverOptions const& options) const {
    return DnsChannel::make(io_, wheel_, options, queries_limit);
}

void Resolver::use(std::unique_ptr<DnsChannel> channel, ResolverOptions const& options) {
    options_ = options;
    for (auto& [host, lookup] : lookups_) lookup->asks_former_servers = true;
    lookups_.clear();
    channel_.swap(channel);
    former_.push_back(std::move(channel));
    drop_former();
}

void Resolver::follow_servers_file() {
    if (!options_.servers.empty() || stopped_) return;
    auto const now = stamp_of(options_.servers_file);
    if (!now || now == servers_file_) return;
    servers_file_ = now;
    auto channel = open_channel(options_);
    if (!channel) return;
    auto const options = options_;
    use(*std::move(channel), options);
    cache_.forget_answers();
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
    constexpr auto* silent = "DNS server did not respond";
    if (!lookup->too_late)
        lookup->too_late = lookup->asks_former_servers ? failure(silent) : cache.store_failure(lookup->host, silent);
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
    lookup->names_left.push_back(host_);
    if (host_.find('.') == host_.npos)
        for (auto const& domain : std::views::reverse(options_.search))
            if (auto name = host_ + '.' + domain; name.size() <= name_max) lookup->names_left.push_back(std::move(name));
    lookups_.emplace(host_, lookup);
    ask_next(lookup);
    return lookup;
}

void Resolver::ask_next(std::shared_ptr<Lookup> const& lookup) {
    auto const name = std::move(lookup->names_left.back());
    lookup->names_left.pop_back();
    channel_->ask(name, [this, lookup](DnsAnswer answer) { take(lookup, std::move(answer)); });
}

void Resolver::take(std::shared_ptr<Lookup> const& lookup, DnsAnswer answer) {
    // The addresses of the other family, which came later.
    if (lookup->names) {
        if (!lookup->asks_former_servers) cache_.store(lookup->host, std::move(answer.addresses), answer.ttl);
        return;
    }
    bool const ends = !answer.is_absent || lookup->names_left.empty() || stopped_;
    if (answer.is_absent && answer.negative_ttl)
        lookup->negative_ttl = std::min(lookup->negative_ttl.value_or(*answer.negative_ttl), *answer.negative_ttl);
    if (!ends) return ask_next(lookup);
    answer.negative_ttl = answer.is_absent ? lookup->negative_ttl : std::nullopt;
    finish(*lookup, std::move(answer));
}

/// Some servers leave out the SOA record. A time that doubled would then outlast the absence of the name.
std::optional<milliseconds> Resolver::negative_ttl(DnsAnswer const& answer) const {
    if (answer.negative_ttl || !answer.is_absent) return answer.negative_ttl;
    return options_.negative_first;
}

void Resolver::finish(Lookup& lookup, DnsAnswer answer) {
    bool const is_of_servers = !lookup.asks_former_servers && (answer.failure.empty() || answer.about_the_name);
    if (is_of_servers) cache_.health().note(lookup.host, answer.failure);
    if (answer.failure.empty() && lookup.asks_former_servers)
        lookup.names = std::make_shared<Names const>(Names{std::move(answer.addresses), {}, {}});
    else if (answer.failure.empty())
        lookup.names = cache_.store(lookup.host, std::move(answer.addresses), answer.ttl);
    else if (!answer.about_the_name || lookup.asks_former_servers)
        lookup.names = failure(answer.failure.c_str());
    else if (lookup.too_late)   // already in the cache
        lookup.names = lookup.too_late;
    else
        lookup.names = cache_.store_failure(lookup.host, std::move(answer.failure), steady_now(), negative_ttl(answer));
    if (!lookup.asks_former_servers) lookups_.erase(lookup.host);
    wake_all(std::move(lookup.waiting), Wake::ready);
}

}   // namespace garner::net
