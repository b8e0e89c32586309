#include "admin/explain_text.hpp"

#include <algorithm>

#include "admin/group_json.hpp"
#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "admin/quota_text.hpp"
#include "http/cacheability.hpp"
#include "util/numbers.hpp"
#include "util/units.hpp"

namespace garner::admin {

namespace {

/// "4000 s (1 h 6 min)"
std::string span(std::int64_t value) {
    auto const plain = std::to_string(value) + " s";
    return value < 120 ? plain : plain + " (" + human_seconds(static_cast<double>(value)) + ")";
}

/// "status", "body_bytes:bytes", "ttl_seconds:span"
std::string member(Json const& json, std::string_view name) {
    auto const path = name.substr(0, name.find(':'));
    if (name.ends_with(":bytes")) return human_bytes(static_cast<std::uint64_t>(number_at(json, path)));
    if (name.ends_with(":span")) return span(number_at(json, path));
    auto const& value = at(json, path);
    return value.is_number() ? value.dump() : text_at(json, path);
}

/// Replaces the names in braces by the members' values: "status {status}".
std::string filled(Json const& json, std::string_view text) {
    std::string out;
    for (auto open = text.find('{'); open != text.npos; open = text.find('{')) {
        auto const name = text.substr(open + 1, text.find('}') - open - 1);
        out.append(text.substr(0, open)).append(member(json, name));
        text.remove_prefix(open + name.size() + 2);
    }
    return out.append(text);
}

/// Lines that begin with their subject; repeated subjects are left out.
class Page {
public:
    void line(std::string_view subject, std::string const& what) {
        lines_.push_back({subject == last_ ? std::string() : std::string(subject), printable(what)});
        last_ = subject;
    }

