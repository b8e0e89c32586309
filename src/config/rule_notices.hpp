// Notices about valid rules that may not do what the operator intends.
#pragma once
#include "config/config.hpp"
#include "config/reader.hpp"

namespace garner::config {

/// Rules that are never reached or never match https, names of rules that do not identify one rule, and unused groups.
void notice_rules(Reader&, Config const&);

}   // namespace garner::config
