#include "describe.hpp"

#include "config/keys.hpp"
#include "config/takeover_keys.hpp"
#include "config/matcher_form.hpp"
#include "policy/policies.hpp"
#include "util/numbers.hpp"

namespace garner::config {
namespace {

constexpr char const* introduction = R"(# Configuration

<!-- Made from the table of keys in src/config/keys.cpp; the test that compares says how to make it again. -->

One JSON file with `//` and `/* */` comments. `etc/garner.json` is an example of all parts, and `etc/garner.schema.json` the
schema for editors (`"$schema": "garner.schema.json"`). `garner check FILE` reports each error with line, key and a suggested fix,
and prints no error if the configuration is valid; notices do not prevent a start. It also checks whether the named files can be
used: by the user that runs it, or by `user` if root runs it. Garner does not start with an invalid configuration. Without a file
all keys have their defaults: a memory cache on 127.0.0.1:3128 for clients on loopback.

`--set KEY=VALUE` overrides one key; the values of the start hold at each reload, too: `--set memory.size=64MiB`,
`--set 'listen[0].address=[::1]:3128'`, `--set 'caching.never=["cgi-bin","?"]'`. The value is read as JSON if it is valid JSON,
otherwise as text. The index after the last item of a list adds an item.

Keys that end in `_max` are upper limits, those in `_min` lower limits, and those in `_port` ports. Keys that end in `_timeout` and
those of `deadlines` are maximum times. Former names of keys are still accepted, and removed keys have no effect: `garner check` and the
start report both.

## Keys

The second column has the form of the value, and in parentheses the default unless it is empty. **Sizes** are `"64 MiB"`,
`"10 GB"`, or a number of bytes; KB to TB are powers of 1000, KiB to TiB of 1024. **Times** are `"300ms"`, `"2s"`, `"5m"`, `"1h"`,
`"7d"`. A plural, such as networks, is a list; a single item may be written without brackets, unless it is an object. A flag is
`true` or `false`.

)";

constexpr char const* about_policies = R"(
## Replacement policies

A policy is written as its name, or with settings: `"name:setting=value:setting=value"`.
[garner help policies](command-line.md#garner-help-policies) explains policies and settings. A reload with another policy keeps the
stored objects, and their order of eviction as far as the new policy uses the time of use.

)";

constexpr char const* about_matchers = R"(
## Matchers

All rules use these matchers. `"all"` matches every request. Otherwise all matchers of a rule must match; one of the values of
a matcher is enough. A rule without matchers, or with empty lists only, matches every request, too.

`file:PATH` as a value stands for the values in a file: one on each line, without quotes. Text after `#` at the start of a line or
after a space is a comment. An empty file matches nothing. A reload reads the files again. A relative path is relative to the
working directory of the process, not to the configuration file.

)";

constexpr char const* about_access = R"(
## Access

[The guide](../guides/access-control.md) explains rules. A rule with `destination` is decided after the origin's name is resolved,
and Garner connects to the address that was checked. After a 403 by a rule the connection is closed.

Some destinations are blocked by default, even for clients that a rule allows ([what opens
them](../guides/access-control.md#blocked-addresses-and-ports)):

- Origins on 0.0.0.0/8, 127.0.0.0/8, 169.254.0.0/16, `::`, `::1`, `fe80::/10` and on this machine's own addresses, also those added
  while Garner runs. An IPv6 address that contains one of them is blocked, too (v4-mapped, NAT64, 6to4, Teredo).
- Other networks with `"private_networks": "closed"`.
- CONNECT to ports other than 443.
- The ports of other protocols, such as 21, 22, 23, 25, 143, 6379 and 11211, for every method.
- The listening addresses of the proxy and the admin address.

## Reload

[Operating](../guides/operating.md#reload) describes a reload, which does not log the values of secrets. Changes of these keys and
parts need a takeover or a restart:
)";

// A bar would end the table cell.
std::string in_cell(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) text.insert(at, 1, '\\');
    return text;
}

/// The form of the value, and the default if it is not empty.
std::string value_of(KeyNote const& note) {
    bool const has_default = !note.preset.empty() && note.preset != "[]" && note.preset != R"("")";
    return in_cell(has_default ? note.written + " (`" + note.preset + "`)" : note.written);
}

std::string table_of(std::span<KeyNote const> notes, char const* first) {
    std::string out = "| " + std::string(first) + " | Value | Meaning |\n|---|---|---|\n";
    for (auto const& note : notes) out += "| `" + note.path + "` | " + value_of(note) + " | " + in_cell(note.what) + " |\n";
    return out;
}

std::string values_of(policy::Setting const& setting) {
    if (setting.choices.empty()) return short_number(setting.least) + " to " + short_number(setting.most);
    std::string names;
    for (auto name : setting.choices) names += (names.empty() ? "`" : ", `") + std::string(name) + "`";
    return names;
}

std::string preset(policy::Setting const& setting) {
    return setting.choices.empty() ? short_number(setting.initial)
                                   : std::string(setting.choices[static_cast<std::size_t>(setting.initial)]);
}

std::string policies() {
    std::string names, settings;
    for (auto const& row : policy::all()) {
        names += (names.empty() ? "`" : ", `") + std::string(row.name) + "`";
        for (auto const& setting : row.settings)
            settings += "| `" + std::string(row.name) + ":" + std::string(setting.name) + "` | " + in_cell(values_of(setting)) +
                        " | `" + in_cell(preset(setting)) + "` |\n";
    }
    return "Policies: " + names + ".\n\n| Setting | Values | Default |\n|---|---|---|\n" + settings;
}

}   // namespace

std::string schema_text() {
    auto schema = configuration().describe().schema;
    schema.json("definitions", Schema().object("matchers", matcher_schema()).object());
    auto const head = Schema().text("$schema", "http://json-schema.org/draft-07/schema#").text("title", "Configuration of Garner");
    auto all = nlohmann::ordered_json::parse(head.object());
    all.update(nlohmann::ordered_json::parse(schema.object()));
    return all.dump(2) + "\n";
}

std::string documentation_text() {
    auto out = introduction + table_of(configuration().describe().notes, "Key");
    out += about_policies + policies();
    out += about_matchers + table_of(matcher_notes(), "Matcher") + about_access;
    std::string keys;
    for (auto key : takeover_keys()) keys += (keys.empty() ? "`" : ", `") + std::string(key) + "`";
    return out + keys + ".\n";
}

}   // namespace garner::config
