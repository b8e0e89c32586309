// A process whose place this one has taken, while it ends its requests: it tells what it removes.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "app/client_receiver.hpp"
#include "app/program_parts.hpp"
#include "app/removals.hpp"

namespace garner::app {

/// Owned by the main thread. Works on a thread of its own.
class Predecessor {
public:
    /// Its counts are added to those of `parts`, which outlive this object. `over`: called on the thread when that process ends.
    Predecessor(FormerRemovals removals, Parts& parts, std::function<void()> over);
    /// Another process may go on with the conversation.
    ~Predecessor();

    /// Begins to end the thread. The destructor waits for it.
    void stop() { stopped_ = true; }
    /// False while another process has the disk: it confirms no removal before it serves, and the thread does not wait for it.
    void set_disk_is_here(bool here) { disk_is_here_ = here; }
    /// This process stops in order: the former one does not take its place back. From any thread.
    void leave() {
        clients_.stop();
        conversation()->send_surely(takeover::plain("bye"));
    }
    /// The next process takes no client connections of that process. From any thread.
    void keep_clients() { (void)conversation()->send(takeover::plain("keep")); }
    bool is_over() const { return over_; }
    std::shared_ptr<takeover::Conversation> const& conversation() const { return removals_.conversation(); }

private:
    void run();
    bool read();
    bool count(takeover::Json const& message);
    bool count_quotas(takeover::Json const& message);
    void settle();

    FormerRemovals removals_;
    Parts& parts_;
    ClientReceiver clients_;
    std::function<void()> const when_over_;
    std::atomic<bool> stopped_{false}, over_{false}, disk_is_here_{true};
    std::thread thread_;
};

}   // namespace garner::app
