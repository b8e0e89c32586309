// The member of this process: its connections to the voters.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "group/link.hpp"
#include "group/member.hpp"
#include "group/report_limit.hpp"
#include "group/state.hpp"

namespace garner::group {

/// Used on the thread of the group.
class MemberSide : private MemberActions {
public:
    struct Calls {
        std::function<void(cache::Invalidation const&)> apply;
        std::function<void(Offer const&)> take;
        std::function<void()> raise_watermark;
        std::function<void(NoticeId const&, Progress, std::size_t stored, std::string const& why)> report;
        std::function<void()> settle;   // after each event
    };
    using MemberActions::Progress;

    MemberSide(net::asio::io_context& io, Settings const& settings, std::string secret, std::vector<IpEndpoint> voters,
               GroupState::Totals& totals, Calls calls);
    void start(Time now);
    /// Closes all connections.
    void stop();

    Member& member() { return *member_; }
    /// The voter of this process, which gets messages without a connection; nothing: none, or not any more.
    void set_own(std::optional<std::size_t> own, Time now);
    /// Messages for it, and from it.
    std::optional<Message> take_for_own();
    void receive_from_own(Message const&, Time now);

    std::vector<GroupState::VoterRow> voters(Time now) const;

private:
    struct Outgoing {
        IpEndpoint place;
        std::uint64_t attempt = 0;                                      // a connection of an earlier one is not used
        std::vector<std::shared_ptr<net::TcpSocket>> connecting = {};   // at most two; the first that opens is used
        std::shared_ptr<net::Timer> next_try = nullptr;
        std::shared_ptr<Link> link = nullptr;
        std::string trouble = {};
    };

    void connect(std::size_t voter) override;
    void send(std::size_t voter, Message const&) override;
    void apply(cache::Invalidation const& what) override { calls_.apply(what); }
    void take(Offer const& offer) override { calls_.take(offer); }
    void raise_watermark() override { calls_.raise_watermark(); }
    void report(NoticeId const& id, Progress progress, std::size_t stored, std::string const& why) override {
        calls_.report(id, progress, stored, why);
    }

    void drop(Outgoing&);
    net::awaitable<void> try_to_connect(std::size_t voter, std::uint64_t attempt, std::shared_ptr<net::Timer> timer);
    net::awaitable<void> connect(std::size_t voter, std::uint64_t attempt, std::shared_ptr<net::TcpSocket> socket);
    void opened(std::size_t voter, net::TcpSocket socket);
    bool received(std::size_t voter, std::uint64_t attempt, Message const&);
    void ended(std::size_t voter, std::uint64_t attempt, Link::End how, std::string const& why);
    void note_trouble(std::size_t voter, std::string why, bool is_refusal);
    void connect_own();

    net::asio::io_context& io_;
    Settings const settings_;
    std::string const secret_;
    GroupState::Totals& totals_;
    Calls const calls_;
    std::vector<Outgoing> outgoing_;
    std::optional<std::size_t> own_;
    std::deque<Message> for_own_;
    ReportLimit reports_;
    std::optional<Member> member_;
    bool stopped_ = false;
};

}   // namespace garner::group
