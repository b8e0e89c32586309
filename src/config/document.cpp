// Parses with line numbers: nlohmann's parser reads through an iterator that counts lines.
#include "config/document.hpp"

#include <iterator>
#include <optional>
#include <tuple>
#include <variant>

#include "util/text.hpp"

namespace garner::config {
namespace {

struct Reading {
    unsigned line = 1;
    bool at_line_start = false;   // the last byte read was a newline
};

/// A pointer that counts the newlines it passes. Copies share the count.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = char const*;
    using reference = char const&;

    CountingIterator(char const* at, Reading* reading) : at_(at), reading_(reading) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        reading_->at_line_start = *at_ == '\n';
        if (reading_->at_line_start) ++reading_->line;
        ++at_;
        return *this;
    }
    bool operator==(CountingIterator const& other) const { return at_ == other.at_; }

private:
    char const* at_;
    Reading* reading_;
};

std::string mend_for_syntax(std::string const& error) {
    auto const says = [&](char const* part) { return error.find(part) != error.npos; };
    if (says("expected string literal") && says("unexpected '}'")) return "remove the comma before the brace";
    if (says("unexpected ']'")) return "remove the comma before the bracket";
    if (says("unexpected string literal")) return "put a comma after the value before it";
    if (says("unexpected end of input")) return "add the missing closing brace, bracket or quote";
    if (says("missing closing quote")) return "close the quote on the same line";
    if (says("expected ':'")) return "put a colon between key and value";
    if (says("invalid literal")) return "put text in double quotes";
    return "see etc/garner.json for an example";
}

// "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error …": the fault has its own line number.
std::string without_position(std::string_view message) {
    auto const begin = message.find(": ");
    return std::string(begin == message.npos ? message : message.substr(begin + 2));
}

using PathPart = std::variant<std::string, std::size_t>;

// Splits "listen[0].address" into its parts.
std::optional<std::vector<PathPart>> split_path(std::string_view path) {
    std::vector<PathPart> parts;
    while (true) {
        auto const end = std::min(path.find_first_of(".["), path.size());
        if (end == 0) return std::nullopt;
        parts.emplace_back(std::string(path.substr(0, end)));
        path.remove_prefix(end);
        while (path.starts_with('[')) {
            auto const close = path.find(']');
            auto const index = parse_decimal(path.substr(1, close == path.npos ? 0 : close - 1));
            if (!index) return std::nullopt;
            parts.emplace_back(static_cast<std::size_t>(*index));
            path.remove_prefix(close + 1);
        }
        if (path.empty()) return parts;
        if (path.front() != '.' || parts.size() > Document::depth_max) return std::nullopt;
        path.remove_prefix(1);
    }
}

void append(std::string& path, PathPart const& part) {
    if (auto const* index = std::get_if<std::size_t>(&part))
        path += "[" + std::to_string(*index) + "]";
    else
        path += (path.empty() ? "" : ".") + std::get<std::string>(part);
}

// The value at this part of a path, created when absent; nullptr, with a reason, when the existing value has another type.
Json* step_into(Json& at, PathPart const& part, std::string const& around, std::string& why, std::string& mend) {
    if (auto const* name = std::get_if<std::string>(&part)) {
        if (at.is_null()) at = Json::object();
        if (!at.is_object()) return why = "the parent of this key is not an object", nullptr;
        return &at[*name];
    }
    auto const index = std::get<std::size_t>(part);
    if (at.is_null()) at = Json::array();
    if (!at.is_array()) return why = "the indexed value is not a list", nullptr;
    if (index > at.size()) {
        why = "the list has only " + std::to_string(at.size()) + " items";
        mend = "set " + around + "[" + std::to_string(at.size()) + "] before it";
        return nullptr;
    }
    if (index == at.size()) at.push_back(nullptr);
    return &at[index];
}

}   // namespace

/// Makes the values of nlohmann's parser events, and records the line of each key and each list item. With Json::parse and a
/// callback the end of each object would search all values of its parent (nlohmann 3.11): 35 s for 20,000 matchers.
class Document::LineNotes {
public:
    LineNotes(Document& document, Reading const& reading) : document_(document), reading_(reading) {}

    bool null() { return value(nullptr); }
    bool boolean(bool one) { return value(one); }
    bool number_integer(Json::number_integer_t one) { return value(one); }
    bool number_unsigned(Json::number_unsigned_t one) { return value(one); }
    bool number_float(Json::number_float_t one, std::string const&) { return value(one); }
    bool string(std::string& one) { return value(std::move(one)); }
    bool binary(Json::binary_t&) { return false; }   // text has none
    bool start_object(std::size_t) { return open(Json::object()); }
    bool start_array(std::size_t) { return open(Json::array()); }
    bool end_object() { return around_.pop_back(), true; }
    bool end_array() { return around_.pop_back(), true; }
    bool key(std::string& name) { return note_key(name), true; }
    template <typename Error>
    bool parse_error(std::size_t, std::string const&, Error const& error) {
        throw error;
    }

    struct TooDeep {};

private:
    /// An object or list that is still open.
    struct Around {
        Json* value = nullptr;
        std::string path;
        std::string key = {};   // the last key of an object
    };

