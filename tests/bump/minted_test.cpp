#include "bump/minted.hpp"

#include <gtest/gtest.h>

#include "ca_scene.hpp"

namespace garner::bump {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// Noon: neither an hour before nor after it is another day.
WallTime noon() { return std::chrono::floor<std::chrono::days>(wall_now()) + hours(12); }

struct Minting : testing::Test {
    Minting() {
        EXPECT_EQ(scene.init().fault_text(), "");
        authority = scene.authority();
    }
    std::shared_ptr<net::Certificate const> mint() const { return authority->mint(likeness, Signer::ca, now); }

    CaScene scene;
    std::unique_ptr<Authority> authority;
    WallTime now = noon();
    Likeness likeness = likeness_for({"a.example"}, now);
    MintedCertificates minted{2};
};

TEST_F(Minting, finds_a_certificate_for_an_hour_after_the_origin_was_verified) {
    EXPECT_FALSE(minted.find("a.example:443", now));
    auto const certificate = mint();
    minted.add("a.example:443", likeness, certificate, now, now);
    EXPECT_EQ(minted.find("a.example:443", now), certificate);
    EXPECT_EQ(minted.find("a.example:443", now + hours(1) - milliseconds{1}), certificate);
    EXPECT_FALSE(minted.find("a.example:443", now + hours(1)));
    EXPECT_FALSE(minted.find("a.example:8443", now)) << "another origin";
    EXPECT_EQ(minted.renew("a.example:443", likeness, now + hours(1), now + hours(1)), certificate) << "the origin has not changed";
    EXPECT_EQ(minted.find("a.example:443", now + minutes(110)), certificate);
}

TEST_F(Minting, does_not_renew_a_changed_origin_or_another_day) {
    minted.add("a.example:443", likeness, mint(), now, now);
    auto changed = likeness;
    changed.names.push_back("b.example");
    EXPECT_FALSE(minted.renew("a.example:443", changed, now, now));
    changed = likeness;
    changed.end += seconds{1};
    EXPECT_FALSE(minted.renew("a.example:443", changed, now, now));
    EXPECT_FALSE(minted.renew("a.example:443", likeness, now + hours(12), now + hours(12)));
    EXPECT_TRUE(minted.renew("a.example:443", likeness, now, now));
    EXPECT_FALSE(minted.find("a.example:443", now + hours(12)));
}

TEST_F(Minting, does_not_find_an_expired_certificate) {
    likeness.end = now + minutes(10);
    minted.add("a.example:443", likeness, mint(), now, now);
    EXPECT_TRUE(minted.find("a.example:443", now + minutes(9)));
    EXPECT_FALSE(minted.find("a.example:443", now + minutes(10)));
}

TEST_F(Minting, knows_origins_that_requests_have_verified_for_an_hour_and_once) {
    auto const origin = leaf_of(*mint());
    EXPECT_FALSE(minted.take_verified("a.example:443", now).certificate);
    minted.note_verified("a.example:443", {origin, now});
    EXPECT_FALSE(minted.find("a.example:443", now)) << "nothing is minted yet";
    EXPECT_FALSE(minted.take_verified("a.example:8443", now).certificate) << "another origin";
    auto const verified = minted.take_verified("a.example:443", now + minutes(59));
    EXPECT_EQ(verified.certificate, origin);
    EXPECT_EQ(verified.at, now);
    EXPECT_FALSE(minted.take_verified("a.example:443", now).certificate);
    auto const certificate = mint();
    minted.add("a.example:443", likeness, certificate, verified.at, now + minutes(59));
    EXPECT_TRUE(minted.find("a.example:443", now + minutes(59)));
    EXPECT_FALSE(minted.find("a.example:443", now + minutes(60))) << "counted from the verification, not from minting";
    minted.note_verified("a.example:443", {origin, now + minutes(30)});
    EXPECT_TRUE(minted.take_verified("a.example:443", now + minutes(70)).certificate);
    EXPECT_EQ(minted.renew("a.example:443", likeness, now + minutes(30), now + minutes(70)), certificate);
    EXPECT_TRUE(minted.find("a.example:443", now + minutes(89)));
    minted.note_verified("a.example:443", {origin, now});
    EXPECT_FALSE(minted.take_verified("a.example:443", now + hours(1)).certificate) << "too long ago";
}

TEST_F(Minting, does_not_know_an_origin_whose_certificate_has_expired) {
    likeness.end = now + minutes(10);
    minted.note_verified("a.example:443", {leaf_of(*mint()), now});
    EXPECT_FALSE(minted.take_verified("a.example:443", now + minutes(10)).certificate);
}

TEST_F(Minting, is_bounded_and_evicts_the_least_recently_used) {
    for (auto const* origin : {"a:443", "b:443"}) minted.add(origin, likeness, mint(), now, now);
    minted.find("a:443", now);
    minted.add("c:443", likeness, mint(), now, now);
    EXPECT_EQ(minted.size(), 2u);
    EXPECT_TRUE(minted.find("a:443", now));
    EXPECT_FALSE(minted.find("b:443", now));
    minted.resize(1);
    minted.add("d:443", likeness, mint(), now, now);
    EXPECT_EQ(minted.size(), 1u);
    minted.clear();
    EXPECT_EQ(minted.size(), 0u);
}

}   // namespace
}   // namespace garner::bump
