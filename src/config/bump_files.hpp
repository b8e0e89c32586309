// Checks the files of interception.
#pragma once
#include "bump/options.hpp"
#include "config/reader.hpp"

namespace garner::config {

/// Notes a fault if a rule bumps and the CA is missing, if the CA cannot be used, or if users other than its owner may read the
/// key. Adds a notice for each certificate that ends soon, and for each host of a rule for which the CA may not sign.
void try_interception(Reader&, bump::Options const&);

}   // namespace garner::config
