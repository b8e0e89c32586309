// squid.conf: every text gives a configuration and a report, whose totals add up.
#include "import/squid_conf.hpp"

#include <algorithm>
#include <string>

#include "fuzzed.hpp"

namespace {

using namespace garner;

/// Every file has the text itself, so that a text may include itself and take lists from itself.
importing::Files files_of(std::string_view text) {
    return {.read = [text](std::string const&) -> Result<std::string> { return std::string(text); },
            .find = [](std::string const& pattern) { return std::vector<std::string>{pattern}; },
            .locate = [](std::string const& path) { return path; }};
}

bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c == '\n' || (static_cast<unsigned char>(c) >= ' ' && c != 0x7f); });
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Exact const text({reinterpret_cast<char const*>(data), size});
    auto const imported = importing::import_squid("squid.conf", text.view(), files_of(text.view()));
    if (!imported) return 0;   // files that include each other
    check(is_printable(imported->configuration) && is_printable(imported->report));
    check(imported->configuration.find("\"access\": [") != std::string::npos);
    check(imported->report.ends_with(" need you\n"));
    check(imported->needs_you != imported->report.ends_with(" 0 need you\n"));
    return 0;
}
