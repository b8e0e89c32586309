// The running program: its parts, its configuration, and the actions of the main thread.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "app/handover.hpp"
#include "app/memory_file.hpp"
#include "app/program_parts.hpp"
#include "app/policy_choice.hpp"
#include "app/reload_report.hpp"
#include "app/reloading.hpp"
#include "app/restoring.hpp"
#include "app/shutdown.hpp"
#include "app/takeover.hpp"
#include "app/trial.hpp"
#include "app/upkeep.hpp"
#include "config/command_line.hpp"
#include "config/load.hpp"
#include "control/control_commands.hpp"
#include "io/service_manager.hpp"

namespace garner::app {

/// Used on the main thread, unless stated otherwise.
class App {
public:
    /// `loaded` has no faults.
    App(config::CommandLine line, config::Loaded loaded, std::unique_ptr<Takeover> takeover);

    /// Opens and starts all parts. The fault names what cannot be opened.
    Result<void> open();

    /// SIGHUP: logs what it did.
    void reload();
    void reopen_log();
    /// At least once a second.
    void feed_watchdog();
    /// Every second.
    void look_after();

    /// The control socket; null if there is none.
    control::CommandServer* commands();
    /// Executes a command from the control socket.
    control::CommandResult execute(control::Json const& command);
    /// A process that wants to take over: begins, or refuses.
    void greet(control::Channel channel, control::Json const& hello);
    /// Null until a process takes over. Its run() is for another thread.
    Handover* handover() { return handover_.get(); }
    /// After Handover::Ending::undone.
    void end_handover();

    /// Stops serving, on a thread of its own. False if something still runs, so that nothing may be destroyed.
    bool stop();
    /// Ends the waits of stop(). From any thread.
    void hurry();

private:
    void take_quotas();
    void restore_memory();
    void save_memory();
    Result<void> open_control();
    Result<void> agree(takeover::Hello const& hello) const;
    takeover::Welcome welcome() const;
    takeover::Serving serving() const;
    ReloadReport reload_from_file(std::optional<seconds> confirm_within);
    ReloadReport compare(config::Loaded const& fresh) const;
    ReloadReport try_reload(config::Loaded const& fresh) const;
    ReloadReport apply(config::Loaded fresh, bool unconfirmed);
    void fit(config::Config& fresh) const;
    void return_if_unconfirmed();
    control::CommandResult execute_reload(control::Json const& command);
    control::CommandResult execute_confirm();
    void follow_best_policy();

    config::CommandLine line_;
    config::Json started_;    // the keys that the configuration of the start gives
    config::Loaded loaded_;   // the running configuration
    PolicyChoice policy_;
    Parts parts_;
    std::unique_ptr<Takeover> takeover_;   // until open() has returned. Its objects are added to the cache
    Reloading reloading_{parts_, policy_};
    std::optional<Upkeep> upkeep_;   // after open()
    std::unique_ptr<control::CommandServer> commands_;
    Trial<config::Loaded> trial_;
    io::ServiceManager const manager_;
    std::unique_ptr<Restoring> restoring_;   // null: nothing is being read
    Handover::Predecessors predecessors_;
    io::Watchdog watchdog_{manager_.watchdog()};
    Shutdown shutdown_{parts_, manager_};
    std::unique_ptr<Handover> handover_;
};

/// Loads the configuration of a command line.
config::Loaded load(config::CommandLine const& line, config::NamedFiles files);

/// The path of the control socket; empty: none.
std::string control_path(config::Config const& config);

}   // namespace garner::app
