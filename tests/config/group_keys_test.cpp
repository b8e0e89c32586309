// The keys of a group of proxies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/key_changes.hpp"
#include "config/takeover_keys.hpp"
#include "support.hpp"

namespace garner::config {
namespace {

using ::testing::HasSubstr;

constexpr char const* three_voters = R"("voters": ["10.0.0.2:3133", "10.0.0.3:3133", "10.0.0.4:3133"])";

Loaded of_group(std::string const& members, std::string const& more = "") {
    return load("{\"user\": \"root\"" + more + ",\n\"group\": {" + members + "}}");
}
std::string of_lab(std::string const& more) { return R"("name": "lab", "secret": "eight-random-words", )" + more; }

}   // namespace

TEST(GroupKeys, all_keys_are_read) {
    auto const loaded =
        of_group(of_lab(std::string(three_voters) + R"(, "address": "10.0.0.3:3133", "member": "cache3", "lease": "500ms",
        "objects": [{"url_contains": "/x/"}], "tag_fields": "Cache-Tag", "unsafe": false, "cut_off": "serve",
        "replicate": [{"url_contains": "/x/films/"}], "domain": "hall 2", "uplink": "80 Mbit/s", "downlink": "1 Gbit/s")"));
    EXPECT_EQ(told(loaded), "");
    auto const& group = loaded.config.group;
    EXPECT_TRUE(group.has_members());
    EXPECT_EQ(group.name, "lab");
    EXPECT_EQ(group.member, "cache3");
    EXPECT_EQ(group.address.text(), "10.0.0.3:3133");
    EXPECT_EQ(group.voters.size(), 3u);
    EXPECT_EQ(group.secret, "eight-random-words");
    EXPECT_EQ(group.lease, milliseconds(500));
    EXPECT_TRUE(group.cache.serves_cut_off);
    EXPECT_FALSE(group.cache.unsafe);
    EXPECT_EQ(group.cache.tag_fields, std::vector<std::string>{"Cache-Tag"});
    EXPECT_EQ(group.cache.objects.size(), 1u);
    EXPECT_EQ(group.cache.replicate.size(), 1u);
    EXPECT_EQ(group.domain, "hall 2");
    EXPECT_EQ(group.uplink, 10'000'000u);
    EXPECT_EQ(group.downlink, 125'000'000u);
}

TEST(GroupKeys, without_them_the_group_is_this_proxy) {
    auto const loaded = of_group(R"("unsafe": false)");
    EXPECT_EQ(told(loaded), "");
    EXPECT_FALSE(loaded.config.group.has_members());
    EXPECT_EQ(loaded.config.group.lease, milliseconds(2'000));
    EXPECT_FALSE(loaded.config.group.cache.serves_cut_off);
}

TEST(GroupKeys, errors_are_told_with_line_and_fix) {
    struct Row {
        std::string members, told;
    };
    for (auto const& row :
         {Row{of_lab(R"("voters": ["10.0.0.2:1", "10.0.0.3:1"])"),
              "test.json:2: group.voters: 2 voters: their majority must be clear (name 1, 3 or 5 voters)"},
          Row{of_lab(R"("voters": ["10.0.0.2:1", "10.0.0.2:1", "10.0.0.4:1"])"), "group.voters[1]: 10.0.0.2:1 is listed twice"},
          Row{of_lab(R"("voters": ["a.example:1"])"), "group.voters"},
          Row{of_lab(std::string(three_voters) + R"(, "address": "10.0.0.5:3133")"),
              "group.address: 10.0.0.5:3133 is none of group.voters (add it to group.voters of all members, or remove it"},
          Row{R"("name": "lab", "secret": "s")", "group: has no voters"},
          Row{R"("name": "lab", )" + std::string(three_voters), "group: has no secret"},
          Row{R"("secret": "s", )" + std::string(three_voters), "group: has no name"},
          Row{of_lab(std::string(three_voters) + R"(, "lease": "2m")"), "group.lease"},
          Row{of_lab(std::string(three_voters) + R"(, "lease": "100ms")"), "group.lease"},
          Row{of_lab(std::string(three_voters) + R"(, "cut_off": "panic")"), "group.cut_off"},
          Row{R"("replicate": ["all"])", "group: has no name"},
          Row{of_lab(std::string(three_voters) + R"(, "replicate": [{"destination": "10.0.0.0/8"}])"),
              "group.replicate[0]: destination is not known of a stored response"},
          Row{of_lab(std::string(three_voters) + R"(, "uplink": "1 MB")"), "test.json:2: group.uplink"},
          Row{of_lab(std::string(three_voters) + R"(, "downlink": "fast")"), "test.json:2: group.downlink"},
          Row{of_lab(std::string(three_voters) + R"(, "uplink": -1)"), "group.uplink"}})
        EXPECT_THAT(told(of_group(row.members)), HasSubstr(row.told)) << row.members;
}

TEST(GroupKeys, settings_that_undo_the_promise_get_a_notice) {
    auto const notices = [](std::string const& more) {
        std::string all;
        for (auto const& notice : of_group(of_lab(three_voters), more).notices) all += notice.key + " ";
        return all;
    };
    EXPECT_EQ(notices(""), "");
    EXPECT_THAT(told(of_group(R"("name": "lab", "secret": "short", )" + std::string(three_voters))), "");
    auto const of_secret = of_group(R"("name": "lab", "secret": "short", )" + std::string(three_voters)).notices;
    ASSERT_EQ(of_secret.size(), 1u);
    EXPECT_EQ(of_secret[0].key, "group.secret");
    EXPECT_THAT(of_secret[0].text, HasSubstr("has only 5 bytes"));
    EXPECT_THAT(notices(R"(, "caching": {"offline": true})"), HasSubstr("caching.offline"));
    auto const of_replicate = [](std::string const& objects) {
        auto const members = of_lab(std::string(three_voters) + R"(, "replicate": ["all"], "objects": )" + objects);
        auto const loaded = of_group(members);
        EXPECT_EQ(told(loaded), "");
        return loaded.notices.empty() ? std::string() : loaded.notices[0].key + ": " + loaded.notices[0].text;
    };
    EXPECT_EQ(of_replicate(R"(["all"])"), "");
    EXPECT_THAT(of_replicate(R"([{"url_contains": "/x/"}])"),
                HasSubstr("group.replicate: names objects that group.objects does not cover"));
    EXPECT_THAT(notices(R"(, "caching": {"rules": [{"reload": "ignore"}]})"), HasSubstr("caching.rules[0].reload"));
}

TEST(GroupKeys, an_address_in_use_is_an_error) {
    auto const of_address = [](std::string const& more) {
        return told(of_group(of_lab(R"("voters": ["127.0.0.1:3133"], "address": "127.0.0.1:3133")"), more));
    };
    EXPECT_EQ(of_address(""), "");
    for (auto const* key : {"admin", "seen"})
        EXPECT_THAT(of_address(std::string(R"(, ")") + key + R"(": {"address": "127.0.0.1:3133"})"),
                    HasSubstr("group.address: 127.0.0.1:3133 is also " + std::string(key) + ".address"));
    EXPECT_THAT(of_address(R"(, "listen": [{"address": "127.0.0.1:3133"}])"), HasSubstr("already the address of a listener"));
}

TEST(GroupKeys, the_members_need_a_takeover_and_the_cache_does_not) {
    for (auto const* key : {"group.name", "group.member", "group.address", "group.voters", "group.secret", "group.lease",
                            "group.domain", "group.uplink", "group.downlink"})
        EXPECT_TRUE(needs_takeover(key)) << key;
    for (auto const* key : {"group.objects", "group.tag_fields", "group.unsafe", "group.cut_off", "group.replicate"})
        EXPECT_FALSE(needs_takeover(key)) << key;
}

}   // namespace garner::config
