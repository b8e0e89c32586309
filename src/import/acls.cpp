#include "import/acls.hpp"

#include <algorithm>

#include "import/words.hpp"
#include "util/text.hpp"
#include "util/utf8.hpp"

namespace garner::importing {
namespace {

constexpr std::size_t paths_max = 1'000;
constexpr std::size_t work_max = 100'000;
constexpr unsigned groups_depth_max = 32;   // nesting of groups

/// The ACLs of Squid itself. `manager` never matches: Garner has no such page.
struct BuiltIn {
    char const* name;
    char const* type;
    char const* values;
};
constexpr BuiltIn built_in[]{
    {"all", "src", "all"},
    {"localhost", "src", "127.0.0.1 ::1"},
    {"to_localhost", "dst", "127.0.0.0/8 0.0.0.0/32 ::1 ::"},
    {"to_linklocal", "dst", "169.254.0.0/16 fe80::/10"},
    {"manager", "url_regex", ""},
    {"CONNECT", "method", "CONNECT"},
};

Path const dead_end{{.kind = Step::Kind::never}};

bool is_dead(Path const& path) { return !path.empty() && path.back().kind == Step::Kind::never; }
bool has_login(Path const& path) {
    return std::ranges::any_of(path, [](Step const& step) { return step.kind == Step::Kind::login; });
}
/// A path without an effect: no request gets to its end, and none is asked for a login.
bool is_void(Path const& path) { return is_dead(path) && !has_login(path); }

/// Replaces what the name of a matcher may not have by '-': other ASCII than letters, digits, - and _, and bytes that are not
/// UTF-8.
std::string matcher_name(std::string_view text) {
    std::string name;
    while (!text.empty()) {
        char const c = text.front();
        auto const length = std::max<std::size_t>(utf8_length(text), 1);
        bool const is_kept = length > 1 || is_alpha(c) || is_digit(c) || c == '_';
        name += is_kept ? text.substr(0, length) : "-";
        text.remove_prefix(length);
    }
    return name.empty() ? "acl" : name;
}

}   // namespace

std::vector<AclUse> uses_in(std::vector<std::string> const& words, std::size_t first) {
    std::vector<AclUse> uses;
    for (auto i = first; i < words.size(); ++i) {
        bool const negated = words[i].front() == '!';
        uses.push_back({lower_case(std::string_view(words[i]).substr(negated ? 1 : 0)), negated});
    }
    return uses;
}

Acls::Acls(Files const& files, Report& report) : files_(files), report_(report) {
    for (auto const& [name, type, values] : built_in) {
        Line line{.file = "Squid", .name = "acl", .rest = values};
        known_[lower_case(name)].acl = {.name = name, .type = type, .lines = {line}, .built_in = true};
    }
    any_user_ = {.name = "logged-in", .matcher = Json::object(), .needs_user = true};
    any_user_.matcher["user"] = Json::string("*");
}

void Acls::declare(Line const& line) {
    auto const words = split(line.rest);
    if (words.size() < 2) return report_.needs_you(line, "has no name or no type; write acl NAME TYPE VALUES");
    auto values = line;
    values.rest = line.rest.substr(line.rest.find(words[1], words[0].size()) + words[1].size());
    auto& acl = known_[lower_case(words[0])].acl;
    if (acl.lines.empty() || (acl.built_in && acl.type != words[1])) acl = {.name = words[0], .type = words[1]};
    if (acl.type != words[1]) {
        acl.mixed = true;
        report_.needs_you(line,
                          "ACL " + printable(words[0]) + " already has the type " + printable(acl.type) + "; rename one of them");
    }
    acl.lines.push_back(std::move(values));
}

// ---- look-ups ----

Acls::Known* Acls::find(std::string const& name) {
    auto const found = known_.find(name);
    if (found == known_.end()) return nullptr;
    found->second.used = true;
    return &found->second;
}

Leaf const& Acls::leaf(Known& known) {
    if (!known.leaf) known.leaf = leaf_of(known.acl, facts_, files_, report_);
    return *known.leaf;
}

Leaf const* Acls::leaf_of_type(std::string const& name, std::string_view type) {
    auto* const known = find(name);
    return known && known->acl.type == type ? &leaf(*known) : nullptr;
}

std::string const& Acls::use(Atom const* atom) {
    auto& name = names_[atom];
    if (!name.empty()) return name;
    auto const wanted = matcher_name(atom->name);
    name = wanted;
    for (unsigned number = 2; matchers_.find(name); ++number) name = wanted + "-" + std::to_string(number);
    matchers_[name] = atom->matcher;
    return name;
}

void Acls::report_unused() {
    for (auto const& [name, known] : known_)
        for (auto const& line : known.acl.lines)
            if (!known.used && !known.acl.built_in)
                report_.drop(line, "no translated directive uses the ACL " + printable(known.acl.name));
}

bool Acls::opens_blocked() {
    return std::ranges::any_of(known_, [this](auto& entry) {
        auto& known = entry.second;
        bool const names_destinations = known.acl.type == "dst" || known.acl.type == "dstdomain";
        return names_destinations && !known.acl.built_in && leaf(known).opens;
    });
}

// ---- paths ----

std::optional<Paths> Acls::paths(std::vector<AclUse> const& uses, bool negated, Reading const& reading, Line const& line) {
    reading_ = reading;
    line_ = &line;
    depth_ = 0;
    work_ = 0;
    auto paths = of_all(uses, negated);
    if (work_ > work_max || paths.size() > paths_max) return std::nullopt;
    return paths;
}

std::optional<Paths> Acls::both(Paths const& first, Paths const& then) {
    // No request gets beyond a group without ways, but Squid may have asked for a login before it.
    static Paths const none{dead_end};
    auto const& second = then.empty() ? none : then;
    Paths all;
    for (auto const& path : first) {
        if (is_dead(path)) {
            all.push_back(path);
            continue;
        }
        for (auto const& more : second) {
            all.push_back(path);
            all.back().insert(all.back().end(), more.begin(), more.end());
            if (is_void(all.back())) all.pop_back();
            if (all.size() > paths_max) return std::nullopt;
        }
    }
    return all;
}

Paths Acls::product(Paths const& first, Paths const& second) {
    for (auto const& path : first)
        for (auto const& more : second) work_ += path.size() + more.size() + 1;
    if (work_ > work_max) return {};
    auto all = both(first, second);
    if (!all) work_ = work_max + 1;
    return all ? *std::move(all) : Paths();
}

void Acls::append(Paths const& from, Paths& to) {
    for (auto const& path : from) work_ += path.size() + 1;
    if (work_ > work_max) return;
    for (auto const& path : from)
        if (!is_void(path)) to.push_back(path);
}

/// With a login among them, the ways exclude each other: Squid does not reach an ACL that it need not evaluate.
Paths Acls::of_all(std::vector<AclUse> const& uses, bool negated) {
    bool const ordered = reading_.has_users && asks(uses, 0);
    Paths before{{}}, all;
    for (auto const& use : uses) {
        if (work_ > work_max) return {};
        if (negated) append(product(ordered ? before : Paths{{}}, of_use(use, true)), all);
        if (!negated || ordered) before = product(before, of_use(use, false));
    }
    return negated ? all : before;
}

Paths Acls::of_any(std::vector<AclUse> const& uses, bool negated) {
    auto opposite = uses;
    for (auto& use : opposite) use.negated = !use.negated;
    return of_all(opposite, !negated);
}

Paths Acls::of_use(AclUse const& use, bool negated) {
    bool const differs = use.negated != negated;
    auto* const known = find(use.name);
    bool const too_deep = depth_ >= groups_depth_max;
    if (!known || too_deep) {
        tell(use.name, too_deep ? " is a group inside itself" : " is not defined");
        return of_leaf({.doubtful = true}, differs);
    }
    ++work_;
    if (!is_group(known->acl.type)) {
        if (is_misplaced(leaf(*known))) tell(use.name, " names a user or a destination, which no rule of this kind can");
        return of_leaf(leaf(*known), differs);
    }
    ++depth_;
    auto paths = of_group(*known, differs);
    --depth_;
    return paths;
}

/// Each line of an all-of group is one choice; all lines of an any-of group are one.
Paths Acls::of_group(Known& known, bool negated) {
    auto const& lines = known.acl.lines;
    if (known.acl.mixed) return of_leaf({.doubtful = true}, negated);
    if (known.acl.type == "any-of") {
        std::vector<AclUse> uses;
        for (auto const& line : lines)
            for (auto& use : uses_in(split(line.rest))) uses.push_back(std::move(use));
        return of_any(uses, negated);
    }
    Paths none{{}}, all;
    for (auto const& line : lines) {
        auto const uses = uses_in(split(line.rest));
        if (!negated) append(product(none, of_all(uses, false)), all);
        none = asks(uses, 0) || negated ? product(none, of_all(uses, true)) : none;
    }
    return negated ? none : all;
}

void Acls::tell(std::string const& name, char const* trouble) {
    if (!reading_.quiet) report_.needs_you(*line_, "ACL " + printable(name) + trouble);
}

bool Acls::is_misplaced(Leaf const& leaf) const {
    auto const has_no_place = [&](Atom const& atom) {
        return (atom.needs_user && !reading_.has_users) || (atom.needs_destination && !reading_.has_destination);
    };
    return (leaf.asks && !reading_.has_users) || std::ranges::any_of(leaf.atoms, has_no_place);
}

Paths Acls::of_leaf(Leaf const& leaf, bool negated) const {
    bool const misplaced = is_misplaced(leaf);
    bool const doubtful = leaf.doubtful || misplaced;
    std::vector<Atom const*> atoms;
    for (auto const& atom : leaf.atoms)
        if (!misplaced) atoms.push_back(&atom);
    Path path;
    if (leaf.asks && reading_.has_users) path.push_back({.kind = Step::Kind::login});
    auto const with = [&](Step const& step) {
        auto longer = path;
        longer.push_back(step);
        return longer;
    };
    if (negated) {
        if (leaf.always || (doubtful && !reading_.doubt_matches)) return {with(dead_end.front())};
        for (auto const* atom : atoms) path.push_back({Step::Kind::differs, atom});
        return {path};
    }
    if (leaf.always || (doubtful && reading_.doubt_matches)) return {path};
    Paths paths;
    for (auto const* atom : atoms) paths.push_back(with({Step::Kind::matches, atom}));
    if (paths.empty()) paths.push_back(with(dead_end.front()));
    return paths;
}

bool Acls::asks(std::vector<AclUse> const& uses, unsigned depth) {
    return std::ranges::any_of(uses, [&](AclUse const& use) { return asks(use.name, depth); });
}

bool Acls::asks(std::string const& name, unsigned depth) {
    auto* const known = find(name);
    if (!known || depth > groups_depth_max) return false;
    if (!is_group(known->acl.type)) return leaf(*known).asks;
    if (known->asks) return *known->asks;
    known->asks = false;   // ends the search in a group inside itself
    bool found = false;
    for (auto const& line : known->acl.lines) found = found || asks(uses_in(split(line.rest)), depth + 1);
    known->asks = found;
    return found;
}

}   // namespace garner::importing
