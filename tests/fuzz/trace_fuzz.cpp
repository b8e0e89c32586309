// Traces and access logs: sizes are bounded, error texts are short and printable, and a log line's result does not depend on the
// line before it or on the line end.
#include "sim/trace_formats.hpp"

#include <algorithm>
#include <string>

#include "fuzzed.hpp"

namespace {

using namespace garner;
using sim::Record;

void check_record(Record const& record, std::string_view line) {
    check(record.size <= sim::size_max);
    check(record.kind == Record::Kind::request || record.size == 0);
    check(fuzz::lies_inside(record.text, line));
    check((record.kind == Record::Kind::broken) == !record.why.empty());
    auto const fault = sim::fault_of(record);
    check(fault.size() < 128);
    check(std::all_of(fault.begin(), fault.end(), [](char c) { return c >= 0x20 && c <= 0x7e; }));
}

bool same(Record const& a, Record const& b) {
    return a.kind == b.kind && a.key == b.key && a.size == b.size && sim::fault_of(a) == sim::fault_of(b);
}

void check_lines(sim::FormatRow const& row, std::string_view text) {
    bool const learns = row.name == "csv";
    auto format = row.make();
    for (text = sim::without_mark(text); !text.empty();) {
        fuzz::Exact const line(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(line.view().size() + 1, text.size()));
        auto const record = sim::read_line(format, line.view());
        check_record(record, line.view());
        if (learns) continue;
        check(same(record, sim::read_line(row.make(), line.view())));
        if (!line.view().ends_with('\r')) check(same(record, sim::read_line(format, std::string(line.view()) + '\r')));
    }
}

void check_records(sim::FormatRow const& row, std::string_view bytes) {
    auto format = row.make();
    while (!bytes.empty()) {
        fuzz::Exact const record(bytes.substr(0, row.record_bytes));
        bytes.remove_prefix(record.view().size());
        check_record(format(record.view()), record.view());
    }
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Input const input(data, size);
    fuzz::Exact const bytes(input.bytes);
    auto const* found = sim::find_format("trace", bytes.view(), input.seed % 2 == 0);
    auto const rows = sim::trace_formats();
    auto const& row = found ? *found : rows[input.seed / 2 % rows.size()];
    row.record_bytes ? check_records(row, bytes.view()) : check_lines(row, bytes.view());
    return 0;
}
