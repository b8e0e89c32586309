// The voter of this process: its listening socket, and the connections of the members.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "group/link.hpp"
#include "group/report_limit.hpp"
#include "group/state.hpp"
#include "group/voter.hpp"
#include "net/acceptor.hpp"
#include "util/result.hpp"

namespace garner::group {

/// Used on the thread of the group, except open() before that runs. The member of the same process has the link `own`, without a
/// connection.
class VoterSide {
public:
    static constexpr Voter::Link own = 0;
    /// More connections that have not proved to be of members close the oldest one, of the address with the most of them.
    static constexpr std::size_t strangers_max = 64;
    static constexpr std::size_t links_max = 8'192;

    /// `settle`: called after each event.
    VoterSide(net::asio::io_context& io, Settings const& settings, std::string secret, GroupState::Totals& totals,
              std::function<void()> settle);
    /// `handed`: a listening socket at the address, which this object owns; -1: it makes one. The fault's `where` is the address.
    Result<void> open(IpEndpoint const& address, int handed);
    void start();
    /// Stops to listen, and closes all links. The socket is kept for resume().
    void pause();
    void resume();
    void stop();
    int descriptor() const { return descriptor_; }

    Voter& voter() { return *voter_; }
    bool is_running() const { return voter_ != nullptr; }
    /// Sends what the voter has.
    void flush();
    /// Closes links that are silent.
    void tick(Time now);
    std::vector<GroupState::MemberRow> members(Time now) const;

private:
    struct Incoming {
        std::shared_ptr<Link> link;
        bool is_member = false;   // after a valid message behind HELLO, which may be a recorded one
        Time heard{};
        std::string name = {};
    };

    void begin();
    net::awaitable<void> accept();
    void admit(net::TcpSocket socket);
    bool make_room();
    bool received(Voter::Link number, Message const&);
    void ended(Voter::Link number, Link::End how, std::string const& why);
    void refuse(Incoming const&, std::string const& name, std::string const& why);

    net::asio::io_context& io_;
    Settings const settings_;
    std::string const secret_;
    GroupState::Totals& totals_;
    std::function<void()> const settle_;
    net::Acceptor acceptor_;
    net::Timer pause_;
    bool is_v4_ = true;
    int descriptor_ = -1;
    int kept_ = -1;   // between pause() and resume()
    std::unique_ptr<Voter> voter_;
    std::map<Voter::Link, Incoming> incoming_;
    Voter::Link last_ = own;
    ReportLimit reports_;
};

}   // namespace garner::group
