#include "bump/pinned.hpp"

#include <gtest/gtest.h>

namespace garner::bump {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using EndKind = HandshakeEnd::Kind;

constexpr WallTime start = from_unix_seconds(1'700'000'000);

IpAddress client(int number) { return IpAddress::v4(10, 0, 0, static_cast<std::uint8_t>(number)); }

HandshakeEnd alert(std::uint8_t number) { return {EndKind::alert, number}; }

struct Scene {
    Pins pins;
    Learn learn = Learn::client;
    WallTime now = start;

    void refuse(int by = 1, std::string_view host = "a.example") { pins.note(client(by), host, alert(48), learn, now); }
    void succeed(int by = 1, std::string_view host = "a.example") { pins.note(client(by), host, {EndKind::succeeded}, learn, now); }
    std::optional<Pin> find(int by = 1, std::string_view host = "a.example") { return pins.find(client(by), host, learn, now); }
    void pin(int by = 1, std::string_view host = "a.example") { refuse(by, host), refuse(by, host); }
};

TEST(HandshakeEnd, refuses_by_three_alerts_and_by_silence_after_the_Finished) {
    for (int number = 0; number < 256; ++number)
        EXPECT_EQ(alert(static_cast<std::uint8_t>(number)).refuses_certificate(), number == 42 || number == 46 || number == 48);
    EXPECT_TRUE((HandshakeEnd{.kind = EndKind::silent, .after = milliseconds{20}}).refuses_certificate());
    EXPECT_FALSE((HandshakeEnd{.kind = EndKind::silent, .after = milliseconds{2'001}}).refuses_certificate()) << "unused";
    EXPECT_FALSE((HandshakeEnd{.kind = EndKind::other, .alert = 48}).refuses_certificate());
    EXPECT_FALSE(HandshakeEnd{.kind = EndKind::succeeded}.refuses_certificate());
}

TEST(Pinned, after_two_refusals_within_ten_minutes) {
    Scene scene;
    scene.refuse();
    EXPECT_FALSE(scene.find());
    scene.now += minutes(10);
    scene.refuse();
    EXPECT_EQ(scene.find(), (Pin{scene.now + hours(24)}));
    EXPECT_FALSE(scene.find(2)) << "another client";
    EXPECT_FALSE(scene.find(1, "b.example")) << "another host";
    EXPECT_TRUE(scene.find(1, "A.Example."));
}

TEST(Pinned, not_after_refusals_further_apart) {
    Scene scene;
    for (int i = 0; i < 5; ++i) {
        scene.refuse();
        scene.now += minutes(10) + milliseconds{1};
        EXPECT_FALSE(scene.find());
    }
}

TEST(Pinned, not_with_a_success_in_between) {
    Scene scene;
    scene.refuse();
    scene.succeed();
    scene.refuse();
    EXPECT_FALSE(scene.find());
    scene.succeed(2);
    scene.refuse();
    EXPECT_TRUE(scene.find()) << "the success of another client changes nothing";
}

TEST(Pinned, never_by_other_ends) {
    Scene scene;
    for (int i = 0; i < 10; ++i) {
        scene.pins.note(client(1), "a.example", alert(121), scene.learn, scene.now);   // ech_required
        scene.pins.note(client(1), "a.example", alert(80), scene.learn, scene.now);
        scene.pins.note(client(1), "a.example", {EndKind::other}, scene.learn, scene.now);
        scene.pins.note(client(1), "a.example", {EndKind::silent, 0, milliseconds{60'000}}, scene.learn, scene.now);
    }
    EXPECT_FALSE(scene.find());
}

TEST(Pinned, for_twice_as_long_each_time_up_to_seven_days) {
    Scene scene;
    for (int const expected : {24, 48, 96, 168, 168}) {
        scene.pin();
        ASSERT_TRUE(scene.find());
        EXPECT_EQ(scene.find()->until - scene.now, hours(expected));
        scene.now = scene.find()->until;
        EXPECT_FALSE(scene.find()) << "the client is bumped again as a trial";
    }
    scene.succeed();
    scene.pin();
    EXPECT_EQ(scene.find()->until - scene.now, hours(24)) << "a success resets the duration of pins";
}

TEST(Pinned, refusals_of_connections_older_than_the_pin_do_not_lengthen_it) {
    Scene scene;
    scene.pin();
    auto const until = scene.find()->until;
    for (int i = 0; i < 6; ++i) scene.refuse();
    EXPECT_EQ(scene.find()->until, until);
    scene.now = until;
    EXPECT_FALSE(scene.find());
    scene.refuse();
    EXPECT_FALSE(scene.find());
}

TEST(Pinned, for_all_clients_while_it_is_for_three) {
    Scene scene;
    scene.learn = Learn::all;
    scene.pin(1);
    scene.now += hours(1);
    scene.pin(2);
    EXPECT_FALSE(scene.find(9));
    scene.now += hours(1);
    scene.pin(3);
    EXPECT_EQ(scene.find(9), (Pin{start + hours(24), true})) << "until the first of the three ends";
    EXPECT_EQ(scene.find(3), (Pin{scene.now + hours(24), false}));
    EXPECT_FALSE(scene.find(9, "b.example"));
    scene.pin(4);
    EXPECT_EQ(scene.find(9), (Pin{start + hours(25), true})) << "until the first of the three longest pins ends";
    scene.now = start + hours(25);
    EXPECT_FALSE(scene.find(9));
    EXPECT_TRUE(scene.find(4));
}

TEST(Pinned, the_same_client_does_not_count_twice) {
    Scene scene;
    scene.learn = Learn::all;
    for (int i = 0; i < 4; ++i) {
        scene.pin(1);
        scene.now = scene.find(1)->until;
    }
    EXPECT_FALSE(scene.find(9));
    // Addresses of one IPv6 /64 are one client.
    for (int i = 0; i < 6; ++i) {
        auto const address = *parse_ip("2001:db8:0:1::" + std::to_string(1 + i));
        scene.pins.note(address, "b.example", alert(42), scene.learn, scene.now);
    }
    EXPECT_TRUE(scene.pins.find(*parse_ip("2001:db8:0:1::77"), "b.example", scene.learn, scene.now));
    EXPECT_FALSE(scene.pins.find(*parse_ip("2001:db8:0:2::77"), "b.example", scene.learn, scene.now));
}

TEST(Pinned, learning_follows_the_setting) {
    Scene scene;
    scene.learn = Learn::off;
    scene.pin();
    scene.learn = Learn::client;
    EXPECT_FALSE(scene.find());
    for (int i = 1; i <= 3; ++i) scene.pin(i);
    scene.learn = Learn::all;
    EXPECT_FALSE(scene.find(9)) << "only learned with \"all\"";
    scene.learn = Learn::off;
    EXPECT_FALSE(scene.find(1));
}

TEST(Pinned, is_listed_and_erased) {
    Scene scene;
    scene.learn = Learn::all;
    for (int i = 1; i <= 3; ++i) scene.pin(i, "a.example");
    scene.pin(1, "b.example");
    scene.refuse(5, "c.example");
    auto const until = start + hours(24);
    std::vector<Pins::Row> const expected{{"a.example", "10.0.0.1", until},
                                          {"a.example", "10.0.0.2", until},
                                          {"a.example", "10.0.0.3", until},
                                          {"a.example", "all", until},
                                          {"b.example", "10.0.0.1", until}};
    EXPECT_EQ(scene.pins.list(scene.now), expected);
    EXPECT_EQ(pins_text({expected[3], expected[4]}), "HOST       CLIENT    SPLICED UNTIL\n"
                                                     "a.example  all       2023-11-15 22:13:20 UTC\n"
                                                     "b.example  10.0.0.1  2023-11-15 22:13:20 UTC\n");
    EXPECT_EQ(scene.pins.erase("A.example", scene.now), 4u);
    EXPECT_FALSE(scene.find(1, "a.example"));
    EXPECT_TRUE(scene.find(1, "b.example"));
    EXPECT_EQ(scene.pins.erase("", scene.now), 1u);
    EXPECT_TRUE(scene.pins.list(scene.now).empty());
    scene.refuse(5, "c.example");
    EXPECT_FALSE(scene.find(5, "c.example")) << "its first refusal was erased, too";
    EXPECT_EQ(pins_text({}), "no host is spliced because of refused certificates\n");
}

TEST(Pinned, is_bounded) {
    Pins pins(100);
    for (int i = 0; i < 1'000; ++i)
        for (int j = 0; j < 2; ++j) pins.note(client(1), std::to_string(i) + ".example", alert(48), Learn::client, start);
    EXPECT_EQ(pins.list(start).size(), 100u);
    EXPECT_TRUE(pins.find(client(1), "999.example", Learn::client, start));
    EXPECT_FALSE(pins.find(client(1), "1.example", Learn::client, start));
}

}   // namespace
}   // namespace garner::bump
