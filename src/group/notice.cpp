#include "group/notice.hpp"

#include <utility>

#include "util/big_endian.hpp"
#include "util/check.hpp"

namespace garner::group {

namespace {

using Kind = cache::Invalidation::Kind;

constexpr std::size_t notice_length_bytes = 2, fixed_bytes = 8 + 8 + 1 + 1 + 2;
constexpr std::uint8_t soft_bit = 1;
constexpr unsigned char offer_kind = 4;
// length, life, number of parents; the texts have a length each
constexpr std::size_t offer_fixed_bytes = 8 + 4 + 1, text_length_bytes = 2;

std::size_t bytes_of(Offer const& offer) {
    std::size_t bytes = offer_fixed_bytes + offer.url.size() + offer.validator.size() + 2 * text_length_bytes;
    for (auto const& parent : offer.parents) bytes += text_length_bytes + parent.size();
    return bytes;
}

void append_text(std::string& bytes, std::string_view text) {
    append_big_endian(static_cast<std::uint16_t>(text.size()), bytes);
    bytes += text;
}

void append_offer(std::string& bytes, Offer const& offer) {
    check(is_sendable(offer));
    append_big_endian(offer.length, bytes);
    append_big_endian(offer.life, bytes);
    bytes += static_cast<char>(offer.parents.size());
    append_text(bytes, offer.url);
    append_text(bytes, offer.validator);
    for (auto const& parent : offer.parents) append_text(bytes, parent);
}

bool take_text(std::string_view& bytes, std::string& text) {
    if (bytes.size() < text_length_bytes) return false;
    std::size_t const size = read_big_endian<std::uint16_t>(bytes);
    bytes.remove_prefix(text_length_bytes);
    if (bytes.size() < size) return false;
    text = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return true;
}

std::optional<Offer> offer_in(std::string_view bytes) {
    if (bytes.size() < offer_fixed_bytes) return std::nullopt;
    Offer offer;
    offer.length = read_big_endian<std::uint64_t>(bytes);
    offer.life = read_big_endian<std::uint32_t>(bytes.substr(8));
    std::size_t const parents = static_cast<unsigned char>(bytes[12]);
    bytes.remove_prefix(offer_fixed_bytes);
    if (parents > offer_parents_max || !take_text(bytes, offer.url) || !take_text(bytes, offer.validator)) return std::nullopt;
    for (std::size_t i = 0; i < parents; ++i)
        if (!take_text(bytes, offer.parents.emplace_back())) return std::nullopt;
    if (!bytes.empty() || !is_sendable(offer)) return std::nullopt;
    return offer;
}

}   // namespace

std::size_t bytes_of(Notice const& notice) {
    if (notice.offer) return fixed_bytes + bytes_of(*notice.offer);
    return fixed_bytes + notice.what.origin.size() + notice.what.text.size();
}

void append_to(std::string& bytes, Notice const& notice) {
    auto const& what = notice.what;
    auto const size = bytes_of(notice);
    check(size <= notice_bytes_max);
    append_big_endian(static_cast<std::uint16_t>(size), bytes);
    append_big_endian(notice.id.process, bytes);
    append_big_endian(notice.id.number, bytes);
    bytes += notice.offer ? static_cast<char>(offer_kind) : static_cast<char>(what.kind);
    bytes += static_cast<char>(what.soft ? soft_bit : 0);
    append_big_endian(static_cast<std::uint16_t>(what.origin.size()), bytes);
    if (notice.offer) return append_offer(bytes, *notice.offer);
    bytes += what.origin;
    bytes += what.text;
}

std::optional<Notice> take_notice(std::string_view& bytes) {
    if (bytes.size() < notice_length_bytes) return std::nullopt;
    std::size_t const size = read_big_endian<std::uint16_t>(bytes);
    auto const rest = bytes.substr(notice_length_bytes);
    if (size < fixed_bytes || rest.size() < size) return std::nullopt;
    auto const own = rest.substr(0, size);
    bytes = rest.substr(size);

    Notice notice;
    notice.id = {.process = read_big_endian<std::uint64_t>(own), .number = read_big_endian<std::uint64_t>(own.substr(8))};
    auto const kind = static_cast<unsigned char>(own[16]);
    if (kind == offer_kind) {
        notice.offer = offer_in(own.substr(fixed_bytes));
        return notice.offer ? std::optional(std::move(notice)) : std::nullopt;
    }
    if (kind > static_cast<unsigned char>(Kind::all)) {
        notice.what = cache::invalidation_of_all(false);
        return notice;
    }
    std::size_t const origin = read_big_endian<std::uint16_t>(own.substr(18));
    auto const texts = own.substr(fixed_bytes);
    if (origin > texts.size()) return std::nullopt;
    notice.what = {.kind = static_cast<Kind>(kind),
                   .soft = (static_cast<unsigned char>(own[17]) & soft_bit) != 0,
                   .origin = std::string(texts.substr(0, origin)),
                   .text = std::string(texts.substr(origin))};
    return notice;
}

}   // namespace garner::group
