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

One JSON file with `//` and `/* */` comments. `etc/garner.json` is an example with every part in it, and
`etc/garner.schema.json` tells editors about it (`"$schema": "garner.schema.json"`). `garner check FILE` names every
fault with its line, its key and what would mend it, looks whether the files that it names can be used, and prints
nothing when all is well; nothing starts with a faulty configuration. Without a file all defaults hold: a memory cache
on 127.0.0.1:3128 for clients on loopback.

`--set KEY=VALUE` overrides one key: `--set memory.size=64MiB`, `--set 'listen[0].address=[::1]:3128'`,
`--set 'caching.never=["cgi-bin","?"]'`. The value is JSON where it parses, and text otherwise. A list's item is named
by its index; the index after the last adds one. Overrides hold across reloads.

A wait is called `*_timeout`, an upper bound `*_max` and a lower one `*_min`; the keys of `deadlines` are waits, too. Former
names of keys are read as ever, and keys that are no more have no effect: `garner check` and the start tell of both.

**Sizes** are `"64 MiB"`, `"10 GB"`, or a number of bytes; KB, MB, GB and TB are powers of 1000, KiB, MiB, GiB and TiB
of 1024. **Times** are `"300ms"`, `"2s"`, `"5m"`, `"1h"`, `"7d"`. Where a **list** of names or networks is asked for,
a single one may stand alone.

## Keys

)";

constexpr char const* about_policies = R"(
## Replacement policies

A policy is written as its name, or with settings of its own: `"name:setting=value:setting=value"`. A reload with
another one keeps what is stored, and what was about to leave is still the first to leave as far as the new one goes by
the time of use.

)";

constexpr char const* about_matchers = R"(
## Matchers

The same wherever a rule is written. `"all"` matches everything; otherwise all matchers that are given must match, and
of the values of one matcher any. A rule that gives none, or only empty lists, matches everything, too.

)";

constexpr char const* about_access = R"(
## Access

Rules are tried in order; the first that matches decides. When none matches, clients on loopback are served, and
visitors of an accelerator (a listener with `origin`), whatever `source` other rules name; all others are refused. A rule
with `destination` is decided when the origin's address is known, and the address checked is the address connected to.
Browsers ask for https by CONNECT. A rule sees the URL of a CONNECT as `host:port` alone, so that `url_contains` and
`url_matches` find no path in it. The contents of the tunnel are neither seen nor cached.

    "access": [
      { "deny":  { "host": ".ads.example" } },
      { "allow": { "source": ["127.0.0.0/8", "::1", "10.0.0.0/8"] } },
      { "deny":  "all" }
    ]

Some things are closed by default, even to clients that a rule serves: origins on 0.0.0.0/8, 127.0.0.0/8,
169.254.0.0/16, `::`, `::1`, `fe80::/10` and on this machine's own addresses, also where an IPv6 address carries one
of them (v4-mapped, NAT64, 6to4, Teredo); CONNECT to ports other than 443; and the ports of
other protocols, such as 21, 22, 23, 25, 143, 6379 and 11211, for every method. An allow rule with `destination` opens these addresses, and one with `port` opens these ports, for the requests that
it matches. `host` opens neither: the owner of the name chooses its address in the DNS. The proxy's own
listening addresses and the admin address are never reached through it. To keep visitors from an accelerator on port 8080,
write `{ "deny": { "listener": 8080 } }` behind the rules that allow some.

`"private_networks": "closed"` blocks private, shared, multicast, reserved, documentation and benchmark networks and the
addresses of cloud services, too. Addresses that the machine gets while Garner runs are blocked at once. After a 403 by a rule
the connection is closed. PURGE at an accelerator needs a rule of `purge`.

## Connections

At `limits.connections_max` Garner closes a connection that waits for a request: of the client with most connections the one
that has waited longest. One client is an IPv4 address or an IPv6 /64 (`limits.client_prefix4`, `limits.client_prefix6`). It
gets a quarter of all connections at most, and clients on loopback as many as there are; `limits.connections_per_client`
with the number of `limits.connections_max` switches the share off. Idle connections to origins take at most half as many
descriptors as clients may, and the oldest ones are closed where a client needs a descriptor.

## Reload

SIGHUP reads the file again; a faulty one is refused and the running configuration stays. Requests keep the
configuration they began with. These keys and parts need a restart:
)";

// A bar would end the table's cell.
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

}  // namespace

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

}  // namespace garner::config
