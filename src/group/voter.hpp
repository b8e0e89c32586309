// A voter of a group: keeps the list of invalidations and sends it to the members. Without I/O, clock and threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "group/group_message.hpp"
#include "group/group_settings.hpp"
#include "group/distribution_tree.hpp"

namespace garner::group {

/// The caller gives each connection a number of its own, and the time, which never goes back, to every function.
class Voter {
public:
    using Link = std::uint64_t;
    static constexpr std::size_t log_default = 1'000'000;
    static constexpr std::size_t log_bytes_max = 256 << 20;   // of notices: clients choose the length of the URLs
    /// `instance`: random, not 0. `most`: the list forgets the oldest beyond, or beyond log_bytes_max.
    Voter(Settings settings, std::uint64_t instance, Time now, std::size_t most = log_default);

    /// False: the message violates the protocol, or the member is refused. The caller sends what next() has, and closes. A HELLO
    /// may be a recorded one: the connection counts as that of a member from the next message on.
    [[nodiscard]] bool receive(Link, Message const&, Time now);
    void closed(Link);
    /// Why it refuses this member; empty if it does not.
    std::string why_not(Hello const&) const;
    /// The next message to send on this connection. Ask when it can take more: the list itself is the queue. The caller puts a
    /// random nonce into Welcome.
    std::optional<Message> next(Link);
    /// Connections for which next() may have something, since the last call.
    std::vector<Link> take_ready();
    /// The connection lags so far that notices for it were forgotten, or reads no replies. The caller closes it.
    bool is_too_late(Link) const;

    std::uint64_t instance() const { return instance_; }
    std::uint64_t latest() const { return first_ + log_.size() - 1; }
    std::size_t held() const { return log_.size(); }

    struct MemberState {
        std::uint64_t process = 0;
        std::string name = {}, address = {}, domain = {};
        std::uint64_t acknowledged = 0;
        Time heard = never;
        std::uint64_t uplink = 0, downlink = 0;   // bytes a second; 0: unknown
    };
    /// Those that are connected.
    std::vector<MemberState> members() const;
    /// Those in force.
    Offers<NoticeId> const& offers() const { return offers_; }

private:
    struct Connection {
        bool open = false;
        bool is_member = false;   // it has sent a message with the key of this connection
        bool is_ready = false;
        MemberState member;
        bool wants_offers = false;     // it knows none
        bool is_full = false;          // replies_max: it reads nothing
        std::uint64_t sent = 0;        // sequence of the last notice
        std::deque<Message> replies;   // in order
        std::deque<State> states;      // each waits until its notices were sent
    };
    /// The last acknowledgement of a process, on any connection.
    struct Acknowledged {
        std::uint64_t sequence = 0;
        Time heard = never;
    };
    /// A tree for all offers of one member, while the members stay the same.
    struct Tree {
        std::uint64_t root = 0;
        bool is_small = false;
        std::vector<std::optional<std::size_t>> parents;
    };
    struct Waiting {
        NoticeId id;
        std::uint64_t sequence = 0;
        Link link = 0;
    };
    static constexpr std::size_t news_bytes = 64 << 10;
    static constexpr std::size_t states_max = 256;
    static constexpr std::size_t replies_max = 16'384;
    static constexpr std::size_t standing_bytes = 256 << 10;
    static constexpr std::size_t trees_max = 16;

    bool welcome(Link, Connection&, Hello const&);
    bool polled(Link, Connection&, Poll const&, Time now);
    void append(Link, Connection&, Notice const&);
    void forget_oldest();
    void set_ready(Link, Connection&);
    void reply(Link, Connection&, Message);
    News news_for(Connection&);
    Standing offers_for(Connection const&);
    Notice as_sent(Notice const&, Connection const&);
    std::vector<std::string> parents_of(Connection const&, NoticeId const&, Offer const&);
    Tree const& tree_of(std::uint64_t root, std::uint64_t length);
    void forget_trees();
    void acknowledge(std::uint64_t process, std::uint64_t sequence, Time now);
    std::uint64_t acknowledged_by_all(Time now);
    void confirm(Time now);

    Settings const settings_;
    std::uint64_t const instance_;
    Time const started_;
    Time now_;   // when the last message came
    std::size_t const most_;
    std::deque<Notice> log_;
    std::size_t log_bytes_ = 0;
    std::uint64_t first_ = 1;   // sequence of the first one in log_
    std::unordered_map<NoticeId, std::uint64_t, NoticeIdHash> sequences_;
    Offers<NoticeId> offers_;
    std::vector<PlanMember> planned_;                         // the members of the trees; empty: not known yet
    std::unordered_map<std::uint64_t, std::size_t> places_;   // in planned_, by process
    std::vector<std::string> addresses_;                      // of their proxies
    std::deque<Tree> trees_;
    std::map<Link, Connection> connections_;
    std::vector<Link> ready_;
    bool has_news_ = false;                                           // since take_ready()
    std::map<std::uint64_t, Acknowledged> acknowledged_;              // by process
    std::set<std::pair<std::uint64_t, std::uint64_t>> by_sequence_;   // sequence, process
    std::deque<Waiting> waiting_;                                     // for confirmation, in the order of arrival
};

}   // namespace garner::group
