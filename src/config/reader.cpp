// Paths, faults, and what was probably meant.
#include "config/reader.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace garner::config {
namespace {

constexpr std::size_t word_max = 64;   // longer words are nobody's typing mistake

// How many letters were left out, put in, mistaken or swapped with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        next[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            bool const same = to_lower(a[i - 1]) == to_lower(b[j - 1]);
            next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1)});
            bool const swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
        }
        before.swap(row);
        row.swap(next);
    }
    return row[b.size()];
}

std::string_view last_part(std::string_view path) { return path.substr(path.find_last_of('.') + 1); }

}  // namespace

std::string_view nearest(std::string_view word, std::span<std::string_view const> candidates) {
    if (word.size() > word_max) return {};
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (auto candidate : candidates) {
        auto const apart = distance(word, candidate);
        if (apart >= best_distance || apart >= candidate.size()) continue;
        best = candidate;
        best_distance = apart;
    }
    return best;
}

Reader::Step::Step(Reader& reader, std::string_view name) : reader_(reader), length_(reader.path_.size()) {
    if (!reader.path_.empty()) reader.path_ += '.';
    reader.path_ += name;
}

Reader::Step::Step(Reader& reader, std::size_t index) : reader_(reader), length_(reader.path_.size()) {
    reader.path_ += "[" + std::to_string(index) + "]";
}

bool Reader::fault(std::string text, std::string mend) {
    faults_.push_back(document_.fault_at(path_, std::move(text), std::move(mend)));
    return false;
}

void Reader::notice(std::string text, std::string mend) {
    notices_.push_back(document_.fault_at(path_, std::move(text), std::move(mend)));
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
        fault("unknown key here", "did you mean " + path + "?");
        return;
    }
    std::string all;
    for (auto sibling : siblings) all += (all.empty() ? "" : ", ") + std::string(sibling);
    fault("unknown key", "known here: " + all);
}

}  // namespace garner::config
