// The section with the figures of `garner stats` that have no section of their own.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "admin/page_sections.hpp"

namespace garner::admin {

PageSection counters_section(nlohmann::ordered_json const& stats) {
    static constexpr std::array<std::string_view, 4> elsewhere{"Origins", "Mesh", "Disk", "Certificates"};
    PageSection section{"counters", "All counters"};
    section.folded = "Show";
    for (auto const& part : summary(stats))
        if (std::ranges::find(elsewhere, part.title) == elsewhere.end()) section.lines.push_back(lines_of(part));
    return section;
}

}   // namespace garner::admin
