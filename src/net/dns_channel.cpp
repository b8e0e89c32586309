#include "net/dns_channel.hpp"

#include <ares.h>

#include <algorithm>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <utility>

#include "net/address.hpp"
#include "net/address_answer.hpp"
#include "net/address_order.hpp"
#include "net/dns_message.hpp"
#include "util/check.hpp"

namespace garner::net {

namespace {

using Descriptor = asio::posix::basic_stream_descriptor<Executor>;

constexpr milliseconds tick_length{100};
constexpr milliseconds timeout_min{250};

void initialise_library() {
    static int const status = ares_library_init(ARES_LIB_INIT_ALL);
    check(status == ARES_SUCCESS);
}

DnsAnswer failed(int status) {
    auto const with = [](char const* words, bool about_the_name, bool is_absent = false) {
        return DnsAnswer{{}, seconds{0}, words, about_the_name, is_absent};
    };
    switch (status) {
    case ARES_ENOTFOUND: return with("no such host", true, true);
    case ARES_ENODATA: return with("the name has no address", true, true);
    case ARES_ETIMEOUT: return with("DNS server did not respond", true);
    // c-ares tries the next server after SERVFAIL and REFUSED, and reports this when none is left.
    case ARES_ECONNREFUSED:
    case ARES_ESERVFAIL:
    case ARES_EREFUSED: return with("DNS server failed or is unreachable", true);
    case ARES_EFORMERR:
    case ARES_EBADRESP: return with("DNS server sent an invalid response", true);
    case ARES_EBADNAME: return with("the host name is not valid", false);
    case ARES_ECANCELLED:
    case ARES_EDESTRUCTION: return with("shutting down", false);
    default: return with(ares_strerror(status), false);
    }
}

}   // namespace

struct DnsChannel::Watch {
    explicit Watch(asio::io_context& io) : descriptor(io) {}
    Descriptor descriptor;
    bool open = true;   // false from the moment c-ares is about to close the socket
    bool wants_read = false;
    bool wants_write = false;
    bool awaits_read = false;
    bool awaits_write = false;
};

/// The two questions for the addresses of a name. Shared by c-ares, which calls back once for each.
struct DnsChannel::Query : std::enable_shared_from_this<DnsChannel::Query> {
    struct Reply {
        int status = ARES_SUCCESS;
        AddressAnswer answer{};
    };
    Query(asio::io_context& io, Done done) : done(std::move(done)), delay(io.get_executor()) {}

    void take(bool v6, Reply reply);
    void tell();
    void wait_for_other_family();
    DnsAnswer answer_of_addresses() const;
    DnsAnswer failure() const;

