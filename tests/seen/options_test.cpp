// Options of the service, and the refused ones.
#include "seen/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace garner::seen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SeenOptions, reads_peers_by_name_and_address) {
    EXPECT_THAT(*read_peers("10.0.0.3:3132,[::1]:80,seen.example:1"),
                ElementsAre(Peer{"10.0.0.3", 3132}, Peer{"::1", 80}, Peer{"seen.example", 1}));
    EXPECT_EQ((Peer{"::1", 80}.text()), "[::1]:80");
    for (auto const* text :
         {"", "host", "host:", ":80", "host:0", "host:65536", "::1:80", "[host]:80", "a:1,,b:2", "http://a:1", "a b:1"})
        EXPECT_THAT(read_peers(text).fault_text(), HasSubstr("not a host and port")) << text;
}

TEST(SeenOptions, nothing_is_open_to_others_unless_they_are_named) {
    EXPECT_EQ(validate({}).fault_text(), "");
    EXPECT_EQ(validate({.address = "::1"}).fault_text(), "");
    EXPECT_THAT(validate({.address = "0.0.0.0"}).fault_text(), HasSubstr("no network is allowed"));
    EXPECT_EQ(validate({.address = "0.0.0.0", .allow = {*parse_network("10.0.0.0/8")}}).fault_text(), "");
    EXPECT_THAT(validate({.address = "here"}).fault_text(), HasSubstr("not an IP address"));
}

TEST(SeenOptions, the_set_and_its_cache_are_what_there_is) {
    EXPECT_EQ(validate({.set = "runs", .directory = "somewhere", .cache = "line32"}).fault_text(), "");
    EXPECT_EQ(validate({.cache = ""}).fault_text(), "");
    EXPECT_THAT(validate({.set = "runs"}).fault_text(), HasSubstr("give its directory"));
    EXPECT_THAT(validate({.set = "lines", .directory = "somewhere"}).fault_text(), HasSubstr("is kept in memory"));
    EXPECT_EQ(validate({.set = "redis:127.0.0.1:1"}).fault_text(), "") << "validation does not connect to Redis";
    EXPECT_THAT(validate({.set = "redis:127.0.0.1:1", .directory = "somewhere"}).fault_text(),
                HasSubstr("is stored in Redis; remove the directory"));
    EXPECT_THAT(validate({.set = "trie"}).fault_text(), HasSubstr("no set \"trie\"; valid sets: lines"));
    EXPECT_THAT(validate({.cache = "lruu"}).fault_text(), HasSubstr("no cache \"lruu\""));
    EXPECT_THAT(validate({.cache = "min"}).fault_text(), HasSubstr("needs future requests"));
}

TEST(SeenOptions, partitions_fit_together) {
    EXPECT_EQ(validate({.partition = 1, .peers = {{"a", 1}, {"b", 1}}}).fault_text(), "");
    EXPECT_THAT(validate({.partition = 2, .peers = {{"a", 1}, {"b", 1}}}).fault_text(), HasSubstr("numbered from 0"));
    EXPECT_THAT(validate({.peers = {{"a", 1}, {"a", 1}}}).fault_text(), HasSubstr("both have the address a:1"));
    EXPECT_THAT(validate({.layers = "sort"}).fault_text(), HasSubstr("\"sort\""));
}

}   // namespace
}   // namespace garner::seen
