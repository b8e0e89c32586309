#include "bump/pinned.hpp"

#include <algorithm>
#include <tuple>

#include "bump/utc.hpp"
#include "util/one_of.hpp"
#include "util/text.hpp"

namespace garner::bump {
namespace {

// RFC 8446 6.2: bad_certificate, certificate_unknown, unknown_ca. 121 is left out: ech_required follows from a hidden name.
constexpr bool is_refusing_alert(std::uint8_t alert) { return is_one_of<42, 46, 48>(alert); }

IpAddress client_network(IpAddress const& client) { return first_bits(client, 32, 64); }   // RFC 6177: a subscriber's /64

std::string client_text(IpAddress const& network) { return network.text() + (network.is_v4() ? "" : "/64"); }

std::string normal_host(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    return lower_case(host);
}

/// A host has no space, so that the keys of hosts and of pairs differ.
std::string key_of(std::string const& host, IpAddress const& network) { return host + " " + client_text(network); }

/// `pins`: the pins in a row before this one.
milliseconds time_of_pin(unsigned pins) {
    milliseconds time = Pins::first_time;
    for (; pins > 0 && time < Pins::longest_time; --pins) time *= 2;
    return std::min<milliseconds>(time, Pins::longest_time);
}

}   // namespace

bool HandshakeEnd::refuses_certificate() const {
    if (kind == Kind::alert) return is_refusing_alert(alert);
    return kind == Kind::silent && after <= Pins::silence_max;
}

std::optional<Pin> Pins::find(IpAddress const& client, std::string_view host, Learn learn, WallTime now) {
    MutexLock const lock(mutex_);
    if (learn == Learn::off || records_.size() == 0) return std::nullopt;
    auto const name = normal_host(host);
    auto const* const record = records_.use(key_of(name, client_network(client)));
    if (record && now < record->until) return Pin{record->until};
    auto const* const of_host = learn == Learn::all ? records_.use(name) : nullptr;
    if (of_host && now < end_for_all(*of_host)) return Pin{end_for_all(*of_host), true};
    return std::nullopt;
}

void Pins::note(IpAddress const& client, std::string_view host, HandshakeEnd const& end, Learn learn, WallTime now) {
    MutexLock const lock(mutex_);
    auto const name = normal_host(host);
    if (end.kind == HandshakeEnd::Kind::succeeded)
        note_success(client_network(client), name);
    else if (learn != Learn::off && end.refuses_certificate())
        note_refusal(client_network(client), name, learn, now);
}

void Pins::note_success(IpAddress const& client, std::string const& host) {
    if (records_.size() == 0) return;
    records_.erase(key_of(host, client));
    if (auto* const of_host = records_.find(host))
        std::erase_if(of_host->clients, [&](auto const& one) { return one.client == client; });
}

void Pins::note_refusal(IpAddress const& client, std::string const& host, Learn learn, WallTime now) {
    auto& record = records_.get(key_of(host, client), most_);
    if (now < record.until) return;   // the connection is older than the pin
    if (record.failures == 0 || now - record.failed > failures_within) record.failures = 0, record.failed = now;
    if (++record.failures < failures_to_pin) return;
    auto const until = record.until = now + time_of_pin(record.pins++);
    record.failures = 0;
    if (learn != Learn::all) return;
    auto& clients = records_.get(host, most_).clients;
    std::erase_if(clients, [&](auto const& one) { return one.client == client || one.until <= now; });
    clients.push_back({client, until});
    std::ranges::sort(clients, std::ranges::greater(), &Pinned::until);
    clients.resize(std::min(clients.size(), clients_for_all));
}

WallTime Pins::end_for_all(Record const& of_host) {
    return of_host.clients.size() < clients_for_all ? WallTime{} : of_host.clients.back().until;
}

std::vector<Pins::Row> Pins::list(WallTime now) {
    MutexLock const lock(mutex_);
    std::vector<Row> rows;
    records_.for_each([&](std::string const& key, Record const& record) {
        auto const space = key.find(' ');
        bool const is_pair = space != key.npos;
        auto const until = is_pair ? record.until : end_for_all(record);
        if (now < until) rows.push_back({key.substr(0, space), is_pair ? key.substr(space + 1) : "all", until});
    });
    std::ranges::sort(rows, {}, [](Row const& row) { return std::tie(row.host, row.client); });
    return rows;
}

std::size_t Pins::erase(std::string_view host, WallTime now) {
    auto const name = normal_host(host);
    auto const rows = list(now);
    auto const is_meant = [&](std::string_view one) { return name.empty() || one == name; };
    MutexLock const lock(mutex_);
    std::vector<std::string> keys;
    records_.for_each([&](std::string const& key, Record const&) {
        if (is_meant(std::string_view(key).substr(0, key.find(' ')))) keys.push_back(key);
    });
    for (auto const& key : keys) records_.erase(key);
    return static_cast<std::size_t>(std::ranges::count_if(rows, is_meant, &Row::host));
}

std::size_t Pins::size() {
    MutexLock const lock(mutex_);
    return records_.size();
}

std::string pins_text(std::vector<Pins::Row> const& rows) {
    if (rows.empty()) return "no host is spliced because of refused certificates\n";
    std::size_t host_width = 6, client_width = 8;
    for (auto const& row : rows) {
        host_width = std::max(host_width, row.host.size() + 2);
        client_width = std::max(client_width, row.client.size() + 2);
    }
    std::string text;
    auto const add = [&](std::string line, std::string const& client, std::string const& until) {
        line.resize(host_width, ' ');
        line += client;
        line.resize(host_width + client_width, ' ');
        text += line + until + "\n";
    };
    add("HOST", "CLIENT", "SPLICED UNTIL");
    for (auto const& row : rows) add(row.host, row.client, utc_text(row.until));
    return text;
}

}   // namespace garner::bump
