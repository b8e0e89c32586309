// The result of an operation that may fail: a value or an error.
#pragma once
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "util/check.hpp"

namespace garner {

/// An error with its text for the user.
struct Fault {
    std::string what;         // "no set \"trie\""
    std::string mend = {};    // a suggested fix: "valid sets: lines, runs"; may be empty
    std::string where = {};   // the option, address or file: "--set", "127.0.0.1 port 3131"; may be empty

    /// One line: "where: what; mend".
    std::string text() const { return (where.empty() ? "" : where + ": ") + what + (mend.empty() ? "" : "; " + mend); }
    Fault at(std::string place) const { return {what, mend, std::move(place)}; }
};

/// A T, or the Fault that explains its absence. The caller must check first: reading the other one stops the process.
template <class T>
class [[nodiscard]] Result {
public:
    template <std::convertible_to<T> U>
    requires(!std::same_as<std::remove_cvref_t<U>, Result>) Result(U&& value)
        : either_(std::in_place_index<0>, std::forward<U>(value)) {}
    Result(Fault fault) : either_(std::in_place_index<1>, std::move(fault)) {}

    explicit operator bool() const { return either_.index() == 0; }
    T& operator*() & { return held<0>(either_); }
    T const& operator*() const& { return held<0>(either_); }
    T&& operator*() && { return std::move(held<0>(either_)); }
    T* operator->() { return &held<0>(either_); }
    T const* operator->() const { return &held<0>(either_); }
    Fault const& fault() const { return held<1>(either_); }

    /// Empty if there is a value.
    std::string fault_text() const { return *this ? std::string() : fault().text(); }

private:
    template <std::size_t index>
    static auto& held(auto& either) {
        auto* const found = std::get_if<index>(&either);
        check(found != nullptr);
        return *found;
    }

    std::variant<T, Fault> either_;
};

/// Success without a value, or the Fault.
template <>
class [[nodiscard]] Result<void> : public Result<std::monostate> {
public:
    Result() : Result<std::monostate>(std::monostate()) {}
    Result(Fault fault) : Result<std::monostate>(std::move(fault)) {}
};

/// Converts the error text of a function; an empty text is success.
inline Result<void> to_result(std::string fault) {
    if (fault.empty()) return {};
    return Fault{std::move(fault)};
}

}   // namespace garner
