#include "config/import_command.hpp"

#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

#include "config/load.hpp"
#include "import/squid_conf.hpp"
#include "util/bytes.hpp"
#include "util/exit_code.hpp"

namespace garner::config {
namespace {

namespace fs = std::filesystem;

constexpr Bytes import_max = 64 * MiB;
constexpr int exit_needs_you = 2;

Result<std::string> text_of(fs::path const& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) return garner::Fault{"is a directory", "name the file in it"};
    // A device or a pipe may have no end.
    if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return garner::Fault{"is no regular file"};
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return garner::Fault{std::strerror(errno)};
    if (fs::file_size(path, error) > import_max) return garner::Fault{"is larger than 64 MiB"};
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (file.bad()) return garner::Fault{std::strerror(errno)};
    return text;
}

/// The files named in a squid.conf: relative names are beside it.
class Beside {
public:
    explicit Beside(std::string const& file) : folder_(fs::absolute(file).parent_path()) {}

    fs::path path_of(std::string const& name) const { return fs::path(name).is_absolute() ? fs::path(name) : folder_ / name; }

    std::vector<std::string> find(std::string const& pattern) const {
        glob_t found{};
        std::vector<std::string> paths;
        if (::glob(path_of(pattern).c_str(), 0, nullptr, &found) == 0)
            paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
        ::globfree(&found);
        return paths;
    }

private:
    fs::path folder_;
};

/// The result must pass `garner check` on this machine.
std::string why_not(std::string const& key, std::string const& value) {
    std::vector<std::string> const sets{key + "=" + value};
    auto const loaded = load_defaults(sets, NamedFiles::tried);
    auto const fault = std::ranges::find_if(loaded.faults, [&](Fault const& one) { return one.key.starts_with(key); });
    return fault == loaded.faults.end() ? std::string() : fault->text;
}

}   // namespace

int import_command(std::string const& file, std::ostream& out, std::ostream& err) {
    auto const text = text_of(file);
    if (!text) {
        err << "garner: " << file << ": cannot be read: " << text.fault().text() << "\n";
        return exit_failed;
    }
    Beside const beside(file);
    importing::Files const files{.read = [&](std::string const& path) { return text_of(beside.path_of(path)); },
                                 .find = [&](std::string const& pattern) { return beside.find(pattern); },
                                 .locate = [&](std::string const& path) { return beside.path_of(path).string(); },
                                 .why_not = why_not};
    auto const imported = importing::import_squid(file, *text, files);
    if (!imported) {
        err << "garner: " << imported.fault().text() << "\n";
        return exit_failed;
    }
    out << imported->configuration << std::flush;
    err << imported->report;
    if (!out) return exit_failed;
    return imported->needs_you ? exit_needs_you : exit_done;
}

}   // namespace garner::config
