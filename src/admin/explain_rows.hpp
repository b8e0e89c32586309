// The answers to "why" for rows of the page that are no URLs, clients or requests.
#pragma once
#include <span>

#include "admin/figures.hpp"
#include "admin/page.hpp"
#include "proxy/refusals.hpp"

namespace garner::admin {

struct RowFacts {
    Figures const& figures;
    std::span<proxy::Refused const> refusals;
    std::span<share::SubjectFigures const> subjects;   // users of the line
    WallTime now;
};

/// Adds lines to `out` if `out.asked` is "peer NAME", "rule LABEL", "certificate NAME", "user NAME" (of the line), "cap NAME",
/// "quota NAME", "voter ADDRESS", "member NAME", "watermark TIME", "policy NAME" or "figure PATH"; false for any other text. No URL
/// has a space there. Pure.
bool explain_row(RowFacts const& facts, Explained& out);
/// With the present figures.
bool explain_row(proxy::Server& server, Explained& out);

}   // namespace garner::admin
