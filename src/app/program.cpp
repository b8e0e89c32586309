#include "app/program.hpp"

#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "app/app.hpp"
#include "app/background.hpp"
#include "app/client_commands.hpp"
#include "app/signal_loop.hpp"
#include "app/takeover.hpp"
#include "app/token_command.hpp"
#include "config/check_command.hpp"
#include "config/command_line.hpp"
#include "config/import_command.hpp"
#include "config/seen_command.hpp"
#include "io/log.hpp"
#include "io/privileges.hpp"
#include "io/stderr_log.hpp"
#include "sim/sim_command.hpp"
#include "util/exit_code.hpp"

namespace garner::app {
namespace {

using config::CommandLine;

int not_started(Fault const& fault) {
    io::stderr_lines("garner: not started: " + fault.text() + "\n");
    return exit_failed;
}

/// With the command takeover: greets the running process. Otherwise null.
Result<std::unique_ptr<Takeover>> take_over(CommandLine const& line, config::Config const& config) {
    if (line.command != CommandLine::Command::takeover) return std::unique_ptr<Takeover>();
    auto const path = line.from.empty() ? control_path(config) : line.from;
    if (path.empty())
        return Fault{"this configuration has no control socket", "set control.path and restart the proxy", "control.path"};
    auto takeover = Takeover::begin(path);
    if (takeover && line.background) (*takeover)->use_standard_output();
    return takeover;
}

int serve(CommandLine line) {
    io::open_standard_files();
    Background background(line.background);
    auto loaded = load(line, config::NamedFiles::tried);
    config::print_notices(loaded.notices, std::cerr);
    if (!loaded.faults.empty()) {
        config::print_faults(loaded.faults, std::cerr);
        std::fprintf(stderr, "garner: not started: the configuration has errors\n");
        return exit_failed;
    }
    io::forbid_new_privileges();
    auto const signals = block_signals();
    io::log_to_stderr();
    spdlog::set_level(spdlog::level::from_str(loaded.config.proxy.log.level));

    auto takeover = take_over(line, loaded.config);
    if (!takeover) return not_started(takeover.fault());
    auto app = std::make_unique<App>(std::move(line), std::move(loaded), *std::move(takeover));
    if (auto const opened = app->open(); !opened) return not_started(opened.fault());
    background.serves();
    return SignalLoop(std::move(app), signals).run();
}

int start(CommandLine line) {
    int code = exit_failed;
    try {
        code = serve(std::move(line));
    } catch (std::exception const& trouble) {   // no descriptors, no threads, no memory
        io::stderr_lines(std::string("garner: not started: ") + trouble.what() + "\n");
    }
    io::flush_stderr();
    return code;
}

}   // namespace

int run_program(std::span<char const* const> arguments) {
    using enum config::CommandLine::Command;
    auto line = config::parse_command_line(arguments);
    switch (line.command) {
    case help: std::fputs(line.text.c_str(), stdout); return exit_done;
    case wrong: std::fputs(line.text.c_str(), stderr); return exit_usage;
    case check: return config::check_command(line.config_file, line.sets, std::cout);
    case import: return config::import_command(line.url, std::cout, std::cerr);
    case token:
        return make_token(line.rest.front(), line.operates ? admin::Role::operator_ : admin::Role::viewer, std::cout, std::cerr);
    case rules: return ask_rules(std::move(line));
    case sim: return sim::sim_command(line.rest, std::cout, std::cerr);
    case seen: return config::seen_command(line.rest, std::cin, std::cout, std::cerr);
    case run:
    case takeover: return start(std::move(line));
    default: return ask(line);
    }
}

}   // namespace garner::app
