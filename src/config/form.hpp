// Forms of values: each form reads one kind of value, reports errors, and describes itself for the schema and the
// documentation. Tables of keys consist of forms.
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/reader.hpp"
#include "config/schema.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"

namespace garner::config {

/// One line of the documentation.
struct KeyNote {
    std::string path;      // "memory.size", "listen[].address"
    std::string written;   // "size", "networks", "list of objects"
    std::string preset;    // the default as JSON; empty when there is none
    std::string what;
};

/// The schema of a value, and the keys inside an object, in order.
struct Description {
    Description(Schema schema, std::vector<KeyNote> notes = {}) : schema(std::move(schema)), notes(std::move(notes)) {}

    Schema schema;
    std::vector<KeyNote> notes;
};

template <class V>
struct Form {
    std::string written;                                  // "a size", "text"
    std::function<Description()> describe;                // a start does not call it
    std::function<bool(Reader&, Json const&, V&)> read;   // false: a fault was noted
    std::function<std::string(V const&)> show;            // formats defaults as JSON; may be empty
    bool is_object = false;                               // written as { … }
};

/// A form that `make` makes when it is first used: a start needs the forms of only those keys that are given. One thread at a time
/// may read.
template <class V>
Form<V> lazy(Form<V> (*make)()) {
    auto read = [make, made = std::make_shared<std::optional<Form<V>>>()](Reader& reader, Json const& value, V& into) {
        if (!*made) *made = make();
        return (*made)->read(reader, value, into);
    };
    return {"object", [make] { return make().describe(); }, std::move(read), nullptr, true};
}

inline auto described_as(char const* type) {
    return [type]() -> Description { return type_schema(type); };
}

/// "text", "a number", "a list", … for messages.
std::string kind_of(Json const&);

/// The text as JSON writes it, for any bytes.
std::string in_quotes(std::string_view text);
/// The first 80 bytes, with "..." if there are more.
std::string shortened(std::string_view text);
/// A wrong value, for messages: in quotes and shortened.
std::string quoted_value(std::string_view text);

// ---- forms of single values; bounds are inclusive ----

Form<Bytes> size(Bytes min, Bytes max);
/// Bytes a second.
Form<Bytes> rate(Bytes min, Bytes max);
Form<milliseconds> time(milliseconds min, milliseconds max);
Form<std::uint32_t> count(std::uint32_t min, std::uint32_t max);
Form<std::uint16_t> port(std::uint16_t min = 1);
Form<double> fraction(double min, double max);
Form<bool> flag();
/// Text without control bytes, at most 4096 bytes.
Form<std::string> text();
Form<std::string> choice(std::vector<std::string> names);

/// Text that `parse` reads. `parse` gives a value, or nothing and a reason; `mend` describes the right syntax.
template <class V>
Form<V> parsed(std::string written, std::string what_it_is, std::string mend,
               std::function<bool(std::string const&, V&, std::string& why)> parse) {
    auto read = [=](Reader& reader, Json const& value, V& into) {
        if (!value.is_string()) return reader.fault("expects " + what_it_is + ", not " + kind_of(value), mend);
        auto const& text = value.template get_ref<std::string const&>();
        std::string why = "is not " + what_it_is;
        if (parse(text, into, why)) return true;
        return reader.fault(quoted_value(text) + " " + why, mend);
    };
    return {std::move(written), described_as("string"), std::move(read), nullptr};
}

/// Whether a text is valid. If not, it may set `why` to a more precise reason.
using Accept = std::function<bool(std::string const& text, std::string& why)>;
/// Text that `accept` accepts, stored unchanged.
Form<std::string> checked(std::string written, std::string what_it_is, std::string mend, Accept accept);

template <class V>
struct Named {
    std::string name;
    V value;
};
/// One of several names, each of which has a value.
template <class V>
Form<V> one_of(std::vector<Named<V>> names) {
    std::vector<std::string> texts;
    for (auto const& one : names) texts.push_back(one.name);
    auto const named = choice(texts);
    auto read = [=](Reader& reader, Json const& value, V& into) {
        std::string text;
        if (!named.read(reader, value, text)) return false;
        for (auto const& one : names)
            if (one.name == text) into = one.value;
        return true;
    };
    auto show = [=](V const& value) {
        for (auto const& one : names)
            if (one.value == value) return Json(one.name).dump();
        return std::string();
    };
    return {named.written, named.describe, std::move(read), std::move(show)};
}

// ---- composed forms ----

/// A list; a single value is read as a list of one, unless items are objects.
template <class V>
Form<std::vector<V>> list_of(Form<V> item) {
    auto read = [read_item = item.read, is_object = item.is_object](Reader& reader, Json const& value, std::vector<V>& into) {
        into.clear();
        if (!value.is_array()) {
            if (is_object) return reader.fault("expects a list, not " + kind_of(value), "write [ { … } ]");
            return read_item(reader, value, into.emplace_back());
        }
        bool good = true;
        for (std::size_t i = 0; i < value.size(); ++i) {
            Reader::Step const step(reader, i);
            V one{};
            if (read_item(reader, value[i], one))
                into.push_back(std::move(one));
            else
                good = false;
        }
        return good;
    };
    auto show = [show_item = item.show](std::vector<V> const& values) {
        std::string out;
        for (auto const& value : values) {
            if (!show_item) return std::string();
            out += (out.empty() ? "" : ", ") + show_item(value);
        }
        return "[" + out + "]";
    };
    auto describe = [describe_item = item.describe, is_object = item.is_object]() -> Description {
        auto [schema, notes] = describe_item();
        auto const array = type_schema("array").object("items", schema);
        for (auto& note : notes) note.path.insert(0, "[].");
        return {is_object ? array : either_schema(std::move(schema), array), std::move(notes)};
    };
    bool const is_choice = item.written.find(", ") != item.written.npos;
    bool const needs_word = item.is_object || item.written == "matchers" || is_choice;
    bool const is_plural = is_choice || (item.written.ends_with('s') && !item.written.ends_with("ss"));
    auto const plural = item.written + (is_plural ? "" : item.written.ends_with("ss") ? "es" : "s");
    return {(needs_word ? "list of " : "") + plural, std::move(describe), std::move(read), std::move(show)};
}

/// One key of an object T.
template <class T>
struct Row {
    std::string name;
    std::function<bool(Reader&, Json const&, T&)> read;
    std::function<Description()> describe;   // a start does not call it; the first note is that of the key itself
    bool required = false;
    bool offered = true;       // may be suggested in place of an unknown key
    bool retired = false;      // read but without effect; undocumented
    std::string former = {};   // an earlier name, still read, with a notice; empty: none

