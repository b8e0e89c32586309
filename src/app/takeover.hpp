// The new process of a takeover, until it serves.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "app/predecessor.hpp"
#include "app/restoring.hpp"
#include "cache/cache.hpp"
#include "control/socket.hpp"
#include "net/handed_sockets.hpp"
#include "net/ticket_keys.hpp"
#include "share/ledger.hpp"
#include "takeover/conversation.hpp"

namespace garner::app {

/// Used on the main thread, in the order of its functions. A fault ends the takeover: the running process goes on.
class Takeover {
public:
    /// Greets the process that listens at `path`, and receives its sockets.
    static Result<std::unique_ptr<Takeover>> begin(std::string const& path);

    takeover::Welcome const& welcome() const { return welcome_; }
    /// Until finish().
    std::shared_ptr<net::HandedSockets> const& sockets() const { return sockets_; }
    std::shared_ptr<net::TicketKeys> ticket_keys() const;
    /// The control socket, if it is at this path; otherwise null.
    std::unique_ptr<control::Socket> control_socket(std::string const& path) const;

    /// All is built but the disk: returns when the running process has released it. Begins to receive its objects into `cache`.
    Result<void> ready(cache::Cache& cache);
    /// All is built: returns when the running process no longer accepts connections, and the cache has nothing that it has removed.
    /// Its counters, windows, failures and measurements are in `parts`.
    Result<void> serving(takeover::Serving const& uses, Parts& parts);
    /// Continues the conversations with processes that end their requests. `over`: see Predecessor.
    std::vector<std::unique_ptr<Predecessor>> finish(Parts& parts, std::function<void()> const& over);
    /// After serving(): the counts of quotas so far, one row for each subject. Nothing: the running process has not sent all.
    std::optional<std::vector<share::LedgerRow>> take_quotas() { return std::exchange(quotas_, std::nullopt); }
    /// The objects that are being received; null: none.
    std::unique_ptr<Restoring> take_objects() { return std::move(objects_); }

    // For a process in the background: it writes where the running process writes.
    void use_standard_output() const;
    void use_standard_error() const;

private:
    explicit Takeover(control::Channel channel)
        : conversation_(std::make_shared<takeover::Conversation>(std::move(channel))),
          sockets_(std::make_shared<net::HandedSockets>()) {}
    Result<void> greet();
    void use(int standard, char const* name) const;
    Result<void> tolerate_end(Fault const& fault) const;
    void add_quotas(std::string const& rows);

    std::shared_ptr<takeover::Conversation> const conversation_;
    std::shared_ptr<net::HandedSockets> sockets_;
    takeover::Welcome welcome_;
    std::optional<FormerRemovals> removals_;   // from serving() until finish()
    std::unique_ptr<Restoring> objects_;
    std::optional<std::vector<share::LedgerRow>> quotas_;
};

}   // namespace garner::app
