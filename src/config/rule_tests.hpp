// The section `tests`: requests and the decisions that the operator expects.
#pragma once
#include "config/config.hpp"
#include "config/form.hpp"

namespace garner::config {

/// An item of `tests`.
Form<RuleTest> rule_test();

/// The configured listening addresses, for questions to the rules without a running proxy. Addresses of this machine's
/// interfaces are not known.
http::OwnAddresses own_addresses(Config const&);

/// Asks the access rules, and notes a fault for each test with another decision: the rule that decided, and why the expected
/// rule did not. Reads the files of `groups`. If one cannot be read, which the start and a reload report, no test runs.
void run_rule_tests(Reader&, Config const&);

}   // namespace garner::config
