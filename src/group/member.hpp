// A member of a group: leases of the voters, invalidations from them, submissions to them. Without I/O, clock and threads.
#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "group/group_message.hpp"
#include "group/group_settings.hpp"

namespace garner::group {

/// The connections and the cache of a member. No function may call the member.
class MemberActions {
public:
    virtual ~MemberActions() = default;
    /// Closes the connection to this voter, if there is one, and makes another: see Member::connected().
    virtual void connect(std::size_t voter) = 0;
    virtual void send(std::size_t voter, Message const&) = 0;
    virtual void apply(cache::Invalidation const&) = 0;
    /// Another member offers an object, or this one does.
    virtual void take(Offer const&) = 0;
    /// All that is stored must be validated before it is used.
    virtual void raise_watermark() = 0;

    enum class Progress : std::uint8_t { accepted, not_accepted, everywhere };
    /// `stored`: by this number of voters. `why`: a voter refused it. A submission that is not accepted may be reported late.
    virtual void report(NoticeId const&, Progress, std::size_t stored, std::string const& why) = 0;
};

/// The caller calls tick() at next_tick(), and gives the time, which never goes back, to every function.
class Member {
public:
    /// `process`: random.
    Member(Settings settings, std::uint64_t process, MemberActions& actions, Time now);

    void tick(Time now);
    Time next_tick() const;

    /// A connection was made; the nonce is random.
    void connected(std::size_t voter, Nonce const&, Time now);
    /// It failed or has ended.
    void disconnected(std::size_t voter, Time now);
    /// False: the message violates the protocol, and the caller closes the connection.
    [[nodiscard]] bool receive(std::size_t voter, Message const&, Time now);

    /// Applies it here, and tells the group.
    NoticeId submit(cache::Invalidation const& what, Time now) { return submit(Notice{.id = {}, .what = what}, now); }
    /// The offer must be sendable.
    NoticeId submit(Offer offer, Time now) { return submit(Notice{.id = {}, .what = {}, .offer = std::move(offer)}, now); }

    /// Tells the voters of other lines than those of the settings.
    void set_lines(Lines const& lines);

    /// The member is current until then. It may become so again later.
    Time current_until() const { return current_until_; }

    /// A voter as this member knows it.
    struct VoterState {
        bool connected = false;       // and welcomed
        bool trusted = false;         // its list has all that this member must know
        std::uint64_t instance = 0;   // 0: none heard yet
        std::uint64_t sequence = 0;   // the last notice that was applied
        Time as_of = never;           // that list was complete then
        std::string refusal = {};     // of the connection
    };
    std::vector<VoterState> voters() const;
    std::uint64_t watermarks() const { return watermarks_; }

private:
    struct Polled {
        std::uint64_t number = 0;
        Time sent{};
    };
    struct Link {
        enum class Phase : std::uint8_t { down, connecting, greeted, open };
        VoterState known;
        Phase phase = Phase::down;
        Time changed = never;   // last attempt to connect, or the last message
        Time skipped = never;   // notices of before may be missing
        Time next_poll = never;
        std::uint64_t polls = 0;
        std::deque<Polled> unanswered;
        std::uint64_t acknowledges = 0;   // number of the last poll that was sent for News; 0: it was answered
        bool must_acknowledge = false;    // News came after it

        /// Without a connection.
        void begin(Phase next, Time now) {
            phase = next;
            known.connected = false;
            changed = now;
            unanswered.clear();
        }
    };
    struct Submission {
        Notice notice;
        Time submitted{};
        std::bitset<voters_max> stored, confirmed, refused;
        Time accepted = never;
        bool over = false;
        std::string why = {};
    };
    struct Seen {
        NoticeId id;
        Time at{};
    };
    static constexpr std::size_t seen_max = 1'000'000;
    static constexpr std::size_t unanswered_max = 64;

    void connect(std::size_t voter, Time now);
    void poll(std::size_t voter, Time now);
    void acknowledge(std::size_t voter, Time now);
    bool welcomed(std::size_t voter, Welcome const&, Time now);
    bool answered(std::size_t voter, State const&, Time now);
    bool news(std::size_t voter, News const&, Time now);
    bool standing(Standing const&, Time now);
    NoticeId submit(Notice notice, Time now);
    bool stored(std::size_t voter, NoticeId const&, Time now);
    bool confirmed(std::size_t voter, NoticeId const&, Time now);
    bool refused(std::size_t voter, Refused const&, Time now);
    void apply_once(Notice const&, Time now);
    void forget_seen(Time now);
    bool holds(Link const&, Time now) const;
    void renew(Time now);
    Time common_as_of() const;
    void trust_again(Time now);
    void trust_anew(Time now);
    Submission* find(NoticeId const&);
    void settle(Submission&, Time now);
    void settle_all(Time now);
    void drop_settled();

    Settings const settings_;
    Lines lines_;
    std::uint64_t const process_;
    MemberActions& actions_;
    std::vector<Link> links_;
    std::deque<Submission> submissions_;   // their numbers rise
    std::uint64_t submitted_ = 0;
    std::unordered_set<NoticeId, NoticeIdHash> seen_;
    std::deque<Seen> seen_order_;
    Time current_until_ = never;
    std::uint64_t watermarks_ = 0;
};

}   // namespace garner::group
