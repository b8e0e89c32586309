// One request, from its head to the last byte of its answer: the story of the proxy.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "cache/cache.hpp"
#include "client/exchange.hpp"
#include "http/cache_status.hpp"
#include "http/cacheability.hpp"
#include "http/freshness.hpp"
#include "http/multipart.hpp"
#include "http/remainder.hpp"
#include "net/waiter.hpp"
#include "proxy/client_stream.hpp"
#include "proxy/error_page.hpp"
#include "proxy/head_writer.hpp"
#include "proxy/log_entry.hpp"
#include "proxy/send_pace.hpp"
#include "proxy/services.hpp"
#include "proxy/source_use.hpp"
#include "proxy/target.hpp"
#include "util/text.hpp"

namespace garner::proxy {

/// What goes on where a body broke off, and what it came by.
struct Rest {
    std::unique_ptr<client::Exchange> exchange;   // null: nothing does
    SourceUse use;
    std::string pool_key;
};

/// Lives as long as its connection and is used for one request after the other, so that its strings keep their room.
/// Belongs to one worker.
class Transaction {
public:
    Transaction(Services& services, ClientStream& client, AcceleratedOrigin const* origin)
        : services_(services), client_(client), origin_(origin), send_pace_(client, services.worker.wheel, services.cache) {}

    /// Answers the request whose head client.head() is, and logs it. Afterwards keeps_connection() tells whether
    /// another request may follow.
    net::awaitable<void> run(std::shared_ptr<Options const> const& options);

    /// Revalidates what a client was given stale (RFC 5861 3), for client.nobody() with that client's request.
    net::awaitable<void> refresh(std::shared_ptr<Options const> const& options, cache::FillLease lead,
                                 store::ObjectPtr stale);

    /// Asks for the rest of a body that broke off, for client.nobody() with the request of whose client it was; the access
    /// rules count anew. `at`: of `sources`, the one that broke off; afterwards the last one that was asked.
    net::awaitable<Rest> find_rest(std::shared_ptr<Options const> const& options, std::span<icp::Source const> sources,
                                   std::size_t& at, http::Remainder const& missing, client::Trouble trouble);

    /// Answers what could not be read as a request, and logs it.
    net::awaitable<void> refuse_head(std::shared_ptr<Options const> const& options, std::uint16_t status,
                                     std::string_view why);

    bool keeps_connection() const { return !close_; }

    /// Ends whatever it waits for; the client's connection is of no more use. From the same worker.
    void abort();

private:
    /// Whom a failure tells something about: only what others would meet too is remembered.
    enum class Fault : std::uint8_t {
        nobodys,     // our own limits and rules, the client's, a shutdown
        name,        // it could not be resolved; net/name_cache remembers that
        connection,  // the origin could not be connected to
        answer       // no usable answer came; it may be due to the request
    };

    // ---- the story: transaction.cpp ----
    net::awaitable<void> answer();
    enum class Verdict : std::uint8_t { go_on, needs_names, own_answer, internal, refused };
    Verdict check();
    Verdict check_access();
    http::Decision permits(http::RuleRequest const& facts, IpAddress const& destination) const;
    Verdict prepare();
    Verdict refused(std::uint16_t status, std::string_view what, std::string_view rule);
    Verdict denied(http::Decision const& decision);
    void note_rule(http::Decision const& decision);
    net::awaitable<Verdict> check_names();
    net::awaitable<void> answer_as_last_hop();
    net::awaitable<void> use_cache();
    cache::Lookup look_in_memory(cache::Collapse collapse);
    net::awaitable<void> purge();
    net::awaitable<bool> outlives(store::DiskStore::Survives what);
    net::awaitable<void> follow(cache::FillPtr fill, store::ObjectPtr stale);
    milliseconds patience_with_leader() const;
    IpAddress client_network() const;
    Fingerprint origin_fingerprint() const { return services_.cache.key(target_.host_field).fingerprint; }
    void begin(std::shared_ptr<Options const> const& options);
    void finish();
    void count_client_traffic();
    std::string_view logged_url(std::string_view url) const;
    void note_use(store::ObjectPtr const& object);
    bool wants_upgrade() const;
    void heed_reload();
    void say(char const* why);
    void say_departure(http::Terms const& terms);
    http::RuleRequest rule_request() const;

