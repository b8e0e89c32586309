#include "crawl/url_sets.hpp"

#include <algorithm>
#include <array>

#include "crawl/disk_set.hpp"
#include "crawl/line_set.hpp"
#include "crawl/mercator_file.hpp"
#include "crawl/mercator_table.hpp"

namespace garner::crawl {
namespace {

MadeSet make_lines(SetOptions const& options) {
    return {std::make_unique<LineSet>(LineSet::Options{.expected = options.expected, .seed = options.seed})};
}

MadeSet make_runs(SetOptions const& options) {
    auto opened = DiskSet::open({.directory = options.directory, .memory = options.memory});
    return {std::move(opened.set), std::move(opened.fault)};
}

MadeSet make_mercator(SetOptions const& options) { return {std::make_unique<MercatorTable>(options.seed)}; }

MadeSet make_mercator_file(SetOptions const& options) {
    auto opened = MercatorFile::open(options.directory);
    return {std::move(opened.set), std::move(opened.fault)};
}

constexpr std::array rows{
    SetRow{"lines", "in memory: lines of 64 bytes, 45 to 60 bits an entry", false, make_lines},
    SetRow{"runs", "on disk: a sorted run and a log, 39 bits an entry at 1e8; best in large batches", true, make_runs},
    SetRow{"mercator", "in memory: Mercator's table of 5 bytes an entry behind 2^24 heads", false, make_mercator},
    SetRow{"mercator-file", "on disk: Mercator's sorted file, merged with each batch", true, make_mercator_file},
};

std::string names() {
    std::string text;
    for (auto const& row : rows) (text += text.empty() ? "" : ", ") += row.name;
    return text;
}

}  // namespace

std::span<SetRow const> url_sets() { return rows; }

MadeSet make_url_set(std::string_view name, SetOptions const& options) {
    auto const row = std::ranges::find(rows, name, &SetRow::name);
    if (row == rows.end()) return {nullptr, "no set \"" + std::string(name) + "\"; there are " + names()};
    if (row->on_disk && options.directory.empty())
        return {nullptr, "the set \"" + std::string(name) + "\" lies on disk and needs a directory"};
    return row->make(options);
}

}  // namespace garner::crawl
