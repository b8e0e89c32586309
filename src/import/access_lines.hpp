// Lines such as "http_access deny !office" as rules, lists of matchers, and networks.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "import/acls.hpp"
#include "import/json.hpp"
#include "import/import_report.hpp"

namespace garner::importing {

/// Lines of one directive, in order. A missing include stands among them.
struct AccessLine {
    Line line;
    bool allow = false;
    std::vector<AclUse> uses = {};
};

/// "deny !office users", the words from `first` on. Nothing, with a report, for a line that Squid skips.
std::optional<AccessLine> read_access_line(Line const& line, std::vector<std::string> const& words, std::size_t first,
                                           Report& report);

/// The texts of deny_info, by the name of the ACL in lower case.
using Reasons = std::map<std::string, std::string>;

/// The hosts for which a peer is used.
struct Domains {
    std::vector<std::string> hosts;   // values of `peers[].domains`; empty: all
    bool any = true;                  // false: the peer is used for no host
};

class AccessWriter {
public:
    AccessWriter(Acls& acls, Report& report, Reasons const& reasons) : acls_(acls), report_(report), reasons_(reasons) {}

    /// Appends rules to those `before`, at last one for all requests. If no line matches, Squid does the opposite of the last line.
    Json access(std::vector<AccessLine> const& lines, Json before);
    /// Rules for requests to purge.
    Json purge(std::vector<AccessLine> const& lines);
    /// Rules for misses, which know neither users nor destinations.
    Json misses(std::vector<AccessLine> const& lines);

    /// Matchers of the requests that the lines allow, or deny: one of them is enough. A matcher without members is every request.
    std::vector<Json> selected(std::vector<AccessLine> const& lines, bool allow, Reading const& reading);

    /// The networks of the clients that the lines allow.
    std::vector<std::string> networks(std::vector<AccessLine> const& lines);

    /// The hosts of a peer. Nothing, with a report, if the lines name more than hosts.
    std::optional<Domains> domains(std::vector<AccessLine> const& lines);

private:
    struct Conditions {
        std::vector<Atom const*> is = {};
        std::vector<Atom const*> is_not = {};
        bool never = false;
    };
    enum class Kind : std::uint8_t { access, purge, misses };
    class Rules;

    Json rules(std::vector<AccessLine> const& lines, Reading reading, Kind kind, Json before = Json::array());
    Json matcher_of(Conditions const&);

    Acls& acls_;
    Report& report_;
    Reasons const& reasons_;
};

}   // namespace garner::importing
