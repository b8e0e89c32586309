// Forms of single values and of lists.
#include "config/form.hpp"

#include <algorithm>
#include <memory>

#include "util/nearest.hpp"
#include "util/text.hpp"
#include "util/units.hpp"

namespace garner::config {
namespace {

constexpr std::size_t text_max = 4'096;

std::string between(std::string const& min, std::string const& max) { return "between " + min + " and " + max; }

// A whole number within bounds. A number out of bounds is reported as such, whatever its sign and size.
template <class V>
Form<V> whole(std::string written, V min, V max) {
    auto const bounds = between(std::to_string(min), std::to_string(max));
    auto read = [=](Reader& reader, Json const& value, V& into) {
        if (!value.is_number_integer())
            return reader.fault("expects a whole number, not " + kind_of(value), "write a number " + bounds);
        bool const fits = value.is_number_unsigned() && value.get<std::uint64_t>() >= min && value.get<std::uint64_t>() <= max;
        if (!fits) return reader.fault(value.dump() + " is out of range", "write a number " + bounds);
        into = value.get<V>();
        return true;
    };
    auto describe = [=]() -> Description { return type_schema("integer").number("minimum", min).number("maximum", max); };
    return {std::move(written), std::move(describe), std::move(read), [](V const& v) { return std::to_string(v); }};
}

/// A kind of number with a unit.
template <class V>
struct Unit {
    std::string noun;
    std::string example;   // a suggested fix
    std::string units;     // the units, added to the message for an invalid number
    std::optional<V> (*parse)(std::string_view);
    std::string (*text)(V);

