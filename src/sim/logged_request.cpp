#include "sim/logged_request.hpp"

#include "util/text.hpp"

namespace garner::sim {

Record record_of(LoggedRequest const& request) {
    auto status = parse_decimal(request.status);
    if (!status || *status > 999) return Record::broken("status", request.status, "is not a status");
    auto read = request.size == "-" ? SizeRead{} : read_size(request.size);
    if (!read.fault.empty()) return Record::broken("size", request.size, read.fault);

    if (request.method != "GET" || request.url.empty() || request.url == "-" || request.aborted)
        return Record::skipped();
    switch (*status) {
    case 200:
    case 203: return Record::request(key_of(request.url), read.size);
    case 304: return Record::unchanged(key_of(request.url));
    default: return Record::skipped();
    }
}

bool was_aborted(std::string_view result) {
    auto const says = [&](char const* word) { return result.find(word) != result.npos; };
    return says("_ABORTED") || says("_TIMEDOUT") || says("_TRUNCATED");
}

}  // namespace garner::sim
