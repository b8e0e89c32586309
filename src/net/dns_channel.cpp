#include "net/dns_channel.hpp"

#include <ares.h>

#include <algorithm>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <utility>

#include "net/address.hpp"
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
    auto const with = [](char const* words, bool about_the_name) { return DnsAnswer{{}, seconds{0}, words, about_the_name}; };
    switch (status) {
    case ARES_ENOTFOUND: return with("no such host", true);
    case ARES_ENODATA: return with("the name has no address", true);
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

struct DnsChannel::Query {
    DnsChannel& channel;
    Done done;
};

struct DnsChannel::SrvQuery {
    DnsChannel& channel;
    SrvDone done;
};

Result<std::unique_ptr<DnsChannel>> DnsChannel::make(asio::io_context& io, DeadlineWheel& wheel,
                                                     std::vector<std::string> const& servers, milliseconds limit) {
    initialise_library();
    std::unique_ptr<DnsChannel> channel(new DnsChannel(io, wheel));
    int const status = channel->open_all(servers, limit);
    if (status == ARES_SUCCESS) return channel;
    return Fault{.what = std::string(servers.empty() ? "/etc/resolv.conf cannot be used: " : "") + ares_strerror(status),
                 .mend = servers.empty() ? "correct that file, or name the DNS servers here" : "",
                 .where = "dns.servers"};
}

DnsChannel::DnsChannel(asio::io_context& io, DeadlineWheel& wheel)
    : io_(io), tick_(
                   wheel, [](void* self) { static_cast<DnsChannel*>(self)->tick(); }, this) {}

int DnsChannel::open_all(std::vector<std::string> const& servers, milliseconds limit) {
    // c-ares asks each server in turn and doubles its timeout each round: 3 rounds take 7 times the first timeout of each
    // server, 2 rounds 3 times. The number of servers is known only after resolv.conf has been read.
    int const status = open(limit / 7, 3, servers);
    if (status != ARES_SUCCESS) return status;
    auto count = static_cast<int>(server_count());
    if (count <= 1) return status;
    ares_destroy(std::exchange(channel_, nullptr));
    return open(std::max(limit / (3 * count), timeout_min), 2, servers);
}

DnsChannel::~DnsChannel() { ares_destroy(channel_); }

int DnsChannel::open(milliseconds timeout, int tries, std::vector<std::string> const& servers) {
    char lookups[] = "b";   // DNS only: the name cache reads the hosts file
    ares_options options{};
    options.flags = ARES_FLAG_NOALIASES;
    options.timeout = static_cast<int>(timeout.count());
    options.tries = tries;
    options.lookups = lookups;
    options.domains = nullptr;   // no search list: a name has the same meaning on every machine
    options.ndomains = 0;
    options.sock_state_cb = [](void* self, ares_socket_t descriptor, int read, int write) {
        static_cast<DnsChannel*>(self)->socket_state(descriptor, read != 0, write != 0);
    };
    options.sock_state_cb_data = this;
    int const status = ares_init_options(
        &channel_, &options,
        ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_DOMAINS | ARES_OPT_SOCK_STATE_CB);
    if (status != ARES_SUCCESS || servers.empty()) return status;
    std::string list;
    for (auto const& server : servers) list += (list.empty() ? "" : ",") + server;
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
    ares_addrinfo_hints hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    auto finished = [](void* argument, int status, int, ares_addrinfo* found) {
        std::unique_ptr<Query> query(static_cast<Query*>(argument));
        --query->channel.running_;
        auto result = answer(status, found);
        ares_freeaddrinfo(found);
        query->done(std::move(result));
    };
    begin_query();
    auto* query = new Query{*this, std::move(done)};   // c-ares calls back exactly once
    ares_getaddrinfo(channel_, host.c_str(), nullptr, &hints, finished, query);
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
    constexpr int class_internet = 1, type_srv = 33;
    auto finished = [](void* argument, int status, int, unsigned char* message, int size) {
        std::unique_ptr<SrvQuery> query(static_cast<SrvQuery*>(argument));
        --query->channel.running_;
        auto const* text = reinterpret_cast<char const*>(message);
        auto reply = srv_reply(status, text ? std::string_view(text, static_cast<std::size_t>(size)) : std::string_view());
        query->done(std::move(reply));
    };
    begin_query();
    auto* query = new SrvQuery{*this, std::move(done)};
    ares_query(channel_, service.c_str(), class_internet, type_srv, finished, query);
}

DnsAnswer DnsChannel::answer(int status, ares_addrinfo const* found) {
    if (status != ARES_SUCCESS) return failed(status);
    DnsAnswer answer;
    int ttl = INT32_MAX;
    for (auto const* alias = found->cnames; alias; alias = alias->next) ttl = std::min(ttl, alias->ttl);
    for (auto const* node = found->nodes; node; node = node->ai_next) {
        ttl = std::min(ttl, node->ai_ttl);
        auto const address = to_ip(*node->ai_addr);
        auto& all = answer.addresses;
        if (address && std::ranges::find(all, to_asio(*address)) == all.end()) all.push_back(to_asio(*address));
    }
    if (answer.addresses.empty()) return failed(ARES_ENODATA);
    answer.ttl = seconds{std::max(ttl, 0)};
    return answer;
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
