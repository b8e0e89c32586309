// garner rules test: the requests of an access log, decided by other rules.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "proxy/rule_question.hpp"
#include "sim/logged_request.hpp"

namespace garner::config {

/// Compares the decisions of rules with those in a log, or with those of other rules. A log tells no groups of directories and
/// tokens, and the address of the origin only if it was connected to: such requests may be undecidable. Takes about 2 µs for a
/// line. Not thread-safe.
class LogReplay {
public:
    /// `before` is nullptr: the log tells the former decision. Both inquiries must outlive it.
    LogReplay(proxy::RuleInquiry& after, proxy::RuleInquiry* before) : after_(after), before_(before) {}

    /// Counts the request. Skips lines of other protocols, requests that the proxy rejects for their form (400), those for its own
    /// pages and PURGE, which no rule of `access` decides, and without `before` those with status 429, which limits and quotas refused.
    void take(sim::LoggedRequest const&, sim::LogFormatRow const&);
    /// A line that the format cannot read.
    void count_broken() { ++broken_; }

    std::uint64_t requests() const { return requests_; }
    std::uint64_t newly_denied() const { return denied_.count; }
    std::uint64_t undecidable() const { return undecidable_.count; }
    /// Counts, and for each change the users and hosts with the most requests, with one example and the rule.
    std::string text() const;

private:
    enum class Change : std::uint8_t { none, denied, allowed, undecidable };
    struct Group {
        std::uint64_t count = 0;
        std::string example, rule;
    };
    struct Changes {
        std::uint64_t count = 0;
        std::unordered_map<std::string, Group> groups = {};   // by "user host"
    };

    bool read_question(sim::LoggedRequest const&, sim::LogFormatRow const&);
    static Change change_of(http::Decision::Verdict before, http::Decision::Verdict after);
    void note(Changes&, http::Decision const&);
    std::string text_of(char const* what, Changes const&) const;

    proxy::RuleInquiry& after_;
    proxy::RuleInquiry* before_;
    proxy::RuleQuestion question_;
    std::string scratch_;
    std::uint64_t requests_ = 0, other_protocols_ = 0, malformed_ = 0, own_pages_ = 0, purges_ = 0, limited_ = 0, broken_ = 0;
    Changes denied_, allowed_, undecidable_;
};

}   // namespace garner::config
