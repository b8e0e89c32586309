// The bytes of the protocol.
#include "group/group_message.hpp"

#include <gtest/gtest.h>

#include "group/raw_frames.hpp"
#include "group/signed_frames.hpp"

namespace garner::group {
namespace {

using Kind = cache::Invalidation::Kind;

Notice notice(std::uint64_t number, Kind kind = Kind::tag) {
    return {.id = {.process = 0x0102030405060708, .number = number},
            .what = {.kind = kind, .soft = true, .origin = kind == Kind::tag ? "http://a.example" : "", .text = "text"}};
}

Notice offer(std::uint64_t number) {
    Offer const one{.url = "http://a.example/film", .validator = "\"5\"", .length = 20, .life = 60, .parents = {"10.0.0.2:3128"}};
    return {.id = {.process = 7, .number = number}, .what = {}, .offer = one};
}

Hello hello() {
    Hello one;
    one.nonce.fill('m');
    one.identity = identity_of("lab", {"10.0.0.1:3133"}, milliseconds(2000));
    one.process = 5;
    one.instance = 6;
    one.sequence = 7;
    one.member = "cache4";
    one.address = "10.0.0.4:3128";
    one.domain = "room1";
    one.uplink = 8;
    one.downlink = 9;
    return one;
}

Welcome welcome() {
    Welcome one{.instance = 6, .sequence = 7};
    one.nonce.fill('v');
    return one;
}

std::vector<Message> one_of_each() {
    return {hello(),
            welcome(),
            Poll{.number = 1, .applied = 2},
            State{.number = 1, .latest = 3},
            News{.first = 4, .notices = {notice(1), notice(2, Kind::url), notice(3, Kind::prefix), offer(4)}},
            Append{notice(4)},
            Stored{{.process = 1, .number = 2}},
            Confirmed{{.process = 1, .number = 2}},
            Refused{.id = {.process = 1, .number = 2}, .why = "the list is full"},
            Standing{.offers = {offer(5), offer(6)}},
            Lines{.uplink = 1, .downlink = 2}};
}

TEST(GroupMessage, each_is_read_as_it_was_written) {
    for (auto const& message : one_of_each()) EXPECT_EQ(message_in(type_of(message), body_of(message)), message);
}

TEST(GroupMessage, a_body_that_is_too_short_or_too_long_is_refused) {
    for (auto const& message : one_of_each()) {
        auto const body = body_of(message);
        for (std::size_t size = 0; size < body.size(); ++size) {
            auto const part = message_in(type_of(message), body.substr(0, size));
            bool const is_list = std::holds_alternative<News>(message) || std::holds_alternative<Standing>(message);
            if (!is_list) EXPECT_FALSE(part) << type_of(message) + 0 << " " << size;
            if (part) EXPECT_EQ(body_of(*part), body.substr(0, size));   // fewer notices
        }
        EXPECT_FALSE(message_in(type_of(message), body + "x"));
    }
    EXPECT_FALSE(message_in(0, ""));
    EXPECT_FALSE(message_in(12, ""));
}

TEST(GroupMessage, an_unknown_type_is_refused_with_any_body) {
    for (auto const& message : one_of_each())
        for (int const type : {0, 12, 13, 255}) EXPECT_FALSE(message_in(static_cast<std::uint8_t>(type), body_of(message))) << type;
}

TEST(GroupMessage, a_HELLO_of_another_version_is_read_for_its_version_and_nonce) {
    auto body = body_of(hello());
    body[1] = 9;
    for (auto const& bytes : {body, body + "more", body.substr(0, 18)}) {
        auto const read = message_in(1, bytes);
        ASSERT_TRUE(read);
        EXPECT_EQ(std::get<Hello>(*read).version, 9);
        EXPECT_EQ(std::get<Hello>(*read).nonce, hello().nonce);
        EXPECT_EQ(body_of(*read), body.substr(0, 18));
    }
    EXPECT_FALSE(message_in(1, body.substr(0, 17)));
}

TEST(GroupMessage, an_invalidation_of_unknown_kind_is_one_of_everything) {
    auto body = body_of(Append{notice(1)});
    body[2 + 16] = 5;
    auto const message = message_in(type_of(Append{}), body);
    ASSERT_TRUE(message);
    EXPECT_EQ(std::get<Append>(*message).notice.what, cache::invalidation_of_all(false));
    EXPECT_EQ(std::get<Append>(*message).notice.id, notice(1).id);
}

TEST(GroupMessage, the_bytes_are_those_of_the_document) {
    EXPECT_EQ(body_of(Append{{.id = {.process = 1, .number = 2},
                              .what = {.kind = Kind::url, .soft = true, .origin = "", .text = "http://a/"}}}),
              std::string("\0\x1d"
                          "\0\0\0\0\0\0\0\1"
                          "\0\0\0\0\0\0\0\2"
                          "\0"
                          "\1"
                          "\0\0"
                          "http://a/",
                          2 + 29));
}

TEST(GroupMessage, the_bytes_of_an_offer_are_those_of_the_document) {
    Offer const one{.url = "http://a/", .validator = "5", .length = 3, .life = 60, .parents = {"b:1"}};
    EXPECT_EQ(body_of(Append{{.id = {.process = 1, .number = 2}, .what = {}, .offer = one}}),
              std::string("\0\x34"
                          "\0\0\0\0\0\0\0\1"
                          "\0\0\0\0\0\0\0\2"
                          "\4"
                          "\0"
                          "\0\0"
                          "\0\0\0\0\0\0\0\3"
                          "\0\0\0\x3c"
                          "\1"
                          "\0\x09http://a/"
                          "\0\1"
                          "5"
                          "\0\3"
                          "b:1",
                          2 + 20 + 13 + 11 + 3 + 5));
}

TEST(GroupMessage, an_offer_that_is_too_long_or_has_no_URL_is_refused) {
    Offer one{.url = "http://a/", .validator = {}, .length = 3, .life = 60, .parents = {}};
    EXPECT_TRUE(is_sendable(one));
    one.parents.assign(offer_parents_max + 1, "b:1");
    EXPECT_FALSE(is_sendable(one));
    one.parents.clear();
    one.url.clear();
    EXPECT_FALSE(is_sendable(one));
    one.url.assign(offer_url_max + 1, 'u');
    EXPECT_FALSE(is_sendable(one));
    auto body = body_of(Append{offer(1)});
    body[2 + 20 + 12] = 9;   // parents
    EXPECT_FALSE(message_in(type_of(Append{}), body));
}

TEST(GroupMessage, the_identity_of_a_group_is_its_name_its_voters_and_its_lease) {
    auto const own = identity_of("lab", {"a:1", "b:1"}, seconds(2));
    EXPECT_EQ(own, identity_of("lab", {"a:1", "b:1"}, seconds(2)));
    EXPECT_NE(own, identity_of("lab2", {"a:1", "b:1"}, seconds(2)));
    EXPECT_NE(own, identity_of("lab", {"b:1", "a:1"}, seconds(2)));
    EXPECT_NE(own, identity_of("lab", {"a:1", "b:1"}, seconds(3)));
}

// ---- frames ----

struct Ends {
    Channel member{Channel::Side::member, "secret"};
    Channel voter{Channel::Side::voter, "secret"};

