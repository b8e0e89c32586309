// The answers to "why" for rows of the page about peers, access rules and certificates.
#pragma once
#include <span>

#include "admin/figures.hpp"
#include "admin/page.hpp"
#include "proxy/refusals.hpp"

namespace garner::admin {

/// Adds lines to `out` if `out.asked` is "peer NAME", "rule LABEL" or "certificate NAME"; false for any other text. No URL has a
/// space there. Pure.
bool explain_row(Figures const& figures, std::span<proxy::Refused const> refusals, WallTime now, Explained& out);
/// With the present figures.
bool explain_row(proxy::Server& server, Explained& out);

}   // namespace garner::admin
