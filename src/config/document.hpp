// A configuration's JSON with the line of every key, before its meaning is checked.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "config/fault.hpp"

namespace garner::config {

using Json = nlohmann::json;

class Document {
public:
    static constexpr unsigned depth_max = 32;

    /// An empty object without a file.
    Document() = default;
    /// Parses JSON with comments. Syntax errors, duplicate keys and excessive depth become faults; after a syntax error
    /// root() is an empty object.
    Document(std::string file, std::string_view text);

    /// Applies "KEY=VALUE": KEY is a dotted path with indices ("listen[0].address"), VALUE is JSON if it parses, else text.
    /// An index may be one past the end. Faults: no '=', a malformed path, a path through a scalar.
    void set(std::string_view assignment);

    Json const& root() const { return root_; }
    std::vector<Fault> const& faults() const { return faults_; }
    bool broken() const { return broken_; }   // not valid JSON

    /// A fault at this path: with the line of the path, or of the nearest enclosing key, or the override that set it.
    Fault fault_at(std::string_view path, std::string text, std::string mend) const;

private:
    struct Position {
        bool from_set = false;
        unsigned line = 0;
    };
    class LineNotes;
    void note(unsigned line, std::string key, std::string text, std::string mend);

    std::string file_;
    Json root_ = Json::object();
    std::map<std::string, Position, std::less<>> positions_;
    std::vector<Fault> faults_;
    bool broken_ = false;
};

}   // namespace garner::config
