#include "admin/top_rows.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace garner::admin {

namespace {

using Copies = std::span<std::unique_ptr<proxy::TopLists::Copy> const>;
using RowsByName = std::unordered_map<std::string, TopRow>;

template <class List>
void add(List const& list, RowsByName& rows) {
    list.for_each([&](std::string_view name, std::uint64_t requests, proxy::TopDetails const& details) {
        auto& row = rows[std::string(name)];
        row.requests += requests;
        row.bytes += details.bytes;
        row.hits += details.hits;
        if (!details.reason.view().empty()) row.reason = details.reason.view();
    });
}

/// Equal numbers of requests are in the order of bytes, then of names.
bool is_above(TopRow const& one, TopRow const& other) {
    if (one.requests != other.requests) return one.requests > other.requests;
    return one.bytes != other.bytes ? one.bytes > other.bytes : one.name < other.name;
}

template <class List>
std::vector<TopRow> merged(Copies copies, List proxy::TopLists::Lists::*list) {
    RowsByName by_name;
    for (auto const& copy : copies)
        for (auto const& lists : *copy) add(lists.*list, by_name);
    std::vector<TopRow> rows;
    for (auto& [name, row] : by_name) {
        row.name = name;
        rows.push_back(std::move(row));
    }
    auto const most = std::min(rows.size(), TopTables::rows_max);
    std::ranges::partial_sort(rows, rows.begin() + static_cast<std::ptrdiff_t>(most), is_above);
    rows.resize(most);
    return rows;
}

}   // namespace

TopTables merge_lists(Copies of_workers) {
    using Lists = proxy::TopLists::Lists;
    return {merged(of_workers, &Lists::hosts), merged(of_workers, &Lists::clients), merged(of_workers, &Lists::misses)};
}

}   // namespace garner::admin
