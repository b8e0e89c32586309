// Values of keys that wait for a takeover are tried: an error names the key.
#include "app/waiting_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace garner::app {
namespace {

using testing::StartsWith;

std::string trouble(std::string const& key, config::Config const& fresh) {
    auto const passed = try_waiting_keys({"workers", key}, fresh);
    return passed ? "" : passed.fault().text();
}

TEST(WaitingKeys, of_the_control_socket_need_a_short_path_in_a_directory) {
    config::Config fresh;
    EXPECT_EQ(trouble("control.path", fresh), "");
    fresh.control.path = (std::filesystem::temp_directory_path() / "control").string();
    EXPECT_EQ(trouble("control.path", fresh), "");
    fresh.control.path = "/no/such/place/control";
    EXPECT_EQ(trouble("control.path", fresh), "control.path: there is no directory /no/such/place; create it");
    EXPECT_EQ(trouble("user", fresh), "") << "the key has not changed";
    fresh.control.path = "/" + std::string(200, 'l');
    EXPECT_THAT(trouble("control.path", fresh), StartsWith("control.path: /lll"));
}

TEST(WaitingKeys, of_the_account_need_a_user) {
    config::Config fresh;
    EXPECT_EQ(trouble("user", fresh), "");
    fresh.user = "root";
    EXPECT_EQ(trouble("user", fresh), "");
    fresh.user = "no-such-user";
    EXPECT_EQ(trouble("user", fresh), "user: there is no user no-such-user on this machine; create it, or name another one");
}

TEST(WaitingKeys, of_a_url_set_need_a_directory_and_an_address_of_this_machine) {
    config::Config fresh;
    fresh.seen.address = "127.0.0.1";
    fresh.seen.port = 0;
    fresh.seen.directory = std::filesystem::temp_directory_path().string();
    EXPECT_EQ(trouble("seen.path", fresh), "");
    fresh.seen.directory = "/no/such/place/set";
    EXPECT_THAT(trouble("seen.path", fresh), StartsWith("seen.path: there is no directory /no/such/place"));
    fresh.seen.directory = "/dev/null";
    EXPECT_THAT(trouble("seen.path", fresh), StartsWith("seen.path: /dev/null is no directory"));
    EXPECT_EQ(trouble("seen.address", fresh), "");
    fresh.seen.address = "192.0.2.1";
    fresh.seen.port = 3132;
    EXPECT_THAT(trouble("seen.address", fresh), StartsWith("seen.address: cannot listen on 192.0.2.1:3132: "));
}

}   // namespace
}   // namespace garner::app
