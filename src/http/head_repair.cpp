#include "http/head_repair.hpp"

#include <algorithm>
#include <utility>

#include "util/text.hpp"

namespace garner::http {
namespace {

constexpr bool is_space_or_tab(char c) { return c == ' ' || c == '\t'; }

std::string_view without_end_blanks(std::string_view text) {
    while (!text.empty() && is_space_or_tab(text.back())) text.remove_suffix(1);
    return text;
}

/// A line that is no field line of its own continues the value of the one before.
bool is_folded(std::string_view line) { return !line.empty() && is_space_or_tab(line.front()); }

/// The name of a field line, without white space before the colon; empty if there is none.
std::string_view field_name(std::string_view line) {
    auto const colon = line.find(':');
    auto const name = colon == npos ? std::string_view{} : without_end_blanks(line.substr(0, colon));
    return is_token(name) ? name : std::string_view{};
}

bool frames(Name id) { return id == Name::content_length || id == Name::transfer_encoding; }

/// Writes a head line by line.
class HeadRewriter {
public:
    /// False: the line has no clear meaning.
    bool add(std::string_view line) {
        if (!line.ends_with('\r'))
            note(Repair::doubtful);
        else
            line.remove_suffix(1);
        if (text_.empty()) {
            constexpr auto status_line = std::string_view("HTTP/1.1 200 ").size();
            text_ = line.substr(0, status_line);
            add_clean(line.substr(text_.size()), Name::other);
            text_ += "\r\n";
            return true;
        }
        return is_folded(line) ? add_folded(line) : add_field(line);
    }
    void note(Repair repair) { repair_ = std::max(repair_, repair); }
    void finish(HeadRepair& repair) {
        repair.kind = HeadParse::Kind::complete;
        repair.repair = std::max(repair_, Repair::clear);
        repair.text = std::move(text_) + "\r\n";
    }

private:
    bool add_field(std::string_view line) {
        auto const name = field_name(line);
        if (name.empty()) return false;
        last_ = name_of(name);
        if (line[name.size()] != ':') note(frames(last_) ? Repair::doubtful : Repair::clear);
        text_.append(name).append(": ");
        if (!add_clean(trim(line.substr(line.find(':') + 1)), last_)) return false;
        text_ += "\r\n";
        return true;
    }
    /// RFC 9112 5.2: the line end and the white space become one space.
    bool add_folded(std::string_view line) {
        note(Repair::doubtful);
        if (frames(last_)) return false;
        text_.resize(text_.size() - 2);
        text_ += ' ';
        add_clean(trim(line), last_);
        text_ += "\r\n";
        return true;
    }
    /// RFC 9110 5.5. Some recipients end a line at a bare CR, or a value at NUL. False: a field that frames must have no such byte.
    bool add_clean(std::string_view value, Name id) {
        for (char const c : value) {
            bool const is_control = (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
            if (is_control && frames(id)) return false;
            if (is_control) note(c == '\0' || c == '\r' ? Repair::doubtful : Repair::clear);
            text_ += is_control ? ' ' : c;
        }
        return true;
    }
    std::string text_;
    Name last_ = Name::other;
    Repair repair_ = Repair::none;
};

}   // namespace

HeadRepair repair_response_head(std::string_view bytes, HeadLimits const& limits, std::size_t& scanned) {
    auto const text = bytes.substr(0, limits.bytes);
    HeadRepair repair{.kind = HeadParse::Kind::refused};
    if (!text.starts_with("HTTP/1.")) return repair;
    auto const first_field = text.find('\n') + 1;   // the parser has refused a complete line
    std::size_t begin = scanned > 0 ? text.rfind('\n', scanned - 1) + 1 : 0;
    for (auto newline = text.find('\n', std::max(begin, scanned)); newline != npos; newline = text.find('\n', begin)) {
        auto line = text.substr(begin, newline - begin);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() && begin > 0) {
            repair.bytes = newline + 1;
            break;
        }
        // Known at once: waiting for the end of the head is of no use.
        bool const is_field = begin >= first_field;
        bool const is_clear = !is_field || (is_folded(line) ? begin > first_field : !field_name(line).empty());
        if (!is_clear) return repair;
        begin = newline + 1;
    }
    if (repair.bytes == 0) {
        scanned = text.size();
        if (text.size() < limits.bytes) repair.kind = HeadParse::Kind::incomplete;
        return repair;
    }
    HeadRewriter rewriter;
    for (std::size_t at = 0; at < begin;) {
        auto const newline = text.find('\n', at);
        if (!rewriter.add(text.substr(at, newline - at))) return repair;
        at = newline + 1;
    }
    if (text[begin] == '\n') rewriter.note(Repair::doubtful);   // the empty line
    rewriter.finish(repair);
    return repair;
}

}   // namespace garner::http
