// HTCP messages (RFC 2756): read as views into their datagram, and written. Pure.
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

/// RESPONSE of an answer to the operation (6.2, 6.5).
namespace response {
inline constexpr std::uint8_t done = 0;          // TST: it is here; CLR: it is gone now; NOP: the only one
inline constexpr std::uint8_t not_here = 1;      // TST
inline constexpr std::uint8_t kept = 1;          // CLR
inline constexpr std::uint8_t was_not_here = 2;  // CLR
}  // namespace response

/// RESPONSE of an answer about the message as a whole (2.7: MO is set).
enum class Refusal : std::uint8_t {
    unsigned_message = 0,
    bad_signature = 1,
    unknown_opcode = 2,
    major_version = 3,
    minor_version = 4,
    not_allowed = 5
};

/// Whose headers a message is about (3.2).
struct Specifier {
    std::string_view method, uri, version, fields;
};

/// Header lines, each with CRLF (3.3).
struct Detail {
    std::string_view response, entity, cache;
};

/// The AUTH section, where there is one (2.8).
struct Auth {
    std::uint32_t time = 0;      // unix seconds when it was signed
    std::uint32_t expires = 0;   // unix seconds
    std::string_view key_name;
    std::string_view signature;
};

struct Message {
    std::uint8_t minor = 1;
    Opcode opcode = Opcode::nop;
    std::uint8_t code = 0;                // RESPONSE
    bool is_response = false;             // RR
    bool flag = false;                    // F1; of a request: an answer is wanted (RD); of a response: `code` is a
                                          // Refusal (MO)
    std::uint32_t number = 0;             // TRANS-ID
    Specifier specifier = {};             // TST and CLR requests
    Detail detail = {};                   // TST responses
    std::string_view data;                // the DATA section as it came, which a signature covers
    std::optional<Auth> auth = {};
};

/// nullptr, or a literal that names the fault. Takes minor versions 0 and 1 in the bit order of the RFC. What follows
/// the parts of a section within its length is padding (2.6, 2.7, 2.8). A miss's DETAIL may be CACHE-HDRS alone, as in
/// the RFC, or three COUNTSTRs, as Squid sends it. MON and SET are not read beyond their opcode.
char const* parse(std::string_view datagram, Message& message);

/// What a TST's answer tells of the object.
struct News {
    std::optional<Bytes> size = {};                // Content-Length
    std::optional<std::int64_t> age = {};          // s
    std::optional<milliseconds> source_rtt = {};   // from the answering cache to the origin: Cache-to-Origin
};
News news_of(Detail const&);

/// "Cache-to-Origin: host 1 0.012 0\r\n": samples, then seconds, then hops, as Squid orders them against the RFC.
std::string cache_to_origin(std::string_view host, milliseconds rtt);

// ---- writing: HEADER and DATA; seal() (htcp_auth.hpp) adds AUTH and makes it a message ----

/// Wants an answer. Empty when `url` is longer than url_max.
std::string tst_request(std::uint32_t number, std::string_view url);
/// The same.
std::string clr_request(std::uint32_t number, std::string_view url);
/// Of a message without OP-DATA: an answer to `request`.
std::string answer(Message const& request, std::uint8_t code);
std::string refusal(Message const& request, Refusal);
/// Three COUNTSTRs also for a miss: Squid ignores what has fewer.
std::string tst_answer(Message const& request, bool hit, Detail const&);

/// Writes LENGTH at the message's begin. AUTH is complete.
void finish(std::string& message);
/// COUNTSTR (3.1).
void put_text(std::string& out, std::string_view text);

inline constexpr std::size_t message_max = 8'192;         // Squid reads no more
inline constexpr std::size_t url_max = message_max - 128;   // what else is in a request, its signature too

}  // namespace garner::icp::htcp
