#include "app/predecessor.hpp"

#include <pthread.h>

#include <utility>

#include "io/log.hpp"

namespace garner::app {
namespace {

constexpr milliseconds look_at_predecessor{100};

}   // namespace

Predecessor::Predecessor(FormerRemovals removals, Parts& parts, std::function<void()> over)
    : removals_(std::move(removals)), parts_(parts), clients_(*parts.server), when_over_(std::move(over)),
      thread_([this] { run(); }) {}

Predecessor::~Predecessor() {
    stop();
    thread_.join();
}

/// An acknowledgement that is owed is tried again after each wait.
void Predecessor::run() {
    ::pthread_setname_np(::pthread_self(), "predecessor");
    while (!stopped_) {
        settle();
        if (!conversation()->channel().waits(look_at_predecessor) || read()) continue;
        over_ = true;
        return when_over_();
    }
    settle();
}

void Predecessor::settle() {
    if (disk_is_here_ || !removals_.owes_power()) removals_.settle();
}

/// False at the end.
bool Predecessor::read() {
    auto message = conversation()->channel().poll(clients_.wanted_descriptors());
    if (!message) {
        spdlog::warn("takeover: the former process has ended early; its last requests may have been aborted");
        return false;
    }
    if (!*message) return true;
    auto const& json = (*message)->json;
    if (takeover::what_of(json) == "forget" && removals_.remove(json)) return true;
    if (takeover::what_of(json) == "counters" && count(json)) return true;
    if (takeover::what_of(json) == "clients" && clients_.take(*conversation(), **message)) return true;
    if (takeover::what_of(json) == "quotas" && count_quotas(json)) return true;
    if (takeover::what_of(json) == "bye")
        spdlog::info("takeover: the former process has ended its requests");
    else
        spdlog::error("takeover: unexpected message \"{}\" of the former process", takeover::what_of(json));
    return false;
}

bool Predecessor::count(takeover::Json const& message) {
    auto const more = takeover::counters_of(message);
    if (more) parts_.former_totals.add(*more);
    return static_cast<bool>(more);
}

bool Predecessor::count_quotas(takeover::Json const& message) {
    auto const rows = takeover::quotas_of(message);
    if (rows) parts_.server->quotas().add(share::parse_ledger(*rows).rows);
    return static_cast<bool>(rows);
}

}   // namespace garner::app
