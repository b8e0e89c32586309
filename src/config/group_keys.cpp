// The keys of the group: invalidations of many objects at once, and the proxies that share them.
#include <algorithm>

#include "config/address_form.hpp"
#include "config/key_parts.hpp"
#include "config/matcher_form.hpp"
#include "http/tags.hpp"

namespace garner::config {
namespace {

using T = group::Options;

/// A rule of invalidations sees the URL of a stored response, and no request.
Form<http::Matcher> object_matcher() {
    auto form = matcher_form();
    form.read_by([read = std::move(form.read_any)](Reader& reader, Json const& value, http::Matcher& into) {
        using enum http::Matcher::Member;
        if (!read(reader, value, &into)) return false;
        for (auto const& [member, name] :
             {std::pair(destination, "destination"), std::pair(user, "user"), std::pair(group, "group")})
            if (into.has(member))
                return reader.fault(std::string(name) + " is not known of a stored response", "use host, port or URL");
        return true;
    });
    return form;
}

Form<std::string> tag_field() {
    auto const names = http::tag_field_names();
    return choice({names.begin(), names.end()});
}

constexpr Bytes line_max = Bytes{1} << 40;   // bytes a second

void check_voters(Reader& reader, T const& group) {
    auto const& voters = group.voters;
    for (std::size_t i = 0; i < voters.size(); ++i)
        if (std::find(voters.begin(), voters.begin() + static_cast<std::ptrdiff_t>(i), voters[i]) !=
            voters.begin() + static_cast<std::ptrdiff_t>(i))
            reader.fault({"voters", i}, voters[i].text() + " is listed twice", "name each voter once");
    if (voters.size() % 2 == 0 || voters.size() > 5)
        reader.fault({"voters"}, std::to_string(voters.size()) + " voters: their majority must be clear", "name 1, 3 or 5 voters");
    if (group.address.port != 0 && std::ranges::find(voters, group.address) == voters.end())
        reader.fault({"address"}, group.address.text() + " is none of group.voters",
                     "add it to group.voters of all members, or remove it: then this member is no voter");
}

/// Objects that no invalidation concerns are not replicated.
void notice_of_replication(Reader& reader, T const& group) {
    auto const is_all = [](http::Matcher const& rule) { return rule.matches_all(); };
    auto const& objects = group.cache.objects;
    bool const covers_all = objects.empty() || std::ranges::any_of(objects, is_all);
    if (!covers_all && std::ranges::any_of(group.cache.replicate, is_all))
        reader.notice({"replicate"}, "names objects that group.objects does not cover, and these are not replicated",
                      "give both the same rules");
}

/// All keys of the members belong together.
void check_members(Reader& reader, Json const& value, T& group) {
    bool const lists_voters = value.contains("voters") && !value["voters"].empty();
    bool const has_members = lists_voters || group.address.port != 0 || !group.secret.empty() || !group.member.empty() ||
                             !group.name.empty() || group.lease != T{}.lease || !group.domain.empty() || group.uplink != 0 ||
                             group.downlink != 0 || !group.cache.replicate.empty();
    if (!has_members) return;
    notice_of_replication(reader, group);
    constexpr std::size_t name_max = 256;   // it is sent with other texts in one frame
    if (group.domain.size() > name_max)
        reader.fault({"domain"}, "has " + std::to_string(group.domain.size()) + " bytes", "write a name of at most 256 bytes");
    if (group.name.empty()) {
        reader.fault("has no name: it tells the members that they belong together",
                     R"(add "name", such as "lab", for all members)");
        return;
    }
    if (!lists_voters)
        reader.fault("has no voters: they keep the list of invalidations", R"(add "voters": ["10.0.0.2:3133"], with 1, 3 or 5)");
    else if (!group.voters.empty())
        check_voters(reader, group);
    if (group.secret.empty())
        reader.fault("has no secret: any host that reaches a voter could invalidate everything",
                     R"(add "secret", the same random text for all members)");
}

}   // namespace

Form<group::Options> group() {
    Table<T> table{
        with_default(key<T>(
                         "objects", [](T & o) -> auto& { return o.cache.objects; }, list_of(object_matcher()),
                         "Matchers by the URL of the stored responses that invalidations concern. Conditions about the request "
                         "do not count."),
                     R"(["all"])"),
        key<T>(
            "tag_fields", [](T & o) -> auto& { return o.cache.tag_fields; }, list_of(tag_field()),
            "Response fields with tags: Cache-Groups (RFC 9875), Surrogate-Key (separated by spaces), Cache-Tag (by commas). A "
            "response with more than 64 tags, or with one of more than 256 bytes, is invalidated by every tag of its origin."),
        key<T>(
            "unsafe", [](T & o) -> auto& { return o.cache.unsafe; }, flag(),
            "`true`: Cache-Group-Invalidation (RFC 9875) in the response to an unsafe request, such as POST, invalidates the "
            "responses of its origin with these tags."),
        key<T>(
            "name", &T::name, text(),
            "Name of a group of proxies that share invalidations, the same for all members. Without it, the group is this proxy."),
        key<T>("member", &T::member, text(), "Name of this member, for people; empty: the name of the host."),
        key<T>("address", &T::address, endpoint(true),
               "Address at which this member is a voter: one of `voters`. Without it, this member is no voter."),
        key<T>(
            "voters", &T::voters, list_of(remote_endpoint()),
            "Addresses of the 1, 3 or 5 members that keep the list of invalidations, the same for all members. An invalidation is "
            "accepted when a majority has stored it."),
        key<T>("secret", &T::secret, text(),
               "Secret that signs all messages of the group, the same for all members. The messages are not encrypted."),
        key<T>("lease", &T::lease, time(milliseconds(500), milliseconds(60'000)),
               "The longest time after which an accepted invalidation holds at every member, the same for all members. A member "
               "without connections to a majority of the voters validates what is stored after this time."),
        key<T>(
            "cut_off", [](T & o) -> auto& { return o.cache.serves_cut_off; }, one_of<bool>({{"validate", false}, {"serve", true}}),
            "Use of stored responses while this member has no leases of a majority of the voters. `serve`: they are used as "
            "usual, and invalidations may be missed meanwhile."),
        key<T>(
            "replicate", [](T & o) -> auto& { return o.cache.replicate; }, list_of(object_matcher()),
            "Matchers by the URL of http:// objects that all members fetch and store as soon as one has stored them whole. Each "
            "member asks another one, so that one of them asks the origin."),
        key<T>("domain", &T::domain, text(),
               "Name of the place of this member. Objects are sent into each place once, and from there to its other members."),
        key<T>("uplink", &T::uplink, rate(0, line_max),
               "Rate at which this member can send; 0: the 90th percentile of its own transfers."),
        key<T>("downlink", &T::downlink, rate(0, line_max),
               "Rate at which this member can receive; 0: the 90th percentile of its own transfers."),
    };
    return object_of<T>(std::move(table), check_members);
}

}   // namespace garner::config
