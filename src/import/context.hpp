// The state of an import, which the directives change.
#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/access_lines.hpp"
#include "import/acls.hpp"
#include "import/json.hpp"
#include "import/lines.hpp"
#include "import/import_report.hpp"

namespace garner::importing {

struct Peer {
    std::string name;   // name in cache_peer_access
    Json json;
};

struct AuthSource {
    Line line;
    Json json;
};

struct Context {
    Context(Files const& given, Report& to) : files(given), report(to), acls(given, to) {}

    Files const& files;
    Report& report;
    Acls acls;
    Json config = Json::object();                                         // parts by key, in any order
    std::map<std::string, std::vector<AccessLine>, std::less<>> access;   // by directive
    AclFacts facts;
    Reasons reasons;                   // of deny_info
    std::vector<std::string> listen;   // addresses
    std::vector<AuthSource> auth_sources;
    std::vector<Peer> peers;
    std::map<std::string, std::vector<AccessLine>> peer_access;   // by peer
    std::vector<Json> caching_rules;
    std::string icp_port, htcp_port, udp_address;
    std::set<std::string> given;   // keys that a directive has set

    /// Sets a key such as "memory.size".
    void set(std::string_view path, Json value);
    /// Why `garner check` would reject the value on this machine, such as a file that is absent; empty: it would not.
    std::string why_not(std::string const& path, Json const& value) const {
        return files.why_not ? files.why_not(path, value.line()) : std::string();
    }
};

/// A row of the table of directives. `text` and the bounds are arguments of `take`.
struct Directive {
    std::string_view name;
    void (*take)(Context&, Line const&, Directive const&);
    char const* text = "";
    std::uint64_t min = 0;
    std::uint64_t max = 0;
};

// The directives by topic: each function is the `take` of a row.
void take_auth_param(Context&, Line const&, Directive const&);
void take_external_acl_type(Context&, Line const&, Directive const&);
void take_http_port(Context&, Line const&, Directive const&);
void take_cache_peer(Context&, Line const&, Directive const&);
void take_peer_access(Context&, Line const&, Directive const&);
void take_peer_domain(Context&, Line const&, Directive const&);
void take_refresh_pattern(Context&, Line const&, Directive const&);
void take_cache_dir(Context&, Line const&, Directive const&);
void take_policy(Context&, Line const&, Directive const&);
void take_size(Context&, Line const&, Directive const&);
void take_time(Context&, Line const&, Directive const&);
void take_milliseconds(Context&, Line const&, Directive const&);
void take_count(Context&, Line const&, Directive const&);
void take_flag(Context&, Line const&, Directive const&);
void take_addresses(Context&, Line const&, Directive const&);
void take_access_log(Context&, Line const&, Directive const&);
void take_forwarded_for(Context&, Line const&, Directive const&);
void take_name(Context&, Line const&, Directive const&);
void take_file(Context&, Line const&, Directive const&);
void take_udp(Context&, Line const&, Directive const&);
void take_tls(Context&, Line const&, Directive const&);
void take_read_timeout(Context&, Line const&, Directive const&);
void take_range_offset(Context&, Line const&, Directive const&);

/// The row of a directive; nullptr: unknown.
Directive const* find_directive(std::string_view name);
/// All rows, in the order of their names.
std::span<Directive const> all_directives();

/// Completes the configuration after the last directive: rules, lists of matchers, peers.
void finish(Context&);

}   // namespace garner::importing
