#include "config/object_form.hpp"

#include <algorithm>
#include <memory>

namespace garner::config {

Description AnyRow::describe() const {
    auto description = describe_key();
    if (!preset) return description;
    description.notes.front().preset = *preset;
    description.schema.erase("default");
    if (!preset->empty()) description.schema.json("default", std::string(*preset));
    return description;
}

namespace {

/// A form and the place of its value in an object.
struct Key {
    Literal name;
    Place place;
    std::string (*shown)(AnyForm const&, Place);
    AnyForm form;
    Literal what;

    Description description() const {
        auto [schema, inner] = form.describe();
        std::string const path(name), preset = form.show_any ? shown(form, place) : "";
        schema.text("description", what);
        if (!preset.empty()) schema.json("default", preset);
        // An object's own line would only repeat its keys.
        std::vector<KeyNote> notes;
        if (inner.empty() || form.written != "object") notes.push_back({path, form.written, preset, std::string(what)});
        for (auto& note : inner) {
            bool const list = note.path.starts_with("[]");
            notes.push_back({path + (list ? "" : ".") + note.path, note.written, note.preset, note.what});
        }
        return {std::move(schema), std::move(notes)};
    }
};

}   // namespace

AnyRow any_key(Literal name, Place place, std::string (*shown)(AnyForm const&, Place), AnyForm form, Literal what) {
    auto const key = std::make_shared<Key const>(Key{name, place, shown, std::move(form), what});
    auto read = [key](Reader& reader, Json const& value, void* object) {
        return key->form.read_any(reader, value, key->place.in(object));
    };
    return {.name = name, .read_any = std::move(read), .describe_key = [key] { return key->description(); }};
}

AnyRow any_retired(Literal name) {
    auto read = [](Reader& reader, Json const&, void*) {
        reader.notice("this key no longer has an effect", "remove it");
        return true;
    };
    return {.name = name, .read_any = read, .describe_key = {}, .hidden = true};
}

AnyRow any_refused(Literal name, std::string text, std::string mend) {
    auto read = [text = std::move(text), mend = std::move(mend)](Reader& reader, Json const&, void*) {
        return reader.fault(text, mend);
    };
    return {.name = name, .read_any = std::move(read), .describe_key = {}, .hidden = true};
}

namespace {

bool read_members(Reader& reader, Json const& value, void* into, std::vector<AnyRow> const& rows) {
    if (!value.is_object()) return reader.fault("expects an object, not " + kind_of(value), "write { … }");
    std::vector<std::string_view> names;
    for (auto const& row : rows)
        if (!row.hidden) names.push_back(row.name);

    bool good = true;
    for (auto const& [name, member] : value.items()) {
        Reader::Step const step(reader, std::string_view(name));
        auto const row = std::ranges::find_if(rows, [&](AnyRow const& one) { return one.is_called(name); });
        if (row == rows.end()) {
            reader.unknown_key(names);
            good = false;
            continue;
        }
        if (name != row->name) good = reader.former_name(row->name, value.contains(row->name)) && good;
        good = row->read_any(reader, member, into) && good;
    }
    for (auto const& row : rows)
        if (row.required && !row.is_given_in(value)) good = reader.fault("has no " + std::string(row.name), "add it");
    return good;
}

Description description_of_members(std::vector<AnyRow> const& rows) {
    std::vector<KeyNote> notes;
    Schema properties;
    std::string required;
    for (auto const& row : rows) {
        if (row.hidden) continue;
        auto inner = row.describe();
        properties.object(std::string(row.name), std::move(inner.schema));
        if (row.required) required += (required.empty() ? "" : ",") + Schema::quoted(row.name);
        notes.insert(notes.end(), inner.notes.begin(), inner.notes.end());
    }
    auto schema = type_schema("object").json("additionalProperties", "false").object("properties", std::move(properties));
    if (!required.empty()) schema.json("required", "[" + required + "]");
    return {std::move(schema), std::move(notes)};
}

}   // namespace

AnyForm any_object(std::vector<AnyRow> rows, CheckAny afterwards) {
    // Shared, because forms are copied into the forms that contain them.
    auto const shared = std::make_shared<std::vector<AnyRow> const>(std::move(rows));
    auto read = [shared, afterwards = std::move(afterwards)](Reader& reader, Json const& value, void* into) {
        bool const good = read_members(reader, value, into, *shared);
        if (afterwards && value.is_object()) afterwards(reader, value, into);
        return good;
    };
    return {"object", [shared] { return description_of_members(*shared); }, std::move(read), {}, true};
}

}   // namespace garner::config
