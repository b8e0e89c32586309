#include "admin/page_changes.hpp"

#include "admin/json_members.hpp"

namespace garner::admin {

namespace changes_part {

std::string text_of(Json const& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json text_and_value(std::string const& text, std::string const& value) {
    auto json = Json::array({text});
    if (value != text) json.push_back(value);
    return json;
}

void add(PageParts& parts, PageFigure const& figure) {
    if (!figure.stat.empty()) parts["f:" + figure.stat] = text_of(text_and_value(figure.text, figure.value));
}

void add(PageParts& parts, PageCurve const& curve) {
    if (!curve.id.empty()) parts["c:" + curve.id] = text_of(curve.path);
}

void add(PageParts& parts, PagePicture const& picture) {
    for (auto const& part : picture.parts) {
        for (auto const& line : part.lines) add(parts, line);
        for (auto const& text : part.texts) {
            add(parts, text.figure);
            if (!text.id.empty()) parts["w:" + text.id] = text_of(text.figure.text);
        }
    }
}

Json cell_json(PageTable::Cell const& cell) {
    return cell.value.empty() || cell.value == cell.text ? Json(cell.text) : Json::array({cell.text, cell.value});
}

void add(PageParts& parts, PageTable const& table) {
    auto rows = Json::array();
    for (auto const& row : table.rows) {
        auto cells = Json::array();
        for (auto const& cell : row.cells) cells.push_back(cell_json(cell));
        rows.push_back(Json::array({row.index, row.is_trouble ? 1 : 0, std::move(cells)}));
    }
    parts["t:" + table.id] = text_of(rows);
}

void add(PageParts& parts, PageHealth const& health) {
    auto items = Json::array();
    for (auto const& item : health.items) items.push_back(Json::array({item.what, item.fix, item.section, item.title}));
    parts["h:"] = text_of(Json::array({health.state, std::move(items)}));
    add(parts, health.sentence);
}

void add(PageParts& parts, PageSection const& section) {
    for (std::size_t i = 0; i < section.words.size(); ++i)
        parts["w:" + section.id + "-words-" + std::to_string(i)] = text_of(section.words[i]);
    for (auto const& tile : section.tiles) {
        add(parts, tile.figure);
        for (auto const& note : tile.notes) add(parts, note.figure);
        for (auto const& curve : tile.curves) add(parts, curve);
    }
    if (section.picture) add(parts, *section.picture);
    for (auto const& lines : section.lines)
        for (auto const& line : lines.lines)
            for (auto const& figure : line.figures) add(parts, figure);
    for (auto const& table : section.tables) add(parts, table);
}

/// The figures of the lines that are trouble.
Json troubles(PageModel const& model) {
    auto stats = Json::array();
    for (auto const& section : model.sections)
        for (auto const& lines : section.lines)
            for (auto const& line : lines.lines)
                for (auto const& figure : line.figures)
                    if (line.is_trouble && !figure.stat.empty()) stats.push_back(figure.stat);
    return stats;
}

}   // namespace changes_part

PageParts parts_of(PageModel const& model) {
    PageParts parts;
    parts["w:title"] = changes_part::text_of(model.title);
    parts["w:at"] = changes_part::text_of(model.at);
    parts["l:"] = changes_part::text_of(changes_part::troubles(model));
    changes_part::add(parts, model.health);
    for (auto const& section : model.sections) changes_part::add(parts, section);
    return parts;
}

std::string changes(PageParts const& before, PageParts const& now) {
    std::string out;
    for (auto const& [key, part] : now) {
        auto const known = before.find(key);
        if (known != before.end() && known->second == part) continue;
        out += (out.empty() ? "{" : ",") + changes_part::text_of(key) + ":" + part;
    }
    return out.empty() ? "{}" : out + "}";
}

}   // namespace garner::admin
