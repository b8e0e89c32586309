// The text of the ledger of quotas: one line for each subject that has changed. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "share/usage.hpp"

namespace garner::share {

/// The use of one quota by one subject.
struct LedgerRow {
    std::string rule;      // the name of the quota
    std::string subject;   // subject_key(); empty: all clients of the rule
    Usage usage = {};
    friend bool operator==(LedgerRow const&, LedgerRow const&) = default;
};

/// The first line of a ledger, with its end.
inline constexpr std::string_view ledger_head = "garner quotas 1\n";

/// Appends a line: its checksum, the numbers of the usage, rule and subject with escapes.
void append_row(LedgerRow const& row, std::string& text);

struct Ledger {
    std::vector<LedgerRow> rows;   // the last one of a subject counts
    std::size_t damaged = 0;       // lines that were dropped
    std::size_t torn_bytes = 0;    // after the last end of a line
    bool is_whole() const { return damaged == 0 && torn_bytes == 0; }
};

/// Reads any bytes: each line has a checksum of its own, so that a damaged line costs no other one.
Ledger parse_ledger(std::string_view text);

/// Without the former rows of each subject. The subjects that were idle longest come first.
std::vector<LedgerRow> last_rows(std::vector<LedgerRow> rows);

}   // namespace garner::share
