// Paths, faults, and suggestions for unknown keys.
#include "config/reader.hpp"

#include <algorithm>

#include "util/nearest.hpp"

namespace garner::config {
namespace {

/// "listen[0].address" as "/listen/0/address".
Json::json_pointer pointer_to(std::string_view path) {
    std::string text = "/";
    for (char c : path) {
        if (c == '.' || c == '[')
            text += '/';
        else if (c == '~' || c == '/')
            text += c == '~' ? "~0" : "~1";
        else if (c != ']')
            text += c;
    }
    return Json::json_pointer(text);
}

std::string_view last_part(std::string_view path) { return path.substr(path.find_last_of('.') + 1); }

}   // namespace

void Reader::append(std::string_view name) {
    if (!path_.empty()) path_ += '.';
    path_ += name;
}

void Reader::append(std::size_t index) { path_ += "[" + std::to_string(index) + "]"; }

void Reader::append(Below key) {
    for (auto const& part : key) std::visit([this](auto one) { append(one); }, part);
}

bool Reader::fault(Below key, std::string text, std::string mend) {
    Step const step(*this, key);
    return fault(std::move(text), std::move(mend));
}

void Reader::notice(Below key, std::string text, std::string mend) {
    Step const step(*this, key);
    notice(std::move(text), std::move(mend));
}

bool Reader::fault(std::string text, std::string mend) {
    faults_.push_back(document_.fault_at(written_path(), in_file_ + text, std::move(mend)));
    return false;
}

void Reader::notice(std::string text, std::string mend) {
    notices_.push_back(document_.fault_at(written_path(), std::move(text), std::move(mend)));
}

bool Reader::former_name(std::string_view now, bool both) {
    auto const name = last_part(path_);
    auto path = path_.substr(0, path_.size() - name.size()) + std::string(now);
    if (both) return fault("is the former name of " + path + ", which is also given", "keep only " + path);
    notice("was renamed to " + path, "write " + std::string(now));
    renamed_.push_back({path_, std::move(path)});
    return true;
}

Json Reader::root_in_present_names() const {
    Json root = document_.root();
    // The path of a key below a renamed one has the written name: inner keys come first.
    for (auto const& [written, now] : std::views::reverse(renamed_)) {
        auto const from = pointer_to(written);
        if (!root.contains(from)) continue;
        auto value = std::move(root[from]);
        root[from.parent_pointer()].erase(from.back());
        root[pointer_to(now)] = std::move(value);
    }
    return root;
}

/// Faults under a renamed key are reported with the name used in the file.
std::string Reader::written_path() const {
    for (auto const& [written, now] : renamed_) {
        if (!path_.starts_with(now)) continue;
        auto const rest = path_.substr(now.size());
        if (rest.empty() || rest.front() == '.' || rest.front() == '[') return written + rest;
    }
    return path_;
}

void Reader::unknown_key(std::span<std::string_view const> siblings) {
    auto const name = last_part(path_);
    auto const around = std::string_view(path_).substr(0, path_.size() - name.size());
    if (auto const meant = nearest(name, siblings); !meant.empty()) {
        fault("unknown key", "did you mean " + std::string(around) + std::string(meant) + "?");
        return;
    }
    for (auto const& path : known_paths_()) {
        if (last_part(path) != name) continue;
        fault("unknown key at this place", "did you mean " + path + "?");
        return;
    }
    std::string all;
    for (auto sibling : siblings) all += (all.empty() ? "" : ", ") + std::string(sibling);
    fault("unknown key", "valid keys: " + all);
}

}   // namespace garner::config
