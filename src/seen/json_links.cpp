#include "seen/json_links.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace garner::seen {

namespace {

// A URL in which each byte is written as \u00XX.
constexpr std::size_t element_max = 6 * crawl::url_bytes_max + 2;

constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view without_space(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

/// The number of bytes before the next quote or backslash. Searches window by window: a search for a distant quote would be
/// repeated after each escape before it.
std::size_t plain_bytes(std::string_view text) {
    constexpr std::size_t window = 64;
    for (std::size_t at = 0; at < text.size(); at += window) {
        auto const part = text.substr(at, window);
        auto const quote = std::min(part.find('"'), part.size());
        auto const end = std::min(part.find('\\'), quote);
        if (end < part.size()) return at + end;
    }
    return text.size();
}

/// True for a string without escapes, whose value is the text between its quotes.
bool is_plain(std::string_view text) {
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
    auto const inner = text.substr(1, text.size() - 2);
    return std::none_of(inner.begin(), inner.end(),
                        [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; });
}

/// True for one string, from its first quote to its last.
bool is_one_string(std::string_view text) {
    if (!text.starts_with('"')) return false;
    std::size_t at = 1;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    return at + 1 == text.size();
}

}   // namespace

bool JsonLinks::read(std::string_view piece) {
    while (!piece.empty() && state_ != State::broken && !to_.full()) step(piece);
    return state_ != State::broken && !to_.full();
}

Result<void> JsonLinks::finish() {
    if (state_ == State::before_list) break_off("the body is empty");
    if (state_ == State::before_element || state_ == State::in_element) break_off("the body is truncated");
    return to_result(fault_);
}

/// Consumes at least one byte, or begins an element.
void JsonLinks::step(std::string_view& piece) {
    if (state_ == State::in_element) return read_element(piece);
    char const c = piece.front();
    if (is_space(c)) return piece.remove_prefix(1);
    if (state_ == State::after_list) return break_off("data follows the list");
    if (state_ == State::before_list) {
        if (c != '[') return break_off("the body does not begin with [");
        state_ = State::before_element;
        return piece.remove_prefix(1);
    }
    if (c == ']' && elements_ == 0) {
        state_ = State::after_list;
        return piece.remove_prefix(1);
    }
    state_ = State::in_element;
}

void JsonLinks::read_element(std::string_view& piece) {
    auto const size = end_of_element(piece);
    bool const ended = size < piece.size();
    if (!ended || !element_.empty() || too_long_)
        keep(piece.substr(0, size));
    else
        take_element(piece.substr(0, size));
    if (!ended) return piece.remove_prefix(size);
    if (!element_.empty() || too_long_) end_element();
    bool const last = piece[size] == ']';
    piece.remove_prefix(size + 1);
    if (state_ != State::broken) state_ = last ? State::after_list : State::before_element;
}

/// The place of the "," or "]" after the element; the size of the piece if it is not there.
std::size_t JsonLinks::end_of_element(std::string_view piece) {
    for (std::size_t at = 0; at < piece.size(); ++at) {
        char const c = piece[at];
        if (escaped_) {
            escaped_ = false;
        } else if (in_string_) {
            at += plain_bytes(piece.substr(at));
            if (at == piece.size()) break;
            if (piece[at] == '"')
                in_string_ = false;
            else
                escaped_ = true;
        } else if (c == '"') {
            in_string_ = true;
        } else if (c == '[' || c == '{') {
            ++depth_;
        } else if (depth_ == 0 && (c == ',' || c == ']')) {
            return at;
        } else if (c == ']' || c == '}') {
            if (depth_ > 0) --depth_;
        }
    }
    return piece.size();
}

void JsonLinks::keep(std::string_view part) {
    too_long_ = too_long_ || element_.size() + part.size() > element_max;
    if (!too_long_) element_ += part;
}

void JsonLinks::end_element() {
    take_element(element_);
    element_.clear();
    too_long_ = false;
}

void JsonLinks::take_element(std::string_view text) {
    ++elements_;
    text = without_space(text);
    // The beginning of a long element is kept.
    if (too_long_) return to_.refuse(text.starts_with('"') ? refused(crawl::UrlFault::too_long) : not_text);
    if (is_plain(text)) return to_.take(text.substr(1, text.size() - 2));
    take_any(text);
}

void JsonLinks::take_any(std::string_view text) {
    auto const value = nlohmann::json::parse(text, nullptr, false);
    // Half a surrogate, a control character or an invalid escape comes from a page. The list itself is valid.
    bool const nested = text.starts_with('[') || text.starts_with('{');
    if (value.is_discarded() && !nested && !is_one_string(text))
        return break_off("element " + std::to_string(elements_) + " is not valid JSON");
    if (value.is_string()) return to_.take(value.get_ref<std::string const&>());
    to_.refuse(not_text);
}

void JsonLinks::break_off(std::string_view why) {
    state_ = State::broken;
    if (fault_.empty()) fault_ = "this is not a JSON list: " + std::string(why);
}

}   // namespace garner::seen