    void greet() {
        voter.receive(member.seal(hello()));
        EXPECT_EQ(voter.next(), Message(hello()));
        member.receive(voter.seal(welcome()));
        EXPECT_EQ(member.next(), Message(welcome()));
    }
};

TEST(GroupChannel, messages_arrive_in_any_pieces) {
    Ends ends;
    ends.greet();
    std::string bytes;
    for (auto const& message : one_of_each())
        if (!std::holds_alternative<Hello>(message) && !std::holds_alternative<Welcome>(message)) bytes += ends.voter.seal(message);
    std::size_t count = 0;
    for (char const byte : bytes) {
        ends.member.receive({&byte, 1});
        while (ends.member.next()) ++count;
    }
    EXPECT_EQ(count, one_of_each().size() - 2);
    EXPECT_EQ(ends.member.trouble(), Channel::Trouble::none);
    EXPECT_EQ(ends.member.waiting(), 0U);
}

TEST(GroupChannel, every_damaged_byte_is_found) {
    auto const good = [] {
        Ends ends;
        ends.greet();
        return ends.member.seal(Append{notice(1)}).size();
    }();
    for (std::size_t at = 0; at < good; ++at) {
        Ends ends;
        ends.greet();
        auto frame = ends.member.seal(Append{notice(1)});
        frame[at] = static_cast<char>(frame[at] ^ 1);
        ends.voter.receive(frame + std::string(64, 'x'));
        EXPECT_FALSE(ends.voter.next()) << at;
    }
}

TEST(GroupChannel, a_frame_is_valid_once_and_in_one_direction) {
    Ends ends;
    ends.greet();
    auto const frame = ends.member.seal(Poll{.number = 1, .applied = 0});
    ends.voter.receive(frame);
    EXPECT_TRUE(ends.voter.next());
    ends.voter.receive(frame);
    EXPECT_FALSE(ends.voter.next());
    EXPECT_EQ(ends.voter.trouble(), Channel::Trouble::bad_signature);
    ends.member.receive(frame);
    EXPECT_FALSE(ends.member.next());
    EXPECT_EQ(ends.member.trouble(), Channel::Trouble::bad_signature);
}

TEST(GroupChannel, a_recorded_connection_is_of_no_use) {
    Ends recorded;
    auto const greeting = recorded.member.seal(hello());
    recorded.voter.receive(greeting);
    ASSERT_TRUE(recorded.voter.next());
    recorded.member.receive(recorded.voter.seal(welcome()));
    ASSERT_TRUE(recorded.member.next());
    auto const append = recorded.member.seal(Append{notice(1)});

    Channel voter(Channel::Side::voter, "secret");
    voter.receive(greeting);
    EXPECT_TRUE(voter.next());
    auto other = welcome();
    other.nonce.fill('w');
    (void)voter.seal(other);
    voter.receive(append);
    EXPECT_FALSE(voter.next());
    EXPECT_EQ(voter.trouble(), Channel::Trouble::bad_signature);
}

TEST(GroupChannel, another_secret_is_found_at_the_first_frame) {
    Channel member(Channel::Side::member, "one"), voter(Channel::Side::voter, "another");
    voter.receive(member.seal(hello()));
    EXPECT_FALSE(voter.next());
    EXPECT_EQ(voter.trouble(), Channel::Trouble::bad_signature);
}

TEST(GroupChannel, a_refusal_is_read_before_a_session_has_begun) {
    Ends ends;
    ends.voter.receive(ends.member.seal(hello()));
    ASSERT_TRUE(ends.voter.next());
    ends.member.receive(ends.voter.seal(Refused{.id = {}, .why = "no"}));
    EXPECT_EQ(ends.member.next(), Message(Refused{.id = {}, .why = "no"}));
}

TEST(GroupChannel, messages_at_a_wrong_place_end_it) {
    Ends first;
    first.voter.receive(Ends{}.member.seal(Poll{}));
    EXPECT_FALSE(first.voter.next());
    EXPECT_EQ(first.voter.trouble(), Channel::Trouble::unexpected);
    Ends second;
    second.greet();
    second.voter.receive(second.member.seal(hello()));
    EXPECT_FALSE(second.voter.next());
    EXPECT_NE(second.voter.trouble(), Channel::Trouble::none);
}

TEST(GroupChannel, a_signed_frame_of_unknown_type_is_malformed) {
    auto const body = body_of(Poll{.number = 1, .applied = 0});
    for (int const type : {0, 12, 255}) {
        Ends ends;
        ends.greet();
        RawFrames frames("secret", hello().nonce, welcome().nonce);
        ends.voter.receive(frames.next(3, body));
        EXPECT_EQ(ends.voter.next(), Message(Poll{.number = 1, .applied = 0})) << "the signatures are right";
        ends.voter.receive(frames.next(static_cast<std::uint8_t>(type), body));
        EXPECT_FALSE(ends.voter.next()) << type;
        EXPECT_EQ(ends.voter.trouble(), Channel::Trouble::malformed) << type;
    }
}

TEST(GroupChannel, the_length_has_a_bound_that_is_lower_before_the_first_message) {
    Ends first;
    first.voter.receive(std::string("\0\0\x10\x01", 4));
    EXPECT_FALSE(first.voter.next());
    EXPECT_EQ(first.voter.trouble(), Channel::Trouble::too_long);
    Ends second;
    second.greet();
    second.voter.receive(std::string("\0\x10\0\x01", 4));
    EXPECT_FALSE(second.voter.next());
    EXPECT_EQ(second.voter.trouble(), Channel::Trouble::too_long);
    Ends third;
    third.greet();
    third.voter.receive(std::string("\0\0\0\x10", 4));
    EXPECT_FALSE(third.voter.next());
    EXPECT_EQ(third.voter.trouble(), Channel::Trouble::malformed);
}

}   // namespace
}   // namespace garner::group