    Json& add(Json one) {
        if (around_.empty()) return document_.root_ = std::move(one);
        auto& top = around_.back();
        if (top.value->is_object()) return (*top.value)[top.key] = std::move(one);
        top.value->push_back(std::move(one));
        return top.value->back();
    }
    bool value(Json one) {
        // A number ends at the byte after it, which may already be the newline.
        bool const ended = one.is_number() && reading_.at_line_start;
        path_of_value(reading_.line - (ended ? 1 : 0));
        add(std::move(one));
        return true;
    }
    bool open(Json one) {
        auto path = path_of_value(reading_.line);
        if (around_.size() == depth_max) throw TooDeep();
        around_.push_back({&add(std::move(one)), std::move(path)});
        return true;
    }
    void note_key(std::string const& name) {
        auto& object = around_.back();
        object.key = name;
        auto const path = path_of_value(reading_.line);
        auto const [position, is_first] = document_.positions_.try_emplace(path);
        if (!is_first)
            document_.note(reading_.line, path, "this key is given twice",
                           "the first is in line " + std::to_string(position->second.line) + "; keep one");
        position->second = {false, reading_.line};
    }
    /// The value is not added yet.
    std::string path_of_value(unsigned line) {
        if (around_.empty()) return {};
        auto& top = around_.back();
        if (top.value->is_object()) return top.path.empty() ? top.key : top.path + "." + top.key;
        auto path = top.path + "[" + std::to_string(top.value->size()) + "]";
        document_.positions_[path] = {false, line};
        return path;
    }

    Document& document_;
    Reading const& reading_;
    std::vector<Around> around_;
};

Document::Document(std::string file, std::string_view text) : file_(std::move(file)) {
    Reading reading;
    CountingIterator const begin(text.data(), &reading), end(text.data() + text.size(), &reading);
    try {
        LineNotes notes(*this, reading);
        constexpr bool whole_text = true, with_comments = true;
        Json::sax_parse(begin, end, &notes, Json::input_format_t::json, whole_text, with_comments);
        if (!root_.is_object()) note(1, "", "the file is not a JSON object", "put all keys between { and }");
    } catch (Json::exception const& error) {
        auto const fault = without_position(error.what());
        note(reading.line - (reading.at_line_start ? 1 : 0), "", fault, mend_for_syntax(fault));
        broken_ = true;
    } catch (LineNotes::TooDeep const&) {
        note(reading.line, "", "nested deeper than 32 levels", "");
        broken_ = true;
    }
    if (!broken_ && root_.is_object()) return;
    root_ = Json::object();   // a part of a faulty file would cause further faults
    broken_ = true;
}

void Document::note(unsigned line, std::string key, std::string text, std::string mend) {
    faults_.push_back({file_, line, std::move(key), std::move(text), std::move(mend)});
}

void Document::set(std::string_view assignment) {
    auto const equals = assignment.find('=');
    std::string const path(assignment.substr(0, equals));
    auto const refuse = [&](std::string text, std::string mend) {
        faults_.push_back({"--set", 0, path, std::move(text), std::move(mend)});
    };
    if (equals == assignment.npos) return refuse("no value", "write --set KEY=VALUE");
    auto const parts = split_path(path);
    if (!parts) return refuse("not a key", "write it like memory.size or listen[0].address");

    auto const before = std::pair(root_, positions_);
    Json* at = &root_;
    std::string around, why, mend;
    for (PathPart const& part : *parts) {
        at = step_into(*at, part, around, why, mend);
        if (!at) {
            std::tie(root_, positions_) = before;   // a half-built list must not cause further faults
            return refuse(why, mend);
        }
        append(around, part);
        positions_.try_emplace(around, Position{true, 0});   // a new value is created here
    }
    auto const text = assignment.substr(equals + 1);
    Json value = Json::parse(text.begin(), text.end(), nullptr, false, true);
    *at = value.is_discarded() ? Json(std::string(text)) : std::move(value);

    // All nested values now come from this override.
    std::erase_if(positions_, [&](auto const& entry) {
        return entry.first.starts_with(around) && entry.first.size() > around.size() &&
               (entry.first[around.size()] == '.' || entry.first[around.size()] == '[');
    });
    positions_[around] = {true, 0};
}

Fault Document::fault_at(std::string_view path, std::string text, std::string mend) const {
    Fault fault{file_, file_.empty() ? 0u : 1u, std::string(path), std::move(text), std::move(mend)};
    for (auto around = path; !around.empty();) {
        if (auto const found = positions_.find(around); found != positions_.end()) {
            if (found->second.from_set) fault.file = "--set";
            fault.line = found->second.line;
            return fault;
        }
        auto const cut = around.find_last_of(".[");
        around = around.substr(0, cut == around.npos ? 0 : cut);
    }
    return fault;
}

namespace {

/// Keys and paths may have control characters, which a terminal would obey.
std::string without_controls(std::string_view text) {
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        if (byte >= ' ' && byte != 0x7f)
            out += c;
        else
            out.append("\\u00").append({digits[byte >> 4], digits[byte & 15]});
    }
    return out;
}

}   // namespace

std::string text_of(Fault const& fault) {
    std::string out = fault.file;
    if (fault.line != 0) out += ":" + std::to_string(fault.line);
    if (!fault.key.empty()) out += fault.file == "--set" ? " " + fault.key : (out.empty() ? "" : ": ") + fault.key;
    out += (out.empty() ? "" : ": ") + fault.text;
    if (!fault.mend.empty()) out += " (" + fault.mend + ")";
    return without_controls(out);
}

std::string notice_text_of(Fault notice) {
    notice.text.insert(0, "notice: ");
    return text_of(notice);
}

}   // namespace garner::config
