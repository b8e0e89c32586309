// The picture of the mesh: origins and parents above this cache, siblings beside it, clients and other caches below.
#include <algorithm>
#include <array>

#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "admin/page_sections.hpp"

namespace garner::admin {

namespace mesh_picture_part {

constexpr int box_width = 176, box_height = 80, gap = 16, tier_gap = 40, columns_max = 4;
constexpr int left = 1, width = columns_max * box_width + (columns_max - 1) * gap + 2 * left;
constexpr std::size_t peers_max = 12;   // of each type; the table has all

struct Corner {
    int x = 0, y = 0;
    int middle_x() const { return x + box_width / 2; }
    int middle_y() const { return y + box_height / 2; }
};

struct Row {
    char const* title;
    char const* stat;
    char const* unit;
};

std::string number(int value) { return std::to_string(value); }

PageCurve box(Corner at) {
    return {"", "",
            "M" + number(at.x) + " " + number(at.y) + "h" + number(box_width) + "v" + number(box_height) + "h-" +
                number(box_width) + "z",
            "box"};
}

PageCurve link(int x, int y, int to_x, int to_y) {
    return {"", "", "M" + number(x) + " " + number(y) + "L" + number(to_x) + " " + number(to_y), "link"};
}

/// A box with a title and a line for each row.
template <std::size_t Count>
PagePicture::Part part(Json const& stats, Corner at, PageFigure title, std::array<Row, Count> const& rows) {
    constexpr int margin = 10, first = 19, step = 18;
    constexpr std::size_t title_columns = 20;
    title.text = cut(title.text, title_columns);
    PagePicture::Part part;
    part.lines.push_back(box(at));
    part.texts.push_back({at.x + margin, at.y + first, std::move(title), "", "title"});
    int y = at.y + first;
    for (auto const& row : rows) {
        y += step;
        part.texts.push_back({at.x + margin, y, {row.title}});
        part.texts.push_back({at.x + box_width - margin, y, figure_at(stats, row.stat, row.unit), "", "end"});
    }
    return part;
}

PagePicture::Part peer(Json const& stats, Corner at, std::size_t index) {
    auto const path = "peers." + std::to_string(index) + ".";
    auto const type = text_at(stats, path + "type"), time = path + "query_rtt_ms", state = path + "state", hits = path + "hits";
    std::array<Row, 3> const rows{Row{type.c_str(), state.c_str(), "text"}, Row{"reply in", time.c_str(), "ms"},
                                  Row{"hits", hits.c_str(), "replies"}};
    return part(stats, at, figure_at(stats, path + "name", "text"), rows);
}

/// Dead ones come first, so that they are shown if there are too many.
std::vector<std::size_t> peers_of(Json const& stats, std::string_view type) {
    auto const& list = at(stats, "peers");
    std::vector<std::size_t> found;
    for (std::size_t i = 0; list.is_array() && i < list.size(); ++i)
        if (text_at(list[i], "type") == type) found.push_back(i);
    std::ranges::stable_partition(found, [&](std::size_t i) { return text_at(list[i], "state") == "dead"; });
    found.resize(std::min(found.size(), peers_max));
    return found;
}

/// The place of box `i` of `count`, in rows of `columns`; each row begins at `x` if it is not negative, else it is centred.
Corner place(int i, int count, int y, int columns, int x) {
    int const row = i / columns, in_row = std::min(columns, count - row * columns);
    int const begin = x >= 0 ? x : (width - in_row * (box_width + gap) + gap) / 2;
    return {begin + i % columns * (box_width + gap), y + row * (box_height + gap)};
}

int rows_of(int count, int columns) { return (count + columns - 1) / columns; }

constexpr std::array<Row, 3> of_origins{{{"connections opened", "origin.connections", "connections"},
                                         {"received", "origin.received_bytes", "bytes"},
                                         {"failures", "origin.failures", "connections"}}};
constexpr std::array<Row, 3> of_us{{{"hit ratio, 5 min", "hit_ratio.5m", "0 to 1"},
                                    {"hits", "requests.hit", "requests"},
                                    {"memory used", "cache.used_bytes", "bytes"}}};
constexpr std::array<Row, 3> of_clients{{{"connections", "connections.now", "connections"},
                                         {"requests", "requests.total", "requests"},
                                         {"bodies sent", "client.body_bytes", "bytes"}}};
constexpr std::array<Row, 3> of_askers{
    {{"queries", "icp.queries", "queries"}, {"replied HIT", "icp.hits", "replies"}, {"denied", "icp.denied", "replies"}}};

class Drawing {
public:
    explicit Drawing(Json const& stats)
        : stats_(stats), parents_(peers_of(stats, "parent")),
          siblings_(peers_of(stats, "sibling")), us_{siblings_.empty() ? (width - box_width) / 2 : left,
                                                     rows_of(above(), columns_max) * (box_height + gap) - gap + tier_gap},
          below_(us_.y + std::max(1, rows_of(beside(), columns_max - 1)) * (box_height + gap) - gap + tier_gap) {}

    /// A later part covers the lines of the former ones.
    PagePicture picture() const {
        PagePicture picture{"Origins, parents and siblings of this cache, its clients, and caches that query it; the tables have "
                            "their figures",
                            width,
                            below_ + box_height + 2,
                            {}};
        for (int i = 0; i < above(); ++i) picture.parts.push_back(upstream(i));
        for (int i = beside() - 1; i >= 0; --i) picture.parts.push_back(sibling(i));
        for (int i = 0; i < 2; ++i) picture.parts.push_back(downstream(i));
        picture.parts.push_back(part(stats_, us_, {"This cache"}, of_us));
        return picture;
    }

private:
    int above() const { return 1 + static_cast<int>(parents_.size()); }
    int beside() const { return static_cast<int>(siblings_.size()); }

    PagePicture::Part upstream(int i) const {
        auto const at = place(i, above(), 1, columns_max, siblings_.empty() ? -1 : left);
        auto made =
            i == 0 ? part(stats_, at, {"Origins"}, of_origins) : peer(stats_, at, parents_[static_cast<std::size_t>(i - 1)]);
        return linked(std::move(made), link(us_.middle_x(), us_.y, at.middle_x(), at.y + box_height));
    }
    PagePicture::Part sibling(int i) const {
        auto const at = place(i, beside(), us_.y, columns_max - 1, left + box_width + gap);
        return linked(peer(stats_, at, siblings_[static_cast<std::size_t>(i)]),
                      link(us_.x + box_width, us_.middle_y(), at.x, at.middle_y()));
    }
    PagePicture::Part downstream(int i) const {
        auto const at = place(i, 2, below_, columns_max, siblings_.empty() ? -1 : left);
        auto made = i == 0 ? part(stats_, at, {"Clients"}, of_clients) : part(stats_, at, {"Other caches"}, of_askers);
        return linked(std::move(made), link(us_.middle_x(), us_.y + box_height, at.middle_x(), at.y));
    }
    static PagePicture::Part linked(PagePicture::Part part, PageCurve line) {
        part.lines.insert(part.lines.begin(), std::move(line));
        return part;
    }

    Json const& stats_;
    std::vector<std::size_t> const parents_, siblings_;   // indices in `peers`
    Corner const us_;
    int const below_;   // the boxes below this cache
};

}   // namespace mesh_picture_part

PagePicture mesh_picture(Json const& stats) { return mesh_picture_part::Drawing(stats).picture(); }

}   // namespace garner::admin
