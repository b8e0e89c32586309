// Loads a configuration: text to Document to Config.
#include "config/load.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "config/files.hpp"
#include "config/keys.hpp"
#include "config/rule_context.hpp"
#include "config/rule_tests.hpp"
#include "io/privileges.hpp"
#include "util/bytes.hpp"

namespace garner::config {
namespace {

constexpr Bytes file_max = 16 * MiB;

bool has_sources_of_users(Json const& root) {
    auto const auth = root.find("auth");
    if (auth == root.end() || !auth->is_object()) return false;
    auto const sources = auth->find("sources");
    return sources != auth->end() && !sources->empty();
}

Loaded load(Document document, std::span<std::string const> sets, NamedFiles files) {
    for (auto const& set : sets) document.set(set);

    Loaded loaded;
    RuleContext rules;
    rules.has_users = has_sources_of_users(document.root());
    rules.reads_files = files != NamedFiles::left;
    Reader reader(document, key_paths, rules);
    // With invalid JSON every key would be missing or misread: only the overrides are reported further.
    if (!document.broken()) configuration().read(reader, document.root(), loaded.config);
    bool const complete = document.faults().empty() && reader.faults().empty();
    if (rules.reads_files && complete) run_rule_tests(reader, loaded.config);
    auto const failed_tests = reader.faults().size();
    if (files == NamedFiles::reloaded) try_files_of_reload(reader, loaded.config);
    if (files == NamedFiles::tried) try_files(reader, loaded.config);

    loaded.root = reader.root_in_present_names();
    loaded.only_tests_fail = complete && failed_tests > 0 && reader.faults().size() == failed_tests;
    loaded.faults = document.faults();
    loaded.faults.insert(loaded.faults.end(), reader.faults().begin(), reader.faults().end());
    loaded.notices = std::move(reader.notices());
    auto const earlier = [](Fault const& a, Fault const& b) {
        bool const a_set = a.file == "--set", b_set = b.file == "--set";
        return a_set != b_set ? b_set : a.line < b.line;
    };
    std::stable_sort(loaded.faults.begin(), loaded.faults.end(), earlier);
    std::stable_sort(loaded.notices.begin(), loaded.notices.end(), earlier);
    loaded.document = std::make_shared<Document const>(std::move(document));
    return loaded;
}

Loaded not_read(std::string const& path, std::string text, std::string mend) {
    Loaded loaded;
    loaded.faults.push_back({path, 0, "", std::move(text), std::move(mend)});
    return loaded;
}

bool has_secrets(Config const& config) {
    auto const has_login = [](icp::PeerOptions const& peer) { return !peer.login.empty() && !peer.passes_login(); };
    auto const& mesh = config.mesh;
    return !mesh.htcp.secret.empty() || !config.group.secret.empty() ||
           std::any_of(mesh.peers.begin(), mesh.peers.end(), has_login);
}

bool is_readable_by_all(std::string const& path) {
    std::error_code error;
    auto const rights = std::filesystem::status(path, error).permissions();
    return !error && (rights & std::filesystem::perms::others_read) != std::filesystem::perms::none;
}

}   // namespace

Fault Loaded::fault_at(garner::Fault const& fault) const {
    auto const key_end = fault.where.find(": ");
    auto const key = fault.where.substr(0, key_end);
    auto const detail = key_end == std::string::npos ? std::string() : fault.where.substr(key_end + 2) + ": ";
    if (!document) return {"", 0, key, detail + fault.what, fault.mend};
    return document->fault_at(key, detail + fault.what, fault.mend);
}

Loaded load_text(std::string const& name, std::string_view text, std::span<std::string const> sets, NamedFiles files) {
    return load(Document(name, text), sets, files);
}

Loaded load_defaults(std::span<std::string const> sets, NamedFiles files) { return load(Document(), sets, files); }

Loaded load_file(std::string const& path, std::span<std::string const> sets, NamedFiles files) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return not_read(path, "is a directory", "name the file in it");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        int const why = errno;
        // At a reload another user than the operator.
        auto const mend = why == EACCES ? "let user " + io::own_account_name() + " read it, such as by chgrp and chmod g+r"
                                        : std::string("name an existing configuration file");
        return not_read(path, std::string("cannot be read: ") + std::strerror(why), mend);
    }

    std::string text;
    for (std::size_t chunk = 64 * KiB; file && text.size() <= file_max; chunk *= 2) {
        auto const before = text.size();
        text.resize(before + chunk);
        file.read(text.data() + before, static_cast<std::streamsize>(chunk));
        text.resize(before + static_cast<std::size_t>(file.gcount()));
    }
    if (file.bad()) return not_read(path, std::string("cannot be read: ") + std::strerror(errno), "");
    if (text.size() > file_max) return not_read(path, "is larger than 16 MiB", "name a configuration file");
    auto loaded = load_text(path, text, sets, files);
    if (has_secrets(loaded.config) && is_readable_by_all(path))
        loaded.notices.push_back({path, 0, "", "has a secret and is readable by every user of this machine", "chmod o-r " + path});
    return loaded;
}

}   // namespace garner::config
