// Notices about valid rules that may not do what the operator intends.
#pragma once
#include "config/config.hpp"
#include "config/reader.hpp"

namespace garner::config {

/// Rules that are never reached or never match https, names of rules that do not identify one rule, and unused groups.
void notice_rules(Reader&, Config const&);

/// Sets the default of bump.learn: off if a client that is spliced would avoid an access rule. `is_given`: the file has the key.
void settle_learning(Reader&, bool is_given, Config&);

}   // namespace garner::config
