#include "seen/link_status.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "util/check.hpp"

namespace garner::seen {

namespace {

constexpr std::size_t kinds = 256;
constexpr std::size_t links_a_piece = 16 * 1024;

std::string spelled(std::size_t answer) {
    auto const one = static_cast<LinkStatus>(answer);
    if (one == already_seen) return "seen";
    if (one == is_new) return "new";
    if (one == not_text) return "!not-text";
    if (one == not_durable) return "!not-durable";
    if (is_refused(one)) return "!" + std::string(name_of(static_cast<crawl::UrlFault>(answer - 1)));
    if (is_unreachable(one)) return "!partition " + std::to_string(answer - 128) + " unreachable";
    return "";
}

std::vector<std::string> const& words() {
    static std::vector<std::string> const all = [] {
        std::vector<std::string> made;
        for (std::size_t answer = 0; answer < kinds; ++answer) made.push_back(spelled(answer));
        return made;
    }();
    return all;
}

/// A word with its separators, in a buffer of fixed size, so that one copy writes it.
struct Written {
    static constexpr std::size_t room = 32;
    std::array<char, room> text{};
    std::size_t size = 0;
};
using Table = std::array<Written, kinds>;

Table table_of(std::string_view before, std::string_view after) {
    Table table;
    for (std::size_t answer = 0; answer < kinds; ++answer) {
        auto const text = std::string(before) + words()[answer] + std::string(after);
        check(text.size() <= Written::room);
        text.copy(table[answer].text.data(), text.size());
        table[answer].size = text.size();
    }
    return table;
}

Table octet_table() {
    Table table;
    for (std::size_t answer = 0; answer < kinds; ++answer) {
        auto const one = static_cast<LinkStatus>(answer);
        table[answer].size = 1;
        table[answer].text[0] = one <= is_new        ? static_cast<char>(one)
                                : is_refused(one)    ? octet_refused
                                : one == not_durable ? octet_not_durable
                                                     : octet_unreachable;
    }
    return table;
}

Table const& table(ReplyForm form) {
    static Table const lines = table_of("", "\n"), list = table_of("\"", "\","), octets = octet_table();
    return form == ReplyForm::text ? lines : form == ReplyForm::json ? list : octets;
}

}   // namespace

std::string_view word_of(LinkStatus answer) { return words()[answer]; }

std::string_view type_of(ReplyForm form) {
    return form == ReplyForm::text   ? "text/plain; charset=utf-8"
           : form == ReplyForm::json ? "application/json"
                                     : "application/octet-stream";
}

std::uint64_t ReplyWriter::length() const {
    if (form_ == ReplyForm::octets) return left_.size();
    std::array<std::uint64_t, kinds> counts{};
    for (auto const answer : left_) ++counts[answer];
    auto const& written = table(form_);
    std::uint64_t all = 0;
    for (std::size_t answer = 0; answer < kinds; ++answer) all += counts[answer] * written[answer].size;
    // "[" precedes the first word, and "]\n" replaces the last ",".
    return form_ == ReplyForm::text ? all : all + (left_.empty() ? 3 : 2);
}

bool ReplyWriter::next(std::string& into) {
    into.clear();
    bool const list = form_ == ReplyForm::json;
    if (left_.empty() && !(list && first_)) return false;
    auto const piece = left_.first(std::min(left_.size(), links_a_piece));
    left_ = left_.subspan(piece.size());
    into.resize(piece.size() * Written::room + 4);
    auto* out = into.data();
    if (list && first_) *out++ = '[';
    auto const& written = table(form_);
    for (auto const answer : piece) {
        std::memcpy(out, written[answer].text.data(), Written::room);
        out += written[answer].size;
    }
    if (list && left_.empty()) {
        if (!piece.empty()) --out;   // the last ","
        *out++ = ']', *out++ = '\n';
    }
    first_ = false;
    into.resize(static_cast<std::size_t>(out - into.data()));
    return true;
}

}   // namespace garner::seen