    // ---- from the store: deliver.cpp ----
    net::awaitable<void> deliver(store::ObjectPtr object, cache::Follower* follower);
    struct Slice {
        Bytes first = 0;
        std::optional<Bytes> count;   // nothing: to the end, whose place is not known yet
        bool chunked = false;
        bool several = false;         // the ranges of multipart_
    };
    static constexpr std::size_t write_pieces = 16;
    static constexpr milliseconds circle_wait{1'000};   // of another cache's request, for what a fetch here will be
    using Parts = std::array<iovec, write_pieces + 5>;
    net::awaitable<bool> send_body(store::ObjectPtr object, Slice slice, Parts& parts, std::size_t used,
                                   cache::Follower* follower);
    net::awaitable<std::optional<bool>> send_rest(store::ObjectPtr& object, store::BodyReader& reader, Slice const& slice);
    net::awaitable<bool> wait_for_growth(cache::Follower& follower, std::uint64_t seen, milliseconds limit);
    net::awaitable<void> waited_too_long();
    bool answer_conditions(store::Object const& object, Slice& slice, Patch& patch, std::string_view& head);
    bool answer_ranges(store::Object const& object, Slice& slice, Patch& patch, std::string_view& head);
    net::awaitable<void> send_ranges(store::ObjectPtr object, Parts& parts, std::size_t used);
    void read_head_of(store::Object const& object);

    // ---- what is fetched, and what becomes of it: fetch.cpp ----
    /// Fetches, tells the lease, and sends; `stale` is validated when it has a validator.
    net::awaitable<void> fetch(cache::FillLease lead, store::ObjectPtr stale);
    /// Fetches without the cache; a non-error answer to an unsafe method invalidates, one to a POST may be stored.
    net::awaitable<void> pass(http::Bypass why);
    bool invalidate(cache::Fill const* own);
    bool purge_changed(cache::Key const& key, std::string const& url, cache::Fill const* own);
    net::awaitable<void> take_response(cache::FillLease lead, store::ObjectPtr stale);
    net::awaitable<void> ask_again(cache::FillLease lead, store::ObjectPtr stale);
    void keep_nothing(cache::FillLease lead, store::Object const* known, http::ResponseCacheControl const& control,
                      http::StoreRefusal why);
    http::StoreRefusal why_not_stored(http::ResponseHead const& response, http::ResponseCacheControl const& control,
                                      http::Storing what) const;
    void tell_of_error(cache::FillLease lead);
    bool remember_error(cache::Fill const& fill, cache::FetchFailure const& failure);
    bool is_too_large() const;
    http::FreshnessOptions freshness_options(std::string_view content_type) const;

    // ---- where to ask: sources.cpp ----
    /// True when a final head (or a 101) is there; else failure_ says what went wrong. Ways are tried in turn.
    net::awaitable<bool> ask_sources(http::Validators validators, bool strip_conditions);
    net::awaitable<void> choose_sources();
    net::awaitable<bool> may_use_peers();
    bool is_lonely() const;
    bool may_be_in_a_circle() const;
    icp::Question question(IpAddress const* destination);
    icp::Source const& source() const { return sources_[at_source_]; }
    bool is_in_vain();
    bool may_try_next() const;
    bool enter_way();
    bool sends_body() const;
    void note_source();
    std::string peer_name() const;
    std::string source_name() const;   // "The parent campus"

    // ---- when a peer's body breaks off, or the disk's: resume.cpp ----
    /// What came of the body was good, and others may have the rest. An origin's own faults stay as they are.
    bool may_go_on() const;
    net::awaitable<bool> go_on_elsewhere(http::Remainder const& missing, client::Trouble trouble);
    net::awaitable<bool> fetch_lost(store::Object const& object, http::BrokenBody broken, bool is_there);
    bool may_fetch_lost() const;
    net::awaitable<bool> ask_for_rest(http::Remainder const& missing);

    // ---- asking one of them: ask.cpp ----
    net::awaitable<bool> ask_source(http::Validators validators, bool strip_conditions);
    void write_request(http::Validators validators, bool strip_conditions);
    std::string lines_of_forwarding(bool anew) const;
    void write_peer_target();
    void write_pool_key();
    net::awaitable<bool> try_source(bool fresh_connection);
    std::unique_ptr<net::Transport> take_pooled();
    net::awaitable<std::unique_ptr<net::Transport>> connect();
    void note_connected(net::Transport& transport);
    net::awaitable<client::Trouble> read_final_head(http::Method method);
    bool others_wait() const;
    bool pass_interim();
    void note_first_byte(SteadyTime asked);
    void finish_exchange();
    void drop_exchange();
    void count_source_traffic();
    void failed(std::uint16_t status, std::string reason, Fault fault = Fault::nobodys);
    void failed_by(client::Trouble trouble);
    void failed_to_connect(net::Connected const& connected);

    // ---- keeping what it answered: keep.cpp ----
    /// `begun`: what is there of its body before the exchange brings more; else nullptr.
    net::awaitable<void> store_response(cache::FillLease lead, http::ResponseHead const& response,
                                        http::ResponseCacheControl const& control, store::BodyPtr begun);
    http::StoreRefusal too_large_for_memory(Bytes body) const;
    http::VaryNames vary_of(http::ResponseHead const& response) const;
    std::string_view whole_body_at_hand();
    net::awaitable<void> start_fill(cache::FillLease lead, store::Object::Parts parts, http::VaryNames vary,
                                    std::string variant);
    std::unique_ptr<store::DiskFill> begin_on_disk(cache::FillLease& lead, store::Object::Parts const& parts,
                                                   std::optional<Bytes> expected);
    store::ObjectPtr as_it_came(store::Object::Parts parts, store::ObjectPtr kept) const;
    void tell_fetches(http::ResponseHead const& head, cache::Fill const* by);
    net::awaitable<void> take_head(cache::FillLease lead, store::ObjectPtr stale);
    net::awaitable<void> freshen(cache::FillLease lead, store::ObjectPtr stale);
    void outdate(cache::FillLease lead, store::Object const& stale);

    // ---- parts: partial.cpp ----
    bool is_combinable(http::ResponseHead const& response) const;
    net::awaitable<void> find_parts();
    void ask_for_rest(store::ObjectPtr parts);
    IpAddress source_address() const;
    bool completes(store::Object const& parts) const;
    net::awaitable<void> complete(cache::FillLease lead, store::ObjectPtr parts);
    net::awaitable<void> ask_for_range();

    // ---- passing on: stream.cpp ----
    net::awaitable<void> stream_through(std::string_view why_not_stored);
    net::awaitable<bool> pass_on(std::string_view head, http::BrokenBody body, bool chunked,
                                 std::span<iovec const> before = {});
    net::awaitable<bool> stream_on(client::Trouble trouble, std::string_view head, http::BrokenBody body);
    net::awaitable<void> break_off(client::Trouble trouble);

    // ---- failures: failure.cpp ----
    /// Remembers the failure, then answers it.
    net::awaitable<void> fetch_failed(cache::FillLease lead, store::ObjectPtr stale);
    net::awaitable<void> answer_failure(cache::FillLease lead, store::ObjectPtr stale);
    net::awaitable<void> serve_stale(store::ObjectPtr stale, StaleUse why);
    static std::string_view decided_by(Fault);
    bool reloads() const;
    bool failed_lately();
    net::awaitable<void> answer_known_failure(cache::FillLease lead, store::ObjectPtr stale);
    void tell_followers(cache::FillLease lead);
    void remember_failure(cache::Fill const* fill);
    cache::Witness witness() const;
    cache::NegativeTerms negative_terms() const;

    // ---- bodies of requests: upload.cpp ----
    void start_upload();
    net::awaitable<void> upload();
    bool comes_too_slowly(Pace& pace, Bytes received, SteadyTime asked);
    net::awaitable<void> join_upload();
    bool sent_whole() const;

    // ---- tunnels: tunnel.cpp ----
    net::awaitable<void> tunnel();
    std::string connect_request() const;
    bool is_tunnelled() const;
    net::awaitable<std::unique_ptr<net::Transport>> secure_through_peer(std::unique_ptr<net::Transport> transport);
    net::awaitable<std::unique_ptr<net::Transport>> open_tunnel(std::string& from_peer);
    net::awaitable<std::unique_ptr<net::Transport>> connect_through_peer(std::unique_ptr<net::Transport> transport,
                                                                         std::string& from_peer);
    net::awaitable<void> switch_protocols();
    net::awaitable<void> relay(net::Transport& origin, std::string_view from_client, std::string_view from_origin);

    // ---- for other caches: internal.cpp ----
    Verdict check_internal();
    net::awaitable<void> answer_internally();
    bool is_other_cache(IpAddress const& client) const;

    // ---- answers: respond.cpp ----
    /// `more`: further fields, each with CRLF; at most 128 bytes.
    ErrorPage page_of(std::uint16_t status, std::string_view what, std::string_view rule) const;
    net::awaitable<void> error(std::uint16_t status, std::string_view what, std::string_view rule = {},
                               std::string_view more = {});
    net::awaitable<void> own_answer(std::uint16_t status, std::string_view type, std::string_view body,
                                    std::string_view extra = {});
    /// `body`: how many of the bytes, from the end, are the body's; what is taken of them is counted.
    net::awaitable<bool> send(std::span<iovec> parts, Bytes body = 0);
    net::awaitable<bool> send_waiting(std::span<iovec> parts, Bytes body);
    net::Error send_interim_rest();
    std::string_view patch_of(Patch const& patch);
    bool starts_closing(Patch& patch);
    void show_truncation();

    Services& services_;
    ClientStream& client_;
    AcceleratedOrigin const* origin_;
    std::shared_ptr<Options const> options_;
    SendPace send_pace_;

    Target target_;
    http::RequestCacheControl control_;
    cache::Key key_;
    std::string key_text_;
    WallTime now_{};
    SteadyTime started_{};
    bool close_ = false;
    bool head_sent_ = false;
    bool client_gone_ = false;
    bool aborted_ = false;
    bool source_matters_ = false;         // the rules decide by the address that a response came from

    std::vector<icp::Source> sources_;    // ways to go, best first; empty until they are chosen
    std::size_t at_source_ = 0;
    bool hierarchical_ = false;           // peers may be asked who has it
    bool peers_timed_out_ = false;
    bool resuming_ = false;               // what is asked for is the rest of a body
    bool hurried_ = false;                // which is here, too: a slow source is not waited for
    SourceUse use_;
    bool all_forbidden_ = false;          // each of the origin's addresses is, to this client
    IpAddress destination_;               // the origin's own address, where the rules wanted to know it
    std::unique_ptr<client::Exchange> exchange_;
    WallTime asked_at_{};                 // when the request went to the origin
    cache::FillPtr led_;                  // what this fetch is to fill
    cache::Beside beside_;                // it fetches beside a slow leader
    int looks_again_ = 0;                 // in the cache, while the leader was slow
    static constexpr std::uint64_t no_version = UINT64_MAX;
    std::uint64_t looked_at_ = no_version;   // the version of the leader's fill at the last look
    bool went_out_ = false;               // to the origin, as far as one can know
    net::ConnectStop* connecting_ = nullptr;
    class Relay* relay_ = nullptr;
    net::WakeHandle waiting_;             // what abort() wakes
    cache::FetchFailure failure_;
    Fault fault_ = Fault::nobodys;        // of failure_
    milliseconds failure_left_{0};        // it is remembered yet
    bool own_failure_ = false;            // this client's own request may have caused failure_: followers are not told
    client::Trouble trouble_ = client::Trouble::none;   // of the last try
    struct Refusal {
        std::uint16_t status = 400;
        std::string_view what;
        std::string_view rule;
    } refusal_;                           // of check()
    bool reload_ignored_ = false;
    bool conditional_ = false;            // the origin was asked with our validators
    bool widened_ = false;                // it was asked for all, the client for a range
    store::ObjectPtr unsized_;            // what was used, and its length was not known then
    store::ObjectPtr parts_;              // it was asked for what these lack, by range_text_
    store::Body::Span missing_;
    std::string range_text_;
    std::string pool_key_;
    std::string request_text_;
    std::string absolute_;                // the target towards a peer
    std::string peer_lines_;
    std::string source_text_;             // "SIBLING_HIT/next door"
    std::string head_text_;
    std::string interim_rest_;            // of an interim response that was begun: it goes out before anything else
    std::string own_head_;                // of a response with fields for this client alone; else empty
    std::vector<std::string_view> targeted_;   // names of targeted fields, into options_
    std::string parse_text_;              // a stored head with its blank line
    std::string rule_text_;     // for the client
    std::string logged_rule_;   // the same with the rule's matchers
    http::ResponseHead stored_head_;
    std::optional<http::Multipart> multipart_;
    PatchBuffer patch_;

    struct Upload {
        bool running = false;
        bool started = false;
        bool joining = false;
        bool whole = false;               // the origin has all of it
        net::WakeHandle joined;
    } upload_;

    // What the log, the counters and Cache-Status say.
    http::CacheStatus status_;
    Answer counted_ = Answer::own;
    ResultTag tag_ = ResultTag::none;
    Hierarchy hierarchy_ = Hierarchy::none;
    IpAddress peer_;
    std::string reason_;
    std::string content_type_;
    std::uint16_t sent_status_ = 0;
    bool truncated_ = false;              // the client got less than the whole answer, and not by its own doing
    Bytes body_sent_ = 0;
    Bytes body_counted_ = 0;              // of body_sent_
    Bytes sent_before_request_ = 0;       // on this connection
    Bytes sent_before_ = 0;               // of the connection's figures, what has been counted
    Bytes received_before_ = 0;
    Bytes fetched_ = 0;                   // received from the source for the answer to the present question
};

}  // namespace garner::proxy
