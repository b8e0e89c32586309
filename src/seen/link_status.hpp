// The status of each link of a batch, and how the reply writes it.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "crawl/url_fault.hpp"

namespace garner::seen {

/// The values up to `not_durable` are the constants below. Each value from 128 on is unreachable() for one partition.
using LinkStatus = std::uint8_t;

inline constexpr LinkStatus already_seen = 0;   // 0 and 1 are those of crawl::UrlSet's is_new
inline constexpr LinkStatus is_new = 1;
/// The link is no URL that a crawler fetches. `why` must not be UrlFault::none.
constexpr LinkStatus refused(crawl::UrlFault why) { return static_cast<LinkStatus>(1 + static_cast<unsigned>(why)); }
inline constexpr LinkStatus not_text = 1 + crawl::url_fault_count;   // an element of a JSON list that is no string
/// The link is new and in the set. Durability was requested, but the set does not guarantee it.
inline constexpr LinkStatus not_durable = not_text + 1;
inline constexpr std::uint32_t partitions_max = 64;
/// The partition of the link has not answered, so it is unknown whether the link was seen.
constexpr LinkStatus unreachable(std::uint32_t partition) { return static_cast<LinkStatus>(128 + partition); }
/// The set of this process has not answered yet. Never in a reply.
inline constexpr LinkStatus asked_here = 255;

constexpr bool is_refused(LinkStatus status) { return status > is_new && status <= not_text; }
constexpr bool is_unreachable(LinkStatus status) { return status >= 128 && status < 128 + partitions_max; }

/// "new", "seen", "!too-long", "!not-durable", "!partition 1 unreachable".
std::string_view word_of(LinkStatus);

/// text: a line each. json: a list of the words. octets: a byte each: 0 seen, 1 new, 2 refused, 3 unreachable, 4 not durable.
enum class ReplyForm : std::uint8_t { text, json, octets };
inline constexpr char octet_refused = 2, octet_unreachable = 3, octet_not_durable = 4;

/// The Content-Type.
std::string_view type_of(ReplyForm);

/// Writes the answers of a batch piece by piece.
class ReplyWriter {
public:
    ReplyWriter(ReplyForm form, std::span<LinkStatus const> all) : form_(form), left_(all), first_(true) {}

    /// Bytes of all pieces together.
    std::uint64_t length() const;
    /// Replaces `into` by the next piece of about 64 KiB. False: no more pieces.
    bool next(std::string& into);

private:
    ReplyForm form_;
    std::span<LinkStatus const> left_;
    bool first_;
};

}   // namespace garner::seen
