#include "sim/squid_format.hpp"

#include <algorithm>

#include "sim/logged_request.hpp"

namespace garner::sim {
namespace {

/// Takes the next word; words are parted by one or more spaces.
std::string_view word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    auto word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
}

bool is_time(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789.") == text.npos;
}

}  // namespace

Record SquidFormat::read(std::string_view line) {
    auto time = word(line);
    if (!is_time(time)) return Record::broken("time", time, "is not in seconds");
    word(line);   // elapsed
    word(line);   // client
    auto result = word(line);
    auto slash = result.find('/');
    if (slash == result.npos) return Record::broken("result", result, "is no tag/status");
    LoggedRequest request{.status = result.substr(slash + 1), .aborted = was_aborted(result.substr(0, slash))};
    request.size = word(line);
    request.method = word(line);
    request.url = word(line);
    word(line);   // user
    auto hierarchy = word(line);
    if (hierarchy.find('/') == hierarchy.npos) return Record::broken("hierarchy", hierarchy, "is no code/peer");
    return record_of(request);
}

}  // namespace garner::sim
