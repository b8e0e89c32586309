// The data about an object in its record on disk.
#include <gtest/gtest.h>

#include <algorithm>

#include "store/format_bytes.hpp"

namespace garner::store::disk {

bool operator==(ObjectMeta::Span const& a, ObjectMeta::Span const& b) {
    return a.first == b.first && a.last == b.last && a.body == b.body && a.origin == b.origin;
}

namespace {

ObjectMeta some_meta() {
    ObjectMeta meta;
    meta.kind = Object::Kind::vary_marker;
    meta.status = 404;
    meta.terms.response_time = WallTime(milliseconds(1'700'000'000'456));
    meta.terms.date_value = -5;
    meta.terms.initial_age = 1;
    meta.terms.lifetime = 0xffffffff;
    meta.terms.stale_while_revalidate = 3;
    meta.terms.stale_if_error = 4;
    meta.terms.stale_limit = 5;
    meta.terms.age_value = 6;
    meta.terms.rule_override = http::RuleOverride::ttl_min;
    meta.terms.source = http::LifetimeSource::heuristic;
    meta.source = IpAddress::v4(192, 0, 2, 1);
    meta.body = 99;
    meta.length = 5 * GiB;
    meta.spans = {{0, 99, 99, 0}, {500, 5 * GiB - 1, 100, 400}};
    return meta;
}

void expect_same(ObjectMeta const& a, ObjectMeta const& b) {
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.status, b.status);
    EXPECT_EQ(a.terms.response_time, b.terms.response_time);
    EXPECT_EQ(a.terms.date_value, b.terms.date_value);
    EXPECT_EQ(a.terms.initial_age, b.terms.initial_age);
    EXPECT_EQ(a.terms.lifetime, b.terms.lifetime);
    EXPECT_EQ(a.terms.stale_while_revalidate, b.terms.stale_while_revalidate);
    EXPECT_EQ(a.terms.stale_if_error, b.terms.stale_if_error);
    EXPECT_EQ(a.terms.stale_limit, b.terms.stale_limit);
    EXPECT_EQ(a.terms.age_value, b.terms.age_value);
    EXPECT_EQ(a.terms.explicit_lifetime, b.terms.explicit_lifetime);
    EXPECT_EQ(a.terms.heuristic, b.terms.heuristic);
    EXPECT_EQ(a.terms.negative, b.terms.negative);
    EXPECT_EQ(a.terms.must_revalidate, b.terms.must_revalidate);
    EXPECT_EQ(a.terms.no_cache, b.terms.no_cache);
    EXPECT_EQ(a.terms.has_validator, b.terms.has_validator);
    EXPECT_EQ(a.terms.allows_authorization, b.terms.allows_authorization);
    EXPECT_EQ(a.terms.rule_override, b.terms.rule_override);
    EXPECT_EQ(a.terms.source, b.terms.source);
    EXPECT_EQ(a.source.bytes, b.source.bytes);
    EXPECT_EQ(a.body, b.body);
    EXPECT_EQ(a.length, b.length);
    EXPECT_EQ(a.spans, b.spans);
}

void expect_read_back(ObjectMeta const& meta) {
    auto const bytes = encode(meta) + "HTTP/1.1 200 OK\r\n";
    std::string_view view(bytes);
    auto const read = decode_meta(view);
    ASSERT_TRUE(read);
    expect_same(*read, meta);
    EXPECT_EQ(view, "HTTP/1.1 200 OK\r\n");
}

TEST(DiskMeta, is_read_as_it_was_written) {
    expect_read_back({});
    expect_read_back(some_meta());
    for (unsigned flag = 0; flag < 7; ++flag) {
        auto meta = some_meta();
        bool const set[7] = {flag == 0, flag == 1, flag == 2, flag == 3, flag == 4, flag == 5, flag == 6};
        meta.terms.explicit_lifetime = set[0];
        meta.terms.heuristic = set[1];
        meta.terms.negative = set[2];
        meta.terms.must_revalidate = set[3];
        meta.terms.no_cache = set[4];
        meta.terms.has_validator = set[5];
        meta.terms.allows_authorization = set[6];
        expect_read_back(meta);
    }
    for (int source = 0; source <= static_cast<int>(http::LifetimeSource::ttl_max); ++source) {
        auto meta = some_meta();
        meta.terms.source = static_cast<http::LifetimeSource>(source);
        expect_read_back(meta);
    }
    auto of_v6 = some_meta();
    of_v6.source = IpAddress::v6({0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    expect_read_back(of_v6);
    auto whole = some_meta();
    whole.spans.clear();
    expect_read_back(whole);
    whole.body = 0;
    expect_read_back(whole);
    whole.terms.response_time = WallTime(milliseconds(INT64_MIN));
    whole.terms.date_value = INT64_MAX;
    expect_read_back(whole);
    auto many = some_meta();
    for (Bytes i = 0; i < 1000; ++i) many.spans.push_back({i * 100, i * 100 + 50, i + 1, i * 100});
    expect_read_back(many);
}

TEST(DiskMeta, cut_anywhere_is_none) {
    auto const bytes = encode(some_meta());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        std::string const cut = bytes.substr(0, size);
        std::string_view view(cut);
        EXPECT_FALSE(decode_meta(view)) << size;
        EXPECT_EQ(view.size(), size) << "a failed decode consumes nothing";
    }
}

TEST(DiskMeta, with_more_spans_than_bytes_is_none) {
    auto two = some_meta(), three = two;
    three.spans.push_back({6 * GiB, 6 * GiB, 1, 0});
    auto const before = encode(two), with_three = encode(three);
    auto const at = static_cast<std::size_t>(std::ranges::mismatch(before, with_three).in1 - before.begin());
    ASSERT_EQ(before[at], 2);
    ASSERT_EQ(with_three[at], 3);
    for (std::string spans : {"\x03", "\x7f", "\xff\xff\x7f", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"}) {
        auto const lies = before.substr(0, at) + spans + before.substr(at + 1);
        std::string_view view(lies);
        EXPECT_FALSE(decode_meta(view)) << spans.size();
    }
}

TEST(DiskMeta, said_longer_than_need_be_is_none) {
    auto meta = some_meta();
    meta.terms.age_value = meta.length = 0;
    meta.body = 0;
    meta.spans.clear();
    auto const bytes = encode(meta);
    auto const decodes = [](std::string const& text) {
        std::string_view view(text);
        return decode_meta(view) && view.empty();
    };
    EXPECT_TRUE(decodes(bytes));
    auto const short_of = bytes.substr(0, bytes.size() - 1);
    EXPECT_TRUE(decodes(short_of + "\x7f"));
    EXPECT_FALSE(decodes(short_of + std::string("\x80\x00", 2)));
    EXPECT_TRUE(decodes(short_of + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
    EXPECT_FALSE(decodes(short_of + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x03")) << "beyond 64 bits";
    EXPECT_FALSE(decodes(short_of + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
    auto const no_ages = short_of.substr(0, short_of.size() - 1);
    EXPECT_TRUE(decodes(no_ages + "\xff\xff\xff\xff\x0f" + '\0'));
    EXPECT_FALSE(decodes(no_ages + "\xff\xff\xff\xff\x1f" + '\0')) << "an age beyond 32 bits";
    auto as_v6 = with(bytes, 0, as_bytes(static_cast<std::uint8_t>(bytes[0] & 0x7f)));
    as_v6.insert(4, std::string(10, '\0') + "\xff\xff");
    EXPECT_FALSE(decodes(as_v6));
    EXPECT_FALSE(decodes(with(bytes, 1, as_bytes(static_cast<std::uint8_t>(bytes[1] | 0x80))) + std::string(2, '\0')));
}

TEST(DiskMeta, of_what_is_usual_is_short) {
    ObjectMeta meta;
    meta.terms.response_time = WallTime(milliseconds(1'800'000'000'456));
    meta.terms.date_value = 1'800'000'000;
    meta.terms.lifetime = 31'536'000;
    meta.terms.stale_limit = 7 * 24 * 3'600;
    meta.source = IpAddress::v4(192, 0, 2, 1);
    meta.length = 1'000;
    EXPECT_LE(encode(meta).size(), 30u);
}

}   // namespace
}   // namespace garner::store::disk
