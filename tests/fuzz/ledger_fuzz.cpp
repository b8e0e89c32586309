// The ledger of quotas: any bytes are read, and what was read is written and read again as the same rows.
#include "fuzzed.hpp"
#include "share/ledger.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace garner;
    fuzz::Exact const bytes(std::string_view(reinterpret_cast<char const*>(data), size));
    auto const ledger = share::parse_ledger(bytes.view());
    check(ledger.rows.size() + ledger.damaged <= size && ledger.torn_bytes <= size);
    std::string again(share::ledger_head);
    for (auto const& row : ledger.rows) append_row(row, again);
    auto const same = share::parse_ledger(again);
    check(same.is_whole() && same.rows == ledger.rows);
    // Most inputs have a wrong checksum: parts of them are written as rows.
    fuzz::Input const input(data, size);
    auto const half = input.bytes.size() / 2;
    share::LedgerRow row{"q" + std::string(input.bytes.substr(0, half)), std::string(input.bytes.substr(half)), {}};
    row.usage.bytes = input.seed;
    std::string line;
    append_row(row, line);
    auto const one = share::parse_ledger(line);
    check(one.is_whole() && one.rows.size() == 1 && one.rows.front() == row);
    check(share::last_rows(ledger.rows).size() <= ledger.rows.size());
    return 0;
}
