// Names that are compared without case.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "util/text.hpp"

namespace garner::http {

/// Names of users or groups; only ASCII letters are folded. "*" stands for every name that is not empty. Look-ups take
/// logarithmic time and allocate nothing. Immutable after construction.
class NameSet {
public:
    NameSet() = default;
    NameSet(std::vector<std::string> names) : names_(std::move(names)) {
        for (auto& name : names_) name = lower_case(name);
        std::ranges::sort(names_);
        any_ = std::ranges::binary_search(names_, "*");
    }
    NameSet(std::initializer_list<std::string> names) : NameSet(std::vector<std::string>(names)) {}

    bool contains(std::string_view name) const {
        if (any_ && !name.empty()) return true;
        auto const at = std::lower_bound(names_.begin(), names_.end(), name, [](std::string_view mine, std::string_view theirs) {
            return std::ranges::lexicographical_compare(mine, theirs, as_bytes, {}, to_lower);
        });
        return at != names_.end() && equals_ignoring_case(*at, name);
    }

    bool empty() const { return names_.empty(); }
    std::size_t size() const { return names_.size(); }
    auto begin() const { return names_.begin(); }
    auto end() const { return names_.end(); }

private:
    static constexpr bool as_bytes(char a, char b) { return static_cast<unsigned char>(a) < static_cast<unsigned char>(b); }

    std::vector<std::string> names_;   // in lower case, sorted
    bool any_ = false;
};

}   // namespace garner::http
