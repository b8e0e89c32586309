#include "admin/explain_json.hpp"

#include <algorithm>
#include <array>

#include "admin/figures.hpp"
#include "admin/group_json.hpp"
#include "admin/quota_json.hpp"
#include "admin/share_json.hpp"
#include "http/dates.hpp"
#include "icp/https.hpp"
#include "icp/peer.hpp"

namespace garner::admin {

using Json = nlohmann::ordered_json;
using proxy::Explanation;

namespace {

std::int64_t whole_seconds(milliseconds time) { return std::chrono::ceil<seconds>(time).count(); }

Json decision(http::Decision const& decision) {
    using Verdict = http::Decision::Verdict;
    char const* verdict = decision.allowed() ? "allowed" : decision.denied() ? "denied" : "undecided";
    Json json{{"verdict", verdict},
              {"rule", decision.whole_rule()},
              {"closed", decision.closed ? Json(decision.closed) : Json(nullptr)},
              {"opens_closed", decision.opens_address || decision.opens_port}};
    if (decision.verdict == Verdict::needs_destination) json["needs"] = "the name's addresses";
    if (decision.verdict == Verdict::needs_identity) json["needs"] = "a login";
    return json;
}

Json access(Explanation const& explained) {
    auto json = decision(explained.access);
    if (explained.of_source) json["of_stored_address"] = decision(*explained.of_source);
    if (explained.of_connection) {
        json["of_connection"] = decision(*explained.of_connection);
        json["of_connection"]["address"] = explained.connection;
    }
    return json;
}

Json rules(Explanation const& explained) {
    Json all = Json::array();
    for (auto const* rule : explained.rules) {
        Json json{{"name", rule->name}};
        if (rule->never) json["never"] = *rule->never;
        auto time = [&](char const* name, std::optional<milliseconds> const& value) {
            if (value) json[name] = whole_seconds(*value);
        };
        time("default_ttl_seconds", rule->default_ttl);
        time("ttl_min_seconds", rule->ttl_min);
        time("ttl_max_seconds", rule->ttl_max);
        time("negative_ttl_seconds", rule->negative_ttl);
        if (rule->heuristic_factor) json["heuristic_factor"] = *rule->heuristic_factor;
        if (rule->reload) json["reload"] = *rule->reload == http::Reload::ignore ? "ignore" : "honour";
        all.push_back(std::move(json));
    }
    return all;
}

/// One line for each selecting field: "accept-language: de", or "accept" when the request lacks it.
Json selecting_fields(std::string_view variant) {
    Json lines = Json::array();
    while (!variant.empty()) {
        auto const end = variant.find('\n');
        auto line = std::string(variant.substr(0, end));
        if (auto const colon = line.find(':'); colon != line.npos) line.insert(colon + 1, " ");
        lines.push_back(std::move(line));
        variant.remove_prefix(end == variant.npos ? variant.size() : end + 1);
    }
    return lines;
}

Json vary(cache::Peek const& found) {
    if (found.vary.empty()) return nullptr;
    Json stored = Json::array();
    for (auto const& variant : found.variants) stored.push_back(selecting_fields(variant));
    return {{"fields", found.vary},
            {"request", selecting_fields(found.selected)},
            {"selected", found.object != nullptr},
            {"stored_variants", std::move(stored)}};
}

Bytes held(store::Object const& parts) {
    Bytes sum = 0;
    for (auto const& span : parts.body()->present()) sum += span.last - span.first + 1;
    return sum;
}

Json parts(Explanation const& explained) {
    auto const& parts = explained.found.parts;
    if (!parts) return nullptr;
    Json ranges = Json::array();
    for (auto const& span : parts->body()->present()) ranges.push_back({{"first", span.first}, {"last", span.last}});
    return {{"length_bytes", parts->body()->size()},
            {"stored_bytes", held(*parts)},
            {"stored_ranges", std::move(ranges)},
            {"asks", explained.asks.empty() ? Json(nullptr) : Json(explained.asks)}};
}

Json stored(Explanation const& explained) {
    auto const& object = explained.found.object;
    if (!object) return nullptr;
    Json json{{"status", object->status()}, {"tier", explained.found.from_disk ? "disk" : "memory"}};
    json["body_bytes"] = object->length() ? Json(*object->length()) : Json(nullptr);
    if (explained.found.parts) json["body_bytes"] = held(*object);
    json["cost_bytes"] = object->cost();
    json["sequence"] = object->sequence();
    json["from_address"] = object->source().is_unspecified() ? Json(nullptr) : Json(object->source().text());
    json["arrived"] = http::format_http_date(unix_seconds(object->terms().response_time));
    return json;
}

/// The stored fields that affect the decision, unmodified.
Json deciding_fields(std::string const& head) {
    http::ResponseHead response;
    http::read_stored_head(head, response);
    Json json = Json::object();
    using http::Name;
    for (auto const& field : response.fields)
        if (field.id == Name::cache_control || field.id == Name::date || field.id == Name::expires ||
            field.id == Name::last_modified || field.id == Name::etag)
            json[std::string(field.name)] = field.value;
    return json;
}

/// RFC 9111 4.2.1 to 4.2.4 in numbers.
Json freshness(Explanation const& explained) {
    auto const& found = explained.found;
    if (!found.object) return nullptr;
    auto const& terms = found.object->terms();
    auto const arrived = unix_seconds(terms.response_time);
    auto const resident = std::chrono::floor<seconds>(explained.now - terms.response_time).count();
    bool const never_stale = terms.must_revalidate || terms.no_cache;
    bool const is_ended = !found.invalidated.empty() && found.answer.ttl < std::int64_t{terms.lifetime} - found.answer.age;
    auto window = [&](http::DeltaSeconds length) { return never_stale ? 0 : length; };
    return {{"fields", deciding_fields(explained.stored_head)},
            {"date", http::format_http_date(terms.date_value)},
            {"age_field_seconds", terms.age_value},
            {"apparent_age_seconds", std::max<std::int64_t>(arrived - terms.date_value, 0)},
            {"corrected_initial_age_seconds", terms.initial_age},
            {"resident_seconds", std::max<std::int64_t>(resident, 0)},
            {"current_age_seconds", found.answer.age},
            {"lifetime_seconds", terms.lifetime},
            {"lifetime_from", text(terms.source)},
            {"heuristic_factor", terms.heuristic ? Json(explained.freshness.heuristic_factor) : Json(nullptr)},
            {"ttl_seconds", found.answer.ttl},
            {"ended_by", is_ended ? Json(found.invalidated) : Json(nullptr)},
            {"ended_seconds_ago", is_ended ? Json(-found.answer.ttl) : Json(nullptr)},
            {"no_cache", bool(terms.no_cache)},
            {"must_revalidate", bool(terms.must_revalidate)},
            {"has_validator", bool(terms.has_validator)},
            {"stale_while_revalidate_seconds", window(terms.stale_while_revalidate)},
            {"stale_if_error_seconds", window(terms.stale_if_error)},
            {"stale_if_unreachable_seconds", window(terms.stale_limit)}};
}

constexpr std::array phase_names{"waiting for the head", "receiving the body", "complete", "uncacheable", "failed",
                                 "found on disk"};   // in the order of FillView::Phase

Json fetches(cache::Peek const& found) {
    Json all = Json::array();
    for (auto const& fill : found.fetches)
        all.push_back({{"phase", phase_names[static_cast<std::size_t>(fill->view().phase)]},
                       {"followers", fill->followers()},
                       {"validates", fill->stale() != nullptr},
                       {"followed", fill == found.follow}});
    return all;
}

Json failure(cache::Peek const& found) {
    if (!found.failure) return nullptr;
    return {{"status", found.failure->failure.status},
            {"reason", found.failure->failure.reason},
            {"of_head_only", found.failure->of_head_only},
            {"left_seconds", whole_seconds(found.failure->left)},
            {"only_for", found.failure->only_for ? Json(found.failure->only_for->client.text()) : Json(nullptr)}};
}

Json name_failure(Explanation const& explained) {
    auto const& failure = explained.name_failure;
    if (!failure) return nullptr;
    return {{"reason", failure->names->failure}, {"left_seconds", whole_seconds(failure->left)}};
}

double millis(microseconds time) { return static_cast<double>(time.count()) / 1e3; }

/// null: the origin.
Json peer_name(std::shared_ptr<icp::Peer> const& peer) { return peer ? Json(peer->options.name) : Json(nullptr); }

Json asked_peers(icp::Resolution const& resolution) {
    Json all = Json::array();
    for (auto const& word : resolution.words)
        all.push_back({{"peer", peer_name(word.peer)},
                       {"type", word.peer ? Json(name_of(word.peer->options.type)) : Json(nullptr)},
                       {"protocol", name_of(word.protocol)},
                       {"said", name_of(word.reply)},
                       {"took_ms", word.reply == icp::ReplyKind::nothing ? Json(nullptr) : Json(millis(word.took))}});
    return all;
}

Json ways(icp::Resolution const& resolution, bool of_https) {
    Json all = Json::array();
    for (auto const& source : resolution.sources) {
        auto const reach = source.peer ? Json(icp::reach_of(source.peer->options, of_https)) : Json(nullptr);
        auto const state = source.peer ? Json(name_of(source.peer->view(steady_now()).health)) : Json(nullptr);
        all.push_back({{"why", name_of(source.why)}, {"peer", peer_name(source.peer)}, {"reach", reach}, {"state", state}});
    }
    return all;
}

Json line(Explanation const& explained) {
    if (!explained.line) return nullptr;
    auto const& share = explained.options->share;
    auto const* const cap = explained.line->cap;
    Json json{{"subject", share::subject_name(explained.line->subject)},
              {"weight", weight_in_json(explained.line->weight)},
              {"down_bytes_per_second", share.down},
              {"up_bytes_per_second", share.up},
              {"cap", nullptr},
              {"quota", nullptr}};
    if (cap)
        json["cap"] = {{"name", cap->name},
                       {"each", share::text(cap->each)},
                       {"down_bytes_per_second", cap->down},
                       {"up_bytes_per_second", cap->up}};
    if (explained.quota) json["quota"] = quota_json(*explained.quota);
    return json;
}

Json user(Explanation const& explained) {
    auto const* identity = explained.identity.get();
    if (!identity || !identity->logged_in()) return nullptr;
    return {{"name", identity->user},
            {"groups", identity->groups},
            {"unknown_groups", identity->unknown_groups},
            {"why_unknown", identity->why_unknown}};
}

Json sources(Explanation const& explained) {
    if (!explained.sources) return nullptr;
    auto const& told = *explained.sources;
    using enum icp::Question::Direct;
    return {{"direct", told.direct == always  ? "always"
                       : told.direct == never ? "never"
                                              : "may"},
            {"hierarchical", told.hierarchical},
            {"undecided", told.undecided},
            {"url_changed", told.resolution.url_changed},
            {"url_too_long", told.resolution.url_too_long},
            {"asked", asked_peers(told.resolution)},
            {"timed_out", told.resolution.timed_out},
            {"took_ms", told.answered ? Json(millis(told.resolution.took)) : Json(nullptr)},
            {"order", ways(told.resolution, explained.url.starts_with("https:"))}};
}

}   // namespace

Json explain_json(Explanation const& explained) {
    auto const now = unix_seconds(explained.now);
    auto const& found = explained.found;
    Json json;
    json["outcome"] = proxy::name_of(explained.outcome);
    json["why"] = explained.why;
    json["status"] = explained.status ? Json(explained.status) : Json(nullptr);
    json["fwd"] = explained.fwd == http::Fwd::none ? Json(nullptr) : Json(text(explained.fwd));
    json["undecided"] = explained.undecided();
    json["request"] = {{"method", explained.method}, {"url", explained.url}};
    json["listener"] = {{"address", explained.listener.address},
                        {"kind", explained.partition == proxy::Partition::forward ? "forward" : "accelerator"},
                        {"origin", explained.listener.origin.empty() ? Json(nullptr) : Json(explained.listener.origin)}};
    if (!explained.listener.destination.empty()) {
        json["listener"]["kind"] = "intercepting";
        json["listener"]["origin"] = explained.listener.destination;
        json["listener"]["unverified"] = explained.listener.unverified;
    }
    json["user"] = user(explained);
    json["access"] = access(explained);
    json["interception"] = explained.interception.empty() ? Json(nullptr) : Json(explained.interception);
    json["bypass"] = explained.bypass == http::Bypass::none ? Json(nullptr) : Json(text(explained.bypass));
    json["caching_rules"] = rules(explained);
    json["reload_ignored"] = explained.reload_ignored;
    json["vary"] = vary(found);
    json["stored"] = stored(explained);
    json["on_disk"] = explained.found.disk_was_read ? Json(found.from_disk ? "yes" : "no") : Json(nullptr);
    json["parts"] = parts(explained);
    json["freshness"] = freshness(explained);
    bool const marked = found.hit_for_pass_until > now;
    json["not_shared_seconds"] = marked ? Json(found.hit_for_pass_until - now) : Json(nullptr);
    json["not_shared_reason"] = marked ? Json(found.hit_for_pass_reason) : Json(nullptr);
    json["fetches"] = fetches(found);
    json["failure"] = failure(found);
    json["name_failure"] = name_failure(explained);
    json["sources"] = sources(explained);
    json["line"] = line(explained);
    json["offer"] = explained.offer ? offer_json(*explained.offer) : Json(nullptr);
    return json;
}

}   // namespace garner::admin
