// garner ca: makes, exports and shows the certificate authority of interception.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "bump/rules.hpp"

namespace garner::bump {

struct CaCommand {
    enum class Kind : std::uint8_t { init, export_root, show };
    Kind kind = Kind::show;
    std::string directory = {};   // directory of the CA; export_root, show: empty for `chain`
    std::string chain = {};       // bump.ca_chain of the configuration
    Rules rules = {};             // init: their hosts are the names for which the CA may sign
    bool any_host = false;        // init: the CA may sign for every name
    bool der = false;             // export_root: DER instead of PEM
};

/// Returns the exit code: 0 done, 1 failure. Results go to `out`, errors to `err`.
int run_ca_command(CaCommand const&, std::ostream& out, std::ostream& err);

}   // namespace garner::bump
