// Mutexes whose use clang can check: those of util/mutex.hpp, in classes that declare what they guard.
#pragma once

#include "house/source.hpp"

#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace garner::house {

/// The body of a class after its opening brace, without the bodies of nested functions and classes.
inline std::string own_declarations(std::string_view code) {
    std::string own;
    int braces = 1;
    for (char const c : code) {
        braces += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (braces == 0) break;
        if (braces == 1) own += c;
    }
    return own;
}

inline std::vector<Breach> breaches_of_plain_mutexes(std::string const& file, std::string const& code) {
    static std::regex const plain("std::(\\w*mutex|lock_guard|unique_lock|scoped_lock|shared_lock|condition_variable\\w*)\\b");
    std::vector<Breach> breaches;
    if (file == "util/mutex.hpp") return breaches;
    for (std::sregex_iterator found(code.begin(), code.end(), plain), end; found != end; ++found)
        breaches.push_back({file, line_of(code, static_cast<std::size_t>(found->position())),
                            found->str() + " is not checked: take what util/mutex.hpp has"});
    return breaches;
}

inline std::vector<Breach> breaches_of_unguarding_classes(std::string const& file, std::string const& code) {
    static std::regex const classes("\\b(class|struct)\\s[^;(){}]*\\{"), mutex("\\bMutex \\w+;");
    std::vector<Breach> breaches;
    for (std::sregex_iterator found(code.begin(), code.end(), classes), end; found != end; ++found) {
        auto const at = static_cast<std::size_t>(found->position());
        auto const own = own_declarations(std::string_view(code).substr(at + static_cast<std::size_t>(found->length())));
        if (std::regex_search(own, mutex) && own.find("GUARDED_BY(") == own.npos)
            breaches.push_back({file, line_of(code, at), "has a Mutex, and nothing that is GUARDED_BY it"});
    }
    return breaches;
}

inline std::vector<Breach> breaches_of_mutexes(std::string const& file, std::string_view text) {
    auto const code = code_only(text);
    auto breaches = breaches_of_plain_mutexes(file, code);
    for (auto& breach : breaches_of_unguarding_classes(file, code)) breaches.push_back(std::move(breach));
    return breaches;
}

}   // namespace garner::house
