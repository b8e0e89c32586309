// Forms of values: each form reads one kind of value, reports errors, and describes itself for the schema and the documentation.
#pragma once
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
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

// AnyForm and AnyRow access values by address, so that their code is compiled once and not for each type. The templates Form, Row and
// Table only add the type.

/// False: a fault was noted.
using ReadAny = std::function<bool(Reader&, Json const&, void* into)>;

/// `read` is called as bool(Reader&, Json const&, V&).
template <class V, class Read>
ReadAny reading(Read read) {
    return [read = std::move(read)](Reader& reader, Json const& value, void* into) {
        return read(reader, value, *static_cast<V*>(into));
    };
}

/// A Form<V> without its type. The addresses given to read_any and show_any are those of a V.
struct AnyForm {
    std::string written;                     // "a size", "text"
    std::function<Description()> describe;   // a start does not call it
    ReadAny read_any;
    std::function<std::string(void const*)> show_any;   // formats defaults as JSON; may be empty
    bool is_object = false;                             // written as { … }
};

/// An AnyForm or AnyRow of values of type V.
template <class V, class Any>
struct Typed : Any {
    template <std::same_as<Any> Untyped>   // none of another type
    explicit Typed(Untyped any) : Any(std::move(any)) {}

    bool read(Reader& reader, Json const& value, V& into) const { return this->read_any(reader, value, &into); }

    /// Replaces the reader.
    template <class Read>
    void read_by(Read read) {
        this->read_any = reading<V>(std::move(read));
    }
};

template <class V>
struct Form : Typed<V, AnyForm> {
    using Typed<V, AnyForm>::Typed;

    /// `read` is called as bool(Reader&, Json const&, V&), and `show` as std::string(V const&), unless it is null.
    template <class Read, class Show>
    Form(std::string written, std::function<Description()> describe, Read read, Show show, bool is_object = false)
        : Typed<V, AnyForm>(AnyForm{std::move(written), std::move(describe), reading<V>(std::move(read)), {}, is_object}) {
        if constexpr (!std::is_null_pointer_v<Show>) show_by(std::move(show));
    }
    /// Replaces the text of defaults.
    template <class Show>
    void show_by(Show show) {
        this->show_any = [show = std::move(show)](void const* value) { return show(*static_cast<V const*>(value)); };
    }
};

/// lazy() without the type.
AnyForm any_lazy(std::function<AnyForm()> make);

/// A form that `make` makes when it is first used: a start needs the forms of only those keys that are given. One thread at a time
/// may read.
template <class V>
Form<V> lazy(Form<V> (*make)()) {
    return Form<V>(any_lazy(make));
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

/// parsed() without the type.
AnyForm any_parsed(std::string written, std::string what_it_is, std::string mend,
                   std::function<bool(std::string const&, void* into, std::string& why)> parse);

/// Text that `parse` reads: bool(std::string const&, V&, std::string& why) gives a value, or false and a reason. `mend` describes the
/// right syntax.
template <class V, class Parse>
Form<V> parsed(std::string written, std::string what_it_is, std::string mend, Parse parse) {
    auto into_any = [parse = std::move(parse)](std::string const& text, void* into, std::string& why) {
        return parse(text, *static_cast<V*>(into), why);
    };
    return Form<V>(any_parsed(std::move(written), std::move(what_it_is), std::move(mend), std::move(into_any)));
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
/// Reads and writes a value as the number of its enumerator; false and true are 0 and 1.
struct NumberAccess {
    int (*get)(void const* value);
    void (*set)(void* value, int number);
};
/// one_of() without the type.
AnyForm any_one_of(std::vector<Named<int>> names, NumberAccess access);

/// One of several names, each of which has a value of an enumeration, or true or false.
template <class V>
Form<V> one_of(std::initializer_list<Named<V>> names) {
    static_assert(std::is_same_v<V, bool> || (std::is_enum_v<V> && sizeof(V) <= sizeof(int)));
    std::vector<Named<int>> numbers;
    for (auto const& [name, value] : names) numbers.push_back({name, static_cast<int>(value)});
    NumberAccess const access{[](void const* value) { return static_cast<int>(*static_cast<V const*>(value)); },
                              [](void* value, int number) { *static_cast<V*>(value) = static_cast<V>(number); }};
    return Form<V>(any_one_of(std::move(numbers), access));
}

// ---- lists ----

/// How the items of a list are reached.
struct ListAccess {
    void (*clear)(void* list);
    void* (*append)(void* list);   // a new item
    void (*drop_last)(void* list);
    std::size_t (*size)(void const* list);
    void const* (*item)(void const* list, std::size_t index);
};
/// list_of() without the type.
AnyForm any_list(AnyForm item, ListAccess access);

/// A list; a single value is read as a list of one, unless items are objects.
template <class V>
Form<std::vector<V>> list_of(Form<V> item) {
    using List = std::vector<V>;
    ListAccess const access{
        [](void* list) { static_cast<List*>(list)->clear(); },
        [](void* list) -> void* { return &static_cast<List*>(list)->emplace_back(); },
        [](void* list) { static_cast<List*>(list)->pop_back(); },
        [](void const* list) { return static_cast<List const*>(list)->size(); },
        [](void const* list, std::size_t index) -> void const* { return &(*static_cast<List const*>(list))[index]; }};
    return Form<List>(any_list(std::move(item), access));
}

}   // namespace garner::config
