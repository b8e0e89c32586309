#include "sim/combined_format.hpp"

#include <algorithm>

#include "sim/logged_request.hpp"

namespace garner::sim {
namespace {

/// Some servers log quotes inside the request as they came: the closing one has a status after it.
bool closes(std::string_view after) {
    return after.size() >= 5 && after[0] == ' ' && after[4] == ' ' &&
           std::all_of(after.begin() + 1, after.begin() + 4, [](char c) { return c >= '0' && c <= '9'; });
}

std::size_t closing_quote(std::string_view text) {
    auto quote = text.find('"');
    while (quote != text.npos && !closes(text.substr(quote + 1))) quote = text.find('"', quote + 1);
    return quote;
}

}  // namespace

Record CombinedFormat::read(std::string_view line) {
    // The user's name may hold spaces.
    auto time = line.find(" [");
    if (time == line.npos) return Record::broken("no [time]");
    auto quote = line.find("] \"", time);
    if (quote == line.npos) return Record::broken("no request in quotes after the time");
    line.remove_prefix(quote + 3);
    auto end = closing_quote(line);
    if (end == line.npos) return Record::broken("no request in quotes with a status after it");

    auto asked = line.substr(0, end);
    LoggedRequest request{.method = asked.substr(0, asked.find(' ')), .status = line.substr(end + 2, 3)};
    asked.remove_prefix(std::min(request.method.size() + 1, asked.size()));
    request.url = asked.substr(0, asked.rfind(" HTTP/"));
    auto size = line.substr(end + 6);
    request.size = size.substr(0, size.find(' '));
    return record_of(request);
}

}  // namespace garner::sim
