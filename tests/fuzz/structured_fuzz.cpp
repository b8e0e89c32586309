// Structured-field dictionaries: members are unique views of the input, and a serialized dictionary parses to an equal one.
#include "http/structured.hpp"

#include <set>
#include <string>

#include "field_lines.hpp"

namespace {

using namespace garner;
using Member = http::DictionaryMember;
using Members = std::optional<std::vector<Member>>;

constexpr std::string_view name = "X-Dictionary";
constexpr std::int64_t integer_max = 999'999'999'999'999;   // RFC 8941 3.3.1

bool same(Members const& a, Members const& b) {
    if (!a || !b) return a.has_value() == b.has_value();
    if (a->size() != b->size()) return false;
    for (std::size_t i = 0; i < a->size(); ++i) {
        auto const &x = (*a)[i], &y = (*b)[i];
        bool const equal =
            x.key == y.key && x.type == y.type && x.boolean == y.boolean && x.integer == y.integer && x.text == y.text;
        if (!equal) return false;
    }
    return true;
}

bool is_inside(std::string_view part, http::Fields const& fields) {
    for (auto const& field : fields)
        if (fuzz::lies_inside(part, field.value)) return true;
    return part.empty();
}

void check_member(Member const& member, http::Fields const& fields) {
    check(!member.key.empty() && is_inside(member.key, fields) && is_inside(member.text, fields));
    check(member.integer >= -integer_max && member.integer <= integer_max);
    if (member.type == Member::Type::token) check(!member.text.empty());
    if (member.type == Member::Type::string)
        for (char c : member.text) check(c >= 0x20 && c <= 0x7e);
}

std::string value_of(Member const& member) {
    switch (member.type) {
    case Member::Type::boolean: return member.boolean ? "?1" : "?0";
    case Member::Type::integer: return std::to_string(member.integer);
    case Member::Type::decimal: return "1.5";
    case Member::Type::string: return '"' + std::string(member.text) + '"';
    case Member::Type::token: return std::string(member.text);
    case Member::Type::bytes: return ":AA==:";
    case Member::Type::inner_list: return "(a \"b\";c 1)";
    }
    return {};
}

void check_written(Members const& members) {
    fuzz::FieldLines again;
    std::string text;
    for (auto const& member : *members) {
        if (!text.empty()) text += ", ";
        text.append(member.key).append("=").append(value_of(member)).append(";p;q=1");
    }
    again.add(name, text);
    check(same(http::parse_dictionary(again.fields(), name), members));
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    // Every input line counts as a line of this field, whatever its name.
    fuzz::Exact const bytes({reinterpret_cast<char const*>(data), size});
    fuzz::FieldLines const named(bytes.view());
    fuzz::FieldLines lines;
    std::string joined;
    for (auto const& field : named.fields()) {
        lines.add(name, field.value);
        if (!joined.empty() && !field.value.empty()) joined += " ,\t";
        joined += field.value;
    }
    auto const members = http::parse_dictionary(lines.fields(), name);
    fuzz::FieldLines one_line;
    one_line.add(name, joined);
    // If each line is valid alone, the joined line has the same members (RFC 8941 4.2).
    if (members) check(same(http::parse_dictionary(one_line.fields(), name), members));
    if (!members) return 0;
    check(members->size() <= http::dictionary_members_max);
    std::set<std::string_view> keys;
    for (auto const& member : *members) {
        check(keys.insert(member.key).second);
        check_member(member, lines.fields());
    }
    check_written(members);
    return 0;
}