    std::vector<ExplainLine> take() { return std::move(lines_); }

private:
    std::vector<ExplainLine> lines_;
    std::string last_;
};

/// The source that would be asked first: "the origin", "peer campus".
std::string first_source(Json const& all) {
    if (!at(all, "sources").is_object()) return "the origin";
    if (!at(all, "sources.order.0").is_object()) return "a peer or the origin";
    auto const peer = text_at(all, "sources.order.0.peer");
    if (peer.empty()) return "the origin";
    if (text_at(all, "sources.order.0.why") != "ANY_OLD_PARENT") return "peer " + peer;
    bool const is_dead = text_at(all, "sources.order.0.state") == "dead";
    return "peer " + peer + (is_dead ? " although it is dead" : " although it has no free connection") +
           " (no other source is left)";
}

/// The meaning of an outcome, with "*" for the source.
std::string_view meaning_of(std::string const& outcome) {
    struct Row {
        char const* name;
        char const* meaning;
    };
    static constexpr Row rows[]{
        {"hit", "served from the cache"},
        {"stale", "served stale from the cache"},
        {"revalidate", "stored; * is asked to revalidate it"},
        {"collapsed", "joins a fetch in progress"},
        {"miss", "fetched from *"},
        {"negative", "negative hit: the last fetch failed; the origin is not asked again yet"},
        {"failed", "answered with an error; the origin is not asked"},
        {"passed", "bypasses the cache: fetched from *"},
        {"tunnelled", "tunnelled: bytes are forwarded without inspection"},
        {"login", "the client is asked to log in"},
        {"refused", "rejected without asking the origin"},
        {"denied", "the access rules do not allow it"},
        {"own", "a page of this proxy; no origin is asked"},
    };
    for (auto const& row : rows)
        if (outcome == row.name) return row.meaning;
    return "";
}

std::string told_meaning(Json const& all) {
    std::string meaning(meaning_of(text_at(all, "outcome")));
    auto const interception = text_at(all, "outcome") == "tunnelled" ? text_at(all, "interception") : std::string();
    if (interception.starts_with("bumped")) return "tunnelled: the tunnel is decrypted, if its first bytes allow that";
    if (interception.starts_with("terminated")) return "tunnelled: the client gets a connection that ends";
    auto const source = meaning.find('*');
    if (source == meaning.npos) return meaning;
    if (text_at(all, "sources.order.0.why") == "NO_DIRECT_FAIL") return "no peer is available, and direct.never forbids the origin";
    return meaning.replace(source, 1, first_source(all));
}

void verdict(Page& page, Json const& all) {
    std::string const unless = is(all, "undecided") ? "undecided until the name is resolved; if allowed: " : "";
    page.line("verdict", unless + filled(all, "{outcome}: {why}"));
    page.line("", told_meaning(all) + (number_at(all, "status") ? filled(all, "; status {status}") : ""));
}

std::string told(Json const& decision) {
    if (text_at(decision, "needs") == "a login") return filled(decision, "asks for a login: {rule}");
    if (text_at(decision, "verdict") == "undecided") return filled(decision, "undecided until the name is resolved: {rule}");
    bool const closed = !text_at(decision, "closed").empty();
    return filled(decision, closed ? "denied: {closed}, blocked unless a rule allows it ({rule})" : "{verdict} by {rule}");
}

std::string kind_of_listener(Json const& all) {
    auto const kind = text_at(all, "listener.kind");
    if (kind == "forward") return "forward proxy";
    if (kind == "accelerator") return "accelerator for {listener.origin}";
    std::string const intercepts = "intercepts a connection to {listener.origin}, to which DNS ";
    if (is(all, "listener.unverified")) return intercepts + "does not lead the host: no rule allows it by its name";
    bool const led = text_at(all, "bypass") == text(http::Bypass::unverified);
    return intercepts + (led ? "led the host in the last day, but not in the last minutes" : "leads the host");
}

std::string joined(Json const& lines, char const* between = "; ") {
    std::string out;
    for (auto const& line : lines)
        if (line.is_string()) out += (out.empty() ? "" : between) + line.get<std::string>();
    return out;
}

void user(Page& page, Json const& all) {
    auto const& user = at(all, "user");
    if (!user.is_object()) return;
    auto const groups = joined(at(user, "groups"), ", "), unknown = joined(at(user, "unknown_groups"), ", ");
    page.line("user", text_at(user, "name") + (groups.empty() ? ", in no group" : ", in " + groups));
    if (!unknown.empty())
        page.line("user",
                  "unknown: " + unknown + " (" + text_at(user, "why_unknown") + "); a deny by them matches, an allow does not");
}

void access(Page& page, Json const& all) {
    page.line("listener", filled(all, "{listener.address}, " + kind_of_listener(all)));
    page.line("access", told(at(all, "access")));
    if (is(all, "access.opens_closed")) page.line("access", "the rule allows a destination that is blocked by default");
    if (auto const& source = at(all, "access.of_stored_address"); source.is_object())
        page.line("access", "address that the stored response came from: " + told(source));
    if (auto const& connection = at(all, "access.of_connection"); connection.is_object())
        page.line("access", filled(connection, "connecting to {address}: ") + told(connection));
    if (!text_at(all, "interception").empty()) page.line("tunnel", filled(all, "{interception}"));
    if (!text_at(all, "bypass").empty()) page.line("cache", filled(all, "bypassed: {bypass}"));
    if (is(all, "reload_ignored")) page.line("cache", "a caching rule ignores the reload of the client");
}

void rules(Page& page, Json const& all) {
    for (auto const& rule : at(all, "caching_rules")) {
        std::string what;
        for (auto const& [name, value] : rule.items()) {
            if (name == "name") continue;
            // The key as in the configuration, with the unit after the value.
            constexpr std::string_view unit = "_seconds";
            bool const time = name.ends_with(unit);
            what += (what.empty() ? ": " : ", ") + name.substr(0, name.size() - (time ? unit.size() : 0)) + " ";
            what += (value.is_string() ? value.get<std::string>() : value.dump()) + (time ? "s" : "");
        }
        page.line("rules", text_at(rule, "name") + what);
    }
}

void vary(Page& page, Json const& all) {
    auto const& vary = at(all, "vary");
    if (!vary.is_object()) return;
    page.line("vary", filled(vary, "on {fields}"));
    page.line("vary", "this request: " + joined(at(vary, "request")) + (is(vary, "selected") ? "; stored" : "; not stored"));
    for (auto const& variant : at(vary, "stored_variants")) page.line("vary", "stored: " + joined(variant));
}

void stored(Page& page, Json const& all) {
    auto const& stored = at(all, "stored");
    if (!stored.is_object())
        return page.line("stored", text_at(all, "on_disk") == "no" ? "no, neither in memory nor on disk" : "no");
    std::string const place = text_at(stored, "tier") == "disk" ? "on disk" : "in memory";
    page.line("stored",
              place + filled(stored, ", status {status}, body {body_bytes:bytes}, uses {cost_bytes:bytes}, sequence {sequence}"));
    bool const sourced = !text_at(stored, "from_address").empty();
    page.line("stored", filled(stored, sourced ? "since {arrived} from {from_address}" : "since {arrived}"));
}

void parts(Page& page, Json const& all) {
    auto const& parts = at(all, "parts");
    if (!parts.is_object()) return;
    constexpr std::size_t shown_max = 16;
    auto const& stored = at(parts, "stored_ranges");
    std::string ranges;
    for (std::size_t i = 0; i < std::min(stored.size(), shown_max); ++i)
        ranges += (ranges.empty() ? "" : ", ") + filled(stored[i], "{first}-{last}");
    if (stored.size() > shown_max) ranges += " and " + std::to_string(stored.size() - shown_max) + " more";
    page.line("parts", "bytes " + ranges + filled(parts, " of {length_bytes} are stored"));
    if (!text_at(parts, "asks").empty()) page.line("parts", first_source(all) + filled(parts, " is asked for the rest: {asks}"));
}

void age(Page& page, Json const& fresh) {
    page.line("age", filled(fresh, "Date {date}, apparent age {apparent_age_seconds} s, Age field {age_field_seconds} s"));
    page.line("age", filled(fresh, "corrected initial age {corrected_initial_age_seconds} s + resident time {resident_seconds} s = "
                                   "{current_age_seconds:span}"));
}

void lifetime(Page& page, Json const& fresh) {
    bool const heuristic = at(fresh, "heuristic_factor").is_number();
    page.line("lifetime", filled(fresh, heuristic ? "{lifetime_seconds:span} from {lifetime_from}, factor {heuristic_factor}"
                                                  : "{lifetime_seconds:span} from {lifetime_from}"));
    auto const ttl = number_at(fresh, "ttl_seconds");
    if (!text_at(fresh, "ended_by").empty())
        page.line("lifetime", filled(fresh, "ended {ended_seconds_ago:span} ago: {ended_by}"));
    else
        page.line("lifetime", filled(fresh, "{lifetime_seconds} s - {current_age_seconds} s = ") +
                                  (ttl > 0 ? "fresh for " + span(ttl) : "stale for " + span(-ttl)));
    if (is(fresh, "no_cache")) page.line("lifetime", "no-cache: must be revalidated before each use");
}

void stale_windows(Page& page, Json const& fresh) {
    if (is(fresh, "must_revalidate")) return page.line("when stale", "never served: must-revalidate, proxy-revalidate or s-maxage");
    auto window = [&](char const* name, char const* what) {
        if (auto const length = number_at(fresh, name); length > 0)
            page.line("when stale", std::string(what) + " for " + span(length) + " past the lifetime");
    };
    window("stale_while_revalidate_seconds", "served during revalidation");
    window("stale_if_error_seconds", "served if the origin responds with 5xx");
    window("stale_if_unreachable_seconds", "served if the origin is unreachable");
    bool const validator = is(fresh, "has_validator");
    page.line("when stale", validator ? "has a validator: a 304 is possible" : "has no validator: fetched again in full");
}

void freshness(Page& page, Json const& all) {
    auto const& fresh = at(all, "freshness");
    if (!fresh.is_object()) return;
    for (auto const& [name, value] : at(fresh, "fields").items())
        if (value.is_string()) page.line("fields", name + ": " + value.get<std::string>());
    age(page, fresh);
    lifetime(page, fresh);
    stale_windows(page, fresh);
}

void going_on(Page& page, Json const& all) {
    for (auto const& fetch : at(all, "fetches"))
        page.line("fetching", filled(fetch, "{phase}, {followers} collapsed requests") +
                                  (is(fetch, "validates") ? ", a revalidation" : "") +
                                  (is(fetch, "followed") ? "; this request would join it" : ""));
    if (at(all, "not_shared_seconds").is_number())
        page.line("uncacheable",
                  filled(all, "for {not_shared_seconds:span} more ({not_shared_reason}): concurrent requests are not collapsed"));
    if (auto const& failure = at(all, "name_failure"); failure.is_object())
        page.line("name", filled(failure, "not resolved: {reason}; the failure is cached for {left_seconds:span} more"));
    if (auto const& failure = at(all, "failure"); failure.is_object()) {
        auto what = filled(failure, "{status} {reason}; the failure is cached for {left_seconds:span} more");
        if (is(failure, "of_head_only")) what += ", for HEAD only";
        if (at(failure, "only_for").is_string()) what += filled(failure, ", for this request of {only_for} only");
        page.line("failure", what);
    }
}

/// "campus (parent, ICP) MISS in 0.8 ms"
std::string said(Json const& word, bool timed_out) {
    auto const& took = at(word, "took_ms");
    auto const who = filled(word, "{peer} ({type}, {protocol}) ");
    if (took.is_number()) return who + text_at(word, "said") + " in " + with_decimals(took.get<double>(), 1) + " ms";
    return who + (timed_out ? "no reply" : "not waited for");
}

/// "SIBLING_HIT/next door (TLS)"
std::string one_source(Json const& source) {
    if (!at(source, "peer").is_string()) return text_at(source, "why");
    auto const reach = text_at(source, "reach"), state = text_at(source, "state");
    auto notes = reach == "clear" ? std::string() : reach;
    if (!state.empty() && state != "alive") notes += (notes.empty() ? "" : ", ") + state;
    return filled(source, "{why}/{peer}") + (notes.empty() ? "" : " (" + notes + ")");
}

std::string why_no_peer_asked(Json const& sources, bool of_https) {
    if (text_at(sources, "direct") == "always") return "no peer is queried: direct.always";
    if (!is(sources, "hierarchical")) return "no peer is queried: queries are sent only for a GET that every cache may answer";
    if (is(sources, "url_changed"))
        return "no peer is queried: a purge or another method than GET has changed this URL, and not every peer has confirmed that "
               "it removed its copy (HTCP CLR)";
    if (is(sources, "url_too_long")) return "no peer is queried: the URL is too long for a query";
    if (of_https)
        return "no peer is queried: queries are sent in clear text, and https:// URLs only where peers[].https is \"clear\"";
    return "no peer is queried: none is eligible for this host, or the source is already determined";
}

void sources(Page& page, Json const& all) {
    auto const& sources = at(all, "sources");
    if (!sources.is_object()) return;
    if (!at(sources, "took_ms").is_number()) return page.line("peers", "the proxy did not query them in time");
    std::string words, ways;
    for (auto const& word : at(sources, "asked")) words += (words.empty() ? "" : "; ") + said(word, is(sources, "timed_out"));
    page.line("peers", words.empty() ? why_no_peer_asked(sources, text_at(all, "request.url").starts_with("https:")) : words);
    if (is(sources, "timed_out")) page.line("peers", "a peer that was waited for did not reply in time");
    for (auto const& way : at(sources, "order")) ways += (ways.empty() ? "" : ", then ") + one_source(way);
    page.line("source", ways);
    if (is(sources, "undecided")) page.line("source", "if the rules allow the addresses of the name; otherwise only the origin");
}

/// "900 Mbit/s down, 20 Mbit/s up"
std::string rates(Json const& of) {
    std::string out;
    for (auto const* way : {"down", "up"}) {
        auto const rate = static_cast<Bytes>(number_at(of, std::string(way) + "_bytes_per_second"));
        if (rate > 0) out += (out.empty() ? "" : ", ") + rate_text(rate) + " " + way;
    }
    return out.empty() ? "no limit" : out;
}

void line_of(Page& page, Json const& all) {
    auto const& line = at(all, "line");
    if (!line.is_object()) return;
    page.line("line", filled(line, "{subject} has a share with weight {weight} of: ") + rates(line));
    auto const& cap = at(line, "cap");
    if (cap.is_object()) page.line("cap", filled(cap, "{name}: ") + rates(cap) + filled(cap, ", each: {each}"));
    if (auto const& quota = at(line, "quota"); quota.is_object())
        page.line("quota", text_at(quota, "name") + ": " + quota_text(quota));
}

}   // namespace

std::vector<ExplainLine> explain_lines(Json const& all) {
    Page page;
    verdict(page, all);
    user(page, all);
    access(page, all);
    rules(page, all);
    vary(page, all);
    stored(page, all);
    parts(page, all);
    freshness(page, all);
    going_on(page, all);
    sources(page, all);
    line_of(page, all);
    if (auto const& offer = at(all, "offer"); offer.is_object()) page.line("group", "the object is offered: " + offer_text(offer));
    return page.take();
}

std::string explain_text(Json const& all) {
    constexpr std::size_t subject_columns = 12;
    auto text = printable(filled(all, "{request.method} {request.url}")) + "\n";
    for (auto& [subject, what] : explain_lines(all)) {
        subject.resize(std::max(subject.size(), subject_columns), ' ');
        text += "  " + subject + what + "\n";
    }
    return text;
}

}   // namespace garner::admin
