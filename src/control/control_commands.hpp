// Commands over the control socket: a command, then the lines of its answer and its exit code.
#pragma once
#include <functional>
#include <iosfwd>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "control/socket.hpp"

struct pollfd;

namespace garner::control {

struct CommandResult {
    int code = 0;   // the exit code of the command; commands print the lines
    std::vector<std::string> lines = {};
};

/// The side of the running proxy. Used on one thread, which polls the descriptors.
class CommandServer {
public:
    /// `command` has the member `do`, a text.
    using Execute = std::function<CommandResult(Json const& command)>;
    /// Takes a connection whose first message has `do`: "hello".
    using Greet = std::function<void(Channel channel, Json const& hello)>;

    explicit CommandServer(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {}

    /// The descriptors to wait for.
    void add_to(std::vector<pollfd>& descriptors) const;
    /// Executes each command that has arrived. Waits at most 5 s for each client that reads slowly.
    void serve(Execute const& execute, Greet const& greet);

    /// For a takeover.
    Socket& socket() { return *socket_; }

private:
    void accept();
    static bool serve_one(Channel& channel, Execute const& execute, Greet const& greet);

    std::unique_ptr<Socket> socket_;
    std::list<Channel> channels_;
};

struct Executed {
    int code = 0;          // the exit code
    std::string version;   // that of the running proxy; empty: unknown
    std::string build;     // build_id() of the running proxy; empty: unknown
};
/// The side of a command: prints the lines of the answer. The fault: no proxy answers.
Result<Executed> execute(std::string const& path, Json const& command, milliseconds patience, std::ostream& out);

}   // namespace garner::control
