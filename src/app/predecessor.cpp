#include "app/predecessor.hpp"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <set>

namespace garner::app {
namespace {

constexpr milliseconds look_at_predecessor{100};

/// True if the message was understood.
bool settle(takeover::Conversation& conversation, cache::Cache& cache, takeover::Json const& message) {
    auto const removed = takeover::forget_of(message);
    if (!removed) return false;
    forget(cache, removed->keys);
    auto const disk = cache.disk().store();
    bool const settled = !disk || disk->wait_until_settled(removed->power ? store::Survives::power : store::Survives::process);
    return !settled || conversation.send(takeover::settled(removed->number));
}

}   // namespace

void forget(cache::Cache& cache, std::vector<std::string> const& keys) {
    std::set<std::string_view> urls;
    for (auto const& key : keys) urls.insert(cache::url_of(key));
    for (auto const url : urls)
        if (!url.empty()) cache.purge(cache.key(url));
}

Predecessor::Predecessor(std::shared_ptr<takeover::Conversation> conversation, cache::Cache& cache, std::function<void()> over)
    : conversation_(std::move(conversation)), cache_(cache), when_over_(std::move(over)), thread_([this] { run(); }) {}

Predecessor::~Predecessor() {
    stopped_ = true;
    thread_.join();
}

void Predecessor::run() {
    ::pthread_setname_np(::pthread_self(), "predecessor");
    while (!stopped_) {
        if (!conversation_->channel().waits(look_at_predecessor)) continue;
        if (answer()) continue;
        over_ = true;
        return when_over_();
    }
}

/// False at the end.
bool Predecessor::answer() {
    auto const message = conversation_->channel().poll();
    if (!message) {
        spdlog::warn("takeover: the former process has ended early; its last requests may have been aborted");
        return false;
    }
    if (!*message) return true;
    auto const& json = (*message)->json;
    if (takeover::what_of(json) == "forget" && settle(*conversation_, cache_, json)) return true;
    if (takeover::what_of(json) == "bye")
        spdlog::info("takeover: the former process has ended its requests");
    else
        spdlog::error("takeover: unexpected message \"{}\" of the former process", takeover::what_of(json));
    return false;
}

}   // namespace garner::app
