// Why a URL is, or is not, answered from the cache: what a transaction would decide now, with none of it done.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/cache.hpp"
#include "net/name_cache.hpp"
#include "proxy/decision.hpp"
#include "proxy/explain_sources.hpp"
#include "proxy/options.hpp"

namespace garner::proxy {

class Server;

struct ExplainQuestion {
    std::string url;                          // absolute
    std::string method = {};                  // empty: GET, but CONNECT for https through a forward proxy, as browsers send it
    std::vector<std::string> fields = {};     // "Accept-Language: de"
    IpAddress client = IpAddress::v4(127, 0, 0, 1);
    bool accelerated = false;                 // asked of an accelerator: the URL at its origin, or where it listens
    bool asks_others = false;                 // DNS and, for a request that would be forwarded, the peers
};

/// How the request would be answered.
enum class Outcome : std::uint8_t {
    hit,           // from the store, fresh
    stale,         // from the store though stale
    revalidate,    // stored, but the origin is asked first
    collapsed,     // by somebody else's fetch in progress
    miss,          // fetched
    negative,      // a remembered failure
    failed,        // an error: the name could not be resolved lately
    passed,        // past the cache
    tunnelled,
    refused,       // by another rule of HTTP than those of access
    denied         // by the access rules
};
std::string_view name_of(Outcome);

struct Explanation {
    std::string fault;                        // what is wrong with the question; all else is empty then

    WallTime now{};
    std::shared_ptr<Options const> options;   // what the views and pointers below point into
    std::string method;
    std::string url;                          // normal form
    std::string listener;                     // "127.0.0.1:3128"
    std::string origin;                       // of an accelerator
    Partition partition = Partition::forward;

    http::Decision access;                    // needs_destination: the name would have to be resolved
    std::optional<http::Decision> of_source;  // by the address that the stored response came from, where that decides
    std::optional<http::Decision> of_connection;   // by the origin's addresses, where known: the first that is allowed decides
    std::string connection;                   // the address that `of_connection` is about

    std::vector<http::CachingRule const*> rules;   // that apply, in order; of two for one setting the first decides
    http::FreshnessOptions freshness;              // by them
    bool reload_ignored = false;
    http::Bypass bypass = http::Bypass::none;
    cache::Peek found;                             // in memory; where nothing is there, on disk
    std::string stored_head;                       // of found.object, with its blank line

    std::string asks;                              // "bytes=10-": where the origin is asked for the rest of found.parts
    std::optional<net::NameCache::Failure> name_failure;   // of the host's name, remembered

    std::optional<SourceExplanation> sources;      // where the peers were to be asked, and there are some

    Outcome outcome = Outcome::miss;
    std::uint16_t status = 0;                      // of the answer; 0: the origin's
    std::string why;
    /// The outcome holds only if the rules allow one of the name's addresses, which are not known.
    bool undecided() const { return !of_connection && access.verdict == http::Decision::Verdict::needs_destination; }
};

/// Fetches nothing, leads nothing, and moves nothing in the replacement order. Asks DNS and peers only where the question
/// says so. Not from a worker's thread: it waits for the disk, DNS (5 s at most) and peers (2.5 s at most).
Explanation explain(Server& server, ExplainQuestion const& question);

}  // namespace garner::proxy
