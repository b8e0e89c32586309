#include "admin/explain_text.hpp"

#include <nlohmann/json.hpp>

#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "util/numbers.hpp"

namespace garner::admin {

using Json = nlohmann::ordered_json;

namespace {

bool is(Json const& json, char const* name) { return at(json, name) == true; }
std::string text(Json const& json, char const* name) {
    auto const& value = at(json, name);
    return value.is_string() ? value.get<std::string>() : "";
}
std::int64_t number(Json const& json, char const* name) {
    auto const& value = at(json, name);
    return value.is_number() ? value.get<std::int64_t>() : 0;
}

/// "4000 s (1 h 6 min)"
std::string span(std::int64_t value) {
    auto const plain = std::to_string(value) + " s";
    return value < 120 ? plain : plain + " (" + human_seconds(static_cast<double>(value)) + ")";
}

/// Lines with their subject in front, once for those about the same.
class Page {
public:
    void line(std::string_view subject, std::string const& what) {
        std::string name = subject == last_ ? std::string() : std::string(subject);
        last_ = subject;
        name.resize(std::max<std::size_t>(name.size(), 12), ' ');
        text_ += "  " + name + what + "\n";
    }
    void raw(std::string const& text) { text_ += text; }

    /// What origins wrote must not command a terminal: control characters become '?', those of C1 in UTF-8 too.
    std::string take() {
        for (std::size_t i = 0; i < text_.size(); ++i) {
            auto const byte = static_cast<unsigned char>(text_[i]);
            bool const c1 = byte == 0xc2 && i + 1 < text_.size() && static_cast<unsigned char>(text_[i + 1]) < 0xa0;
            if ((byte < 0x20 && byte != '\n') || byte == 0x7f) text_[i] = '?';
            if (c1) text_[i] = text_[i + 1] = '?';
        }
        return std::move(text_);
    }

private:
    std::string text_;
    std::string last_;
};

std::string meaning_of(std::string const& outcome) {
    struct Row {
        char const* name;
        char const* meaning;
    };
    static constexpr Row rows[]{
        {"hit", "it is answered from the store"},
        {"stale", "it is answered from the store although stale"},
        {"revalidate", "it is stored, but the origin is asked whether it still holds"},
        {"collapsed", "it is answered by a fetch in progress"},
        {"miss", "it is fetched from the origin"},
        {"negative", "the last fetch failed, and the origin is left in peace"},
        {"failed", "the answer is an error, and the origin is not asked"},
        {"passed", "it goes past the cache to the origin"},
        {"tunnelled", "its bytes are passed on unseen"},
        {"refused", "it is not answered"},
        {"denied", "the rules do not allow it"},
    };
    for (auto const& row : rows)
        if (outcome == row.name) return row.meaning;
    return "";
}

void verdict(Page& page, Json const& all) {
    auto const& request = at(all, "request");
    auto const outcome = text(all, "outcome");
    page.raw(text(request, "method") + " " + text(request, "url") + "\n");
    std::string const unless = is(all, "undecided") ? "undecided until the name is resolved; if that is allowed: " : "";
    page.line("verdict", unless + outcome + ": " + text(all, "why"));
    auto const status = number(all, "status");
    page.line("", meaning_of(outcome) + (status ? "; status " + std::to_string(status) : ""));
}

std::string told(Json const& decision) {
    auto const verdict = text(decision, "verdict");
    auto const closed = text(decision, "closed");
    auto const rule = text(decision, "rule");
    if (verdict == "undecided") return "undecided until the name is resolved: " + rule;
    if (!closed.empty()) return "denied: " + closed + ", which no rule opens (" + rule + ")";
    return verdict + " by " + rule;
}

void access(Page& page, Json const& all) {
    auto const& listener = at(all, "listener");
    auto const origin = text(listener, "origin");
    page.line("listener", text(listener, "address") + ", " +
                              (origin.empty() ? "forward proxy" : "accelerator for " + origin));
    auto const& access = at(all, "access");
    page.line("access", told(access));
    if (is(access, "opens_closed")) page.line("access", "the rule opens what the defaults close");
    if (auto const& source = at(access, "of_stored_address"); source.is_object())
        page.line("access", "the address the stored response came from: " + told(source));
    if (auto const& connection = at(access, "of_connection"); connection.is_object())
        page.line("access", "connecting to " + text(connection, "address") + ": " + told(connection));
    if (auto const bypass = text(all, "bypass"); !bypass.empty()) page.line("cache", "passed: " + bypass);
    if (is(all, "reload_ignored")) page.line("cache", "the client's reload is ignored, as a caching rule says");
}

void rules(Page& page, Json const& all) {
    for (auto const& rule : at(all, "caching_rules")) {
        std::string what;
        for (auto const& [name, value] : rule.items()) {
            if (name == "name") continue;
            // As in the configuration: the key, and the unit behind the value.
            constexpr std::string_view unit = "_seconds";
            bool const time = name.ends_with(unit);
            what += (what.empty() ? ": " : ", ") + name.substr(0, name.size() - (time ? unit.size() : 0)) + " ";
            what += (value.is_string() ? value.get<std::string>() : value.dump()) + (time ? "s" : "");
        }
        page.line("rules", text(rule, "name") + what);
    }
}

std::string joined(Json const& lines) {
    std::string out;
    for (auto const& line : lines)
        if (line.is_string()) out += (out.empty() ? "" : "; ") + line.get<std::string>();
    return out;
}

void vary(Page& page, Json const& all) {
    auto const& vary = at(all, "vary");
    if (!vary.is_object()) return;
    page.line("vary", "on " + text(vary, "fields"));
    auto const* selected = is(vary, "selected") ? "; stored" : "; not stored";
    page.line("vary", "this request: " + joined(at(vary, "request")) + selected);
    for (auto const& variant : at(vary, "stored_variants")) page.line("vary", "stored: " + joined(variant));
}

void stored(Page& page, Json const& all) {
    auto const& stored = at(all, "stored");
    auto const on_disk = text(all, "on_disk");
    if (!stored.is_object()) return page.line("stored", on_disk == "no" ? "no, not on disk either" : "no");
    auto bytes = [&](char const* name) { return human_bytes(static_cast<std::uint64_t>(number(stored, name))); };
    std::string const place = text(stored, "tier") == "disk" ? "on disk" : "in memory";
    page.line("stored", place + ", status " + std::to_string(number(stored, "status")) + ", body " + bytes("body_bytes") +
                            ", costs " + bytes("cost_bytes") + ", sequence " +
                            std::to_string(number(stored, "sequence")));
    auto const from = text(stored, "from_address");
    page.line("stored", "since " + text(stored, "arrived") + (from.empty() ? "" : " from " + from));
}

void parts(Page& page, Json const& all) {
    auto const& parts = at(all, "parts");
    if (!parts.is_object()) return;
    constexpr int shown_max = 16;
    std::string ranges;
    int shown = 0;
    auto const& stored = at(parts, "stored_ranges");
    for (auto const& range : stored) {
        if (shown++ == shown_max) break;
        ranges += (ranges.empty() ? "" : ", ") + std::to_string(number(range, "first")) + "-" +
                  std::to_string(number(range, "last"));
    }
    if (stored.size() > shown_max) ranges += " and " + std::to_string(stored.size() - shown_max) + " more";
    page.line("parts", "bytes " + ranges + " of " + std::to_string(number(parts, "length_bytes")) + " are stored");
    if (auto const asks = text(parts, "asks"); !asks.empty()) page.line("parts", "the origin is asked for the rest: " + asks);
}

void age(Page& page, Json const& fresh) {
    auto time = [&](char const* name) { return std::to_string(number(fresh, name)) + " s"; };
    page.line("age", "Date " + text(fresh, "date") + ", apparent age " + time("apparent_age_seconds") + ", Age field " +
                         time("age_field_seconds"));
    page.line("age", "corrected " + time("corrected_initial_age_seconds") + " on arrival + " + time("resident_seconds") +
                         " here = " + span(number(fresh, "current_age_seconds")));
}

void lifetime(Page& page, Json const& fresh) {
    auto what = span(number(fresh, "lifetime_seconds")) + " from " + text(fresh, "lifetime_from");
    if (auto const& factor = at(fresh, "heuristic_factor"); factor.is_number()) what += ", factor " + factor.dump();
    page.line("lifetime", what);
    auto const ttl = number(fresh, "ttl_seconds");
    auto const sum = std::to_string(number(fresh, "lifetime_seconds")) + " s - " +
                     std::to_string(number(fresh, "current_age_seconds")) + " s = ";
    page.line("lifetime", sum + (ttl > 0 ? "fresh for " + span(ttl) : "stale for " + span(-ttl)));
    if (is(fresh, "no_cache")) page.line("lifetime", "no-cache: never without asking the origin");
}

void stale_windows(Page& page, Json const& fresh) {
    if (is(fresh, "must_revalidate"))
        return page.line("when stale", "never served: must-revalidate, proxy-revalidate or s-maxage");
    auto window = [&](char const* name, char const* what) {
        if (auto const length = number(fresh, name); length > 0)
            page.line("when stale", std::string(what) + " for " + span(length) + " past the lifetime");
    };
    window("stale_while_revalidate_seconds", "served while revalidated");
    window("stale_if_error_seconds", "served when the origin answers 5xx");
    window("stale_if_unreachable_seconds", "served when the origin is unreachable");
    bool const validator = is(fresh, "has_validator");
    page.line("when stale", validator ? "has a validator: a 304 is possible" : "has no validator: fetched anew");
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
        page.line("fetched now", text(fetch, "phase") + ", " + std::to_string(number(fetch, "followers")) +
                                     " followers" + (is(fetch, "validates") ? ", a revalidation" : "") +
                                     (is(fetch, "followed") ? "; this request would follow" : ""));
    if (at(all, "not_shared_seconds").is_number())
        page.line("marked", "the last answer was not stored (" + text(all, "not_shared_reason") + "): for " +
                                span(number(all, "not_shared_seconds")) + " yet no request waits for another's fetch");
    if (auto const& failure = at(all, "name_failure"); failure.is_object())
        page.line("name", "not resolved: " + text(failure, "reason") + "; remembered for " +
                              span(number(failure, "left_seconds")) + " yet");
    if (auto const& failure = at(all, "failure"); failure.is_object())
        page.line("failure", std::to_string(number(failure, "status")) + " " + text(failure, "reason") +
                                 "; remembered for " + span(number(failure, "left_seconds")) + " yet" +
                                 (is(failure, "of_head_only") ? ", for HEAD only" : "") +
                                 (at(failure, "only_for").is_string() ? ", for this request of " + text(failure, "only_for") + " only" : ""));
}

/// "campus (parent, ICP) MISS in 0.8 ms"
std::string said(Json const& word, bool timed_out) {
    auto const& took = at(word, "took_ms");
    auto const who = text(word, "peer") + " (" + text(word, "type") + ", " + text(word, "protocol") + ") ";
    if (took.is_number()) return who + text(word, "said") + " in " + with_decimals(took.get<double>(), 1) + " ms";
    return who + (timed_out ? "no answer" : "not waited for");
}

std::string why_nobody_asked(Json const& sources) {
    if (text(sources, "direct") == "always") return "nobody is asked: direct.always";
    if (!is(sources, "hierarchical")) return "nobody is asked: only a GET that any cache may answer is worth it";
    return "nobody is asked: none is eligible for this host, or it goes to one in any case";
}

void sources(Page& page, Json const& all) {
    auto const& sources = at(all, "sources");
    if (!sources.is_object()) return;
    if (!at(sources, "took_ms").is_number()) return page.line("peers", "the proxy did not come to ask them in time");
    std::string words, ways;
    for (auto const& word : at(sources, "asked")) words += (words.empty() ? "" : "; ") + said(word, is(sources, "timed_out"));
    page.line("peers", words.empty() ? why_nobody_asked(sources) : words);
    if (is(sources, "timed_out")) page.line("peers", "not all of those who were waited for answered in time");
    for (auto const& way : at(sources, "order")) {
        ways += (ways.empty() ? "" : ", then ") + text(way, "why");
        if (at(way, "peer").is_string()) ways += "/" + text(way, "peer");
    }
    page.line("source", ways);
    if (is(sources, "undecided")) page.line("source", "if the rules allow the name's addresses; else the origin alone");
}

}  // namespace

std::string explain_text(Json const& all) {
    Page page;
    verdict(page, all);
    access(page, all);
    rules(page, all);
    vary(page, all);
    stored(page, all);
    parts(page, all);
    freshness(page, all);
    going_on(page, all);
    sources(page, all);
    return page.take();
}

}  // namespace garner::admin
