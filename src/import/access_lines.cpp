#include "import/access_lines.hpp"

#include <algorithm>
#include <set>

#include "import/words.hpp"
#include "util/text.hpp"

namespace garner::importing {
namespace {

constexpr char const* too_many = "has more than 1000 combinations of its groups of ACLs; write fewer";

std::string base_name(std::string const& path) { return path.substr(path.rfind('/') + 1); }

}   // namespace

std::optional<AccessLine> read_access_line(Line const& line, std::vector<std::string> const& words, std::size_t first,
                                           Report& report) {
    if (line.missing) return AccessLine{.line = line};
    if (words.size() <= first || (words[first] != "allow" && words[first] != "deny")) {
        report.drop(line, "Squid skips a line that is neither allow nor deny");
        return std::nullopt;
    }
    auto uses = uses_in(words, first + 1);
    if (uses.empty()) {
        report.drop(line, "Squid skips a line without ACLs");
        return std::nullopt;
    }
    return AccessLine{.line = line, .allow = words[first] == "allow", .uses = std::move(uses)};
}

// ---- rules ----

/// The rules of one list, as far as a request can reach them.
class AccessWriter::Rules {
public:
    Rules(AccessWriter& writer, Kind kind, Json before) : writer_(writer), kind_(kind), rules_(std::move(before)) {}

    bool complete() const { return complete_; }
    Json take() { return std::move(rules_); }

    void add(bool allow, Conditions const& conditions, AccessLine const* line, bool asks_login = false) {
        if (conditions.never || complete_) return;
        complete_ = conditions.is.empty() && conditions.is_not.empty();
        auto matcher = writer_.matcher_of(conditions);
        // The first of equal rules decides.
        if (!written_.insert(matcher.line()).second) return;
        // Squid closes no ports.
        if (allow && kind_ == Kind::access) matcher["port"] = Json::string("1-65535");
        auto rule = Json::object();
        if (line) rule["name"] = Json::string(new_name(line->line, asks_login));
        rule[allow ? "allow" : "deny"] = matcher.empty() ? Json::string("all") : matcher;
        if (line && !allow && !line->uses.empty() && !asks_login) {
            auto const reason = writer_.reasons_.find(line->uses.back().name);
            if (reason != writer_.reasons_.end()) rule["because"] = Json::string(reason->second);
        }
        rules_.add(std::move(rule));
    }

    void add(AccessLine const& line, Path const& path) {
        Conditions conditions;
        bool asked = false;
        for (auto step = path.begin(); step != path.end(); ++step) {
            switch (step->kind) {
            case Step::Kind::matches: add_atom(step->atom, conditions.is, conditions, true); break;
            case Step::Kind::differs: add_atom(step->atom, conditions.is_not, conditions, false); break;
            case Step::Kind::never: return;
            case Step::Kind::login:
                // No client can log in.
                if (!writer_.acls_.has_auth()) return add(false, conditions, &line, true);
                if (asked) break;
                asked = true;
                ask(line, {step + 1, path.end()}, conditions);
                break;
            }
        }
        add(line.allow, conditions, &line);
    }

private:
    /// PURGE has lists of its own, where conditions on the method are decided already.
    void add_atom(Atom const* atom, std::vector<Atom const*>& to, Conditions& conditions, bool matches) const {
        if (kind_ == Kind::purge && atom->takes_purge)
            conditions.never = conditions.never || *atom->takes_purge != matches;
        else
            to.push_back(atom);
    }

    /// Garner asks for a login only if the rest of the rule matches, Squid in any case: a rule before it denies clients that have
    /// not logged in.
    void ask(AccessLine const& line, Path const& rest, Conditions& conditions) {
        auto const is_user = [](Step const& step) {
            return step.kind == Step::Kind::login || (step.atom && step.atom->needs_user);
        };
        auto const* const any_user = writer_.acls_.any_user();
        if (std::ranges::all_of(rest, [](Step const& step) { return step.kind == Step::Kind::login; })) {
            conditions.is.push_back(any_user);
        } else if (!std::ranges::all_of(rest, is_user)) {
            auto denied = conditions;
            denied.is_not.push_back(any_user);
            add(false, denied, &line, true);
        }
    }

    /// One line may become several rules.
    std::string new_name(Line const& line, bool asks_login) {
        auto const name = printable(base_name(line.file)) + ":" + std::to_string(line.number) + (asks_login ? " login" : "");
        auto const number = ++names_[name];
        return number == 1 ? name : name + " (" + std::to_string(number) + ")";
    }

