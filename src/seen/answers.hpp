// What is answered for each link of a batch, and how that is written.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "crawl/url_fault.hpp"

namespace garner::seen {

/// One link's answer: below `not_text` as the constants say, then a partition each.
using Answer = std::uint8_t;

inline constexpr Answer already_seen = 0;   // as in crawl::UrlSet's is_new
inline constexpr Answer is_new = 1;
/// No URL that is fetched; not for UrlFault::none.
constexpr Answer refused(crawl::UrlFault why) { return static_cast<Answer>(1 + static_cast<unsigned>(why)); }
inline constexpr Answer not_text = 1 + crawl::url_fault_count;        // an element of a JSON list that is no string
/// New and in the set, of whose process was wanted that it survives, and which does not promise it.
inline constexpr Answer not_durable = not_text + 1;
inline constexpr std::uint32_t partitions_max = 64;
/// Its partition has not answered: whether it was seen is not known.
constexpr Answer unreachable(std::uint32_t partition) { return static_cast<Answer>(128 + partition); }
/// Not yet known: the set of this process is asked. Never written.
inline constexpr Answer asked_here = 255;

constexpr bool is_refused(Answer answer) { return answer > is_new && answer <= not_text; }
constexpr bool is_unreachable(Answer answer) { return answer >= 128 && answer < 128 + partitions_max; }

/// "new", "seen", "!too-long", "!not-durable", "!partition 1 unreachable".
std::string_view word_of(Answer);

/// text: a line each. json: a list of the words. octets: a byte each: 0 seen, 1 new, 2 refused, 3 unreachable, 4 not durable.
enum class AnswerForm : std::uint8_t { text, json, octets };
inline constexpr char octet_refused = 2, octet_unreachable = 3, octet_not_durable = 4;

/// As a Content-Type.
std::string_view type_of(AnswerForm);

/// Writes the answers of a batch piece by piece.
class AnswerWriter {
public:
    AnswerWriter(AnswerForm form, std::span<Answer const> all) : form_(form), left_(all), first_(true) {}

    /// Bytes of all pieces together.
    std::uint64_t length() const;
    /// The next piece, some 64 KiB, in place of what was in `into`; false when there is no more.
    bool next(std::string& into);

private:
    AnswerForm form_;
    std::span<Answer const> left_;
    bool first_;
};

}  // namespace garner::seen
