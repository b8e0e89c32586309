// The keys of the group: invalidations of many objects at once.
#include "config/key_parts.hpp"
#include "config/matcher_form.hpp"
#include "http/tags.hpp"

namespace garner::config {
namespace {

using T = cache::GroupOptions;

/// A rule of invalidations sees the URL of a stored response, and no request.
Form<http::Matcher> object_matcher() {
    auto form = matcher_form();
    form.read = [read = form.read](Reader& reader, Json const& value, http::Matcher& into) {
        using enum http::Matcher::Member;
        if (!read(reader, value, into)) return false;
        for (auto const& [member, name] :
             {std::pair(destination, "destination"), std::pair(user, "user"), std::pair(group, "group")})
            if (into.has(member))
                return reader.fault(std::string(name) + " is not known of a stored response", "use host, port or URL");
        return true;
    };
    return form;
}

Form<std::string> tag_field() {
    auto const names = http::tag_field_names();
    return choice({names.begin(), names.end()});
}

/// A key of groups with several members.
Row<T> key_of_members(std::string name) {
    auto read = [](Reader& reader, Json const&, T&) {
        return reader.fault("groups of several members are not supported by this version",
                            "remove this key: the group is this proxy");
    };
    return {.name = std::move(name), .read = std::move(read), .describe = {}, .offered = false, .retired = true};
}

}   // namespace

Form<cache::GroupOptions> group() {
    Table<T> table{
        with_default(key<T>("objects", &T::objects, list_of(object_matcher()),
                            "Matchers by the URL of the stored responses that invalidations concern. Conditions about the request "
                            "do not count."),
                     R"(["all"])"),
        key<T>("tag_fields", &T::tag_fields, list_of(tag_field()),
               "Response fields with tags: Cache-Groups (RFC 9875), Surrogate-Key (separated by spaces), Cache-Tag (by commas). A "
               "response with more than 64 tags, or with one of more than 256 bytes, is invalidated by every tag of its origin."),
        key<T>("unsafe", &T::unsafe, flag(),
               "`true`: Cache-Group-Invalidation (RFC 9875) in the response to an unsafe request, such as POST, invalidates the "
               "responses of its origin with these tags."),
    };
    for (auto const* name :
         {"name", "member", "address", "voters", "secret", "lease", "cut_off", "replicate", "domain", "uplink", "downlink"})
        table.push_back(key_of_members(name));
    return object_of<T>(std::move(table));
}

}   // namespace garner::config
