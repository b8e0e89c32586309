#include "admin/health.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "admin/human.hpp"

namespace garner::admin {

namespace {

struct Checked {
    Figures const& figures;
    Trend const& trend;
    WallTime now;
    std::vector<HealthItem>& items;

    /// `section`: the id of that on the page.
    void attention(std::string what, std::string fix, char const* section) const {
        items.push_back({HealthState::attention, std::move(what), std::move(fix), section});
    }
    void trouble(std::string what, std::string fix, char const* section) const {
        items.push_back({HealthState::trouble, std::move(what), std::move(fix), section});
    }
};

std::string counted(double number, std::string const& thing) {
    auto const whole = static_cast<std::uint64_t>(number + 0.5);
    return human_count(whole) + " " + thing + (whole == 1 ? "" : "s");
}

/// "23 requests failed in the last minute, usually 2"
std::string in_last_minute(double number, std::string const& verb, std::optional<double> usual) {
    auto text = counted(number, "request") + " " + verb + " in the last minute";
    return usual ? text + ", usually " + human_count(static_cast<std::uint64_t>(*usual + 0.5)) : text;
}

std::optional<double> usual(Trend const& trend, double Minute::*number) {
    return trend.usual ? std::optional(*trend.usual.*number) : std::nullopt;
}

bool is_far_above(double number, double usual) {
    return number >= HealthLimits::many_a_minute && number >= HealthLimits::times_usual * usual;
}

void check_workers(Checked const& in) {
    if (in.figures.stuck_workers == 0) return;
    in.trouble(counted(static_cast<double>(in.figures.stuck_workers), "worker thread") + " has not responded for 5 s",
               "restart Garner, and report the last lines of its log", "");
}

void check_disk(Checked const& in) {
    auto const& disk = in.figures.disk;
    if (disk.state != store::DiskStats::State::failing) return;
    in.trouble("the disk tier fails, and Garner answers from memory and from origins",
               "check the disk below " + disk.path + (disk.trouble.empty() ? "" : ": " + disk.trouble), "disk");
}

void check_group(Checked const& in) {
    auto const& group = in.figures.group;
    if (!group || group->current) return;
    auto const begin = "this proxy is cut off from group " + group->name + ", and ", fix = "check the voters: " + group->why;
    if (group->serves_cut_off) return in.trouble(begin + "serves responses that may be outdated (group.cut_off)", fix, "group");
    in.attention(begin + "validates what the group covers", fix, "group");
}

/// Without a usual number, a third of all requests is many.
void check_failures(Checked const& in) {
    auto const& last = in.trend.last;
    auto const before = usual(in.trend, &Minute::failed);
    auto const least = before.value_or(HealthLimits::failed_share * last.requests / HealthLimits::times_usual);
    if (!is_far_above(last.failed, least)) return;
    in.trouble(in_last_minute(last.failed, "failed", before),
               "look at the last failures and their reasons; check DNS and the way to the origins", "failures");
}

/// Without a usual number, nearly all requests are many: with logins, the first request of many connections is refused.
void check_refusals(Checked const& in) {
    auto const& last = in.trend.last;
    auto const before = usual(in.trend, &Minute::refused);
    bool const nearly_all =
        last.refused >= HealthLimits::many_a_minute && last.refused >= HealthLimits::refused_share * last.requests;
    if (!nearly_all && !(before && is_far_above(last.refused, *before))) return;
    in.attention(in_last_minute(last.refused, "were refused", before),
                 "look at the last refusals and their rules; a rule or a client has changed", "refusals");
}

void check_peers(Checked const& in) {
    for (auto const& peer : in.figures.peers)
        if (peer.health == icp::Health::dead)
            in.attention(std::string(name_of(peer.options.type)) + " " + peer.options.name + " is dead",
                         "check that it runs, and that its ports are reachable from here (garner peers)", "mesh");
}

void check_log(Checked const& in) {
    auto const lost = in.trend.last.lost_lines;
    if (lost <= 0) return;
    auto const& error = in.figures.log.last_error;
    in.attention(
        counted(lost, "line") + " of the access log " + (lost < 1.5 ? "was" : "were") + " lost in the last minute" +
            (error.empty() ? "" : ": " + error),
        error.empty() ? "move the file of log.access to a faster disk" : "free space, or make the file of log.access writable", "");
}

void check_connections(Checked const& in) {
    auto const now = in.figures.connections_now, limit = in.figures.connections_limit;
    if (limit == 0 || now < HealthLimits::connections_share * limit) return;
    in.attention(human_count(now) + " of at most " + human_count(limit) + " client connections are open",
                 "raise the limit of open files and limits.connections_max, or find the client with the most connections",
                 "top-clients");
}

/// A tunnel needs more of them than a connection without one.
void check_open_files(Checked const& in) {
    auto const now = in.figures.open_files, limit = in.figures.open_files_limit;
    if (limit == 0 || static_cast<double>(now) < HealthLimits::open_files_share * static_cast<double>(limit)) return;
    in.attention(human_count(now) + " of at most " + human_count(limit) + " files are open",
                 "raise the limit of open files (LimitNOFILE), or lower limits.connections_max", "");
}

void check_certificates(Checked const& in) {
    for (auto const& [subject, end] : in.figures.certificates) {
        constexpr auto fix = "renew it, then run garner reload", section = "certificates";
        auto const left = end - in.now;
        auto const days = std::chrono::floor<std::chrono::days>(left).count();
        if (left <= milliseconds{0})
            in.trouble("the certificate " + subject + " has expired", fix, section);
        else if (left <= HealthLimits::certificate)
            in.attention("the certificate " + subject + " ends in " +
                             (days == 0 ? "less than a day" : counted(static_cast<double>(days), "day")),
                         fix, section);
    }
}

void check_ledger(Checked const& in) {
    auto const& ledger = in.figures.quotas.ledger;
    if (ledger.trouble.empty()) return;
    in.attention("a restart would forget what quotas have counted: " + ledger.trouble,
                 "free space, or make " + ledger.path + " writable; Garner tries again every 8 s", "quotas");
}

void check_configuration(Checked const& in) {
    auto const& config = in.figures.config;
    if (!config.refused.empty())
        in.attention("the last reload was refused, and the running configuration stays in use: " + config.refused,
                     "correct the file (garner check), then run garner reload", "configuration");
    if (config.returned)
        in.attention("the file has a configuration that was not confirmed in time, and the one before it is in use; the next start "
                     "or reload applies the file",
                     "correct the file, then run garner reload, or garner reload --confirm", "configuration");
}

/// "5 min 2 s ago", "at no time"
std::string ago(WallTime then, WallTime now) {
    if (then == WallTime{}) return "at no time";
    return human_seconds(std::max(0.0, std::chrono::duration<double>(now - then).count())) + " ago";
}

void check_user_files(Checked const& in) {
    for (auto const& one : in.figures.troubles)
        if (one.kind == auth::Trouble::Kind::file)
            in.trouble(one.name + " " + one.why + "; " + one.effect + " (last right " + ago(one.since, in.now) + ")",
                       one.fix.empty() ? "make the file readable" : one.fix, "");
}

void check_directories(Checked const& in) {
    for (auto const& one : in.figures.troubles)
        if (one.kind == auth::Trouble::Kind::directory)
            in.trouble("the directory " + one.name + " cannot be asked (first " + ago(one.since, in.now) + "): " + one.why + "; " +
                           one.effect,
                       one.fix, "");
}

void check_dns(Checked const& in) {
    auto const& dns = in.figures.dns;
    if (!dns.is_silent(in.now)) return;
    in.trouble("the DNS servers have not answered the last lookups (first " + ago(dns.since, in.now) + "): " + dns.why,
               "check the servers of dns.servers or /etc/resolv.conf, and the way to them", "failures");
}

/// The table of what is watched. A new check needs a function and a row here, an alert in etc/alerts.yml, and a row in
/// docs/reference/metrics.md. The order is that of the items of one state.
struct Check {
    HealthCheck name;
    void (*look)(Checked const&);
};
constexpr Check checks[]{
    {{"workers", "GarnerWorkerStuck"}, check_workers},
    {{"disk", "GarnerDiskFailing"}, check_disk},
    {{"group", "GarnerCutOff"}, check_group},
    {{"dns", "GarnerDnsSilent"}, check_dns},
    {{"directory", "GarnerDirectorySilent"}, check_directories},
    {{"user_files", "GarnerUserFilesStale"}, check_user_files},
    {{"failures", "GarnerManyFailures"}, check_failures},
    {{"refusals", "GarnerManyRefusals"}, check_refusals},
    {{"peers", "GarnerPeerDead"}, check_peers},
    {{"log", "GarnerLogLinesLost"}, check_log},
    {{"connections", "GarnerFewConnectionsLeft"}, check_connections},
    {{"open_files", "GarnerFewOpenFilesLeft"}, check_open_files},
    {{"certificates", "GarnerCertificateEnds"}, check_certificates},
    {{"ledger", "GarnerLedgerFails"}, check_ledger},
    {{"configuration", "GarnerConfigurationNotInUse"}, check_configuration},
};

/// "Attention: parent campus is dead, and 2 more problems."
std::string sentence_of(std::vector<HealthItem> const& items) {
    auto text = (items.front().state == HealthState::trouble ? "Trouble: " : "Attention: ") + items.front().what;
    if (items.size() > 1) text += ", and " + counted(static_cast<double>(items.size() - 1), "more problem");
    return text + ".";
}

}   // namespace

std::string_view name_of(HealthState state) {
    switch (state) {
    case HealthState::ok: return "ok";
    case HealthState::attention: return "attention";
    case HealthState::trouble: return "trouble";
    }
    return "";
}

std::vector<HealthCheck> health_checks() {
    std::vector<HealthCheck> all;
    for (auto const& check : checks) all.push_back(check.name);
    return all;
}

Health health_of(Figures const& figures, Trend const& trend, WallTime now) {
    Health health;
    for (auto const& check : checks) {
        auto const before = health.items.size();
        check.look({figures, trend, now, health.items});
        for (auto i = before; i < health.items.size(); ++i) health.items[i].check = check.name.name;
    }
    if (health.items.empty()) return health;
    std::ranges::stable_sort(health.items, std::ranges::greater(), &HealthItem::state);
    health.state = health.items.front().state;
    health.sentence = sentence_of(health.items);
    return health;
}

}   // namespace garner::admin