    /// True for a whole number with a known unit: then parse() refused it for its size.
    bool is_only_too_large(std::string_view written) const {
        written = trim(written);
        auto const unit = std::min(written.find_first_not_of("0123456789"), written.size());
        return unit > 0 && parse("1" + std::string(written.substr(unit)));
    }
};

template <class V>
auto reader_of(Unit<V> const& unit, V min, V max) {
    auto const bounds = "write a " + unit.noun + " " + between(unit.text(min), unit.text(max));
    return [=](Reader& reader, Json const& value, V& into) {
        if (!value.is_string()) return reader.fault("expects a " + unit.noun + ", not " + kind_of(value), unit.example);
        auto const& written = value.get_ref<std::string const&>();
        auto const parsed = unit.parse(written);
        if (!parsed && !unit.is_only_too_large(written))
            return reader.fault(quoted_value(written) + " is not a " + unit.noun, unit.example + unit.units);
        if (!parsed || *parsed < min || *parsed > max)
            return reader.fault((parsed ? unit.text(*parsed) : quoted_value(written)) + " is out of range", bounds);
        into = *parsed;
        return true;
    };
}

}   // namespace

std::string in_quotes(std::string_view text) { return Json(std::string(text)).dump(-1, ' ', true, Json::error_handler_t::replace); }

namespace {

/// The longest beginning that ends between two characters of UTF-8.
std::string_view beginning_of(std::string_view text) {
    constexpr std::size_t shown = 80;
    if (text.size() <= shown) return text;
    auto const is_inside = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
    auto end = shown;
    while (end > shown - 3 && is_inside(end)) --end;
    return text.substr(0, end);
}

std::string_view dots_after(std::string_view beginning, std::string_view text) {
    return beginning.size() < text.size() ? "..." : "";
}

}   // namespace

std::string shortened(std::string_view text) {
    auto const beginning = beginning_of(text);
    return std::string(beginning).append(dots_after(beginning, text));
}

std::string quoted_value(std::string_view text) {
    auto const beginning = beginning_of(text);
    return in_quotes(beginning).append(dots_after(beginning, text));
}

std::string kind_of(Json const& value) {
    switch (value.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::object: return "an object";
    case Json::value_t::array: return "a list";
    case Json::value_t::string: return "text";
    case Json::value_t::boolean: return value.get<bool>() ? "true" : "false";
    default: return "the number " + value.dump();
    }
}

Form<Bytes> size(Bytes min, Bytes max) {
    Unit<Bytes> const unit{"size", R"(write it like "64 MiB")", "; units are B, KB, MB, GB, TB, KiB, MiB, GiB, TiB", parse_size,
                           size_text};
    auto read = [with_unit = reader_of(unit, min, max)](Reader& reader, Json const& value, Bytes& into) {
        return with_unit(reader, value.is_number_unsigned() ? Json(value.dump()) : value, into);
    };
    auto describe = [min]() -> Description {
        auto const bytes = type_schema("integer").number("minimum", min);
        auto const text = type_schema("string").text("pattern", "^[0-9]+([.][0-9]+)? *(([KkMmGgTt][Ii]?)?[Bb])?$");
        return either_schema(bytes, text);
    };
    return {"size", std::move(describe), std::move(read), [](Bytes const& v) { return in_quotes(size_text(v)); }};
}

Form<Bytes> rate(Bytes min, Bytes max) {
    Unit<Bytes> const unit{"rate", R"(write it like "900 Mbit/s" or "12 MiB/s")",
                           "; units are bit/s, kbit/s, Mbit/s, Gbit/s, B/s, KB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s", parse_rate,
                           rate_text};
    auto read = [with_unit = reader_of(unit, min, max)](Reader& reader, Json const& value, Bytes& into) {
        return with_unit(reader, value.is_number_unsigned() ? Json(value.dump()) : value, into);
    };
    auto describe = [min]() -> Description {
        auto const bytes = type_schema("integer").number("minimum", min);
        auto const text =
            type_schema("string").text("pattern", "^[0-9]+([.][0-9]+)? *(([KkMmGg]?[Bb][Ii][Tt]|([KkMmGg][Ii]?)?B)/[Ss])?$");
        return either_schema(bytes, text);
    };
    return {"rate", std::move(describe), std::move(read), [](Bytes const& v) { return in_quotes(rate_text(v)); }};
}

Form<milliseconds> time(milliseconds min, milliseconds max) {
    Unit<milliseconds> const unit{"time", R"(write it like "300ms", "2s", "5m", "1h" or "7d")", "", parse_time, time_text};
    auto read = [unit, with_unit = reader_of(unit, min, max)](Reader& reader, Json const& value, milliseconds& into) {
        bool const is_zero = value.is_number_unsigned() && value == 0;
        if (value.is_number() && !is_zero) return reader.fault("a time needs a unit", unit.example);
        return with_unit(reader, is_zero ? Json("0") : value, into);
    };
    auto describe = []() -> Description { return type_schema("string").text("pattern", "^([0-9]+([.][0-9]+)? *(ms|s|m|h|d)|0)$"); };
    return {"time", std::move(describe), std::move(read), [](milliseconds const& v) { return in_quotes(time_text(v)); }};
}

Form<std::uint32_t> count(std::uint32_t min, std::uint32_t max) { return whole("number", min, max); }

Form<std::uint16_t> port(std::uint16_t min) { return whole<std::uint16_t>("port", min, 65'535); }

Form<double> fraction(double min, double max) {
    auto const bounds = between(Json(min).dump(), Json(max).dump());
    auto read = [=](Reader& reader, Json const& value, double& into) {
        if (!value.is_number()) return reader.fault("expects a number, not " + kind_of(value), "write a number " + bounds);
        auto const number = value.get<double>();
        if (!(number >= min && number <= max)) return reader.fault(value.dump() + " is out of range", "write a number " + bounds);
        into = number;
        return true;
    };
    auto describe = [=]() -> Description {
        return type_schema("number").json("minimum", Json(min).dump()).json("maximum", Json(max).dump());
    };
    return {"fraction", std::move(describe), std::move(read), [](double const& v) { return Json(v).dump(); }};
}

Form<bool> flag() {
    auto read = [](Reader& reader, Json const& value, bool& into) {
        if (!value.is_boolean())
            return reader.fault("expects true or false, not " + kind_of(value), "write true or false, without quotes");
        into = value.get<bool>();
        return true;
    };
    return {"flag", described_as("boolean"), read, [](bool const& v) { return Json(v).dump(); }};
}

Form<std::string> text() {
    auto read = [](Reader& reader, Json const& value, std::string& into) {
        if (!value.is_string()) return reader.fault("expects text, not " + kind_of(value), "put it in double quotes");
        auto const& text = value.get_ref<std::string const&>();
        if (text.size() > text_max) return reader.fault("is longer than 4096 bytes", "shorten it");
        auto const control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
        if (std::any_of(text.begin(), text.end(), control)) return reader.fault("has a control character", "remove it");
        into = text;
        return true;
    };
    return {"text", described_as("string"), read, in_quotes};
}

Form<std::string> checked(std::string written, std::string what_it_is, std::string mend, Accept accept) {
    auto parse = [accept = std::move(accept)](std::string const& text, std::string& into, std::string& why) {
        into = text;
        return accept(text, why);
    };
    return parsed<std::string>(std::move(written), std::move(what_it_is), std::move(mend), std::move(parse));
}

Form<std::string> choice(std::vector<std::string> names) {
    std::string all;
    for (auto const& name : names) all += (all.empty() ? "" : ", ") + name;
    auto describe = [names]() -> Description {
        std::string quoted;
        for (auto const& name : names) quoted += (quoted.empty() ? "" : ",") + Schema::quoted(name);
        return type_schema("string").json("enum", "[" + quoted + "]");
    };
    auto read = [=](Reader& reader, Json const& value, std::string& into) {
        auto const mend = "write one of " + all;
        if (!value.is_string()) return reader.fault("expects a name, not " + kind_of(value), mend);
        auto const& text = value.get_ref<std::string const&>();
        if (std::find(names.begin(), names.end(), text) == names.end()) {
            std::vector<std::string_view> const views(names.begin(), names.end());
            auto const meant = nearest(text, views);
            return reader.fault(quoted_value(text) + " is not known",
                                meant.empty() ? mend : "did you mean " + in_quotes(meant) + "? It is one of " + all);
        }
        into = text;
        return true;
    };
    return {all, std::move(describe), read, in_quotes};
}

AnyForm any_lazy(std::function<AnyForm()> make) {
    auto read = [make, made = std::make_shared<std::optional<AnyForm>>()](Reader& reader, Json const& value, void* into) {
        if (!*made) *made = make();
        return (*made)->read_any(reader, value, into);
    };
    auto describe = [make = std::move(make)] { return make().describe(); };
    return {"object", std::move(describe), std::move(read), {}, true};
}

AnyForm any_parsed(std::string written, std::string what_it_is, std::string mend,
                   std::function<bool(std::string const&, void*, std::string&)> parse) {
    auto read = [what_it_is = std::move(what_it_is), mend = std::move(mend), parse = std::move(parse)](
                    Reader& reader, Json const& value, void* into) {
        if (!value.is_string()) return reader.fault("expects " + what_it_is + ", not " + kind_of(value), mend);
        auto const& text = value.get_ref<std::string const&>();
        std::string why = "is not " + what_it_is;
        if (parse(text, into, why)) return true;
        return reader.fault(quoted_value(text) + " " + why, mend);
    };
    return {std::move(written), described_as("string"), std::move(read), {}};
}

AnyForm any_one_of(std::vector<Named<int>> names, NumberAccess access) {
    std::vector<std::string> texts;
    for (auto const& one : names) texts.push_back(one.name);
    auto named = choice(std::move(texts));
    auto show = [names, access](void const* value) {
        auto const one = std::ranges::find(names, access.get(value), &Named<int>::value);
        return one == names.end() ? std::string() : in_quotes(one->name);
    };
    auto read = [names = std::move(names), access, read_name = std::move(named.read_any)](Reader& reader, Json const& value,
                                                                                          void* into) {
        std::string name;
        if (!read_name(reader, value, &name)) return false;
        access.set(into, std::ranges::find(names, name, &Named<int>::name)->value);
        return true;
    };
    return {std::move(named.written), std::move(named.describe), std::move(read), std::move(show)};
}

namespace {

/// "numbers", "list of objects"
std::string written_as_list(AnyForm const& item) {
    bool const is_choice = item.written.find(", ") != item.written.npos;
    bool const needs_word = item.is_object || item.written == "matchers" || is_choice;
    bool const is_plural = is_choice || (item.written.ends_with('s') && !item.written.ends_with("ss"));
    auto const plural = item.written + (is_plural ? "" : item.written.ends_with("ss") ? "es" : "s");
    return (needs_word ? "list of " : "") + plural;
}

bool read_list(AnyForm const& item, ListAccess const& access, Reader& reader, Json const& value, void* into) {
    access.clear(into);
    if (!value.is_array()) {
        if (item.is_object) return reader.fault("expects a list, not " + kind_of(value), "write [ { … } ]");
        return item.read_any(reader, value, access.append(into));
    }
    bool good = true;
    for (std::size_t i = 0; i < value.size(); ++i) {
        Reader::Step const step(reader, i);
        if (item.read_any(reader, value[i], access.append(into))) continue;
        access.drop_last(into);
        good = false;
    }
    return good;
}

std::string show_list(AnyForm const& item, ListAccess const& access, void const* list) {
    if (!item.show_any && access.size(list) > 0) return {};
    std::string out;
    for (std::size_t i = 0; i < access.size(list); ++i) out += (i == 0 ? "" : ", ") + item.show_any(access.item(list, i));
    return "[" + out + "]";
}

Description description_of_list(AnyForm const& item) {
    auto [schema, notes] = item.describe();
    auto const array = type_schema("array").object("items", schema);
    for (auto& note : notes) note.path.insert(0, "[].");
    return {item.is_object ? array : either_schema(std::move(schema), array), std::move(notes)};
}

}   // namespace

AnyForm any_list(AnyForm item, ListAccess access) {
    auto written = written_as_list(item);
    auto const shared = std::make_shared<AnyForm const>(std::move(item));
    auto read = [shared, access](Reader& reader, Json const& value, void* into) {
        return read_list(*shared, access, reader, value, into);
    };
    auto show = [shared, access](void const* list) { return show_list(*shared, access, list); };
    return {std::move(written), [shared] { return description_of_list(*shared); }, std::move(read), std::move(show)};
}

}   // namespace garner::config
