#include "config/key_changes.hpp"

#include <algorithm>
#include <map>

#include "config/keys.hpp"
#include "config/takeover_keys.hpp"
#include "util/units.hpp"

namespace garner::config {
namespace {

using Leaves = std::map<std::string, Json>;

constexpr char const* absent = "(none)";

bool is_secret(std::string_view key) {
    if (key.starts_with("admin.tokens[") && key.ends_with("].sha256")) return true;   // a short token can be guessed from it
    return key == "htcp.secret" || key == "group.secret" || (key.starts_with("peers[") && key.ends_with("].login"));
}

/// "listen[0].address" as the table of keys has it: "listen[].address".
std::string without_indices(std::string_view key) {
    std::string path;
    for (char c : key)
        if (c < '0' || c > '9' || !path.ends_with('[')) path += c;
    return path;
}

/// A size and a time in one unit; a list of one value as the value.
Json in_one_form(Json value) {
    if (value.is_array() && value.size() == 1) value = Json(value.front());
    if (!value.is_string()) return value;
    auto const& text = value.get_ref<std::string const&>();
    if (auto const size = parse_size(text)) return size_text(*size);
    if (auto const time = parse_time(text)) return time_text(*time);
    return value;
}

/// The value as JSON. An override may have any bytes.
std::string text_of(Json const& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

void add_leaves(Leaves& leaves, std::string const& path, Json const& value) {
    bool const has_objects = value.is_array() && !value.empty() && value.front().is_object();
    if (!value.is_object() && !has_objects) {
        leaves[path] = in_one_form(value);
        return;
    }
    std::size_t index = 0;
    for (auto const& [name, member] : value.items()) {
        auto const key = has_objects ? path + "[" + std::to_string(index++) + "]" : path.empty() ? name : path + "." + name;
        add_leaves(leaves, key, member);
    }
}

Leaves leaves_of(Json const& root) {
    Leaves leaves;
    add_leaves(leaves, "", root);
    leaves.erase("$schema");
    return leaves;
}

std::map<std::string, Json> defaults() {
    std::map<std::string, Json> presets;
    for (auto const& note : configuration().describe().notes)
        if (!note.preset.empty()) presets[note.path] = in_one_form(Json::parse(note.preset));
    return presets;
}

}   // namespace

std::string KeyChange::text() const {
    return key + ": " + (after.empty() ? "(changed)" : before + " -> " + after) + (waits ? " (takeover)" : " (now)");
}

std::vector<KeyChange> key_changes(Json const& before, Json const& after) {
    auto const was = leaves_of(before), is = leaves_of(after);
    auto const presets = defaults();
    auto const value_in = [&](Leaves const& leaves, std::string const& key) {
        if (auto const leaf = leaves.find(key); leaf != leaves.end()) return text_of(leaf->second);
        auto const preset = presets.find(without_indices(key));
        return preset == presets.end() ? absent : text_of(preset->second);
    };
    auto keys = was;
    keys.insert(is.begin(), is.end());
    std::vector<KeyChange> changes;
    for (auto const& [key, ignored] : keys) {
        KeyChange change{key, value_in(was, key), value_in(is, key), needs_takeover(key)};
        if (change.before == change.after) continue;
        if (is_secret(key)) change.before = change.after = {};
        changes.push_back(std::move(change));
    }
    return changes;
}

std::vector<KeyChange> changes_of_reload(Json const& started, Json const& running, Json const& fresh) {
    auto changes = key_changes(running, fresh);
    auto pending = key_changes(started, fresh);
    std::erase_if(changes, [](KeyChange const& change) { return change.waits; });
    std::erase_if(pending, [](KeyChange const& change) { return !change.waits; });
    std::ranges::move(pending, std::back_inserter(changes));
    std::ranges::stable_sort(changes, {}, &KeyChange::key);
    return changes;
}

}   // namespace garner::config
