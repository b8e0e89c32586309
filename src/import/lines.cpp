#include "import/lines.hpp"

#include <optional>

#include "import/words.hpp"
#include "util/bytes.hpp"
#include "util/text.hpp"

namespace garner::importing {
namespace {

constexpr unsigned include_depth_max = 16;   // as in Squid
constexpr std::size_t files_max = 1'000;
constexpr Bytes bytes_max = 64 * MiB;

class LineReader {
public:
    LineReader(Files const& files, Report& report) : files_(files), report_(report) {}

    Result<void> read(std::string const& file, std::string_view text, unsigned depth) {
        if (depth > include_depth_max) return Fault{"files include each other more than 16 deep", "remove the circle", file};
        bytes_ += text.size();
        if (++files_read_ > files_max) return Fault{"more than 1000 files are included", "include fewer files", file};
        if (bytes_ > bytes_max) return Fault{"the configuration is larger than 64 MiB", "keep long lists in files", file};
        if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
        std::string joined;
        unsigned first = 0;
        for (unsigned number = 1; !text.empty(); ++number) {
            auto const end = text.find('\n');
            auto physical = text.substr(0, end);
            text.remove_prefix(end == text.npos ? text.size() : end + 1);
            // Squid's lines end at a carriage return or a NUL.
            physical = physical.substr(0, physical.find_first_of(std::string_view("\r\0", 2)));
            physical.remove_prefix(std::min(physical.find_first_not_of(white_space), physical.size()));
            if (physical.empty() || physical.starts_with('#')) continue;
            if (joined.empty()) first = number;
            joined += physical;
            if (joined.ends_with('\\')) {
                joined.pop_back();
                continue;
            }
            if (auto const done = take({.file = file, .number = first, .rest = std::move(joined)}, depth); !done) return done;
            joined.clear();
        }
        return {};
    }

    Directives directives() && { return std::move(directives_); }

private:
    /// Splits the name from the rest. Conditions and included files are handled here.
    Result<void> take(Line line, unsigned depth) {
        auto text = with_macros(trimmed(line.rest));
        auto const end = std::min(text.find_first_of(white_space), text.size());
        line.name = text.substr(0, end);
        line.rest = trimmed(text.substr(end));
        line.index = directives_.count++;
        line.quoted = quoted_;
        if (line.name == "if" || line.name == "else" || line.name == "endif") return condition(line), Result<void>();
        if (!conditions_.empty() && !conditions_.back()) {
            report_.drop(line, "its condition is false");
            return {};
        }
        if (line.name == "include") return include(std::move(line), depth);
        if (line.name == "configuration_includes_quoted_values") quoted_ = line.rest == "on";
        directives_.lines.push_back(std::move(line));
        return {};
    }

    Result<void> include(Line line, unsigned depth) {
        for (auto const& word : split(line.rest)) {
            auto const pattern = without_quotes(word);
            auto const found = files_.find(pattern);
            if (found.empty()) miss(line, pattern, "no such file");
            for (auto const& path : found) {
                auto const text = files_.read(path);
                if (!text) {
                    miss(line, path, text.fault().what);
                    continue;
                }
                if (auto const done = read(path, *text, depth + 1); !done) return done;
            }
        }
        return {};
    }

    /// The rules of that file are unknown: it may deny anything from here on.
    void miss(Line line, std::string const& path, std::string const& why) {
        report_.needs_you(line, printable(path) + ": " + why + "; until it is imported, all requests are denied from here on");
        line.missing = true;
        directives_.lines.push_back(std::move(line));
    }

    void condition(Line const& line) {
        if (line.name == "if") {
            bool const outer = conditions_.empty() || conditions_.back();
            auto const value = truth(line.rest);
            if (!value && outer)
                report_.needs_you(line, "the condition is not true, false or INTEGER = INTEGER; it counts as false");
            conditions_.push_back(outer && value.value_or(false));
            return;
        }
        if (conditions_.empty()) return report_.needs_you(line, "has no if; remove it");
        if (line.name == "endif") return conditions_.pop_back();
        bool const outer = conditions_.size() < 2 || conditions_[conditions_.size() - 2];
        conditions_.back() = outer && !conditions_.back();
    }

    static std::optional<bool> truth(std::string_view text) {
        text = text.substr(0, text.find('#'));
        auto const equals = text.find('=');
        if (equals == text.npos) {
            auto const word = trim(text);
            if (word == "true") return true;
            if (word == "false") return false;
            return std::nullopt;
        }
        auto const left = parse_decimal(trim(text.substr(0, equals))), right = parse_decimal(trim(text.substr(equals + 1)));
        if (!left || !right) return std::nullopt;
        return *left == *right;
    }

    /// One process and the service's usual name: Garner's threads share one configuration.
    static std::string with_macros(std::string text) {
        constexpr std::pair<std::string_view, std::string_view> macros[]{
            {"${process_name}", "squid"}, {"${process_number}", "0"}, {"${service_name}", "squid"}};
        for (auto const& [macro, value] : macros)
            for (auto at = text.find(macro); at != text.npos; at = text.find(macro, at + value.size()))
                text.replace(at, macro.size(), value);
        return text;
    }

    Files const& files_;
    Report& report_;
    Directives directives_;
    std::vector<bool> conditions_;
    bool quoted_ = false;
    std::size_t files_read_ = 0;
    Bytes bytes_ = 0;
};

}   // namespace

Result<Directives> read_directives(std::string const& name, std::string_view text, Files const& files, Report& report) {
    LineReader reader(files, report);
    if (auto const done = reader.read(name, text, 0); !done) return done.fault();
    return std::move(reader).directives();
}

}   // namespace garner::importing
