#include "crawl/url_sets.hpp"

#include <algorithm>
#include <array>

#include "crawl/line_set.hpp"

namespace garner::crawl {
namespace {

MadeSet make_lines(SetOptions const& options) {
    return {std::make_unique<LineSet>(LineSet::Options{.expected = options.expected, .seed = options.seed})};
}

constexpr std::array rows{
    SetRow{"lines", "in memory: lines of 64 bytes, 43 to 58 bits an entry", false, make_lines},
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
