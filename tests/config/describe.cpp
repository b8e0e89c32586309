#include "describe.hpp"

#include "config/keys.hpp"
#include "config/restart_keys.hpp"
#include "config/rule_form.hpp"
#include "policy/policies.hpp"
#include "util/numbers.hpp"

namespace garner::config {
namespace {

constexpr char const* introduction = R"(# Configuration

<!-- Made from the table of keys in src/config/keys.cpp; the test that compares says how to make it again. -->

One JSON file with `//` and `/* */` comments. `etc/garner.json` is an example of all parts. `etc/garner.schema.json` is the
schema for editors (`"$schema": "garner.schema.json"`). `garner check FILE` reports each error with line, key and a suggested
fix. It also checks whether the files named in the configuration can be used: by the user that runs it, or by `user` if root runs
it. It prints nothing if the configuration is valid. Garner does not start with an invalid configuration. Without a file all keys
have their defaults: a memory cache on 127.0.0.1:3128 for clients on loopback.

`--set KEY=VALUE` overrides one key: `--set memory.size=64MiB`, `--set 'listen[0].address=[::1]:3128'`,
`--set 'caching.never=["cgi-bin","?"]'`. The value is read as JSON if it is valid JSON, otherwise
as text. An item of a list is named by its index; the index after the last item adds an item. Overrides are kept at a reload.

Names of times end in `_timeout`, of upper limits in `_max` and of lower limits in `_min`. The keys of `deadlines` are times, too.
Former names of keys are still accepted, and removed keys have no effect: `garner check` and the start report both.

**Sizes** are `"64 MiB"`, `"10 GB"`, or a number of bytes; KB, MB, GB and TB are powers of 1000, KiB, MiB, GiB and TiB
of 1024. **Times** are `"300ms"`, `"2s"`, `"5m"`, `"1h"`, `"7d"`. A **list** with a single name or
network may be written without brackets.

## Keys

)";

constexpr char const* about_policies = R"(
## Replacement policies

A policy is written as its name, or with settings: `"name:setting=value:setting=value"`. A reload with another policy keeps
the stored objects. Their order of eviction is kept as far as the new policy uses the time of use.

)";

constexpr char const* about_matchers = R"(
## Matchers

All rules use these matchers. `"all"` matches every request. Otherwise all matchers of a rule must match; one of the values of
a matcher is enough. A rule without matchers, or with empty lists only, matches every request, too.

)";

constexpr char const* about_access = R"(
## Access

Rules are tried in order; the first that matches decides. If none matches, clients on loopback and clients of an
accelerator (a listener with `origin`) are allowed, whatever `source` other rules name. All other clients are denied. A rule
with `destination` is decided after the origin's name is resolved, and Garner connects to the address that was checked.
Browsers use CONNECT for https. The URL of a CONNECT is `host:port`, so `url_contains` and `url_matches` find no path in it.
The contents of the tunnel are neither inspected nor cached.

    "access": [
      { "deny":  { "host": ".ads.example" } },
      { "allow": { "source": ["127.0.0.0/8", "::1", "10.0.0.0/8"] } },
      { "deny":  "all" }
    ]

Some destinations are blocked by default, even for clients that a rule allows:

- Origins on 0.0.0.0/8, 127.0.0.0/8, 169.254.0.0/16, `::`, `::1`, `fe80::/10` and on this machine's own addresses. An IPv6
  address that contains one of them is blocked, too (v4-mapped, NAT64, 6to4, Teredo).
- CONNECT to ports other than 443.
- The ports of other protocols, such as 21, 22, 23, 25, 143, 6379 and 11211, for every method.

An allow rule with `destination` unblocks these addresses for the requests that it matches. An allow rule with `port` unblocks
these ports. `host` unblocks neither, because the owner of the name chooses its address in the DNS. The proxy never connects to
its own listening addresses and the admin address. To close an accelerator on port 8080 to other clients, write
`{ "deny": { "listener": 8080 } }` after the rules that allow some clients.

