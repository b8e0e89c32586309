#include "group/notice.hpp"

#include <utility>

#include "util/big_endian.hpp"
#include "util/check.hpp"

namespace garner::group {

namespace {

using Kind = cache::Invalidation::Kind;

constexpr std::size_t notice_length_bytes = 2, fixed_bytes = 8 + 8 + 1 + 1 + 2;
constexpr std::uint8_t soft_bit = 1;

}   // namespace

std::size_t bytes_of(Notice const& notice) { return fixed_bytes + notice.what.origin.size() + notice.what.text.size(); }

void append_to(std::string& bytes, Notice const& notice) {
    auto const& what = notice.what;
    auto const size = bytes_of(notice);
    check(size <= notice_bytes_max);
    append_big_endian(static_cast<std::uint16_t>(size), bytes);
    append_big_endian(notice.id.process, bytes);
    append_big_endian(notice.id.number, bytes);
    bytes += static_cast<char>(what.kind);
    bytes += static_cast<char>(what.soft ? soft_bit : 0);
    append_big_endian(static_cast<std::uint16_t>(what.origin.size()), bytes);
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
