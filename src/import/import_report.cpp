#include "import/import_report.hpp"

#include <algorithm>
#include <set>

#include "util/utf8.hpp"

namespace garner::importing {

void Report::add(Line const& line, Kind kind, std::string const& directive, std::string const& reason) {
    auto const place = printable(line.file) + ":" + std::to_string(line.number);
    auto const* const verb = kind == Kind::dropped ? ": dropped: " : ": needs you: ";
    auto text = place + verb + printable(directive) + ": " + reason;
    // One directive may meet the same trouble for each of its values.
    if (entries_.empty() || entries_.back().text != text) entries_.push_back({line.index, kind, std::move(text)});
}

std::size_t Report::count(Kind kind) const {
    std::set<std::size_t> needing, lines;
    for (auto const& entry : entries_)
        if (entry.kind == Kind::needs_you) needing.insert(entry.index);
    if (kind == Kind::needs_you) return needing.size();
    for (auto const& entry : entries_)
        if (!needing.contains(entry.index)) lines.insert(entry.index);
    return lines.size();
}

std::string Report::text(std::size_t lines) const {
    auto sorted = entries_;
    std::ranges::stable_sort(sorted, {}, &Entry::index);
    std::string out;
    for (auto const& entry : sorted) out += entry.text + "\n";
    auto const dropped = count(Kind::dropped), needs = count(Kind::needs_you);
    return out + std::to_string(lines) + " lines: " + std::to_string(lines - dropped - needs) + " translated, " +
           std::to_string(dropped) + " dropped, " + std::to_string(needs) + " need you\n";
}

std::string printable(std::string_view text) {
    constexpr std::size_t longest = 100;
    std::string out;
    while (!text.empty() && out.size() < longest) {
        auto const c = static_cast<unsigned char>(text.front());
        auto const length = c >= ' ' && c < 0x7f ? 1 : static_cast<std::size_t>(utf8_length(text));
        out += length == 0 ? "?" : std::string(text.substr(0, length));
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return text.empty() ? out : out + "...";
}

}   // namespace garner::importing
