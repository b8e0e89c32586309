// The parts of the configuration that need the whole of squid.conf.
#include <algorithm>

#include "import/context.hpp"
#include "util/text.hpp"

namespace garner::importing {
namespace {

std::vector<AccessLine> const& lines_of(Context const& context, std::string_view directive) {
    static std::vector<AccessLine> const none;
    auto const found = context.access.find(directive);
    return found == context.access.end() ? none : found->second;
}

void write_listeners(Context& context) {
    auto list = Json::array();
    for (auto const& address : context.listen) {
        auto listener = Json::object();
        listener["address"] = Json::string(address);
        list.add(std::move(listener));
        // The default of admin.address.
        if (address.ends_with(":3131")) context.set("admin.address", Json::string(""));
    }
    if (!list.empty()) context.set("listen", std::move(list));
}

/// Rules with users need a source. This one knows no user, so that they deny.
Json source_of_no_user() {
    auto source = Json::object();
    source["type"] = Json::string("address");
    source["users"] = Json::object();
    return source;
}

/// The files of a source may be on another machine.
bool is_usable(Context& context, AuthSource const& source) {
    auto list = Json::array();
    list.add(source.json);
    auto const why_not = context.why_not("auth.sources", list);
    if (!why_not.empty())
        context.report.needs_you(source.line, why_not + "; none of its users can log in. Correct this and import again, or add " +
                                                  source.json.line() + " to auth.sources");
    return why_not.empty();
}

void write_auth(Context& context) {
    if (context.auth_sources.empty()) {
        context.config.erase("auth");   // a realm alone
        return;
    }
    auto sources = Json::array();
    for (auto const& source : context.auth_sources)
        if (is_usable(context, source)) sources.add(source.json);
    if (sources.empty()) sources.add(source_of_no_user());
    context.set("auth.sources", std::move(sources));
}

bool names_purge(std::vector<AccessLine> const& lines, Acls& acls) {
    for (auto const& line : lines)
        for (auto const& use : line.uses)
            if (auto const* const leaf = acls.leaf_of_type(use.name, "method"))
                for (auto const& atom : leaf->atoms)
                    if (atom.takes_purge.value_or(false)) return true;
    return false;
}

/// Requests must pass both lists, so the denials of the second list come first.
Json access_rules(Context const& context, AccessWriter& writer) {
    auto rules = Json::array();
    Reading const reading{.doubt_matches = true, .has_destination = true};
    for (auto const& matcher : writer.selected(lines_of(context, "adapted_http_access"), false, reading)) {
        auto rule = Json::object();
        rule["deny"] = matcher.empty() ? Json::string("all") : matcher;
        rules.add(std::move(rule));
    }
    return writer.access(lines_of(context, "http_access"), std::move(rules));
}

/// Squid denies PURGE unless an ACL names it.
void write_access(Context& context, AccessWriter& writer) {
    auto const& lines = lines_of(context, "http_access");
    context.set("access", access_rules(context, writer));
    context.set("purge", names_purge(lines, context.acls) ? writer.purge(lines) : writer.purge({}));
    if (auto const& misses = lines_of(context, "miss_access"); !misses.empty()) context.set("misses", writer.misses(misses));
}

Json list_of(std::vector<Json> const& items) {
    auto list = Json::array();
    for (auto const& item : items) list.add(item.empty() ? Json::string("all") : item);
    return list;
}

void write_direct(Context& context, AccessWriter& writer) {
    Reading const reading{.doubt_matches = false};
    for (auto const& [directive, key] : {std::pair("always_direct", "direct.always"), std::pair("never_direct", "direct.never")}) {
        auto const matchers = writer.selected(lines_of(context, directive), true, reading);
        if (!matchers.empty()) context.set(key, list_of(matchers));
    }
}

/// Rules that store nothing come first, because the first rule with a key counts.
void write_caching(Context& context, AccessWriter& writer) {
    auto rules = Json::array();
    for (auto const& matcher : writer.selected(lines_of(context, "cache"), false, {.doubt_matches = true})) {
        auto rule = matcher;
        rule["never"] = Json::flag(true);
        rules.add(std::move(rule));
    }
    for (auto const& rule : context.caching_rules) rules.add(rule);
    if (!rules.empty()) context.set("caching.rules", std::move(rules));
}

void write_mesh(Context& context, AccessWriter& writer) {
    for (auto const& [key, port] : {std::pair("icp.address", &context.icp_port), std::pair("htcp.address", &context.htcp_port)})
        if (!port->empty()) context.set(key, Json::string(context.udp_address + ":" + *port));
    for (auto const& [directive, key] : {std::pair("icp_access", "icp.allow"), std::pair("htcp_access", "htcp.allow"),
                                         std::pair("htcp_clr_access", "htcp.clear_allow")}) {
        auto const networks = writer.networks(lines_of(context, directive));
        if (!networks.empty()) context.set(key, Json::strings(networks));
    }
}

void write_gateways(Context& context, AccessWriter& writer) {
    auto const networks = writer.networks(lines_of(context, "follow_x_forwarded_for"));
    if (!networks.empty() && context.facts.indirect_sources) context.set("forwarded_trust", Json::strings(networks));
}

/// A peer without any host is left out.
void write_peers(Context& context, AccessWriter& writer) {
    auto list = Json::array();
    for (auto& peer : context.peers) {
        auto const lines = context.peer_access.find(peer.name);
        auto const domains = lines == context.peer_access.end() ? std::nullopt : writer.domains(lines->second);
        if (domains && !domains->any) {
            context.report.drop(lines->second.front().line,
                                "the peer " + printable(peer.name) + " gets no request and is left out");
            continue;
        }
        if (domains && !domains->hosts.empty()) peer.json["domains"] = Json::strings(domains->hosts);
        list.add(std::move(peer.json));
    }
    for (auto const& [name, lines] : context.peer_access)
        if (std::ranges::count(context.peers, name, &Peer::name) == 0)
            for (auto const& line : lines) context.report.drop(line.line, "no translated peer is named " + printable(name));
    if (!list.empty()) context.set("peers", std::move(list));
}

}   // namespace

void finish(Context& context) {
    context.facts.has_auth = !context.auth_sources.empty();
    context.acls.set_facts(context.facts);
    context.facts.opens_blocked = context.acls.opens_blocked();
    context.acls.set_facts(context.facts);
    AccessWriter writer(context.acls, context.report, context.reasons);
    write_listeners(context);
    write_auth(context);
    write_access(context, writer);
    write_direct(context, writer);
    write_caching(context, writer);
    write_mesh(context, writer);
    write_gateways(context, writer);
    write_peers(context, writer);
    if (!context.acls.matchers().empty()) context.set("matchers", context.acls.matchers());
    context.acls.report_unused();
}

}   // namespace garner::importing
