// Members and voters of a group in one process, over real connections on loopback, and other programs that connect to a voter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "group/signed_frames.hpp"
#include "group/group.hpp"
#include "group/link.hpp"
#include "group/raw_frames.hpp"
#include "group/report_limit.hpp"
#include "group/voter_side.hpp"
#include "io/log.hpp"

namespace garner::group {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

constexpr milliseconds lease{1'000};
constexpr char const* url = "http://a.example/page";

/// Waits up to 30 s, much longer than any lease.
template <class Condition>
bool eventually(Condition condition) {
    for (int i = 0; i < 3'000; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
}

IpEndpoint free_place() {
    asio::io_context io;
    Tcp::acceptor const acceptor(io, Tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    return {IpAddress::v4(127, 0, 0, 1), acceptor.local_endpoint().port()};
}

cache::Options small_cache() {
    cache::Options options;
    options.size = 1 * MiB;
    options.shards = 1;
    return options;
}

struct Member {
    explicit Member(Options const& options) : cache(small_cache()) {
        auto opened = Group::open(options, cache, "127.0.0.1:3128");
        EXPECT_TRUE(opened) << (opened ? "" : opened.fault().text());
        if (opened) group = *std::move(opened);
        if (group) group->start();
    }
    GroupState state() const { return group->state().value_or(GroupState{}); }
    bool is_current() const { return state().current && cache.invalidations.lease.is_current(); }
    std::uint64_t accepted() const {
        auto const stats = cache.invalidations.stats();
        return stats.accepted[0] + stats.accepted[1] + stats.accepted[2] + stats.accepted[3];
    }
    cache::Cache cache;
    std::unique_ptr<Group> group;
};

struct Links : ::testing::Test {
    // The library makes its logger once, and TSan does not see its lock: before there are threads.
    Links() { spdlog::default_logger(); }

    Options options(std::size_t member) {
        Options one;
        one.name = "lab";
        one.member = "cache" + std::to_string(member);
        one.voters = places;
        if (member < places.size()) one.address = places[member];
        one.secret = "secret";
        one.lease = lease;
        return one;
    }
    void begin(std::size_t voters, std::size_t count) {
        for (std::size_t i = 0; i < voters; ++i) places.push_back(free_place());
        for (std::size_t i = 0; i < count; ++i) members.push_back(std::make_unique<Member>(options(i)));
        for (auto const& one : members) EXPECT_TRUE(eventually([&] { return one->is_current(); })) << one->state().why;
    }
    Tcp::socket connect(std::size_t voter) {
        Tcp::socket socket(io);
        socket.connect({asio::ip::address_v4::loopback(), places[voter].port});
        return socket;
    }
    /// A HELLO that the only voter accepts.
    Hello hello() const {
        Hello one;
        one.nonce = random_nonce();
        one.identity = identity_of("lab", {places[0].text()}, lease);
        one.process = 9;
        return one;
    }
    /// Nothing: the voter has closed the connection.
    static std::optional<Message> next_message(Tcp::socket& socket, Channel& channel) {
        std::array<char, 1'000> bytes{};
        boost::system::error_code ended;
        auto message = channel.next();
        while (!message && !ended) {
            auto const size = socket.read_some(asio::buffer(bytes), ended);
            channel.receive({bytes.data(), size});
            message = channel.next();
        }
        return message;
    }
    /// Sends HELLO, and returns the WELCOME.
    static std::optional<Welcome> greet(Tcp::socket& socket, Channel& channel, Hello const& hello) {
        asio::write(socket, asio::buffer(channel.seal(hello)));
        auto const answer = next_message(socket, channel);
        if (!answer || !std::holds_alternative<Welcome>(*answer)) return std::nullopt;
        return std::get<Welcome>(*answer);
    }
    /// Everything until the voter closes the connection.
    static std::string read_all(Tcp::socket& socket) {
        std::string all;
        boost::system::error_code ended;
        asio::read(socket, asio::dynamic_buffer(all), ended);
        return all;
    }

    std::vector<IpEndpoint> places;
    std::vector<std::unique_ptr<Member>> members;
    asio::io_context io;
};

}   // namespace

/// The queue of the listening socket is full, so that the kernel drops each SYN.
TEST_F(Links, a_member_tries_a_silent_voter_again) {
    Tcp::acceptor silent(io, Tcp::v4());
    silent.bind({asio::ip::address_v4::loopback(), 0});
    silent.listen(0);
    places.push_back({IpAddress::v4(127, 0, 0, 1), silent.local_endpoint().port()});
    Tcp::socket fills_the_queue = connect(0);
    auto member = std::make_unique<Member>(options(1));
    std::this_thread::sleep_for(3 * lease / 8);

    silent.accept();
    silent.non_blocking(true);
    std::vector<Tcp::socket> accepted;
    auto const has_hello = [&] {
        boost::system::error_code none;
        if (auto socket = silent.accept(none); !none) accepted.push_back(std::move(socket));
        return std::ranges::any_of(accepted, [&](auto& socket) { return socket.available(none) > 0; });
    };
    EXPECT_TRUE(eventually(has_hello));
    member = nullptr;
    auto const greeted = std::ranges::count_if(accepted, [](auto& socket) { return !read_all(socket).empty(); });
    EXPECT_GE(greeted, 1) << "and every connection has ended";
}

TEST_F(Links, an_invalidation_reaches_all_members) {
    begin(3, 5);
    auto const outcome = members[4]->group->submit_and_wait(*cache::url_invalidation(url, false), true);
    EXPECT_TRUE(outcome.accepted) << outcome.text();
    EXPECT_TRUE(outcome.everywhere);
    EXPECT_GE(outcome.stored, 2u);
    EXPECT_GE(outcome.spread, outcome.took);
    for (auto const& one : members) EXPECT_EQ(one->accepted(), 1u) << "applied once, although three voters tell it";
    EXPECT_EQ(members[0]->state().members.size(), 5u);
    EXPECT_EQ(members[4]->state().totals.accepted, 1u);
    EXPECT_TRUE(eventually([&] { return members[0]->state().members.back().lag == 0; }));
}

TEST_F(Links, one_member_is_a_group) {
    begin(1, 1);
    EXPECT_TRUE(members[0]->group->submit_and_wait(cache::invalidation_of_all(false), false).accepted);
    EXPECT_EQ(members[0]->state().watermarks.size(), 1u);
}

TEST_F(Links, a_member_without_voters_is_cut_off_and_comes_back_when_they_do) {
    begin(1, 2);
    members[0] = nullptr;
    EXPECT_TRUE(eventually([&] { return !members[1]->is_current(); }));
    EXPECT_THAT(members[1]->state().why, ::testing::HasSubstr(places[0].text()));
    auto const lost = members[1]->group->submit_and_wait(cache::invalidation_of_all(false), false);
    EXPECT_FALSE(lost.accepted);
    EXPECT_THAT(lost.text(), ::testing::HasSubstr("not accepted: stored by 0 of 1 voter in "));
    members[0] = std::make_unique<Member>(options(0));
    EXPECT_TRUE(eventually([&] { return members[1]->is_current(); })) << members[1]->state().why;
    EXPECT_EQ(members[1]->state().watermarks.size(), 2u) << "the voter has a new instance";
    EXPECT_EQ(members[1]->state().totals.cut_off, 1u);
}

TEST_F(Links, a_submission_that_waits_while_the_group_stops_is_not_accepted) {
    places.push_back(free_place());
    for (std::size_t i = 0; i < 2; ++i) {
        auto one = options(i);
        one.lease = seconds(60);   // the voters would have that long to answer
        members.push_back(std::make_unique<Member>(one));
    }
    ASSERT_TRUE(eventually([&] { return members[1]->is_current(); })) << members[1]->state().why;
    members[0] = nullptr;   // the only voter
    std::optional<SubmissionResult> outcome;
    std::thread waiting([&] { outcome = members[1]->group->submit_and_wait(cache::invalidation_of_all(false), true); });
    EXPECT_TRUE(eventually([&] { return members[1]->accepted() == 1; })) << "it holds here";
    members[1]->group->stop();
    waiting.join();
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->accepted);
    EXPECT_EQ(outcome->why, "this proxy shuts down");
    EXPECT_EQ(members[1]->group->submit_and_wait(cache::invalidation_of_all(false), false).why, "this proxy shuts down");
    EXPECT_FALSE(members[1]->group->state());
}

TEST_F(Links, a_voter_that_pauses_for_another_process_is_followed_by_it) {
    begin(1, 2);
    EXPECT_TRUE(members[0]->group->pause());
    EXPECT_TRUE(eventually([&] { return !members[1]->is_current() && !members[0]->is_current(); }));
    members[0]->group->resume();
    EXPECT_TRUE(eventually([&] { return members[1]->is_current() && members[0]->is_current(); }));
    EXPECT_TRUE(members[1]->group->submit_and_wait(cache::invalidation_of_all(false), false).accepted);
}

TEST_F(Links, bytes_that_are_no_frames_close_the_connection_and_are_counted) {
    begin(1, 2);
    for (std::string const& bytes :
         {std::string("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), std::string("\0\0\0\x20", 4) + std::string(0x20, 'x'),
          std::string("\xff\xff\xff\xff", 4), std::string(4, '\0')}) {
        auto socket = connect(0);
        asio::write(socket, asio::buffer(bytes));
        read_all(socket);
    }
    EXPECT_TRUE(eventually([&] { return members[0]->state().totals.bad_frames == 4; }));
    EXPECT_TRUE(members[1]->is_current());
}

TEST_F(Links, a_HELLO_with_another_secret_gets_a_reason_that_only_says_so) {
    begin(1, 1);
    Channel channel(Channel::Side::member, "wrong");
    auto socket = connect(0);
    Hello hello;
    hello.nonce = random_nonce();
    asio::write(socket, asio::buffer(channel.seal(hello)));
    auto const answer = read_all(socket);
    channel.receive(answer);
    EXPECT_FALSE(channel.next());
    EXPECT_EQ(channel.trouble(), Channel::Trouble::bad_signature);
    EXPECT_TRUE(eventually([&] { return members[0]->state().totals.links_refused == 1; }));
}

TEST_F(Links, a_HELLO_of_a_later_version_is_refused_in_words) {
    begin(1, 1);
    Channel channel(Channel::Side::member, "secret");
    auto socket = connect(0);
    Hello hello;
    hello.version = protocol_version + 1;
    hello.nonce = random_nonce();
    asio::write(socket, asio::buffer(channel.seal(hello)));
    channel.receive(read_all(socket));
    auto const answer = channel.next();
    ASSERT_TRUE(answer && std::holds_alternative<Refused>(*answer));
    EXPECT_EQ(std::get<Refused>(*answer).why, "this voter speaks version 2 of the protocol, and the member version 3");
    EXPECT_EQ(members[0]->state().totals.links_refused, 1u);
    EXPECT_EQ(members[0]->state().totals.bad_frames, 0u);
}

/// A host that has recorded a HELLO can send it again, and nothing else.
TEST_F(Links, a_recorded_HELLO_makes_no_member) {
    begin(1, 1);
    auto const& voter = *members[0];
    Channel channel(Channel::Side::member, "secret");
    auto named = hello();
    named.member = "line\nfeed \xff";
    auto const recorded = channel.seal(named);
    std::vector<Tcp::socket> replays;
    for (std::size_t i = 0; i < 3 * VoterSide::strangers_max; ++i) {
        replays.push_back(connect(0));
        asio::write(replays.back(), asio::buffer(recorded));
    }
    EXPECT_TRUE(eventually([&] { return voter.state().totals.flooded >= VoterSide::strangers_max; })) << "they are strangers";
    EXPECT_EQ(voter.state().members.size(), 1u);
    EXPECT_TRUE(voter.group->submit_and_wait(cache::invalidation_of_all(false), false).accepted);
    for (auto& one : replays) one.close();

    auto socket = connect(0);
    asio::write(socket, asio::buffer(recorded));
    auto const welcome = next_message(socket, channel);
    ASSERT_TRUE(welcome && std::holds_alternative<Welcome>(*welcome));
    asio::write(socket, asio::buffer(channel.seal(Poll{.number = 1, .applied = std::get<Welcome>(*welcome).sequence})));
    ASSERT_TRUE(eventually([&] { return voter.state().members.size() == 2; }));
    EXPECT_EQ(voter.state().members.back().name, "line?feed ?") << "for people, JSON and metrics";
}

TEST_F(Links, a_signed_message_of_unknown_type_closes_the_connection) {
    begin(1, 2);
    std::uint64_t closed = 0;
    for (auto const type : {std::size_t{0}, std::variant_size_v<Message> + 1}) {
        Channel channel(Channel::Side::member, "secret");
        auto socket = connect(0);
        auto const greeting = hello();
        auto const welcome = greet(socket, channel, greeting);
        ASSERT_TRUE(welcome);
        RawFrames frames("secret", greeting.nonce, welcome->nonce);
        Message const poll = Poll{.number = 1, .applied = welcome->sequence};
        asio::write(socket, asio::buffer(frames.next(type_of(poll), body_of(poll))));
        auto const answer = next_message(socket, channel);
        ASSERT_TRUE(answer && std::holds_alternative<State>(*answer)) << "the signatures are right";
        asio::write(socket, asio::buffer(frames.next(static_cast<std::uint8_t>(type), body_of(poll))));
        EXPECT_FALSE(next_message(socket, channel));
        ++closed;
        EXPECT_TRUE(eventually([&] { return members[0]->state().totals.bad_frames == closed; })) << type;
    }
    EXPECT_EQ(members[0]->state().members.size(), 2u);
    EXPECT_TRUE(members[1]->is_current());
}

/// It is never silent, and the voter keeps the answers up to a bound.
TEST_F(Links, a_member_that_reads_no_answers_is_closed_as_a_slow_reader) {
    begin(1, 2);
    // The kernel would take megabytes more. An accepted socket has the size of the listening one.
    constexpr int kernel_bytes = 8 << 10;
    auto const listening = members[0]->group->descriptor();
    ASSERT_EQ(::setsockopt(listening, SOL_SOCKET, SO_SNDBUF, &kernel_bytes, sizeof kernel_bytes), 0);
    Tcp::socket socket(io, Tcp::v4());
    socket.set_option(asio::socket_base::receive_buffer_size(kernel_bytes));
    socket.connect({asio::ip::address_v4::loopback(), places[0].port});
    Channel channel(Channel::Side::member, "secret");
    ASSERT_TRUE(greet(socket, channel, hello()));

    Append const append{.notice = {.id = {.process = 9, .number = 1}, .what = *cache::url_invalidation(url, false)}};
    boost::system::error_code ended;
    for (int i = 0; i < 1'000 && !ended; ++i) {
        std::string frames;
        for (int k = 0; k < 100; ++k) frames += channel.seal(append);
        asio::write(socket, asio::buffer(frames), ended);
    }
    EXPECT_TRUE(eventually([&] { return members[0]->state().totals.slow_readers == 1; }));
    EXPECT_EQ(members[0]->state().members.size(), 2u);
    EXPECT_EQ(members[0]->state().totals.bad_frames, 0u);
    EXPECT_TRUE(members[1]->is_current());
    EXPECT_TRUE(members[1]->group->submit_and_wait(cache::invalidation_of_all(false), false).accepted);
}

/// The other end may be a voter that has stopped. A member does not wait before it sends.
TEST_F(Links, a_link_ends_once_more_than_its_bound_waits_for_the_other_end) {
    constexpr int kernel_bytes = 8 << 10;
    asio::socket_base::receive_buffer_size const small(kernel_bytes);
    Tcp::acceptor acceptor(io, Tcp::v4());
    acceptor.set_option(small);
    acceptor.bind({asio::ip::address_v4::loopback(), 0});
    acceptor.listen();
    net::TcpSocket socket(io);
    socket.connect(acceptor.local_endpoint());
    socket.set_option(asio::socket_base::send_buffer_size(kernel_bytes));
    auto const never_reads = acceptor.accept();

    auto const link = std::make_shared<Link>(std::move(socket), Channel::Side::member, "secret", IpEndpoint{});
    std::optional<Link::End> end;
    link->start({.received = [](Message const&) { return true; },
                 .next = {},
                 .ended = [&](Link::End how, std::string const&) { end = how; }});
    Append const append{
        .notice = {
            .id = {.process = 9, .number = 1},
            .what = {.kind = cache::Invalidation::Kind::tag, .soft = false, .origin = {}, .text = std::string(60'000, 't')}}};
    std::size_t sent = 0;
    for (; sent < 1'000 && !end; ++sent) {
        link->send(append);
        io.poll();
    }
    EXPECT_EQ(end, Link::End::slow_reader);
    EXPECT_GT(sent * 60'000, Link::waiting_max);
    EXPECT_LT(sent * 60'000, 2 * Link::waiting_max) << "the link and the kernel keep no more";
}

TEST_F(Links, a_submission_that_is_refused_is_counted) {
    begin(1, 1);
    auto const& group = *members[0]->group;
    members[0]->group->submit(
        {.kind = cache::Invalidation::Kind::tag, .soft = false, .origin = {}, .text = std::string(70'000, 't')});
    EXPECT_EQ(group.state()->totals.refused, 1u);
    EXPECT_EQ(members[0]->accepted(), 1u) << "it holds here";
}

TEST_F(Links, a_flood_of_connections_without_HELLO_does_not_exclude_members) {
    begin(1, 2);
    std::vector<Tcp::socket> flood;
    for (std::size_t i = 0; i < 3 * VoterSide::strangers_max; ++i) flood.push_back(connect(0));
    EXPECT_TRUE(eventually([&] { return members[0]->state().totals.flooded >= VoterSide::strangers_max; }));
    EXPECT_TRUE(members[1]->is_current());
    Member late(options(7));
    EXPECT_TRUE(eventually([&] { return late.is_current(); })) << late.state().why;
}

TEST_F(Links, a_silent_connection_is_closed_after_a_lease) {
    begin(1, 1);
    auto socket = connect(0);
    EXPECT_EQ(read_all(socket), "");
}

TEST_F(Links, a_voter_that_accepts_and_says_nothing_is_connected_anew) {
    places.push_back(free_place());
    Tcp::acceptor silent(io, Tcp::endpoint(asio::ip::address_v4::loopback(), places[0].port));
    Member const member(options(1));
    for (int i = 0; i < 3; ++i) {
        Tcp::socket socket(io);
        silent.accept(socket);
        auto const hello = read_all(socket);   // until the member gives up
        EXPECT_GT(hello.size(), 100u);
    }
    EXPECT_FALSE(member.is_current());
    EXPECT_THAT(member.state().why, ::testing::HasSubstr("no answer"));
}

TEST_F(Links, an_address_in_use_is_told) {
    begin(1, 1);
    cache::Cache cache(small_cache());
    auto const second = Group::open(options(0), cache, "127.0.0.1:3128");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.fault().where, places[0].text());
}

TEST(ReportLimit, tells_the_same_once_a_minute) {
    ReportLimit limit;
    EXPECT_TRUE(limit.is_due("a", "x", Time(0)));
    EXPECT_FALSE(limit.is_due("a", "x", seconds(59)));
    EXPECT_TRUE(limit.is_due("a", "y", seconds(59)));
    EXPECT_TRUE(limit.is_due("b", "x", seconds(59)));
    EXPECT_FALSE(limit.is_due("a", "x", seconds(59))) << "two in turns";
    EXPECT_TRUE(limit.is_due("a", "z", seconds(59)));
    EXPECT_FALSE(limit.is_due("a", "one more", seconds(59)));
    EXPECT_TRUE(limit.is_due("a", "y", seconds(119)));
    for (std::size_t i = 0; i < 2 * ReportLimit::ends_max; ++i) limit.is_due(std::to_string(i), "x", seconds(120));
    EXPECT_FALSE(limit.is_due("new", "x", seconds(121))) << "too many others";
    EXPECT_TRUE(limit.is_due("new", "x", seconds(181)));
}

TEST(SubmissionResult, has_words_for_people) {
    SubmissionResult outcome{
        .accepted = true, .everywhere = false, .stored = 2, .voters = 3, .took = microseconds(3'100), .spread = {}, .why = {}};
    EXPECT_EQ(outcome.text(), "stored by 2 of 3 voters in 3.1 ms");
    outcome = {.accepted = false,
               .everywhere = false,
               .stored = 0,
               .voters = 1,
               .took = microseconds(1'960'000),
               .spread = {},
               .why = "it is late"};
    EXPECT_EQ(outcome.text(), "not accepted: stored by 0 of 1 voter in 1.96 s: it is late");
}

}   // namespace garner::group
