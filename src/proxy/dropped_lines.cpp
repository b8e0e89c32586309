#include "proxy/dropped_lines.hpp"

#include <algorithm>

namespace garner::proxy {

void DroppedLines::add(std::string_view client, std::uint16_t status) {
    MutexLock const lock(mutex_);
    ++row_of(client, status).lines;
}

DroppedLines::Row& DroppedLines::row_of(std::string_view client, std::uint16_t status) {
    auto const end = rows_.begin() + static_cast<std::ptrdiff_t>(used_);
    auto const same = [&](Row const& row) { return row.status == status && row.client() == client; };
    if (auto const found = std::find_if(rows_.begin() + 1, end, same); found != end) return *found;
    if (used_ == rows_.size() || client.size() > rows_[0].text.size()) return rows_[0];
    auto& row = rows_[used_++];
    std::ranges::copy(client, row.text.begin());
    row.length = static_cast<std::uint8_t>(client.size());
    row.status = status;
    return row;
}

std::vector<DroppedLines::Count> DroppedLines::largest(std::size_t most) const {
    std::vector<Count> all;
    {
        MutexLock const lock(mutex_);
        for (auto const& row : rows_)
            if (row.lines > 0) all.push_back({row.length ? std::string(row.client()) : "-", row.status, row.lines});
    }
    std::ranges::stable_sort(all, std::greater{}, &Count::lines);
    all.resize(std::min(all.size(), most));
    return all;
}

}   // namespace garner::proxy
