#include "app/token_command.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "admin/form_fields.hpp"
#include "config/load.hpp"
#include "util/exit_code.hpp"
#include "util/random_secret.hpp"

namespace garner::app {

namespace {

/// Looks unlike its digest, which is 64 hexadecimal digits.
std::string new_token() { return "garner_" + random_secret(); }

/// The first line of the file.
Result<std::string> read_token(std::string const& path) {
    errno = 0;
    std::ifstream file(path);
    std::string line;
    if (!file)
        return Fault{std::string("cannot be read: ") + std::strerror(errno), "name an existing file that you may read", path};
    std::getline(file, line);
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) return Fault{"has no token in its first line", "write the token that garner token printed", path};
    return line;
}

}   // namespace

int make_token(std::string const& name, admin::Role role, std::ostream& out, std::ostream& err) {
    auto const token = new_token();
    nlohmann::ordered_json const line{
        {"name", name}, {"role", admin::name_of(role)}, {"sha256", admin::hex_of(admin::digest_of(token))}};
    auto const text = line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    auto const loaded = config::load_text("token", "{\"admin\": {\"tokens\": [" + text + "]}}", {}, config::NamedFiles::left);
    for (auto const& fault : loaded.faults) err << "garner: token: " << fault.text << "; " << fault.mend << "\n";
    if (!loaded.faults.empty()) return exit_failed;
    out << token << "\n" << text << "\n";
    return exit_done;
}

Result<std::string> token_of(config::CommandLine const& line) {
    auto const* const variable = std::getenv("GARNER_TOKEN");
    auto token = Result<std::string>(std::string(variable ? variable : ""));
    if (!line.token_file.empty()) token = read_token(line.token_file);
    if (!token || token->empty() || !admin::bearer_token("Bearer " + *token).empty()) return token;
    return Fault{"a token has letters, digits and \"-._~+/=\" only", "write the token that garner token printed",
                 line.token_file.empty() ? "GARNER_TOKEN" : line.token_file};
}

}   // namespace garner::app
