// HTCP messages (RFC 2756): parsed as views into their datagram, and written. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner::icp::htcp {

inline constexpr std::size_t header_size = 4;   // LENGTH, MAJOR, MINOR
inline constexpr std::size_t auth_absent = 2;   // AUTH without a signature: LENGTH alone

enum class Opcode : std::uint8_t { nop = 0, tst = 1, mon = 2, set = 3, clr = 4 };

/// RESPONSE codes for an operation (6.2, 6.5).
namespace response {
inline constexpr std::uint8_t done = 0;           // TST: stored here; CLR: removed now; NOP: the only code
inline constexpr std::uint8_t not_here = 1;       // TST
inline constexpr std::uint8_t kept = 1;           // CLR
inline constexpr std::uint8_t was_not_here = 2;   // CLR
}   // namespace response

/// RESPONSE codes about the message as a whole (2.7: MO is set).
enum class Refusal : std::uint8_t {
    unsigned_message = 0,
    bad_signature = 1,
    unknown_opcode = 2,
    major_version = 3,
    minor_version = 4,
    not_allowed = 5
};

/// The request that a message is about (3.2).
struct Specifier {
    std::string_view method, uri, version, fields;
};

/// Header lines, each with CRLF (3.3).
struct Detail {
    std::string_view response, entity, cache;
};

/// The AUTH section, if present (2.8).
struct Auth {
    std::uint32_t time = 0;      // unix seconds when it was signed
    std::uint32_t expires = 0;   // unix seconds
    std::string_view key_name;
    std::string_view signature;
};

struct Message {
    std::uint8_t minor = 1;
    Opcode opcode = Opcode::nop;
    std::uint8_t code = 0;      // RESPONSE
    bool is_response = false;   // RR
    bool flag = false;          // F1; in a request: a reply is wanted (RD); in a response: `code` is a Refusal (MO)
    std::uint32_t number = 0;   // TRANS-ID
    Specifier specifier = {};   // TST and CLR requests
    Detail detail = {};         // TST responses
    std::string_view data;      // the unmodified DATA section, which a signature covers
    std::optional<Auth> auth = {};
};

/// nullptr, or a literal that names the error. Accepts minor versions 0 and 1 in the bit order of the RFC. Bytes after the
/// parts of a section, within its length, are padding (2.6, 2.7, 2.8). A miss's DETAIL may be CACHE-HDRS alone, according
/// to the RFC, or three COUNTSTRs, which Squid sends. MON and SET are read only up to their opcode.
char const* parse(std::string_view datagram, Message& message);

/// The facts about the object in a TST response.
struct News {
    std::optional<Bytes> size = {};                // Content-Length
    std::optional<std::int64_t> age = {};          // s
    std::optional<milliseconds> source_rtt = {};   // from the answering cache to the origin: Cache-to-Origin
};
News news_of(Detail const&);

/// "Cache-to-Origin: host 1 0.012 0\r\n": samples, then seconds, then hops, in Squid's order, which differs from the RFC's.
std::string cache_to_origin(std::string_view host, milliseconds rtt);

// ---- writing: HEADER and DATA; seal() (htcp_auth.hpp) adds AUTH and completes the message ----

/// Requests a reply. Empty when `url` is longer than url_max.
std::string tst_request(std::uint32_t number, std::string_view url);
/// Like tst_request().
std::string clr_request(std::uint32_t number, std::string_view url);
/// A response to `request` without OP-DATA.
std::string answer(Message const& request, std::uint8_t code);
std::string refusal(Message const& request, Refusal);
/// Three COUNTSTRs also for a miss: Squid ignores a response with fewer.
std::string tst_answer(Message const& request, bool hit, Detail const&);

/// Writes LENGTH at the start of the message. AUTH must be complete.
void finish(std::string& message);
/// COUNTSTR (3.1).
void put_text(std::string& out, std::string_view text);

inline constexpr std::size_t message_max = 8'192;           // Squid reads no more
inline constexpr std::size_t url_max = message_max - 128;   // leaves space for the rest of a request, including its signature

}   // namespace garner::icp::htcp
