// Forms of objects, and the tables of their keys.
#pragma once
#include <bit>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/form.hpp"

namespace garner::config {

/// Text that lives as long as the program: no std::string converts to it. (clang 16 crashes if its constructor is consteval.)
struct Literal : std::string_view {
    constexpr Literal(char const* text) : std::string_view(text) {}
};

/// A Row<T> without its type. The addresses given to read_any are those of a T.
struct AnyRow {
    Literal name;
    ReadAny read_any;                            // into the object
    std::function<Description()> describe_key;   // a start does not call it; the first note is that of the key itself
    bool required = false;
    bool hidden = false;                  // undocumented, and not suggested in place of an unknown key
    Literal former = "";                  // an earlier name, still read, with a notice; empty: none
    std::optional<Literal> preset = {};   // replaces the default in the description; empty: it has none

    bool is_called(std::string_view written) const { return written == name || (!former.empty() && written == former); }
    bool is_given_in(Json const& object) const { return object.contains(name) || (!former.empty() && object.contains(former)); }
    /// describe_key(), with `preset`.
    Description describe() const;
};

/// One key of an object T.
template <class T>
struct Row : Typed<T, AnyRow> {
    using Typed<T, AnyRow>::Typed;

    /// `read` is called as bool(Reader&, Json const&, T&).
    template <class Read>
    Row(Literal name, Read read, std::function<Description()> describe)
        : Typed<T, AnyRow>(AnyRow{name, reading<T>(std::move(read)), std::move(describe)}) {}
    /// Declares `name` as an earlier name of this key.
    Row was(Literal name) && {
        this->former = name;
        return std::move(*this);
    }
};

/// All keys of an object T, in the order of the documentation.
template <class T>
struct Table {
    Table(std::initializer_list<Row<T>> keys) {
        for (auto const& key : keys) rows.push_back(key);
    }
    void add(Row<T> key) { rows.push_back(std::move(key)); }
    Table without(std::initializer_list<std::string_view> names) && {
        for (auto const name : names) std::erase_if(rows, [&](AnyRow const& row) { return row.name == name; });
        return std::move(*this);
    }

    std::vector<AnyRow> rows;
};

/// An Afterwards<T> without its type.
using CheckAny = std::function<void(Reader&, Json const&, void* object)>;

/// Checks conditions between an object's keys, after all have been read.
template <class T>
struct Afterwards {
    Afterwards(std::nullptr_t) {}
    /// `check` is called as void(Reader&, Json const&, T&).
    template <class Check>
    Afterwards(Check check)
        : any([check = std::move(check)](Reader& reader, Json const& value, void* object) {
              check(reader, value, *static_cast<T*>(object));
          }) {}

    CheckAny any;
};

/// object_of() without the type.
AnyForm any_object(std::vector<AnyRow> rows, CheckAny afterwards);

/// An object with these keys.
template <class T>
Form<T> object_of(Table<T> table, Afterwards<T> afterwards = nullptr) {
    return Form<T>(any_object(std::move(table.rows), std::move(afterwards.any)));
}

/// The place of a value in an object.
struct Place {
    std::ptrdiff_t offset = 0;
    void* (*find)(void* object) = nullptr;   // instead of the offset

    void* in(void* object) const { return find ? find(object) : static_cast<char*>(object) + offset; }
};

/// `member`: as in key().
template <class T, class Member>
Place place_of(Member member) {
    if constexpr (std::is_member_object_pointer_v<Member>) {
        // Itanium C++ ABI 2.3.1: a pointer to a data member is the offset.
        std::remove_reference_t<std::invoke_result_t<Member, T&>> T::*const of_object = member;
        return {std::bit_cast<std::ptrdiff_t>(of_object)};
    } else {
        static_assert(std::is_empty_v<Member>, "a lambda without captures");
        return {.find = [](void* object) -> void* { return &Member{}(*static_cast<T*>(object)); }};
    }
}

/// The value at `place` in a new T, as the form shows defaults.
template <class T>
std::string shown_default(AnyForm const& form, Place place) {
    T fresh{};
    return form.show_any(place.in(&fresh));
}

/// key() without the type. `shown`: shown_default() of the object's type.
AnyRow any_key(Literal name, Place place, std::string (*shown)(AnyForm const&, Place), AnyForm form, Literal what);

/// Reads a V, and converts it to the type of the member.
template <class Stored, class V>
Form<Stored> stored_as(Form<V> form) {
    auto read = [read = std::move(form.read_any)](Reader& reader, Json const& value, Stored& into) {
        V one{};
        if (!read(reader, value, &one)) return false;
        into = std::move(one);
        return true;
    };
    Form<Stored> stored(std::move(form.written), std::move(form.describe), std::move(read), nullptr, form.is_object);
    if constexpr (std::is_convertible_v<Stored const&, V>)
        if (form.show_any)
            stored.show_by([show = std::move(form.show_any)](Stored const& value) {
                V const shown = static_cast<V>(value);
                return show(&shown);
            });
    return stored;
}

/// A key whose value is stored in `member`: a member pointer, or a lambda without captures from T& to a reference.
template <class T, class V, class Member>
Row<T> key(Literal name, Member member, Form<V> form, Literal what) {
    using Stored = std::remove_cvref_t<std::invoke_result_t<Member, T&>>;
    if constexpr (std::is_same_v<Stored, V>)
        return Row<T>(any_key(name, place_of<T>(member), shown_default<T>, std::move(form), what));
    else
        return Row<T>(any_key(name, place_of<T>(member), shown_default<T>, stored_as<Stored>(std::move(form)), what));
}

/// A key whose form `make` makes when it is first used.
template <class T, class V, class Member>
Row<T> key(Literal name, Member member, Form<V> (*make)(), Literal what) {
    return key<T>(name, member, lazy(make), what);
}

/// Replaces the default in the description of a key; empty: it has none.
template <class T>
Row<T> with_default(Row<T> row, Literal preset) {
    row.preset = preset;
    return row;
}

/// A removed key: a configuration that still has it is valid.
AnyRow any_retired(Literal name);
template <class T>
Row<T> retired(Literal name) {
    return Row<T>(any_retired(name));
}

/// A key of similar objects that this object does not have. If it is given, the fault is `text`, with `mend` as the suggestion.
AnyRow any_refused(Literal name, std::string text, std::string mend);
template <class T>
Row<T> refused(Literal name, std::string text, std::string mend) {
    return Row<T>(any_refused(name, std::move(text), std::move(mend)));
}

/// Marks the key as required: an object without it is faulty.
template <class T>
Row<T> required(Row<T> row) {
    row.required = true;
    return with_default(std::move(row), "");
}

}   // namespace garner::config