    Done done;
    Timer delay;
    std::optional<Reply> v4, v6;
    bool told = false;
};

struct DnsChannel::FamilyQuery {
    DnsChannel& channel;
    std::shared_ptr<Query> query;
    bool v6;
};

struct DnsChannel::SrvQuery {
    DnsChannel& channel;
    SrvDone done;
};

Result<std::unique_ptr<DnsChannel>> DnsChannel::make(asio::io_context& io, DeadlineWheel& wheel, ResolverOptions const& options,
                                                     milliseconds limit) {
    initialise_library();
    std::unique_ptr<DnsChannel> channel(new DnsChannel(io, wheel));
    int const status = channel->open_all(options, limit);
    if (status == ARES_SUCCESS) return channel;
    bool const of_file = options.servers.empty();
    return Fault{.what = (of_file ? options.servers_file + " cannot be used: " : std::string()) + ares_strerror(status),
                 .mend = of_file ? "correct that file, or name the DNS servers here" : "",
                 .where = "dns.servers"};
}

DnsChannel::DnsChannel(asio::io_context& io, DeadlineWheel& wheel)
    : io_(io), tick_(
                   wheel, [](void* self) { static_cast<DnsChannel*>(self)->tick(); }, this) {}

int DnsChannel::open_all(ResolverOptions const& options, milliseconds limit) {
    // c-ares asks each server in turn and doubles its timeout each round: 3 rounds take 7 times the first timeout of each
    // server, 2 rounds 3 times. The number of servers is known only after resolv.conf has been read.
    int const status = open(limit / 7, 3, options);
    if (status != ARES_SUCCESS) return status;
    auto count = static_cast<int>(server_count());
    if (count <= 1) return status;
    ares_destroy(std::exchange(channel_, nullptr));
    return open(std::max(limit / (3 * count), timeout_min), 2, options);
}

DnsChannel::~DnsChannel() { ares_destroy(channel_); }

int DnsChannel::open(milliseconds timeout, int tries, ResolverOptions const& given) {
    char lookups[] = "b";   // DNS only: the name cache reads the hosts file
    ares_options options{};
    options.flags = ARES_FLAG_NOALIASES;
    options.timeout = static_cast<int>(timeout.count());
    options.tries = tries;
    options.lookups = lookups;
    auto file = given.servers_file;   // c-ares copies it, but takes no const
    options.resolvconf_path = file.data();
    options.udp_port = options.tcp_port = given.servers_port;
    options.domains = nullptr;   // the resolver searches by itself
    options.ndomains = 0;
    options.sock_state_cb = [](void* self, ares_socket_t descriptor, int read, int write) {
        static_cast<DnsChannel*>(self)->socket_state(descriptor, read != 0, write != 0);
    };
    options.sock_state_cb_data = this;
    int const status =
        ares_init_options(&channel_, &options,
                          ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_DOMAINS |
                              ARES_OPT_SOCK_STATE_CB | ARES_OPT_RESOLVCONF | ARES_OPT_UDP_PORT | ARES_OPT_TCP_PORT);
    if (status != ARES_SUCCESS || given.servers.empty()) return status;
    std::string list;
    for (auto const& server : given.servers) list += (list.empty() ? "" : ",") + server;
    return ares_set_servers_ports_csv(channel_, list.c_str());
}

std::size_t DnsChannel::server_count() const {
    ares_addr_port_node* servers = nullptr;
    if (ares_get_servers_ports(channel_, &servers) != ARES_SUCCESS) return 1;
    std::size_t count = 0;
    for (auto* server = servers; server; server = server->next) ++count;
    ares_free_data(servers);
    return count;
}

void DnsChannel::ask(std::string const& host, Done done) {
    auto const query = std::make_shared<Query>(io_, std::move(done));
    // RFC 7686 2: names of Tor are not in DNS, and its servers should not see them.
    if (host.ends_with(".onion")) {
        query->v4 = query->v6 = Query::Reply{ARES_ENOTFOUND};
        return query->tell();
    }
    auto finished = [](void* argument, int status, int, unsigned char* message, int size) {
        std::unique_ptr<FamilyQuery> family(static_cast<FamilyQuery*>(argument));
        --family->channel.running_;
        Query::Reply reply{status};
        if (message) {
            auto read = parse_address_answer({reinterpret_cast<char const*>(message), static_cast<std::size_t>(size)});
            if (read) reply.answer = *std::move(read);
            if (!read && status == ARES_SUCCESS) reply.status = ARES_EBADRESP;
        }
        if (reply.status == ARES_SUCCESS && reply.answer.addresses.empty()) reply.status = ARES_ENODATA;
        family->query->take(family->v6, std::move(reply));
    };
    for (bool const v6 : {true, false}) {
        begin_query();
        auto* family = new FamilyQuery{*this, query, v6};   // c-ares calls back exactly once
        ares_query(channel_, host.c_str(), dns_internet, v6 ? dns_aaaa : dns_a, finished, family);
    }
}

void DnsChannel::Query::take(bool is_v6, Reply reply) {
    (is_v6 ? v6 : v4) = std::move(reply);
    if (v4 && v6) {
        delay.cancel();
        auto const addresses = v4->answer.addresses.size() + v6->answer.addresses.size();
        // After a call for one family, the other one adds something only if it has addresses.
        if (!told || (addresses > 0 && !(v6->answer.addresses.empty() || v4->answer.addresses.empty()))) tell();
        return;
    }
    auto const& first = is_v6 ? v6 : v4;
    bool const has_addresses = first->status == ARES_SUCCESS;
    // Without a route to IPv6, addresses of that family are of no use.
    bool const is_usable = has_addresses && (!is_v6 || with_sources(first->answer.addresses).front().source);
    if (is_usable || (!is_v6 && first->status == ARES_ENOTFOUND)) wait_for_other_family();
}

void DnsChannel::Query::wait_for_other_family() {
    delay.expires_after(family_delay);
    delay.async_wait([weak = weak_from_this()](Error error) {
        auto const query = weak.lock();
        if (!error && query && !query->told && !(query->v4 && query->v6)) query->tell();
    });
}

void DnsChannel::Query::tell() {
    told = true;
    bool const has_any = (v4 && v4->status == ARES_SUCCESS) || (v6 && v6->status == ARES_SUCCESS);
    auto answer = has_any ? answer_of_addresses() : failure();
    done(std::move(answer));
}

DnsAnswer DnsChannel::Query::answer_of_addresses() const {
    DnsAnswer answer;
    answer.ttl = seconds{INT32_MAX};
    std::vector<IpAddress> all;
    for (auto const* reply : {&v6, &v4}) {
        if (!*reply || (*reply)->status != ARES_SUCCESS) continue;
        answer.ttl = std::min(answer.ttl, (*reply)->answer.ttl);
        for (auto const& address : (*reply)->answer.addresses)
            if (std::ranges::find(all, address) == all.end()) all.push_back(address);
    }
    if (all.size() == 1) {   // no order: the kernel need not be asked
        answer.addresses.push_back(to_asio(all.front()));
        return answer;
    }
    auto destinations = with_sources(all);
    sort_destinations(destinations);
    for (auto const& one : destinations) answer.addresses.push_back(to_asio(one.address));
    return answer;
}

/// A name that does not exist has neither family. Else a server that failed tells more than one that has no address.
DnsAnswer DnsChannel::Query::failure() const {
    auto const is = [](std::optional<Reply> const& reply, int status) { return reply && reply->status == status; };
    if (is(v4, ARES_ENOTFOUND) || is(v6, ARES_ENOTFOUND) || (is(v4, ARES_ENODATA) && is(v6, ARES_ENODATA))) {
        auto answer = failed(is(v4, ARES_ENODATA) && is(v6, ARES_ENODATA) ? ARES_ENODATA : ARES_ENOTFOUND);
        for (auto const* reply : {&v6, &v4}) {
            auto const ttl = *reply ? (*reply)->answer.negative_ttl : std::nullopt;
            if (ttl) answer.negative_ttl = std::min(answer.negative_ttl.value_or(*ttl), *ttl);
        }
        return answer;
    }
    return failed(v4 && v4->status != ARES_ENODATA ? v4->status : v6->status);
}

void DnsChannel::begin_query() {
    if (running_++ == 0) tick_.arm(tick_length);
}

namespace {

SrvReply srv_reply(int status, std::string_view message) {
    if (status == ARES_ENODATA) return {{}, "the name has no SRV record"};
    if (status != ARES_SUCCESS) return {{}, failed(status).failure};
    auto answer = parse_srv_answer(message);
    if (!answer) return {{}, "DNS server sent an invalid response"};
    return {*std::move(answer), ""};
}

}   // namespace

void DnsChannel::ask_srv(std::string const& service, SrvDone done) {
    auto finished = [](void* argument, int status, int, unsigned char* message, int size) {
        std::unique_ptr<SrvQuery> query(static_cast<SrvQuery*>(argument));
        --query->channel.running_;
        auto const* text = reinterpret_cast<char const*>(message);
        auto reply = srv_reply(status, text ? std::string_view(text, static_cast<std::size_t>(size)) : std::string_view());
        query->done(std::move(reply));
    };
    begin_query();
    auto* query = new SrvQuery{*this, std::move(done)};
    ares_query(channel_, service.c_str(), dns_internet, dns_srv, finished, query);
}

void DnsChannel::socket_state(int descriptor, bool wants_read, bool wants_write) {
    if (!wants_read && !wants_write) {
        auto found = watches_.find(descriptor);
        if (found == watches_.end()) return;
        found->second->open = false;
        found->second->descriptor.release();   // c-ares closes it, and its number may be reused at once
        watches_.erase(found);
        return;
    }
    auto& watch = watches_[descriptor];
    if (!watch) {
        watch = std::make_shared<Watch>(io_);
        Error error;
        watch->descriptor.assign(descriptor, error);
        if (error) {   // not watched: the query runs into its timeout
            watches_.erase(descriptor);
            return;
        }
    }
    watch->wants_read = wants_read;
    watch->wants_write = wants_write;
    auto kept = watch;
    if (wants_read) await_ready(kept, true);
    if (wants_write) await_ready(kept, false);
}

void DnsChannel::await_ready(std::shared_ptr<Watch> watch, bool read) {
    bool& awaits = read ? watch->awaits_read : watch->awaits_write;
    if (awaits) return;
    awaits = true;
    auto& descriptor = watch->descriptor;
    descriptor.async_wait(read ? Descriptor::wait_read : Descriptor::wait_write, [this, watch, read](Error error) {
        (read ? watch->awaits_read : watch->awaits_write) = false;
        if (error || !watch->open) return;   // `this` may be destroyed then
        int number = watch->descriptor.native_handle();
        ares_process_fd(channel_, read ? number : ARES_SOCKET_BAD, read ? ARES_SOCKET_BAD : number);
        if (watch->open && (read ? watch->wants_read : watch->wants_write)) await_ready(watch, read);
    });
}

void DnsChannel::cancel() { ares_cancel(channel_); }

void DnsChannel::tick() {
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    if (running_ > 0) tick_.arm(tick_length);
}

}   // namespace garner::net