    /// Declares `name` as an earlier name of this key.
    Row was(std::string name) && {
        former = std::move(name);
        return std::move(*this);
    }
    bool is_called(std::string_view written) const { return written == name || (!former.empty() && written == former); }
    bool is_given_in(Json const& object) const { return object.contains(name) || (!former.empty() && object.contains(former)); }
};

/// All keys of an object T, in the order of the documentation.
template <class T>
using Table = std::vector<Row<T>>;

/// Checks conditions between an object's keys, after all have been read.
template <class T>
using Afterwards = std::function<void(Reader&, Json const&, T&)>;

template <class T>
bool read_members(Reader& reader, Json const& value, T& into, Table<T> const& table) {
    if (!value.is_object()) return reader.fault("expects an object, not " + kind_of(value), "write { … }");
    std::vector<std::string_view> names;
    for (auto const& row : table)
        if (row.offered) names.push_back(row.name);

    bool good = true;
    for (auto const& [name, member] : value.items()) {
        Reader::Step const step(reader, std::string_view(name));
        auto const row = std::find_if(table.begin(), table.end(), [&](auto const& one) { return one.is_called(name); });
        if (row == table.end()) {
            reader.unknown_key(names);
            good = false;
            continue;
        }
        if (name != row->name) good = reader.former_name(row->name, value.contains(row->name)) && good;
        good = row->read(reader, member, into) && good;
    }
    for (auto const& row : table)
        if (row.required && !row.is_given_in(value)) good = reader.fault("has no " + row.name, "add it");
    return good;
}

template <class T>
Description description_of(Table<T> const& table) {
    std::vector<KeyNote> notes;
    Schema properties;
    std::string required;
    for (auto const& row : table) {
        if (row.retired) continue;
        auto inner = row.describe();
        properties.object(row.name, std::move(inner.schema));
        if (row.required) required += (required.empty() ? "" : ",") + Schema::quoted(row.name);
        notes.insert(notes.end(), inner.notes.begin(), inner.notes.end());
    }
    auto schema = type_schema("object").json("additionalProperties", "false").object("properties", std::move(properties));
    if (!required.empty()) schema.json("required", "[" + required + "]");
    return {std::move(schema), std::move(notes)};
}

template <class T>
Form<T> object_of(Table<T> table, Afterwards<T> afterwards = nullptr) {
    // Shared, because forms are copied into the forms that contain them.
    auto shared = std::make_shared<Table<T> const>(std::move(table));
    auto describe = [shared] { return description_of(*shared); };
    auto read = [shared, afterwards](Reader& reader, Json const& value, T& into) {
        bool const good = read_members(reader, value, into, *shared);
        if (afterwards && value.is_object()) afterwards(reader, value, into);
        return good;
    };
    return {"object", std::move(describe), std::move(read), nullptr, true};
}

/// A key whose value is stored in `member`: a member pointer, or a function from T& to a reference.
template <class T, class V, class Member>
Row<T> key(std::string name, Member member, Form<V> form, std::string what) {
    auto read = [member, read_value = std::move(form.read)](Reader& reader, Json const& value, T& into) {
        auto&& target = std::invoke(member, into);
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(target)>, V>) {
            return read_value(reader, value, target);
        } else {
            V read{};
            if (!read_value(reader, value, read)) return false;
            target = std::move(read);
            return true;
        }
    };
    auto describe = [=, describe_value = std::move(form.describe), show = std::move(form.show),
                     written = std::move(form.written)]() -> Description {
        std::string preset;
        T fresh{};
        auto const& target = std::invoke(member, fresh);
        if constexpr (std::is_convertible_v<decltype(target), V>)
            if (show) preset = show(static_cast<V>(target));

        auto [schema, inner] = describe_value();
        schema.text("description", what);
        if (!preset.empty()) schema.json("default", preset);
        // An object's own line would only repeat its keys.
        std::vector<KeyNote> notes;
        if (inner.empty() || written != "object") notes.push_back({name, written, preset, what});
        for (auto& note : inner) {
            bool const list = note.path.starts_with("[]");
            notes.push_back({name + (list ? "" : ".") + note.path, note.written, note.preset, note.what});
        }
        return {std::move(schema), std::move(notes)};
    };
    return {name, std::move(read), std::move(describe)};
}

/// A key whose form `make` makes when it is first used.
template <class T, class V, class Member>
Row<T> key(std::string name, Member member, Form<V> (*make)(), std::string what) {
    return key<T>(std::move(name), member, lazy(make), std::move(what));
}

/// Replaces the default in the description of a key; empty: it has none.
template <class T>
Row<T> with_default(Row<T> row, std::string const& preset) {
    row.describe = [describe = std::move(row.describe), preset] {
        auto description = describe();
        description.notes.front().preset = preset;
        description.schema.erase("default");
        if (!preset.empty()) description.schema.json("default", preset);
        return description;
    };
    return row;
}

/// A removed key: a configuration that still has it is valid.
template <class T>
Row<T> retired(std::string name) {
    auto read = [](Reader& reader, Json const&, T&) {
        reader.notice("this key no longer has an effect", "remove it");
        return true;
    };
    return {.name = std::move(name), .read = std::move(read), .describe = {}, .offered = false, .retired = true};
}

/// Marks the key as required: an object without it is faulty.
template <class T>
Row<T> required(Row<T> row) {
    row.required = true;
    return with_default(std::move(row), "");
}

}   // namespace garner::config
