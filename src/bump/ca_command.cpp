#include "bump/ca_command.hpp"

#include <openssl/pem.h>

#include <ostream>

#include "bump/ca_files.hpp"
#include "bump/ca_init.hpp"
#include "bump/ca_text.hpp"
#include "bump/openssl.hpp"
#include "util/check.hpp"
#include "util/clock.hpp"
#include "util/exit_code.hpp"

namespace garner::bump {
namespace {

using Chain = std::vector<std::shared_ptr<X509>>;

Result<Chain> chain_of(CaCommand const& command) {
    auto const file = command.directory.empty() ? command.chain : CaPaths(command.directory).chain;
    if (file.empty()) return Fault{"the configuration has no bump.ca_chain", "name the directory of the CA, or pass --config FILE"};
    return read_ca_chain(file);
}

Result<std::string> shown(CaCommand const& command) {
    auto const chain = chain_of(command);
    if (!chain) return chain.fault();
    return ca_text(*chain, wall_now());
}

Result<std::string> exported(CaCommand const& command) {
    auto const chain = chain_of(command);
    if (!chain) return chain.fault();
    auto* const root = root_of(*chain);
    if (!root) return Fault{"the chain does not end with a root, which is signed by itself", "append the root certificate to it"};
    BioPointer const bio(BIO_new(BIO_s_mem()));
    check(bio && (command.der ? i2d_X509_bio(bio.get(), root) : PEM_write_bio_X509(bio.get(), root)) == 1);
    char* data = nullptr;
    auto const size = BIO_get_mem_data(bio.get(), &data);
    return std::string(data, static_cast<std::size_t>(size));
}

Result<std::string> initialized(CaCommand const& command) {
    if (!command.any_host && !command.rules.any_bumps())
        return Fault{"no rule of the configuration bumps, so there are no names for which the CA may sign",
                     "pass --config FILE with such a rule in bump.rules, or --any-host"};
    auto const hosts = command.any_host ? std::vector<http::HostPattern>() : command.rules.bumped_hosts();
    if (auto const made = init_ca(command.directory, hosts, wall_now()); !made) return made.fault();
    auto const chain = chain_of(command);
    if (!chain) return chain.fault();
    return init_text(CaPaths(command.directory), *chain);
}

}   // namespace

int run_ca_command(CaCommand const& command, std::ostream& out, std::ostream& err) {
    using Kind = CaCommand::Kind;
    auto const text = command.kind == Kind::init   ? initialized(command)
                      : command.kind == Kind::show ? shown(command)
                                                   : exported(command);
    if (!text) {
        err << "garner: " << text.fault().text() << "\n";
        return exit_failed;
    }
    out << *text;
    out.flush();
    return out ? exit_done : exit_failed;
}

}   // namespace garner::bump
