// Objects that requests miss in memory while a former process sends its objects: it is asked for them first.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/asio.hpp"
#include "store/object.hpp"
#include "util/clock.hpp"
#include "util/mutex.hpp"

namespace garner::cache {

/// Thread-safe.
class Wanted {
public:
    /// Asks the former process for the object under this key, without waiting. False: it cannot be asked any more.
    using Ask = std::function<bool(std::string_view key)>;
    void begin(Ask ask);
    /// No object comes any more: all requests go on without.
    void end();
    bool is_on() const { return on_.load(std::memory_order_relaxed); }

    /// The object under exactly this key, uncharged, though a body that it shares is charged; nullptr if the former process does
    /// not have it, or does not answer soon.
    net::awaitable<store::ObjectPtr> load(std::string_view key, net::Executor executor);

    bool waits_for(std::string_view key) const;
    /// The answer to all requests that wait for this key; nullptr: the former process does not have it.
    void answer(std::string_view key, store::ObjectPtr const& object);

private:
    struct Request;
    static constexpr std::size_t most = 1'000;   // keys
    static constexpr milliseconds patience{100};

    bool add(Request& request);
    void remove(Request const& request);

    mutable Mutex mutex_;
    Ask ask_ GUARDED_BY(mutex_);
    std::unordered_map<std::string, std::vector<Request*>> requests_ GUARDED_BY(mutex_);   // by key
    std::atomic<bool> on_{false};
};

}   // namespace garner::cache
