#include "config/rule_lines.hpp"

#include "config/form.hpp"
#include "proxy/moment.hpp"

namespace garner::config {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson text_or_null(std::string_view text) { return text.empty() ? OrderedJson(nullptr) : OrderedJson(std::string(text)); }

/// Reads the members of one question.
class QuestionReader {
public:
    explicit QuestionReader(WallTime now) { question_.at = now; }

    Result<proxy::RuleQuestion> read(std::string_view json) {
        auto const line = Json::parse(json, nullptr, false);
        if (!line.is_object()) return garner::Fault{"the line is not a JSON object", R"(write {"url": "http://example.com/"})"};
        for (auto const& [name, value] : line.items())
            if (!value.is_null() && !take(name, value)) return garner::Fault{name + ": " + what_, mend_};
        if (question_.url.empty()) return garner::Fault{"url is missing", R"(write {"url": "http://example.com/"})"};
        return std::move(question_);
    }

private:
    bool refuse(std::string what, std::string mend) {
        what_ = std::move(what);
        mend_ = std::move(mend);
        return false;
    }

    bool text(Json const& value, std::string& into) {
        if (!value.is_string()) return refuse("expects text, not " + kind_of(value), "write it in quotes");
        into = value.get<std::string>();
        return true;
    }

    bool texts(Json const& value, std::vector<std::string>& into) {
        if (!value.is_array()) return text(value, into.emplace_back());
        for (auto const& one : value)
            if (!text(one, into.emplace_back())) return false;
        return true;
    }

    /// {"Accept": "text/html", "X-Two": ["a", "b"]}, or lines of fields.
    bool fields(Json const& value) {
        if (!value.is_object()) return texts(value, question_.fields);
        for (auto const& [name, lines] : value.items()) {
            std::vector<std::string> values;
            if (!http::is_token(name))
                return refuse(quoted_value(name) + " is not the name of a field", "write it like \"Accept\"");
            if (!texts(lines, values)) return false;
            for (auto const& one : values) question_.fields.push_back(name + ": " + one);
        }
        return true;
    }

    template <class V, class Parse>
    bool parsed(Json const& value, V& into, Parse const& parse, char const* mend) {
        std::string written;
        if (!text(value, written)) return false;
        auto const read = parse(written);
        if (!read) return refuse(quoted_value(written) + " cannot be read", mend);
        into = *read;
        return true;
    }

    bool listener(Json const& value) {
        bool const fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= 65'535;
        if (!fits) return refuse("expects a port", "write a number between 1 and 65535");
        question_.listener = value.get<std::uint16_t>();
        return true;
    }

    http::Identity& identity() {
        if (!question_.identity) question_.identity.emplace();
        return *question_.identity;
    }

    bool take(std::string const& name, Json const& value) {
        if (name == "url") return text(value, question_.url);
        if (name == "method") return text(value, question_.method);
        if (name == "source") return parsed(value, question_.source, parse_ip, "write it like \"10.4.0.7\"");
        if (name == "destination") return parsed(value, question_.destination, parse_ip, "write it like \"192.0.2.1\"");
        if (name == "at") return parsed(value, question_.at, proxy::parse_moment, "write it like \"2026-11-23T09:30:10Z\"");
        if (name == "listener") return listener(value);
        if (name == "user") return text(value, identity().user);
        if (name == "groups") return texts(value, identity().groups);
        if (name == "fields") return fields(value);
        return refuse("unknown member", "valid members: at, source, listener, user, groups, method, url, destination, fields");
    }

    proxy::RuleQuestion question_;
    std::string what_, mend_;
};

}   // namespace

Result<proxy::RuleQuestion> read_question(std::string_view json, WallTime now) { return QuestionReader(now).read(json); }

std::string_view position_of(http::AccessRule const& rule) { return std::string_view(rule.place).substr(0, rule.place.find(':')); }

std::string rule_that_decides(http::Decision const& decision) {
    std::string text(decision.place());
    if (decision.verdict == http::Decision::Verdict::needs_identity) text += ", which asks for a login";
    if (decision.verdict == http::Decision::Verdict::needs_destination) text += ", which needs the destination";
    return text;
}

/// The member of a question that the decision is missing; empty: none.
std::string_view needed_member(http::Decision::Verdict verdict) {
    using enum http::Decision::Verdict;
    return verdict == needs_destination ? "destination" : verdict == needs_identity ? "user" : "";
}

OrderedJson as_json(http::Decision const& decision) {
    return {{"verdict", std::string(proxy::name_of(decision.verdict))},
            {"rule", text_or_null(decision.place())},
            {"name", text_or_null(decision.name)},
            {"needs", text_or_null(needed_member(decision.verdict))},
            {"closed", text_or_null(decision.closed ? decision.closed : "")}};
}

std::string decide_line(proxy::RuleInquiry& inquiry, std::string_view line, WallTime now) {
    auto const text_of = [](OrderedJson const& json) { return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace); };
    auto const question = read_question(line, now);
    if (!question) return text_of({{"error", question.fault().text()}});
    if (auto const fault = inquiry.ask(*question); !fault.empty()) return text_of({{"error", fault}});
    return text_of(as_json(inquiry.decide()));
}

}   // namespace garner::config
