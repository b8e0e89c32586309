#include "admin/group_json.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "admin/summary.hpp"
#include "proxy/moment.hpp"
#include "util/text.hpp"

namespace garner::admin {

namespace {

double in_seconds(microseconds time) { return std::round(std::chrono::duration<double>(time).count() * 1e3) / 1e3; }

Json voter_json(group::GroupState::VoterRow const& voter) {
    std::string instance;
    append_hex(voter.instance, instance);
    return {{"address", voter.address},
            {"own", voter.is_own},
            {"connected", voter.connected},
            {"trusted", voter.trusted},
            {"instance", voter.instance == 0 ? Json(nullptr) : Json(instance)},
            {"sequence", voter.sequence},
            {"lease_age_seconds", voter.age < microseconds(0) ? Json(nullptr) : Json(in_seconds(voter.age))},
            {"lease_left_seconds", in_seconds(voter.left)},
            {"trouble", voter.trouble}};
}

Json member_json(group::GroupState::MemberRow const& member) {
    return {{"name", member.name},
            {"address", member.address},
            {"acknowledged", member.acknowledged},
            {"lag", member.lag},
            {"heard_seconds_ago", in_seconds(member.heard_before)}};
}

/// The names of other members may contain any character.
std::string word_at(Json const& json, std::string_view path) {
    auto text = text_at(json, path);
    std::ranges::replace(text, '\n', '?');
    return text;
}

std::string time_shown(Json const& value) { return shown(value, "short time"); }

void append_voters(Json const& json, std::string& out) {
    out += "voters:\n";
    for (auto const& voter : at(json, "voters")) {
        auto const left = at(voter, "lease_left_seconds");
        bool const holds = left.is_number() && left.get<double>() > 0;
        out += "  " + word_at(voter, "address") + (is(voter, "own") ? " (this member)" : "") + ": ";
        out += holds ? "lease for " + time_shown(left) : std::string("no lease");
        if (is(voter, "connected")) out += ", instance " + word_at(voter, "instance");
        if (is(voter, "connected")) out += ", sequence " + std::to_string(number_at(voter, "sequence"));
        if (auto const trouble = word_at(voter, "trouble"); !trouble.empty()) out += ", " + trouble;
        out += "\n";
    }
}

void append_members(Json const& json, std::string& out) {
    out += "members, as this voter knows them:\n";
    for (auto const& member : at(json, "members")) {
        auto const address = word_at(member, "address");
        out += "  " + word_at(member, "name") + (address.empty() ? "" : " at " + address) + ": acknowledged " +
               std::to_string(number_at(member, "acknowledged")) + ", lag " + std::to_string(number_at(member, "lag"));
        out += ", heard " + time_shown(at(member, "heard_seconds_ago")) + " ago\n";
    }
}

void append_offers(Json const& json, std::string& out) {
    if (at(json, "offers").empty()) return;
    out += "offered objects:\n";
    for (auto const& offer : at(json, "offers")) out += "  " + word_at(offer, "url") + ": " + offer_text(offer) + "\n";
}

}   // namespace

Json offer_json(group::GroupState::OfferRow const& offer) {
    return {{"url", offer.url},
            {"bytes", offer.length == 0 ? Json(nullptr) : Json(offer.length)},
            {"validator", offer.validator},
            {"left_seconds", in_seconds(offer.left)},
            {"own", offer.is_own},
            {"parents", offer.parents},
            {"state", offer.state}};
}

std::string offer_text(Json const& offer) {
    auto text = word_at(offer, "state");
    char const* before = ", first from ";
    for (auto const& parent : at(offer, "parents")) text += std::exchange(before, ", then from ") + parent.get<std::string>();
    return text + ", for " + time_shown(at(offer, "left_seconds")) + " more";
}

Json watermarks_json(group::GroupState const& state) {
    auto json = Json::array();
    for (auto const& one : state.watermarks) json.push_back({{"at", proxy::moment_text(one.at)}, {"reason", one.reason}});
    return json;
}

char const* while_cut_off(group::GroupState const& state) { return state.serves_cut_off ? "serve" : "validate"; }

Json group_json(group::GroupState const& state) {
    Json json{{"state", state.current ? "current" : "cut off"},
              {"name", state.name},
              {"member", state.member},
              {"address", state.address},
              {"since", proxy::moment_text(state.since)},
              {"why", state.why},
              {"while_cut_off", while_cut_off(state)},
              {"lease_seconds", in_seconds(state.lease)},
              {"lease_left_seconds", in_seconds(state.left)}};
    json["voters"] = Json::array();
    for (auto const& voter : state.voters) json["voters"].push_back(voter_json(voter));
    json["members"] = state.is_voter ? Json::array() : Json(nullptr);
    for (auto const& member : state.members) json["members"].push_back(member_json(member));
    auto const& totals = state.totals;
    json["invalidations"] = {{"held", state.held},
                             {"accepted", totals.accepted},
                             {"not_accepted", totals.not_accepted},
                             {"refused", totals.refused},
                             {"received", totals.received}};
    json["offers"] = Json::array();
    for (auto const& one : state.offers) json["offers"].push_back(offer_json(one));
    json["watermarks"] = watermarks_json(state);
    return json;
}

std::string group_text(Json const& json) {
    auto const state = word_at(json, "state");
    if (state == "none") return "this proxy shares no invalidations: group.name is not set\n";
    auto out = "group " + word_at(json, "name") + ", member " + word_at(json, "member") + ": " + state + " since " +
               word_at(json, "since");
    if (state == "current") out += ", lease for " + time_shown(at(json, "lease_left_seconds"));
    if (state == "cut off" && word_at(json, "while_cut_off") == "serve") out += ", serves responses that may be outdated";
    if (auto const why = word_at(json, "why"); !why.empty()) out += ": " + why;
    out += "\n";
    append_voters(json, out);
    if (at(json, "members").is_array()) append_members(json, out);
    out += "invalidations: " + std::to_string(number_at(json, "invalidations.accepted")) + " accepted of this member, " +
           std::to_string(number_at(json, "invalidations.not_accepted")) + " not accepted, " +
           std::to_string(number_at(json, "invalidations.refused")) + " refused, " +
           std::to_string(number_at(json, "invalidations.received")) + " received from other voters\n";
    append_offers(json, out);
    for (auto const& one : at(json, "watermarks")) out += "watermark: " + word_at(one, "at") + ", " + word_at(one, "reason") + "\n";
    return printable(out);
}

}   // namespace garner::admin
