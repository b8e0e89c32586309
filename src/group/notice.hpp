// An invalidation or an offer on its way through the group, and its bytes: docs/reference/group-protocol.md.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cache/invalidation.hpp"
#include "group/offer.hpp"

namespace garner::group {

/// Names one submission. Members recognise the copies from several voters by it.
struct NoticeId {
    std::uint64_t process = 0;   // of the submitter: random, new with each start
    std::uint64_t number = 0;    // counts its submissions from 1
    friend auto operator<=>(NoticeId const&, NoticeId const&) = default;
};

struct NoticeIdHash {
    std::size_t operator()(NoticeId const& id) const { return id.process ^ id.number * 0x9e3779b97f4a7c15; }
};

struct Notice {
    NoticeId id;
    cache::Invalidation what = {};
    std::optional<Offer> offer = std::nullopt;   // in place of `what`
    friend bool operator==(Notice const&, Notice const&) = default;
};

inline constexpr std::size_t notice_bytes_max = 65'535;   // after its length
std::size_t bytes_of(Notice const&);

/// The notice must not be longer than notice_bytes_max, and its offer sendable.
void append_to(std::string& bytes, Notice const&);
/// Takes one from the beginning of `bytes`. Nothing if they are malformed, or the offer is not sendable. A notice of unknown kind is one of everything.
std::optional<Notice> take_notice(std::string_view& bytes);

}   // namespace garner::group
