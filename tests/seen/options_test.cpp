// What the service is told, and what of that cannot be.
#include "seen/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace garner::seen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SeenOptions, reads_peers_by_name_and_address) {
    std::string fault;
    EXPECT_THAT(read_peers("10.0.0.3:3132,[::1]:80,seen.example:1", fault),
                ElementsAre(Peer{"10.0.0.3", 3132}, Peer{"::1", 80}, Peer{"seen.example", 1}));
    EXPECT_EQ(fault, "");
    EXPECT_EQ((Peer{"::1", 80}.text()), "[::1]:80");
    for (auto const* text : {"", "host", "host:", ":80", "host:0", "host:65536", "::1:80", "[host]:80", "a:1,,b:2", "http://a:1", "a b:1"}) {
        fault.clear();
        EXPECT_TRUE(read_peers(text, fault).empty()) << text;
        EXPECT_THAT(fault, HasSubstr("no host and port")) << text;
    }
}

TEST(SeenOptions, nothing_is_open_to_others_unless_they_are_named) {
    EXPECT_EQ(fault_of({}), "");
    EXPECT_EQ(fault_of({.address = "::1"}), "");
    EXPECT_THAT(fault_of({.address = "0.0.0.0"}), HasSubstr("nobody is allowed"));
    EXPECT_EQ(fault_of({.address = "0.0.0.0", .allow = {*parse_network("10.0.0.0/8")}}), "");
    EXPECT_THAT(fault_of({.address = "here"}), HasSubstr("no IP address"));
}

TEST(SeenOptions, the_set_and_its_cache_are_what_there_is) {
    EXPECT_EQ(fault_of({.set = "runs", .directory = "somewhere", .cache = "line32"}), "");
    EXPECT_EQ(fault_of({.cache = ""}), "");
    EXPECT_THAT(fault_of({.set = "runs"}), HasSubstr("name its directory"));
    EXPECT_THAT(fault_of({.set = "lines", .directory = "somewhere"}), HasSubstr("lies in memory"));
    EXPECT_EQ(fault_of({.set = "redis:127.0.0.1:1"}), "") << "nobody is asked yet";
    EXPECT_THAT(fault_of({.set = "redis:127.0.0.1:1", .directory = "somewhere"}), HasSubstr("lies elsewhere; leave out"));
    EXPECT_THAT(fault_of({.set = "trie"}), HasSubstr("no set \"trie\"; there are lines"));
    EXPECT_THAT(fault_of({.cache = "lruu"}), HasSubstr("no cache \"lruu\""));
    EXPECT_THAT(fault_of({.cache = "min"}), HasSubstr("knows the future"));
}

TEST(SeenOptions, partitions_fit_together) {
    EXPECT_EQ(fault_of({.partition = 1, .peers = {{"a", 1}, {"b", 1}}}), "");
    EXPECT_THAT(fault_of({.partition = 2, .peers = {{"a", 1}, {"b", 1}}}), HasSubstr("count from 0"));
    EXPECT_THAT(fault_of({.peers = {{"a", 1}, {"a", 1}}}), HasSubstr("are both a:1"));
    EXPECT_THAT(fault_of({.layers = "sort"}), HasSubstr("\"sort\""));
}

}  // namespace
}  // namespace garner::seen
