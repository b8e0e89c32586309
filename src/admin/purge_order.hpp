// The parameters of POST /purge.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/invalidation.hpp"

namespace garner::admin {

struct PurgeOrder {
    std::string url = {}, prefix = {}, tag = {};
    std::string origin = {};   // of the tag
    bool all = false, soft = false;
    bool group = false;   // accepted for the group also if nothing is stored
    bool wait = false;    // answered when it holds everywhere

    /// It removes one URL at once, here and at the peers.
    bool is_for_one_url() const {
        return !url.empty() && prefix.empty() && tag.empty() && origin.empty() && !all && !soft && !group && !wait;
    }
};

/// From the query of the target and the body, both as forms. The fault names a parameter that is neither 0 nor 1 but must be.
Result<PurgeOrder> purge_order_in(std::string_view query, std::string_view body);
/// The form that purge_order_in() reads.
std::vector<std::pair<std::string_view, std::string>> form_of(PurgeOrder const&);
/// The fault names the parameter that is missing, wrong or one too many.
Result<cache::Invalidation> invalidation_of(PurgeOrder const&);

/// A line of `garner purge -`: a URL, "prefix URL/", "tag TAG" or "all". `common` has the options that concern every line.
PurgeOrder purge_order_of_line(std::string_view line, PurgeOrder const& common);

}   // namespace garner::admin
