#include "proxy/decision.hpp"

#include <gtest/gtest.h>

#include "proxy/via.hpp"

namespace garner::proxy {
namespace {

using http::Name;
using Kind = cache::Lookup::Kind;

http::RequestHead asks(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
    http::RequestHead head;
    for (auto const& [name, value] : fields) head.fields.add(name, value);
    return head;
}

store::ObjectPtr stored(bool allows_authorization = false) {
    store::Object::Parts parts;
    parts.terms.allows_authorization = allows_authorization;
    return store::Object::make(parts, nullptr);
}

TEST(Decision, requests_are_told_apart_by_their_fields) {
    auto const of = [](http::RequestHead const& request) { return fingerprint_of(request.fields); };
    EXPECT_EQ(of(asks({{"Host", "a"}, {"Cookie", "b"}})), of(asks({{"Host", "a"}, {"Cookie", "b"}})));
    EXPECT_NE(of(asks({{"Host", "a"}})), of(asks({})));
    EXPECT_NE(of(asks({{"Host", "a"}, {"Cookie", "b"}})), of(asks({{"Host", "a"}, {"Cookie", "c"}})));
    EXPECT_NE(of(asks({{"Ab", "c"}})), of(asks({{"A", "bc"}})));
    EXPECT_EQ(of(asks({{"Host", "a"}, {"Cache-Control", "max-age=1"}, {"If-None-Match", "\"x\""}, {"Connection", "close"}})),
              of(asks({{"Host", "a"}})));
}

TEST(Decision, a_host_that_DNS_led_there_hours_ago_counts_for_rules_but_opens_no_store) {
    auto request = asks({});
    request.method = http::Method::get;
    Client const client;
    Target target;
    auto const is_unverified = [&] { return rule_request(request, target, client, wall_now()).unverified; };
    auto const bypass = [&] { return why_bypassed(request, http::Framing(), http::RequestCacheControl(), target, Caching()); };
    target.proof = net::DnsProof::recent;
    EXPECT_FALSE(is_unverified());
    EXPECT_EQ(bypass(), http::Bypass::none);
    target.proof = net::DnsProof::past;
    EXPECT_FALSE(is_unverified());
    EXPECT_EQ(bypass(), http::Bypass::unverified);
    target.proof = net::DnsProof::none;
    EXPECT_TRUE(is_unverified());
    EXPECT_EQ(bypass(), http::Bypass::unverified);
}

TEST(Decision, what_comes_of_a_lookup) {
    auto const object = stored();
    auto const open = stored(true);
    struct Case {
        char const* name;
        Kind kind;
        store::ObjectPtr object;
        http::RequestHead request;
        bool only_if_cached;
        bool offline;
        Action action;
    };
    auto const plain = asks({});
    auto const with_credentials = asks({{"Authorization", "x"}});
    Case const cases[] = {
        {"fresh", Kind::fresh, object, plain, false, false, Action::deliver},
        {"fresh, offline", Kind::fresh, object, plain, false, true, Action::deliver},
        {"fresh, with credentials", Kind::fresh, object, with_credentials, false, false, Action::pass},
        {"fresh, with credentials, nothing else", Kind::fresh, object, with_credentials, true, false, Action::only_if_cached},
        {"fresh for credentials", Kind::fresh, open, with_credentials, false, false, Action::deliver},
        {"to refresh", Kind::refresh, object, plain, false, false, Action::refresh},
        {"to refresh, offline", Kind::refresh, object, plain, false, true, Action::deliver_offline},
        {"stale", Kind::stale, object, plain, false, false, Action::fetch},
        {"stale, offline", Kind::stale, object, plain, false, true, Action::deliver_offline},
        {"stale, nothing else", Kind::stale, object, plain, true, false, Action::only_if_cached},
        {"absent", Kind::absent, nullptr, plain, false, false, Action::fetch},
        {"absent, offline", Kind::absent, nullptr, plain, false, true, Action::fetch},
        {"absent, nothing else", Kind::absent, nullptr, plain, true, false, Action::only_if_cached},
        {"absent, with credentials", Kind::absent, nullptr, with_credentials, false, false, Action::fetch},
        {"busy", Kind::busy, nullptr, plain, false, false, Action::fetch},
    };
    for (auto const& c : cases) {
        http::RequestCacheControl control;
        control.only_if_cached = c.only_if_cached;
        Caching caching;
        caching.offline = c.offline;
        EXPECT_EQ(without_asking(c.kind, c.object.get(), c.request, control, caching), c.action) << c.name;
    }
}

TEST(Decision, what_is_not_looked_up) {
    using http::Bypass;
    using http::Method;
    auto const before_lookup = [](Method method, Bypass bypass, bool misses) {
        return proxy::before_lookup(method, bypass, [&] { return misses; });
    };
    EXPECT_EQ(before_lookup(Method::get, Bypass::none, false), Action::look) << "misses are judged after the lookup";
    EXPECT_EQ(before_lookup(Method::get, Bypass::never, true), Action::pass);
    EXPECT_EQ(before_lookup(Method::get, Bypass::never, false), Action::refuse_misses);
    EXPECT_EQ(before_lookup(Method::connect, Bypass::none, true), Action::tunnel);
    EXPECT_EQ(before_lookup(Method::connect, Bypass::none, false), Action::refuse_misses);
    EXPECT_EQ(before_lookup(Method::purge, Bypass::method, false), Action::purge) << "PURGE fetches nothing";
}

TEST(Decision, what_comes_of_what_the_store_does_not_answer) {
    auto const action = [](Action known, bool follows, bool misses, bool failed) {
        return after_lookup(
            known, follows, [&] { return misses; }, [&] { return failed; });
    };
    for (auto known : {Action::deliver, Action::refresh, Action::deliver_offline, Action::only_if_cached})
        EXPECT_EQ(action(known, true, false, true), known) << "rules for misses and failures do not matter";
    EXPECT_EQ(action(Action::fetch, false, true, false), Action::fetch);
    EXPECT_EQ(action(Action::fetch, true, true, false), Action::follow);
    EXPECT_EQ(action(Action::fetch, true, true, true), Action::tell_failure);
    EXPECT_EQ(action(Action::fetch, true, false, true), Action::refuse_misses);
    EXPECT_EQ(action(Action::pass, true, true, true), Action::pass);
    EXPECT_EQ(action(Action::pass, false, false, false), Action::refuse_misses)
        << "a request that bypasses the cache is refused, too";
}

TEST(Decision, why_a_request_goes_to_the_origin) {
    using http::Fwd;
    using http::ReuseReason;
    auto const absent = [](bool variant_missing, bool part_missing) {
        cache::FoundResponse found;
        found.variant_missing = variant_missing;
        found.part_missing = part_missing;
        return why_forwarded(found);
    };
    EXPECT_EQ(absent(false, false).fwd, Fwd::uri_miss);
    EXPECT_EQ(absent(true, false).fwd, Fwd::vary_miss);
    EXPECT_EQ(absent(true, true).fwd, Fwd::partial) << "the variant is stored in parts";
    EXPECT_FALSE(absent(true, true).reason);

    auto const stale = [](ReuseReason reason) {
        cache::FoundResponse found;
        found.kind = Kind::stale;
        found.answer.reason = reason;
        found.variant_missing = true;
        return why_forwarded(found);
    };
    EXPECT_EQ(stale(ReuseReason::stale).fwd, Fwd::stale);
    EXPECT_EQ(stale(ReuseReason::no_cache_response).fwd, Fwd::stale);
    EXPECT_EQ(stale(ReuseReason::max_age_request).fwd, Fwd::request);
    EXPECT_EQ(stale(ReuseReason::max_age_request).reason, ReuseReason::max_age_request);

    cache::FoundResponse removed;
    removed.removed = ReuseReason::invalidated_tag;
    EXPECT_EQ(why_forwarded(removed).fwd, Fwd::uri_miss);
    EXPECT_EQ(why_forwarded(removed).reason, ReuseReason::invalidated_tag);

    EXPECT_EQ(why_forwarded(http::Bypass::method), Fwd::method);
    EXPECT_EQ(why_forwarded(http::Bypass::no_store_request), Fwd::request);
    EXPECT_EQ(why_forwarded(http::Bypass::authorization), Fwd::bypass);
}

TEST(Decision, who_neither_leads_nor_follows) {
    http::RequestCacheControl reload;
    reload.no_cache = true;
    EXPECT_EQ(collapse_of(asks({}), {}, {}), cache::Collapse::lead_and_follow);
    EXPECT_EQ(collapse_of(asks({}), reload, {}), cache::Collapse::alone);
    EXPECT_EQ(collapse_of(asks({{"Range", "bytes=0-1"}}), {}, {}), cache::Collapse::alone);
    Caching whole;
    whole.range_fetches_whole = true;
    EXPECT_EQ(collapse_of(asks({{"Range", "bytes=0-1"}}), {}, whole), cache::Collapse::lead_and_follow);
    EXPECT_EQ(collapse_of(asks({{"Authorization", "x"}}), {}, {}), cache::Collapse::alone);
    auto head = asks({});
    head.method = http::Method::head;
    EXPECT_EQ(collapse_of(head, {}, {}), cache::Collapse::alone);
}

TEST(Decision, who_hears_of_a_remembered_failure) {
    cache::KnownFailure failure;
    http::RequestCacheControl reload;
    reload.max_age = 0;
    auto head = asks({});
    EXPECT_TRUE(hears_of(failure, head, {}));
    EXPECT_FALSE(hears_of(failure, head, reload));
    failure.of_head_only = true;
    EXPECT_FALSE(hears_of(failure, head, {}));
    head.method = http::Method::head;
    EXPECT_TRUE(hears_of(failure, head, {}));
}

TEST(Decision, a_loop_is_our_own_name_or_too_many_hops) {
    EXPECT_FALSE(is_loop(asks({}), "me", 2));
    EXPECT_FALSE(is_loop(asks({{"Via", "1.1 other, 1.1 meadow"}}), "me", 2));
    EXPECT_TRUE(is_loop(asks({{"Via", "1.1 other, 1.1 me (comment)"}}), "me", 2));
    EXPECT_TRUE(is_loop(asks({{"Via", "1.1 a, 1.1 b"}, {"Via", "1.0 c"}}), "me", 2));
}

TEST(Decision, of_two_caching_rules_for_one_setting_the_first_decides) {
    Caching caching;
    caching.default_ttl = seconds{7};
    http::CachingRule first, second;
    first.ttl_min = seconds{10};
    second.ttl_min = seconds{20};
    second.ttl_max = seconds{30};
    second.never = true;
    caching.rules = {first, second};
    auto const options = freshness_options(caching, {}, "");
    EXPECT_EQ(options.default_ttl, 7u);
    EXPECT_EQ(options.ttl_min, 10u);
    EXPECT_EQ(options.ttl_max, 30u);
    EXPECT_TRUE(rule_forbids_storing(caching, {}, ""));
    caching.rules.front().never = false;
    EXPECT_FALSE(rule_forbids_storing(caching, {}, ""));
}

}   // namespace
}   // namespace garner::proxy