`"private_networks": "closed"` blocks private, shared, multicast, reserved, documentation and benchmark networks and the
addresses of cloud services, too. Addresses that are added to the machine while Garner runs are blocked at once. After a
403 by a rule the connection is closed. PURGE at an accelerator needs a rule of `purge`.

## Connections

At `limits.connections_max` Garner closes an idle connection: the one that has been idle longest, of the client with the most
connections. A client is an IPv4 address or an IPv6 /64 (`limits.client_prefix4`, `limits.client_prefix6`). A client gets at most
a quarter of all connections; clients on loopback have no such limit. `limits.connections_per_client` with the value of
`limits.connections_max` disables the limit. Idle connections to origins use at most half as many descriptors as clients may.
The oldest ones are closed if a client needs a descriptor.

## Reload

SIGHUP reads the file again. An invalid file is rejected, and the running configuration stays in use. Requests keep the
configuration with which they started. Changes of these keys and parts need a restart:
)";

// A bar would end the table cell.
std::string in_cell(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) text.insert(at, 1, '\\');
    return text;
}

std::string table_of(std::span<KeyNote const> notes, bool with_default) {
    std::string out = with_default ? "| Key | Written as | Default | Meaning |\n| --- | --- | --- | --- |\n"
                                   : "| Matcher | Written as | Meaning |\n| --- | --- | --- |\n";
    for (auto const& note : notes) {
        out += "| `" + note.path + "` | " + in_cell(note.written) + " | ";
        if (with_default) out += (note.preset.empty() ? "" : "`" + in_cell(note.preset) + "`") + " | ";
        out += in_cell(note.what) + " |\n";
    }
    return out;
}

std::string written(policy::Setting const& setting) {
    if (!setting.choices.empty()) {
        std::string names;
        for (auto name : setting.choices) names += (names.empty() ? "`" : ", `") + std::string(name) + "`";
        return "one of " + names;
    }
    return "number, " + short_number(setting.least) + " to " + short_number(setting.most);
}

std::string preset(policy::Setting const& setting) {
    return setting.choices.empty() ? short_number(setting.initial)
                                   : std::string(setting.choices[static_cast<std::size_t>(setting.initial)]);
}

std::string policies() {
    std::string out = "| Policy | Meaning |\n| --- | --- |\n", settings;
    for (auto const& row : policy::all()) {
        out += "| `" + std::string(row.name) + "` | " + in_cell(std::string(row.what)) + " |\n";
        for (auto const& setting : row.settings) {
            settings += "| `" + std::string(row.name) + ":" + std::string(setting.name) + "` | ";
            settings += in_cell(written(setting)) + " | `" + in_cell(preset(setting)) + "` | ";
            settings += in_cell(std::string(setting.what)) + " |\n";
        }
    }
    if (settings.empty()) return out;
    return out + "\n| Setting | Written as | Default | Meaning |\n| --- | --- | --- | --- |\n" + settings;
}

}   // namespace

std::string schema_text() {
    auto schema = configuration().schema;
    schema.json("definitions", Schema().object("matchers", matcher_schema()).object());
    auto const head = Schema().text("$schema", "http://json-schema.org/draft-07/schema#").text("title", "Configuration of Garner");
    auto all = nlohmann::ordered_json::parse(head.object());
    all.update(nlohmann::ordered_json::parse(schema.object()));
    return all.dump(2) + "\n";
}

std::string documentation_text() {
    auto out = introduction + table_of(configuration().inner, true);
    out += about_policies + policies();
    out += about_matchers + table_of(matcher_notes(), false) + about_access;
    std::string keys;
    for (auto key : restart_keys()) keys += (keys.empty() ? "`" : ", `") + std::string(key) + "`";
    return out + keys + ".\n";
}

}   // namespace garner::config