    AccessWriter& writer_;
    Kind kind_;
    Json rules_;
    std::set<std::string> written_;
    std::map<std::string, unsigned> names_;   // the number of rules with this name
    bool complete_ = false;                   // the last rule matches every request
};

Json AccessWriter::matcher_of(Conditions const& conditions) {
    auto const names = [&](std::vector<Atom const*> const& atoms) {
        std::vector<std::string> all;
        for (auto const* atom : atoms)
            if (auto const& name = acls_.use(atom); std::ranges::find(all, name) == all.end()) all.push_back(name);
        return Json::strings(all);
    };
    auto matcher = Json::object();
    if (!conditions.is.empty()) matcher["is"] = names(conditions.is);
    if (!conditions.is_not.empty()) matcher["not"] = names(conditions.is_not);
    return matcher;
}

Json AccessWriter::rules(std::vector<AccessLine> const& lines, Reading reading, Kind kind, Json before) {
    Rules rules(*this, kind, std::move(before));
    Line const* decides_all = nullptr;
    for (auto const& line : lines) {
        if (rules.complete()) {
            if (!reading.quiet && !line.line.missing)
                report_.drop(line.line, "no request gets here: line " + std::to_string(decides_all->number) + " of " +
                                            printable(decides_all->file) + " decides every request");
            continue;
        }
        decides_all = &line.line;
        if (line.line.missing) {
            rules.add(false, {}, &line);
            continue;
        }
        reading.doubt_matches = !line.allow;
        auto const paths = acls_.paths(line.uses, false, reading, line.line);
        if (!paths) {
            if (!reading.quiet) report_.needs_you(line.line, too_many);
            rules.add(false, {}, &line);
            continue;
        }
        for (auto const& path : *paths) rules.add(line, path);
        if (!paths->empty() || reading.quiet) continue;
        reading.doubt_matches = true;
        if (auto const possible = acls_.paths(line.uses, false, reading, line.line); possible && possible->empty())
            report_.drop(line.line, "no request matches it here: it needs manager, to_localhost or an ACL without values");
    }
    if (!rules.complete()) rules.add(!lines.empty() && !lines.back().allow, {}, nullptr);
    return rules.take();
}

Json AccessWriter::access(std::vector<AccessLine> const& lines, Json before) {
    return rules(lines, {.has_users = true, .has_destination = true}, Kind::access, std::move(before));
}

Json AccessWriter::purge(std::vector<AccessLine> const& lines) {
    return rules(lines, {.has_users = true, .quiet = true}, Kind::purge);
}

Json AccessWriter::misses(std::vector<AccessLine> const& lines) { return rules(lines, {}, Kind::misses); }

// ---- lists of matchers ----

std::vector<Json> AccessWriter::selected(std::vector<AccessLine> const& lines, bool allow, Reading const& reading) {
    std::vector<Json> matchers;
    std::set<std::string> written;
    Paths remaining{{}};   // requests that no line before has decided otherwise
    auto take = [&](Paths const& paths) {
        for (auto const& path : paths) {
            Conditions conditions;
            for (auto const& step : path) {
                conditions.never = conditions.never || step.kind == Step::Kind::never;
                if (step.kind == Step::Kind::matches) conditions.is.push_back(step.atom);
                if (step.kind == Step::Kind::differs) conditions.is_not.push_back(step.atom);
            }
            if (conditions.never) continue;
            auto matcher = matcher_of(conditions);
            if (written.insert(matcher.line()).second) matchers.push_back(std::move(matcher));
        }
    };
    for (auto const& line : lines) {
        if (line.line.missing) continue;
        bool const selects = line.allow == allow;
        auto const own = acls_.paths(line.uses, !selects, reading, line.line);
        auto const all = own ? Acls::both(remaining, *own) : std::nullopt;
        if (!all) {
            report_.needs_you(line.line, too_many);
            return {};
        }
        if (selects)
            take(*all);
        else
            remaining = *all;
    }
    if (!lines.empty() && lines.back().allow != allow) take(remaining);
    return matchers;
}

// ---- networks and hosts ----

std::vector<std::string> AccessWriter::networks(std::vector<AccessLine> const& lines) {
    AddressSet allowed, decided;
    for (auto const& line : lines) {
        auto matching = AddressSet::all();
        for (auto const& use : line.uses) {
            auto const* const leaf = acls_.leaf_of_type(use.name, "src");
            if (!leaf)
                report_.needs_you(line.line, "ACL " + printable(use.name) + " is not of type src; only networks are possible");
            bool const doubtful = !leaf || leaf->doubtful;
            // A doubtful ACL may match more than its sources.
            if (doubtful && (!line.allow || use.negated || !leaf)) {
                if (line.allow) matching = {};
                continue;
            }
            auto const sources = leaf->always ? AddressSet::all() : leaf->sources;
            matching = use.negated ? matching.without(sources) : matching.common(sources);
        }
        if (line.allow) allowed = allowed.united(matching.without(decided));
        decided = decided.united(matching);
    }
    if (!lines.empty() && !lines.back().allow && !lines.back().line.missing)
        allowed = allowed.united(AddressSet::all().without(decided));
    return allowed.texts();
}

std::optional<Domains> AccessWriter::domains(std::vector<AccessLine> const& lines) {
    std::vector<std::string> domains, excluded;
    bool others = !lines.empty() && !lines.back().allow;
    for (auto const& line : lines) {
        if (line.line.missing) continue;
        auto const& use = line.uses.front();
        if (line.uses.size() == 1 && use.name == "all" && !use.negated) {
            others = line.allow;
            break;
        }
        auto const* const leaf = line.uses.size() == 1 && !use.negated ? acls_.leaf_of_type(use.name, "dstdomain") : nullptr;
        if (!leaf || leaf->doubtful || (leaf->hosts.empty() && !leaf->atoms.empty())) {
            report_.needs_you(line.line,
                              "peers[].domains selects a peer by hosts only; write these lines by ACLs of type dstdomain");
            return std::nullopt;
        }
        for (auto const& host : leaf->hosts) {
            domains.push_back((line.allow ? "" : "!") + host);
            if (!line.allow) excluded.push_back("!" + host);
        }
    }
    // A list of exclusions alone leaves all other hosts.
    if (others) return Domains{std::move(excluded)};
    bool const any = domains.size() > excluded.size();
    return Domains{std::move(domains), any};
}

}   // namespace garner::importing
