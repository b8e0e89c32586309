#include "auth/ldap_deadline.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>

namespace garner::auth {
namespace {

/// Between LBER_SBIOD_LEVEL_PROVIDER (the socket, 10) and LBER_SBIOD_LEVEL_TRANSPORT (TLS, 20).
constexpr int level = 15;

int begin_layer(Sockbuf_IO_Desc* layer, void* deadline) {
    layer->sbiod_pvt = deadline;
    return 0;
}

int end_layer(Sockbuf_IO_Desc*) { return 0; }

int control_layer(Sockbuf_IO_Desc* layer, int option, void* argument) { return LBER_SBIOD_CTRL_NEXT(layer, option, argument); }

/// False, with errno, when the deadline has passed.
bool wait_for(Sockbuf_IO_Desc* layer, short events) {
    auto const& deadline = *static_cast<LdapDeadline const*>(layer->sbiod_pvt);
    ber_socket_t socket = -1;
    ber_sockbuf_ctrl(layer->sbiod_sb, LBER_SB_OPT_GET_FD, &socket);
    for (;;) {
        auto const left = std::chrono::ceil<milliseconds>(deadline.get() - steady_now()).count();
        pollfd one{socket, events, 0};
        auto const ready = ::poll(&one, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
        if (left > 0) continue;
        errno = ETIMEDOUT;
        return false;
    }
}

ber_slen_t read_bytes(Sockbuf_IO_Desc* layer, void* into, ber_len_t size) {
    return wait_for(layer, POLLIN) ? LBER_SBIOD_READ_NEXT(layer, into, size) : -1;
}

ber_slen_t write_bytes(Sockbuf_IO_Desc* layer, void* from, ber_len_t size) {
    return wait_for(layer, POLLOUT) ? LBER_SBIOD_WRITE_NEXT(layer, from, size) : -1;
}

Sockbuf_IO deadline_io{begin_layer, end_layer, control_layer, read_bytes, write_bytes, end_layer};

int connected(LDAP*, Sockbuf* socket, LDAPURLDesc*, sockaddr*, ldap_conncb* callbacks) {
    return ber_sockbuf_add_io(socket, &deadline_io, level, callbacks->lc_arg);
}

void disconnected(LDAP*, Sockbuf*, ldap_conncb*) {}

}   // namespace

LdapDeadline::LdapDeadline() {
    callbacks_.lc_add = connected;
    callbacks_.lc_del = disconnected;
    callbacks_.lc_arg = this;
}

void LdapDeadline::use_in(LDAP* ldap) { ldap_set_option(ldap, LDAP_OPT_CONNECT_CB, &callbacks_); }

timeval time_until(SteadyTime deadline) {
    auto const left = std::max(std::chrono::duration_cast<microseconds>(deadline - steady_now()), microseconds{1'000});
    return {static_cast<time_t>(left.count() / 1'000'000), static_cast<suseconds_t>(left.count() % 1'000'000)};
}

}   // namespace garner::auth
