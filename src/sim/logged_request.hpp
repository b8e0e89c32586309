// One line of an access log: time, client, request and result.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/trace_record.hpp"

namespace garner::sim {

/// Views into the line; "-" and empty mean that there is none.
struct LoggedRequest {
    std::string_view time = {};     // in the notation of the format
    std::string_view client = {};   // an address
    std::string_view user = {};
    std::string_view method = {}, url = {};
    std::string_view status = {}, size = {};   // decimal; a size "-" means no bytes were sent
    std::string_view peer = {};                // the address or name of the origin or peer that was asked
    bool direct = false;                       // the peer is the origin
    bool aborted = false;                      // before the whole response was sent
    bool denied = false;                       // by access rules, as far as the format tells
    bool escaped = false;                      // texts have JSON's escapes: see unescaped()
};

/// An access log's format. read() fills the request in and returns an empty text, or says what is wrong with the line.
struct LogFormatRow {
    std::string_view name;
    Record (*read)(std::string_view line, LoggedRequest&);           // Record::broken, or of kind nothing
    std::optional<std::int64_t> (*seconds)(std::string_view time);   // since 1970
};

/// squid, combined, json.
std::span<LogFormatRow const> log_formats();

/// JSON's escapes replaced; \u00XX is one byte, as Garner writes them, other \uXXXX stay. Returns `text` itself without an escape,
/// otherwise a view into `scratch`.
std::string_view unescaped(std::string_view text, std::string& scratch);

}   // namespace garner::sim
