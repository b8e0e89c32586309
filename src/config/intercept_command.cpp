#include "config/intercept_command.hpp"

#include <cstdio>
#include <map>
#include <ostream>
#include <string>

#include "config/intercept_rules.hpp"
#include "util/exit_code.hpp"
#include "util/text.hpp"

namespace garner::config {
namespace {

struct Printed {
    bool is_known = false;   // otherwise `text` is the error of the command
    std::string text;
};

/// The error tells that there is no such table, rather than that the command cannot tell.
bool is_absent(std::string const& error) {
    return error.find("No such file or directory") != npos || error.find("FIB table does not exist") != npos;
}

/// `command`: a literal, without anything that the operator has written. nft and ip are not in the path of normal users.
Printed printed_by(std::string const& command) {
    auto const line = "PATH=\"$PATH:/usr/sbin:/sbin\" LC_ALL=C " + command + " 2>&1";
    FILE* const pipe = ::popen(line.c_str(), "r");
    if (!pipe) return {};
    Printed printed;
    char bytes[4096];
    for (auto count = std::fread(bytes, 1, sizeof bytes, pipe); count > 0; count = std::fread(bytes, 1, sizeof bytes, pipe))
        printed.text.append(bytes, count);
    printed.is_known = ::pclose(pipe) == 0 || is_absent(printed.text);
    return printed;
}

/// Each command is run once.
class Machine {
public:
    explicit Machine(std::ostream& err) : err_(err) {}

    /// nullptr if the command fails, which is printed.
    std::string const* ask(std::string const& command) {
        auto const known = printed_.find(command);
        auto const& printed = known == printed_.end() ? run(command) : known->second;
        return printed.is_known ? &printed.text : nullptr;
    }

private:
    Printed const& run(std::string const& command) {
        auto const& printed = printed_.emplace(command, printed_by(command)).first->second;
        if (!printed.is_known)
            err_ << "garner: " << command << ": " << printed.text.substr(0, printed.text.find('\n'))
                 << " (run garner intercept --check as root, with nftables and iproute2 installed)\n";
        return printed;
    }

    std::ostream& err_;
    std::map<std::string, Printed> printed_;
};

int check(std::span<InterceptedFamily const> families, std::span<std::string const> interfaces, std::ostream& out,
          std::ostream& err) {
    Machine machine(err);
    int code = exit_done;
    for (auto const& wanted : wanted_lines(families, interfaces)) {
        auto const* const printed = machine.ask(wanted.command);
        if (printed && has_line(*printed, wanted.line)) continue;
        if (printed) out << "missing: " << wanted.line << " (" << wanted.mend << ")\n";
        code = exit_failed;
    }
    return code;
}

/// The connections that no listener gets.
void tell_of_rest(std::span<InterceptedFamily const> families, std::span<proxy::Listen const> listen, std::ostream& err) {
    if (families.size() == 1)
        err << "notice: no listener intercepts " << (families.front().is_v4 ? "IPv6" : "IPv4")
            << ", so that its connections pass by the proxy (listen on all addresses: \":" << families.front().to.port << "\")\n";
    for (std::size_t i = 0; i < listen.size(); ++i) {
        auto const name = "listen[" + std::to_string(i) + "]";
        bool is_used = listen[i].intercept == net::Intercept::off;
        for (auto const& family : families) is_used = is_used || family.listener == name;
        if (!is_used) err << "notice: " << name << " gets no connections: another listener gets them, or it is on loopback\n";
    }
}

}   // namespace

int intercept_command(CommandLine::Intercept const& intercept, std::span<proxy::Listen const> listen, std::ostream& out,
                      std::ostream& err) {
    auto const families = intercepted_families(listen);
    if (families.empty()) {
        err << "garner: no listener can intercept connections of other machines: set listen[].intercept of a listener that is not "
               "on loopback\n";
        return exit_failed;
    }
    tell_of_rest(families, listen, err);
    if (intercept.check) return check(families, intercept.interfaces, out, err);
    out << intercept_script(families, intercept.interfaces);
    return exit_done;
}

}   // namespace garner::config
