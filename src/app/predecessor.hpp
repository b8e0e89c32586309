// A process whose place this one has taken, while it ends its requests: it tells what it removes.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "cache/cache.hpp"
#include "takeover/conversation.hpp"

namespace garner::app {

/// Removes these objects from memory and disk, with all variants and parts of their URLs.
void forget(cache::Cache& cache, std::vector<std::string> const& keys);

/// Owned by the main thread. Works on a thread of its own.
class Predecessor {
public:
    /// `over`: called on the thread when that process ends.
    Predecessor(std::shared_ptr<takeover::Conversation> conversation, cache::Cache& cache, std::function<void()> over);
    /// Another process may go on with the conversation.
    ~Predecessor();

    /// This process stops in order: the former one does not take its place back. From any thread.
    void leave() { (void)conversation_->send(takeover::plain("bye")); }
    bool is_over() const { return over_; }
    std::shared_ptr<takeover::Conversation> const& conversation() const { return conversation_; }

private:
    void run();
    bool answer();

    std::shared_ptr<takeover::Conversation> const conversation_;
    cache::Cache& cache_;
    std::function<void()> const when_over_;
    std::atomic<bool> stopped_{false}, over_{false};
    std::thread thread_;
};

}   // namespace garner::app
