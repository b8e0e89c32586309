// The forms of single values.
#include "config/form.hpp"

#include <algorithm>

#include "util/nearest.hpp"
#include "util/text.hpp"
#include "util/units.hpp"

namespace garner::config {
namespace {

constexpr std::size_t text_max = 4'096;

std::string between(std::string const& min, std::string const& max) { return "between " + min + " and " + max; }

// A whole number within bounds; a whole number out of bounds is told so, whatever its sign and size.
template <class V>
Form<V> whole(std::string written, V min, V max) {
    auto const bounds = between(std::to_string(min), std::to_string(max));
    auto read = [=](Reader& reader, Json const& value, V& into) {
        if (!value.is_number_integer())
            return reader.fault("expects a whole number, not " + kind_of(value), "write a number " + bounds);
        bool const fits = value.is_number_unsigned() && value.get<std::uint64_t>() >= min &&
                          value.get<std::uint64_t>() <= max;
        if (!fits) return reader.fault(value.dump() + " is out of range", "write a number " + bounds);
        into = value.get<V>();
        return true;
    };
    auto schema = type_schema("integer").number("minimum", min).number("maximum", max);
    return {std::move(written), std::move(schema), std::move(read), [](V const& v) { return std::to_string(v); }};
}

// True for a whole number with a unit that parse() knows: then it is its size that parse() refuses.
template <class Parse>
bool is_only_too_large(std::string_view text, Parse&& parse) {
    text = trim(text);
    auto const unit = std::min(text.find_first_not_of("0123456789"), text.size());
    return unit > 0 && parse("1" + std::string(text.substr(unit)));
}

}  // namespace

std::string in_quotes(std::string_view text) {
    return Json(std::string(text)).dump(-1, ' ', true, Json::error_handler_t::replace);
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
    auto const bounds = between(size_text(min), size_text(max));
    auto read = [=](Reader& reader, Json const& value, Bytes& into) {
        std::optional<Bytes> bytes;
        if (value.is_number_unsigned())
            bytes = value.get<Bytes>();
        else if (!value.is_string())
            return reader.fault("expects a size, not " + kind_of(value), R"(write it like "64 MiB")");
        else if (!(bytes = parse_size(value.get_ref<std::string const&>())))
            return is_only_too_large(value.get_ref<std::string const&>(), parse_size)
                       ? reader.fault(in_quotes(value.get_ref<std::string const&>()) + " is out of range",
                                      "write a size " + bounds)
                       : reader.fault(in_quotes(value.get_ref<std::string const&>()) + " is not a size",
                                      R"(write it like "64 MiB"; units are B, KB, MB, GB, TB, KiB, MiB, GiB, TiB)");
        if (*bytes < min || *bytes > max)
            return reader.fault(size_text(*bytes) + " is out of range", "write a size " + bounds);
        into = *bytes;
        return true;
    };
    auto const bytes = type_schema("integer").number("minimum", min);
    auto const unit = type_schema("string").text("pattern", "^[0-9]+([.][0-9]+)? *(([KkMmGgTt][Ii]?)?[Bb])?$");
    auto schema = either_schema(bytes, unit);
    return {"size", std::move(schema), std::move(read), [](Bytes const& v) { return in_quotes(size_text(v)); }};
}

Form<milliseconds> time(milliseconds min, milliseconds max) {
    auto const bounds = between(time_text(min), time_text(max));
    auto read = [=](Reader& reader, Json const& value, milliseconds& into) {
        std::string const mend = R"(write it like "300ms", "2s", "5m", "1h" or "7d")";
        std::optional<milliseconds> time;
        if (value.is_number_unsigned() && value.get<std::uint64_t>() == 0)
            time = milliseconds{0};
        else if (value.is_number())
            return reader.fault("a time needs a unit", mend);
        else if (!value.is_string())
            return reader.fault("expects a time, not " + kind_of(value), mend);
        else if (!(time = parse_time(value.get_ref<std::string const&>())))
            return is_only_too_large(value.get_ref<std::string const&>(), parse_time)
                       ? reader.fault(in_quotes(value.get_ref<std::string const&>()) + " is out of range",
                                      "write a time " + bounds)
                       : reader.fault(in_quotes(value.get_ref<std::string const&>()) + " is not a time", mend);
        if (*time < min || *time > max)
            return reader.fault(time_text(*time) + " is out of range", "write a time " + bounds);
        into = *time;
        return true;
    };
    auto schema = type_schema("string").text("pattern", "^([0-9]+([.][0-9]+)? *(ms|s|m|h|d)|0)$");
    return {"time", std::move(schema), std::move(read), [](milliseconds const& v) { return in_quotes(time_text(v)); }};
}

Form<std::uint32_t> count(std::uint32_t min, std::uint32_t max) { return whole("number", min, max); }

Form<std::uint16_t> port(std::uint16_t min) { return whole<std::uint16_t>("port", min, 65'535); }

Form<double> fraction(double min, double max) {
    auto const bounds = between(Json(min).dump(), Json(max).dump());
    auto read = [=](Reader& reader, Json const& value, double& into) {
        if (!value.is_number()) return reader.fault("expects a number, not " + kind_of(value), "write one " + bounds);
        auto const number = value.get<double>();
        if (!(number >= min && number <= max))
            return reader.fault(value.dump() + " is out of range", "write a number " + bounds);
        into = number;
        return true;
    };
    auto schema = type_schema("number").json("minimum", Json(min).dump()).json("maximum", Json(max).dump());
    return {"fraction", std::move(schema), std::move(read), [](double const& v) { return Json(v).dump(); }};
}

Form<bool> flag() {
    auto read = [](Reader& reader, Json const& value, bool& into) {
        if (!value.is_boolean())
            return reader.fault("expects true or false, not " + kind_of(value), "write true or false, without quotes");
        into = value.get<bool>();
        return true;
    };
    return {"true or false", type_schema("boolean"), read, [](bool const& v) { return Json(v).dump(); }};
}

Form<std::string> text() {
    auto read = [](Reader& reader, Json const& value, std::string& into) {
        if (!value.is_string()) return reader.fault("expects text, not " + kind_of(value), "put it in double quotes");
        auto const& text = value.get_ref<std::string const&>();
        if (text.size() > text_max) return reader.fault("is longer than 4096 bytes", "shorten it");
        auto const control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
        if (std::any_of(text.begin(), text.end(), control))
            return reader.fault("has a control character in it", "remove it");
        into = text;
        return true;
    };
    return {"text", type_schema("string"), read, [](std::string const& v) { return in_quotes(v); }};
}

Form<std::string> choice(std::vector<std::string> names) {
    std::string all;
    std::string quoted;
    for (auto const& name : names) {
        all += (all.empty() ? "" : ", ") + name;
        quoted += (quoted.empty() ? "" : ",") + Schema::quoted(name);
    }
    auto read = [=](Reader& reader, Json const& value, std::string& into) {
        auto const mend = "write one of " + all;
        if (!value.is_string()) return reader.fault("expects a name, not " + kind_of(value), mend);
        auto const& text = value.get_ref<std::string const&>();
        if (std::find(names.begin(), names.end(), text) == names.end()) {
            std::vector<std::string_view> const views(names.begin(), names.end());
            auto const meant = nearest(text, views);
            return reader.fault(in_quotes(text) + " is not known",
                                meant.empty() ? mend : "did you mean " + in_quotes(meant) + "? It is one of " + all);
        }
        into = text;
        return true;
    };
    return {all, type_schema("string").json("enum", "[" + quoted + "]"), read, [](std::string const& v) { return in_quotes(v); }};
}

}  // namespace garner::config
