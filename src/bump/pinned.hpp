// Learns which clients refuse minted certificates, because they accept only certain ones (pinning), and splices for them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bump/options.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"
#include "util/lru_map.hpp"
#include "util/mutex.hpp"

namespace garner::bump {

/// The end of a client's handshake with a certificate that was minted for a valid origin.
struct HandshakeEnd {
    enum class Kind : std::uint8_t {
        succeeded,   // the client sent application data
        alert,       // the client sent a fatal alert (RFC 8446 6.2)
        silent,      // after the Finished of Garner, the client closed the connection without application data
        other        // timeouts, errors of Garner or of the origin
    };
    Kind kind = Kind::other;
    std::uint8_t alert = 0;
    milliseconds after{0};   // silent: from the Finished to the end

    /// True for the alerts bad_certificate, certificate_unknown and unknown_ca, and for a silent end within Pins::silence_max.
    bool refuses_certificate() const;
};

/// A host that is spliced for a client, or for all of them.
struct Pin {
    WallTime until{};
    bool for_all = false;
    friend bool operator==(Pin const&, Pin const&) = default;
};

/// Thread-safe. Decides by its arguments alone. Clients are IPv4 addresses and IPv6 /64 networks. Hosts are compared without case
/// and without a final dot. At most `entries_max` records; the least recently used ones are evicted.
class Pins {
public:
    static constexpr std::size_t entries_max = 65'536;
    static constexpr std::size_t clients_for_all = 3;
    static constexpr std::size_t entry_bytes = 512;   // at most, approximately
    static constexpr unsigned failures_to_pin = 2;
    static constexpr std::chrono::minutes failures_within{10};
    static constexpr std::chrono::hours first_time{24};   // doubles with each pin in a row
    static constexpr std::chrono::hours longest_time{7 * 24};
    static constexpr milliseconds silence_max{2'000};   // unused connections of browsers stay open longer

    explicit Pins(std::size_t most = entries_max) : most_(most) {}

    std::optional<Pin> find(IpAddress const& client, std::string_view host, Learn, WallTime now) EXCLUDES(mutex_);
    /// Notes the end of a handshake. A success makes Garner forget what it learned of this client and host.
    void note(IpAddress const& client, std::string_view host, HandshakeEnd const&, Learn, WallTime now) EXCLUDES(mutex_);

    struct Row {
        std::string host;
        std::string client;   // "10.0.0.7", "2001:db8::/64" or "all"
        WallTime until{};
        friend bool operator==(Row const&, Row const&) = default;
    };
    /// The pins in force, by host and client.
    std::vector<Row> list(WallTime now) EXCLUDES(mutex_);
    /// Removes all records of a host, or with an empty `host` all records. Returns the number of pins in force among them.
    std::size_t erase(std::string_view host, WallTime now) EXCLUDES(mutex_);
    /// The number of records, whether or not they pin.
    std::size_t size() EXCLUDES(mutex_);

private:
    struct Pinned {
        IpAddress client;
        WallTime until{};
    };
    /// The key "host client" has the record of a pair, the key "host" that of a host.
    struct Record {
        unsigned failures = 0;
        unsigned pins = 0;   // in a row
        WallTime failed{};   // the first of `failures`
        WallTime until{};
        std::vector<Pinned> clients = {};   // of a host: the clients whose pins last longest, at most clients_for_all
    };
    void note_success(IpAddress const& client, std::string const& host) REQUIRES(mutex_);
    void note_refusal(IpAddress const& client, std::string const& host, Learn, WallTime now) REQUIRES(mutex_);
    static WallTime end_for_all(Record const& of_host);

    std::size_t const most_;
    Mutex mutex_;
    LruMap<Record> records_ GUARDED_BY(mutex_);
};

/// A table with a heading for `garner ca pins`, or one line if there are none.
std::string pins_text(std::vector<Pins::Row> const& rows);

}   // namespace garner::bump
