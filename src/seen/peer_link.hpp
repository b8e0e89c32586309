// The connection to the process of another partition, and the links that it is asked about.
#pragma once
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "net/asio.hpp"
#include "net/wake.hpp"
#include "seen/answered_cache.hpp"
#include "seen/link_status.hpp"
#include "seen/options.hpp"
#include "util/clock.hpp"
#include "util/hash.hpp"

namespace garner::seen {

/// The field of a batch that one process forwards to another. The receiver answers all of it and forwards none.
inline constexpr std::string_view forwarded_field = "Garner-Seen-Partition";
/// Its value: the addressed partition and the options that both must share, such as "1/3 query-sort".
std::string forwarded_words(Options const&, std::uint32_t partition);

/// Sends one question at a time; tasks added meanwhile go into the next one. A failed question is repeated a few times
/// while a task waits for it. Not thread-safe.
///
/// A process may be frozen while its kernel accepts connections. If an answer does not come soon, the process is asked for a sign
/// of life. Without one it is silent: tasks get no answer at once, and it is probed until it replies.
///
/// If a question was sent and no answer came in time, no crawler was told which of its links are new, but the other process
/// may know them from then on. Such links are remembered. If one of them is answered "seen" later, it counts as new: a crawler
/// may fetch a page twice, but never misses one.
class PeerLink {
public:
    /// Must not move until `done` is woken or the task is abandoned.
    struct Task {
        std::span<Fingerprint const> links;
        std::vector<LinkStatus> answers = {};   // one for each link; unreachable(): no answer
        bool durable = false;
        SteadyTime until = SteadyTime::max();   // deadline: the task gets no answer after it
        net::WakeHandle done;
    };

    struct Stats {
        std::uint64_t links = 0, batches = 0;                // sent, repetitions too
        std::uint64_t answered = 0, fresh = 0;               // links
        std::uint64_t failed_batches = 0, unreachable = 0;   // `unreachable`: links without an answer
        std::uint64_t unsure = 0;                            // links now remembered
        std::uint64_t unsure_forgotten = 0;
        std::uint64_t waiting_links = 0;
        std::uint64_t bytes_sent = 0, bytes_received = 0;   // bytes of bodies
        bool up = true;                                     // the last question or probe was answered
        std::string trouble;                                // text of the last error
    };

    PeerLink(net::asio::io_context&, Options const&, std::uint32_t partition, AnsweredCache&);

    bool has_room(std::uint64_t links) const;
    void add(Task&);
    /// The task no longer waits. Links without an answer stay unreachable().
    void give_up(Task&);
    Stats const& stats() const { return stats_; }
    Peer const& place() const { return place_; }
    std::uint32_t partition() const { return partition_; }

    /// Runs until stop(); tasks that wait then get no answer.
    net::awaitable<void> run();
    void stop();

private:
    using Stream = boost::beast::basic_stream<net::asio::ip::tcp, net::Executor>;
    enum class QueryStatus : std::uint8_t { answered, not_taken, unsure };
    struct Part {     // one task's links in a question
        Task* task;   // nullptr: abandoned
        std::size_t links;
    };

    net::awaitable<void> ask();
    net::awaitable<QueryStatus> exchange();
    net::awaitable<bool> connect();
    net::awaitable<bool> resolve();
    net::awaitable<void> await_reply();
    net::awaitable<bool> is_readable(milliseconds limit);
    net::awaitable<bool> lives();
    net::awaitable<void> probe();
    void note_silent();
    void note_up();
    net::awaitable<void> pause(milliseconds);
    bool connection_lives();
    void take_waiting();
    QueryStatus judge();
    QueryStatus failed(QueryStatus, std::string why);
    void remember_unsure(Fingerprint);
    bool is_wanted() const;
    void take_answers(std::string const& octets);
    void take_answer(Fingerprint link, LinkStatus&, bool wanted);
    void hand_out();
    void let_go(Task const&);

    net::asio::io_context& io_;
    Peer const place_;
    std::uint32_t const partition_;
    std::string const words_;
    std::uint64_t const links_max_, waiting_links_;
    milliseconds const soon_;           // an answer is expected in this time
    milliseconds const sign_of_life_;   // and a reply to a probe in this time
    AnsweredCache& answered_;

    net::Timer timer_;
    net::asio::ip::basic_resolver<net::asio::ip::tcp, net::Executor> resolver_;
    std::vector<net::TcpEndpoint> addresses_;
    std::optional<Stream> stream_;
    std::optional<Stream> probe_;
    net::Timer silence_;
    std::uint64_t waits_ = 0;
    bool is_late_ = false;
    bool is_silent_ = false;
    SteadyTime probe_at_ = {};                      // if it is silent
    boost::beast::flat_buffer buffer_{256 * KiB};   // the head of an answer, and chunk lines
    std::optional<boost::beast::http::response_parser<boost::beast::http::string_body>> parser_;
    std::string head_;
    bool stopped_ = false;

    std::deque<Task*> waiting_;
    std::vector<Part> asked_;
    SteadyTime until_ = {};            // the latest deadline of the tasks in the question
    std::vector<Fingerprint> links_;   // links of the current question
    std::vector<LinkStatus> answers_;
    std::unordered_set<Fingerprint> unsure_;
    Stats stats_;
};

}   // namespace garner::seen
