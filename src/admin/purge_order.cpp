#include "admin/purge_order.hpp"

#include "admin/form_fields.hpp"
#include "util/option_words.hpp"
#include "util/text.hpp"

namespace garner::admin {

Result<PurgeOrder> purge_order_in(std::string_view query, std::string_view body) {
    auto const value = [&](std::string_view name) {
        auto found = form_value(query, name);
        return found.empty() ? form_value(body, name) : found;
    };
    std::string wrong;
    auto const flag = [&](std::string_view name) {
        auto const found = value(name);
        if (!found.empty() && found != "0" && found != "1") wrong = std::string(name) + "=" + found;
        return found == "1";
    };
    PurgeOrder order{.url = value("url"),
                     .prefix = value("prefix"),
                     .tag = value("tag"),
                     .origin = value("origin"),
                     .all = flag("all"),
                     .soft = flag("soft"),
                     .group = flag("group"),
                     .wait = flag("wait")};
    if (!wrong.empty()) return Fault{quoted_word(wrong) + " is neither 0 nor 1", "write 1, or leave it out"};
    return order;
}

std::vector<std::pair<std::string_view, std::string>> form_of(PurgeOrder const& order) {
    std::vector<std::pair<std::string_view, std::string>> form{
        {"url", order.url}, {"prefix", order.prefix}, {"tag", order.tag}, {"origin", order.origin}};
    for (auto const& [name, given] : {std::pair("all", order.all), std::pair("soft", order.soft), std::pair("group", order.group),
                                      std::pair("wait", order.wait)})
        if (given) form.emplace_back(name, "1");
    std::erase_if(form, [](auto const& one) { return one.second.empty(); });
    return form;
}

Result<cache::Invalidation> invalidation_of(PurgeOrder const& order) {
    int const given = !order.url.empty() + !order.prefix.empty() + !order.tag.empty() + order.all;
    if (given != 1)
        return Fault{given == 0 ? "nothing to purge is given" : "more than one thing to purge is given",
                     "give one of url, prefix, tag and all"};
    if (!order.origin.empty() && order.tag.empty()) return Fault{"origin is given without a tag", "remove it, or give a tag"};
    if (order.all) return cache::invalidation_of_all(order.soft);
    if (!order.prefix.empty()) return cache::prefix_invalidation(order.prefix, order.soft);
    if (!order.tag.empty()) return cache::tag_invalidation(order.tag, order.origin, order.soft);
    return cache::url_invalidation(order.url, order.soft);
}

PurgeOrder purge_order_of_line(std::string_view line, PurgeOrder const& common) {
    auto const space = line.find(' ');
    auto const word = line.substr(0, space);
    auto const operand = space == line.npos ? std::string_view() : trim(line.substr(space + 1));
    PurgeOrder order{.soft = common.soft, .group = true, .wait = common.wait};
    if (line == "all")
        order.all = true;
    else if (word == "prefix")
        order.prefix = operand;
    else if (word == "tag")
        order.tag = operand;
    else
        order.url = line;
    if (!order.tag.empty()) order.origin = common.origin;
    return order;
}

}   // namespace garner::admin
