// The section with the disk tier.
#include <nlohmann/json.hpp>

#include "admin/page_sections.hpp"

namespace garner::admin {

PageSection disk_section(nlohmann::ordered_json const& stats) {
    PageSection section{"disk", "Disk"};
    if (!has_disk(stats)) {
        section.words = {"No disk is configured (disk.path)."};
        return section;
    }
    auto lines = lines_of(summary_section(stats, "Disk"));
    lines.title.clear();
    section.lines.push_back(std::move(lines));
    return section;
}

}   // namespace garner::admin
