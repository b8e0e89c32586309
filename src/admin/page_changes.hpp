// The changes of the page since it was shown, for /events.
#pragma once
#include <map>
#include <string>

#include "admin/page_model.hpp"

namespace garner::admin {

/// The parts of a page that can change, as JSON by key, as page.js reads them:
///   "f:requests.total": ["4"] or ["1.00 KiB","1024"]; the text, and the value if it differs
///   "t:top-hosts-table": [[INDEX, IS_TROUBLE, [TEXT or [TEXT, VALUE], ...]], ...]
///   "l:": [STAT, ...]; the figures of the lines that are trouble; no other line is
///   "c:curve-requests": the path data; "w:at": a text by its id; "h:": [STATE, [[WHAT, FIX], ...]]
using PageParts = std::map<std::string, std::string>;

PageParts parts_of(PageModel const& model);

/// A JSON object with the parts of `now` that are not equal in `before`.
std::string changes(PageParts const& before, PageParts const& now);

}   // namespace garner::admin
