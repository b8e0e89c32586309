// The old process of a takeover: hands over to the new one, and ends its requests.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "app/client_sender.hpp"
#include "app/object_sender.hpp"
#include "app/program_parts.hpp"
#include "app/predecessor.hpp"
#include "app/shutdown.hpp"
#include "control/socket.hpp"
#include "io/service_manager.hpp"
#include "store/successor_disk.hpp"
#include "takeover/conversation.hpp"
#include "util/event.hpp"

namespace garner::app {

/// run() waits for the other process, for clients and for the disk: on a thread of its own. Nothing else changes the parts
/// meanwhile.
class Handover {
public:
    struct Needs {
        Parts& parts;
        Shutdown& shutdown;
        io::ServiceManager const& manager;
        control::Socket& socket;
        config::Config const& config;
    };
    using Predecessors = std::vector<std::unique_ptr<Predecessor>>;
    Handover(Needs const& needs, control::Channel channel, takeover::Welcome welcome, Predecessors predecessors,
             takeover::Hello hello);

    enum class Ending : std::uint8_t {
        undone,   // the process goes on as before
        over,     // the new process serves, and this one has ended its requests
        stuck     // like `over`, but threads still run: nothing may be destroyed
    };
    /// Once.
    Ending run();
    /// After Ending::undone.
    Predecessors take_predecessors() { return std::move(predecessors_); }

    /// The process is to end: undoes the takeover, or gives the last requests deadlines.drain. From any thread.
    void stop();
    /// Aborts the last requests. From any thread.
    void hurry() { hurry_ = true; }
    /// False once the new process executes the commands of this control socket. From any thread.
    bool executes_commands() const { return !paused_ || !shares_control_; }

private:
    Result<void> begin();
    Result<std::vector<net::NamedSocket>> sockets();
    Result<takeover::Json> await(char const* what, milliseconds patience);
    void release_disk();
    void send_objects();
    void send_counters();
    void send_windows();
    void hand_over_quotas();
    void send_quotas(std::vector<share::LedgerRow> const& rows);
    void send_counted_quotas();
    void take_back_quotas();
    void close_seen();
    void open_seen();
    Result<void> pause();
    Result<void> go();
    Result<void> send_patiently(takeover::Json const& message);

    Ending end_requests();
    bool has_sent_objects() const { return !objects_ || objects_->is_over(); }
    bool talk(milliseconds patience);
    bool read();
    bool take(takeover::Json const& message);
    void end_clients();
    void take_clients_back(proxy::Departures::Next next);
    bool may_go_on_alone();
    void follow_stop();
    Ending bye(bool requests_ended);

    Ending undo(Fault const& why);
    void resume();

    Needs const needs_;
    takeover::Welcome const welcome_;
    takeover::Hello const hello_;
    store::DiskStats disk_stats_;                       // when the disk was handed over
    admin::Totals counted_ = admin::Totals::object();   // told to the new process
    std::shared_ptr<takeover::Conversation> const conversation_;
    Predecessors predecessors_;
    std::vector<std::shared_ptr<takeover::Conversation>> former_;     // the predecessors', while the new process reads them
    std::shared_ptr<Event> const wake_ = std::make_shared<Event>();   // also of waits for the disk that outlive this object
    control::Descriptors seen_socket_;                                // while the URL set is closed
    std::shared_ptr<store::SuccessorDisk> stand_in_;                  // null while this process has the disk
    std::unique_ptr<ObjectSender> objects_;
    ClientSender clients_{wake_};
    SteadyTime quotas_sent_{};
    bool has_handed_quotas_ = false;
    bool successor_stops_ = false, alone_ = false;   // the new process stops in order; it has ended
    bool conversation_ended_ = false;                // by the new process
    bool sends_clients_ = false;
    std::optional<store::SuccessorDisk::Removals> unsent_;
    std::atomic<bool> shares_control_{true};   // after `serving`: the new process uses the control socket
    std::atomic<bool> paused_{false}, stops_{false}, hurry_{false};
    std::atomic<SteadyTime> stopped_at_{SteadyTime{}};
};

}   // namespace garner::app
