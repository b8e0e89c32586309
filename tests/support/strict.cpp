#include "support/strict.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <vector>

#include "support/message.hpp"

namespace garner::test {

namespace {

struct Refused {};
struct Short {};

bool is_control(unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool frames(std::string_view name) { return name == "content-length" || name == "transfer-encoding"; }

/// Reads the bytes; throws Short at their end and Refused on an error.
class Reader {
public:
    enum class Repairs : bool { none, allowed };
    Reader(std::string_view bytes, StrictAnswer& answer, Repairs repairs)
        : rest_(bytes), all_(bytes.size()), answer_(answer), repairs_(repairs == Repairs::allowed) {}

    void answer(std::string_view method) {
        do head();
        while (answer_.status < 200);
        body(method);
        answer_.bytes = all_ - rest_.size();
    }

private:
    /// The next line without its CRLF.
    std::string_view line() {
        if (repairs_) return repaired_line();
        auto const end = rest_.find('\n');
        auto const text = rest_.substr(0, end);
        auto const fault = std::ranges::find_if(text, is_control);
        bool const ends_well = end != rest_.npos && text.ends_with('\r') && fault == text.end() - 1;
        // An incomplete line may end in a CR but have no other control character.
        bool const good_so_far = fault == text.end() || (*fault == '\r' && fault == text.end() - 1);
        if (end == rest_.npos && good_so_far) throw Short{};
        if (!ends_well) throw Refused{};
        rest_.remove_prefix(end + 1);
        return text.substr(0, text.size() - 1);
    }

    /// The next line without its LF or CRLF, whatever is in it.
    std::string_view repaired_line() {
        auto const end = rest_.find('\n');
        if (end == rest_.npos) throw Short{};
        auto text = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        ends_with_crlf_ = text.ends_with('\r');
        if (ends_with_crlf_) text.remove_suffix(1);
        return text;
    }

    void head() {
        auto const start = line();
        auto const digit = [&](std::size_t at) { return at < start.size() && std::isdigit(static_cast<unsigned char>(start[at])); };
        bool const good = start.starts_with("HTTP/1.") && digit(7) && start[8] == ' ' && digit(9) && digit(10) && digit(11) &&
                          start[9] != '0' && (start.size() == 12 || start[12] == ' ');
        if (!good) throw Refused{};
        is_1_0_ = start[7] == '0';
        answer_.status = std::stoi(std::string(start.substr(9, 3)));
        if (answer_.status == 101) throw Refused{};   // an upgrade was not requested
        fields();
    }

    void fields() {
        lengths_.clear();
        codings_.clear();
        std::string last;
        for (auto text = line(); !text.empty(); text = line()) {
            bool const is_folded = repairs_ && is_blank(text.front());
            if (is_folded && (last.empty() || frames(last))) throw Refused{};
            if (is_folded) continue;
            auto const colon = text.find(':');
            if (colon == 0 || colon == text.npos) throw Refused{};
            auto name = lower(text.substr(0, colon));
            while (repairs_ && !name.empty() && is_blank(name.back())) name.pop_back();
            if (name.empty()) throw Refused{};
            last = name;
            for (unsigned char const c : name)
                if (!std::isalnum(c) && std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) == text.npos)
                    throw Refused{};
            auto value = text.substr(colon + 1);
            while (!value.empty() && is_blank(value.front())) value.remove_prefix(1);
            while (!value.empty() && is_blank(value.back())) value.remove_suffix(1);
            if (frames(name) && std::ranges::any_of(value, is_control)) throw Refused{};
            if (name == "content-length") lengths_.emplace_back(value);
            if (name == "transfer-encoding") codings_.push_back(lower(value));
        }
    }

    void body(std::string_view method) {
        auto const status = answer_.status;
        if (method == "HEAD" || status == 204 || status == 304) {
            answer_.end = StrictAnswer::End::whole;
        } else if (!codings_.empty()) {
            bool const is_doubtful = is_1_0_ || !lengths_.empty();
            if ((is_doubtful && !repairs_) || codings_ != std::vector<std::string>{"chunked"}) throw Refused{};
            chunks();
            answer_.end = StrictAnswer::End::whole;
        } else if (!lengths_.empty()) {
            if (repairs_)
                take(common_length());
            else if (lengths_.size() > 1)
                throw Refused{};
            else
                take(number(lengths_[0], 10));
            answer_.end = StrictAnswer::End::whole;
        } else {
            answer_.body = rest_;
            rest_ = {};
            answer_.end = StrictAnswer::End::at_close;
        }
    }

    /// The one value of all members.
    std::uint64_t common_length() {
        std::vector<std::uint64_t> all;
        for (auto const& line : lengths_) {
            std::string_view rest = line;
            for (;;) {
                auto member = rest.substr(0, rest.find(','));
                while (!member.empty() && is_blank(member.front())) member.remove_prefix(1);
                while (!member.empty() && is_blank(member.back())) member.remove_suffix(1);
                all.push_back(number(member, 10));
                if (rest.find(',') == rest.npos) break;
                rest.remove_prefix(rest.find(',') + 1);
            }
        }
        if (std::ranges::any_of(all, [&](std::uint64_t one) { return one != all[0]; })) throw Refused{};
        return all[0];
    }

    std::uint64_t number(std::string_view text, std::uint64_t base) {
        std::uint64_t value = 0;
        if (text.empty()) throw Refused{};
        for (unsigned char const c : text) {
            if (base == 10 ? !std::isdigit(c) : !std::isxdigit(c)) throw Refused{};
            auto const digit = static_cast<std::uint64_t>(std::isdigit(c) ? c - '0' : std::tolower(c) - 'a' + 10);
            if (value > (INT64_MAX - digit) / base) throw Refused{};
            value = value * base + digit;
        }
        return value;
    }

    void take(std::uint64_t count) {
        auto const here = std::min<std::uint64_t>(count, rest_.size());
        answer_.body += rest_.substr(0, here);
        rest_.remove_prefix(here);
        if (here < count) throw Short{};
    }

    void chunks() {
        for (;;) {
            auto const size_line = line();
            auto const size = number(size_line.substr(0, size_line.find_first_of("; \t")), 16);
            if (std::ranges::any_of(size_line, is_control)) throw Refused{};
            extension(size_line.substr(std::min(size_line.find_first_of("; \t"), size_line.size())));
            if (size == 0) break;
            take(size);
            if (rest_.size() < 2 && std::string_view("\r\n").starts_with(rest_)) throw Short{};
            bool const is_bare_lf = repairs_ && rest_.starts_with('\n');
            if (!is_bare_lf && !rest_.starts_with("\r\n")) throw Refused{};
            rest_.remove_prefix(is_bare_lf ? 1 : 2);
        }
        if (!repairs_) return fields();
        while (!line().empty()) {
        }
    }

    /// White space only before a semicolon, and every quoted string closed.
    void extension(std::string_view text) const {
        if (text.empty()) return;
        auto const begin = text.find_first_not_of(" \t");
        if (repairs_ && begin == text.npos) return;
        if (repairs_ && !ends_with_crlf_) throw Refused{};
        bool quoted = false, escaped = false;
        for (unsigned char const c : text) {
            if (c >= 0x80 && !quoted) throw Refused{};
            bool const escapes = quoted && !escaped && c == '\\';
            if (c == '"' && !escaped) quoted = !quoted;
            escaped = escapes;
        }
        if (begin == text.npos || text[begin] != ';' || quoted) throw Refused{};
    }

    std::string_view rest_;
    std::size_t all_;
    StrictAnswer& answer_;
    bool repairs_;
    bool ends_with_crlf_ = true;   // the last line
    bool is_1_0_ = false;
    std::vector<std::string> lengths_, codings_;
};

}   // namespace

namespace {

StrictAnswer read(std::string_view bytes, std::string_view method, Reader::Repairs repairs) {
    StrictAnswer answer;
    try {
        Reader(bytes, answer, repairs).answer(method);
    } catch (Short const&) {
        answer.end = StrictAnswer::End::short_of_it;
    } catch (Refused const&) {
        answer.end = StrictAnswer::End::refused;
    }
    return answer;
}

}   // namespace

StrictAnswer read_strictly(std::string_view bytes, std::string_view method) { return read(bytes, method, Reader::Repairs::none); }

StrictAnswer read_tolerantly(std::string_view bytes, std::string_view method) {
    return read(bytes, method, Reader::Repairs::allowed);
}

}   // namespace garner::test
