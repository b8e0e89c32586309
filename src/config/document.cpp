// Parsing with places: nlohmann's parser reads through an iterator that counts lines.
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
    bool at_line_start = false;      // the last byte read was a newline
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
    CountingIterator operator++(int) {
        auto before = *this;
        ++*this;
        return before;
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
    if (says("unexpected end of input")) return "a closing brace, bracket or quote is missing";
    if (says("missing closing quote")) return "close the quote on the same line";
    if (says("expected ':'")) return "put a colon between key and value";
    if (says("invalid literal")) return "put text in double quotes";
    return "see etc/garner.json for an example";
}

// "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error …": the place is told by ourselves.
std::string without_place(std::string_view message) {
    auto const begin = message.find(": ");
    return std::string(begin == message.npos ? message : message.substr(begin + 2));
}

using PathPart = std::variant<std::string, std::size_t>;

// "listen[0].address" in its parts.
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

// The slot that this part names, made when absent; nullptr and a reason when the part does not fit what is there.
Json* step_into(Json& at, PathPart const& part, std::string const& around, std::string& why, std::string& mend) {
    if (auto const* name = std::get_if<std::string>(&part)) {
        if (at.is_null()) at = Json::object();
        if (!at.is_object()) return why = "what is around this key is no object", nullptr;
        return &at[*name];
    }
    auto const index = std::get<std::size_t>(part);
    if (at.is_null()) at = Json::array();
    if (!at.is_array()) return why = "what is indexed is no list", nullptr;
    if (index > at.size()) {
        why = "the list has only " + std::to_string(at.size()) + " items";
        mend = "set " + around + "[" + std::to_string(at.size()) + "] before it";
        return nullptr;
    }
    if (index == at.size()) at.push_back(nullptr);
    return &at[index];
}

}  // namespace

/// Builds the value from the parser's events and notes on which line each key begins.
class Document::Builder : public nlohmann::json_sax<Json> {
public:
    Builder(Document& document, std::string path, Reading& reading)
        : document_(document), base_(std::move(path)), reading_(reading) {}

    bool null() override { return put(nullptr) != nullptr; }
    bool boolean(bool value) override { return put(value) != nullptr; }
    // A number ends at the byte after it, which may already be the newline.
    bool number_integer(std::int64_t value) override { return put(value, reading_.at_line_start) != nullptr; }
    bool number_unsigned(std::uint64_t value) override { return put(value, reading_.at_line_start) != nullptr; }
    bool number_float(double value, std::string const&) override {
        return put(value, reading_.at_line_start) != nullptr;
    }
    bool string(std::string& value) override { return put(std::move(value)) != nullptr; }
    bool binary(Json::binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(std::string& name) override {
        Frame& top = frames_.back();
        top.key = name;
        auto path = path_of_next();
        if (top.node->contains(name)) {
            auto const first = document_.places_.find(path);
            document_.faults_.push_back({document_.file_, reading_.line, path, "this key is given twice",
                                         "the first is in line " + std::to_string(first->second.line) + "; keep one"});
        }
        document_.places_[std::move(path)] = {false, reading_.line};
        return true;
    }

    bool parse_error(std::size_t, std::string const&, Json::exception const& error) override {
        auto text = without_place(error.what());
        auto mend = mend_for_syntax(text);
        auto const line = reading_.line - (reading_.at_line_start ? 1 : 0);
        document_.faults_.push_back({document_.file_, line, "", std::move(text), std::move(mend)});
        return false;
    }

    Json take() { return std::move(result_); }

private:
    struct Frame {
        Json* node;
        std::string path;
        std::string key;
    };

    std::string path_of_next() const {
        if (frames_.empty()) return base_;
        Frame const& top = frames_.back();
        if (top.node->is_array()) return top.path + "[" + std::to_string(top.node->size()) + "]";
        return top.path.empty() ? top.key : top.path + "." + top.key;
    }

    Json* put(Json value, bool line_before = false) {
        if (frames_.empty()) {
            result_ = std::move(value);
            return &result_;
        }
        Frame& top = frames_.back();
        if (top.node->is_object()) {
            auto& slot = (*top.node)[top.key];
            slot = std::move(value);
            return &slot;
        }
        document_.places_[path_of_next()] = {false, reading_.line - (line_before ? 1 : 0)};
        top.node->push_back(std::move(value));
        return &top.node->back();
    }

    bool open(Json empty) {
        auto path = path_of_next();
        if (frames_.size() == depth_max) {
            document_.faults_.push_back({document_.file_, reading_.line, "", "nested deeper than 32 levels", ""});
            return false;
        }
        Json* node = put(std::move(empty));
        frames_.push_back({node, std::move(path), {}});
        return true;
    }

    bool close() {
        frames_.pop_back();
        return true;
    }

    Document& document_;
    std::string base_;
    Reading& reading_;
    Json result_;
    std::vector<Frame> frames_;
};

Document::Document(std::string file, std::string_view text) : file_(std::move(file)) {
    Reading reading;
    Builder builder(*this, "", reading);
    CountingIterator const begin(text.data(), &reading);
    CountingIterator const end(text.data() + text.size(), &reading);
    if (!Json::sax_parse(begin, end, &builder, nlohmann::detail::input_format_t::json, true, true)) {
        broken_ = true;
        return;
    }
    root_ = builder.take();
    if (root_.is_object()) return;
    faults_.push_back({file_, 1, "", "a configuration is one JSON object", "put everything between { and }"});
    root_ = Json::object();
    broken_ = true;
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

    auto const before = std::pair(root_, places_);
    Json* at = &root_;
    std::string around, why, mend;
    for (PathPart const& part : *parts) {
        at = step_into(*at, part, around, why, mend);
        if (!at) {
            std::tie(root_, places_) = before;   // no half-made list makes faults of its own
            return refuse(why, mend);
        }
        append(around, part);
        places_.try_emplace(around, Place{true, 0});   // what was not there before is made here
    }
    auto const text = assignment.substr(equals + 1);
    Json value = Json::parse(text.begin(), text.end(), nullptr, false, true);
    *at = value.is_discarded() ? Json(std::string(text)) : std::move(value);

    // Whatever lies inside comes from here now.
    std::erase_if(places_, [&](auto const& entry) {
        return entry.first.starts_with(around) && entry.first.size() > around.size() &&
               (entry.first[around.size()] == '.' || entry.first[around.size()] == '[');
    });
    places_[around] = {true, 0};
}

Fault Document::fault_at(std::string_view path, std::string text, std::string mend) const {
    Fault fault{file_, file_.empty() ? 0u : 1u, std::string(path), std::move(text), std::move(mend)};
    for (auto around = path; !around.empty();) {
        if (auto const found = places_.find(around); found != places_.end()) {
            if (found->second.from_set) fault.file = "--set";
            fault.line = found->second.line;
            return fault;
        }
        auto const cut = around.find_last_of(".[");
        around = around.substr(0, cut == around.npos ? 0 : cut);
    }
    return fault;
}

std::string text_of(Fault const& fault) {
    std::string out = fault.file;
    if (fault.line != 0) out += ":" + std::to_string(fault.line);
    if (!fault.key.empty()) out += fault.file == "--set" ? " " + fault.key : (out.empty() ? "" : ": ") + fault.key;
    out += (out.empty() ? "" : ": ") + fault.text;
    if (!fault.mend.empty()) out += " (" + fault.mend + ")";
    return out;
}

}  // namespace garner::config
