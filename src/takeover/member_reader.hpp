// Reads the members of a message of a takeover. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takeover/takeover_message.hpp"

namespace garner::takeover {

inline Json bytes_of(std::string const& text) { return Json::binary(std::vector<std::uint8_t>(text.begin(), text.end())); }

inline std::optional<std::string> text_in(Json const& value) {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_binary()) return std::nullopt;
    auto const& bytes = value.get_binary();
    return std::string(bytes.begin(), bytes.end());
}

/// Reads the members of a message; the first that is wrong is the fault.
class Reader {
public:
    explicit Reader(Json const& message) : Reader(message, what_of(message)) {}
    /// A map inside the message `what`.
    Reader(Json const& map, std::string what) : message_(map), what_(std::move(what)) {}

    template <class Number>
    void number(char const* name, Number& into) {
        auto const member = message_.find(name);
        bool const given = member != message_.end() && member->is_number_unsigned();
        auto const value = given ? member->get<std::uint64_t>() : 0;
        if (!given || value > static_cast<std::uint64_t>(INT64_MAX) ||
            static_cast<std::uint64_t>(static_cast<Number>(value)) != value)
            return refuse(name);
        into = static_cast<Number>(value);
    }
    /// A number of 64 bits.
    void bits(char const* name, std::uint64_t& into) {
        auto const member = message_.find(name);
        if (member == message_.end() || !member->is_number_unsigned()) return refuse(name);
        into = member->get<std::uint64_t>();
    }
    template <class Time>
    void time(char const* name, Time& into) {
        std::int64_t count = 0;
        number(name, count);
        into = Time(count);
    }
    void text(char const* name, std::string& into) {
        auto const member = message_.find(name);
        auto const value = member == message_.end() ? std::nullopt : text_in(*member);
        if (!value) return refuse(name);
        into = *value;
    }
    void texts(char const* name, std::vector<std::string>& into) {
        auto const* const member = array(name);
        if (!member) return;
        for (auto const& one : *member) {
            auto const value = text_in(one);
            if (!value) return refuse(name);
            into.push_back(*value);
        }
    }
    void flag(char const* name, bool& into) {
        auto const member = message_.find(name);
        if (member == message_.end() || !member->is_boolean()) return refuse(name);
        into = member->get<bool>();
    }

    template <class Number>
    void numbers(char const* name, std::vector<Number>& into) {
        auto const* const member = array(name);
        if (!member) return;
        for (auto const& one : *member) {
            if (!one.is_number_unsigned()) return refuse(name);
            into.push_back(one.template get<Number>());
        }
    }
    /// Null if it is none.
    Json const* object(char const* name) { return of_kind(name, &Json::is_object); }
    Json const* array(char const* name) { return of_kind(name, &Json::is_array); }

    bool has(char const* name) const { return message_.contains(name); }
    /// The member has the right type and no valid value.
    void refuse(char const* name) {
        if (wrong_.empty()) wrong_ = name;
    }
    bool is_valid() const { return wrong_.empty(); }

    template <class Message>
    Result<Message> result(Message read) const {
        if (wrong_.empty()) return read;
        return Fault{"the message \"" + what_ + "\" has no valid member \"" + wrong_ + "\""};
    }

private:
    Json const* of_kind(char const* name, bool (Json::*is_kind)() const noexcept) {
        auto const member = message_.find(name);
        if (member != message_.end() && ((*member).*is_kind)()) return &*member;
        refuse(name);
        return nullptr;
    }
    Json const& message_;
    std::string const what_;
    std::string wrong_;
};

}   // namespace garner::takeover
