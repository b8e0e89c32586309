// The context of rules: named matchers, files, users.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "config/reader.hpp"
#include "http/matcher.hpp"

namespace garner::config {

/// The matchers of the section `matchers`. Each is read when a rule uses it first: the order of the keys does not matter.
class NamedMatchers {
public:
    /// The matcher of this name. nullptr after a fault, which was noted at the current key, or at the matcher itself.
    std::shared_ptr<http::Matcher const> use(Reader&, std::string const& name);
    /// Reads all of them. The current key is the section.
    bool read_all(Reader&, Json const& section);
    /// Notices names that no rule and no other matcher uses.
    void notice_unused(Reader&) const;

private:
    enum class State : unsigned char { being_read, read };
    struct Entry {
        State state = State::being_read;
        bool used = false;
        std::shared_ptr<http::Matcher const> matcher = nullptr;   // nullptr: faulty
    };
    Entry& read(Reader&, std::string const& name, Json const& value);

    std::map<std::string, Entry> all_;
};

/// Belongs to the reading of one configuration.
struct RuleContext {
    NamedMatchers named;
    bool has_users = false;    // false: `user` and `group` are faults
    bool reads_files = true;   // false: lists from files are left empty, for commands that decide nothing
};

}   // namespace garner::config
