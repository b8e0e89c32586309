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

/// Reads the bytes; throws Short at their end and Refused on an error.
class Reader {
public:
    Reader(std::string_view bytes, StrictAnswer& answer) : rest_(bytes), all_(bytes.size()), answer_(answer) {}

    void answer(std::string_view method) {
        do head();
        while (answer_.status < 200);
        body(method);
        answer_.bytes = all_ - rest_.size();
    }

private:
    /// The next line without its CRLF.
    std::string_view line() {
        auto const end = rest_.find('\n');
        auto const text = rest_.substr(0, end);
        auto const control = [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; };
        auto const fault = std::ranges::find_if(text, control);
        bool const ends_well = end != rest_.npos && text.ends_with('\r') && fault == text.end() - 1;
        // An incomplete line may end in a CR but have no other control character.
        bool const good_so_far = fault == text.end() || (*fault == '\r' && fault == text.end() - 1);
        if (end == rest_.npos && good_so_far) throw Short{};
        if (!ends_well) throw Refused{};
        rest_.remove_prefix(end + 1);
        return text.substr(0, text.size() - 1);
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
        for (auto text = line(); !text.empty(); text = line()) {
            auto const colon = text.find(':');
            if (colon == 0 || colon == text.npos) throw Refused{};
            auto const name = lower(text.substr(0, colon));
            for (unsigned char const c : name)
                if (!std::isalnum(c) && std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) == text.npos)
                    throw Refused{};
            auto value = text.substr(colon + 1);
            while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
            while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
            if (name == "content-length") lengths_.emplace_back(value);
            if (name == "transfer-encoding") codings_.push_back(lower(value));
        }
    }

    void body(std::string_view method) {
        auto const status = answer_.status;
        if (method == "HEAD" || status == 204 || status == 304) {
            answer_.end = StrictAnswer::End::whole;
        } else if (!codings_.empty()) {
            if (is_1_0_ || !lengths_.empty() || codings_ != std::vector<std::string>{"chunked"}) throw Refused{};
            chunks();
            answer_.end = StrictAnswer::End::whole;
        } else if (!lengths_.empty()) {
            if (lengths_.size() > 1) throw Refused{};
            take(number(lengths_[0], 10));
            answer_.end = StrictAnswer::End::whole;
        } else {
            answer_.body = rest_;
            rest_ = {};
            answer_.end = StrictAnswer::End::at_close;
        }
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
            extension(size_line.substr(std::min(size_line.find_first_of("; \t"), size_line.size())));
            if (size == 0) break;
            take(size);
            if (rest_.size() < 2 && std::string_view("\r\n").starts_with(rest_)) throw Short{};
            if (!rest_.starts_with("\r\n")) throw Refused{};
            rest_.remove_prefix(2);
        }
        fields();
    }

    /// White space only before a semicolon, and every quoted string closed.
    static void extension(std::string_view text) {
        if (text.empty()) return;
        auto const begin = text.find_first_not_of(" \t");
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
    bool is_1_0_ = false;
    std::vector<std::string> lengths_, codings_;
};

}   // namespace

StrictAnswer read_strictly(std::string_view bytes, std::string_view method) {
    StrictAnswer answer;
    try {
        Reader(bytes, answer).answer(method);
    } catch (Short const&) {
        answer.end = StrictAnswer::End::short_of_it;
    } catch (Refused const&) {
        answer.end = StrictAnswer::End::refused;
    }
    return answer;
}

}   // namespace garner::test
