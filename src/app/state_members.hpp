// Arrays of maps in the `state` messages of a takeover. Pure.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "takeover/member_reader.hpp"

namespace garner::app {

/// Adds messages with this member, which is an array of `a_message` elements at most, and with the members of `beside`.
inline void split(std::vector<takeover::Json>& messages, char const* member, std::vector<takeover::Json> all, std::size_t a_message,
                  takeover::Json const& beside) {
    for (std::size_t at = 0; at < all.size(); at += a_message) {
        auto message = takeover::plain("state");
        message.update(beside);
        auto some = takeover::Json::array();
        for (auto i = at; i < std::min(at + a_message, all.size()); ++i) some.push_back(std::move(all[i]));
        message[member] = std::move(some);
        messages.push_back(std::move(message));
    }
}

/// The elements of an array that may be missing. The fault: one is invalid.
template <class Value>
Result<std::vector<Value>> elements(takeover::Json const& message, char const* member, Value (*read)(takeover::Reader&)) {
    std::vector<Value> all;
    takeover::Reader outer(message);
    auto const* const array = outer.has(member) ? outer.array(member) : nullptr;
    if (!array) return outer.result(std::move(all));
    for (auto const& one : *array) {
        takeover::Reader inner(one, "state");
        all.push_back(read(inner));
        if (!inner.is_valid()) outer.refuse(member);
    }
    return outer.result(std::move(all));
}

}   // namespace garner::app
