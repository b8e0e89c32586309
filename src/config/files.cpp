// Checks files before they are needed.
#include "config/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "config/auth_files.hpp"
#include "config/bump_files.hpp"
#include "config/form.hpp"
#include "config/run_as.hpp"
#include "net/certificate.hpp"
#include "net/client_ca.hpp"
#include "net/tls_context.hpp"
#include "store/store_file.hpp"
#include "util/units.hpp"

namespace garner::config {
namespace {

namespace fs = std::filesystem;

/// The rights of the account that Garner switches to, or those of this process.
class Rights {
public:
    /// Those of this process.
    Rights() = default;
    explicit Rights(Config const& config) {
        auto const account = account_to_take(config);
        if (!account || !*account) return;   // the error is reported by try_user()
        if (io::access_error(**account, "/", F_OK))
            account_ = *account;
        else
            untaken_ = (*account)->name;
    }
    /// The account whose rights this process cannot take; empty: none.
    std::string const& untaken() const { return untaken_; }

    /// True if the account has these rights; otherwise why() has the reason.
    bool have(int rights, fs::path const& path) {
        if (account_)
            error_ = io::access_error(*account_, path.string(), rights).value_or(EAGAIN);
        else
            error_ = ::faccessat(AT_FDCWD, path.c_str(), rights, AT_EACCESS) == 0 ? 0 : errno;
        return error_ == 0;
    }
    std::string why() const {
        std::string const whom = account_ && error_ == EACCES ? " for user " + account_->name : "";
        return std::strerror(error_) + whom;
    }
    /// True if the start gives files to an account.
    bool are_of_account() const { return account_.has_value(); }

private:
    std::optional<io::Account> account_;
    std::string untaken_;
    int error_ = 0;
};

fs::path folder_of(fs::path const& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

void try_user(Reader& reader, Config const& config) {
    if (auto const account = account_to_take(config); !account)
        reader.fault({"user"}, account.fault().what, R"(create it with "adduser --system --group", or write "root" to stay root)");
    if (!io::is_root() && !config.user.empty() && !io::find_account(config.user))
        reader.notice({"user"}, "there is no user " + config.user + " on this machine",
                      "create the user before Garner is started as root");
}

void try_rights(Reader& reader, Rights const& rights) {
    if (!rights.untaken().empty())
        reader.notice({"user"}, "this process cannot take the rights of user " + rights.untaken(),
                      "files are checked with its own rights; run garner check as that user");
}

void try_certificates(Reader& reader, net::TlsOptions const& tls) {
    if (tls.ca_file.empty()) return;
    if (auto const context = net::TlsContext::make(tls); !context)
        reader.fault({"tls", "ca_file"}, context.fault().text(),
                     R"(name a file of PEM certificates, or write "" to use those of the system)");
}

/// The start reads the file as root, and a reload with these rights.
void try_reload(Reader& reader, std::string const& file, Rights& rights) {
    if (rights.are_of_account() && !rights.have(R_OK, file))
        reader.notice(in_quotes(file) + " cannot be read by a reload: " + rights.why(),
                      "give this user read access, such as by chgrp and chmod g+r; until then SIGHUP changes nothing");
}

/// The start and a reload read the file with these rights. A missing file is reported elsewhere.
void try_read(Reader& reader, std::string const& file, Rights& rights, char const* mend) {
    std::error_code error;
    if (rights.are_of_account() && fs::exists(file, error) && !rights.have(R_OK, file))
        reader.fault(in_quotes(file) + " cannot be read by the start or a reload: " + rights.why(), mend);
}

void try_ca_rights(Reader& reader, bump::Options const& options, Rights& rights) {
    Reader::Step const section(reader, std::string_view("bump"));
    for (auto const& [name, file] : {std::pair("ca_chain", options.ca_chain), std::pair("ca_key", options.ca_key)}) {
        Reader::Step const key(reader, std::string_view(name));
        try_read(reader, file, rights, "make this user its owner (chown), and let it enter the directory");
    }
}

void try_certificate(Reader& reader, net::CertificateFiles const& files, Rights& rights) {
    auto const certificate = net::read_certificate(files);
    if (!certificate) {
        auto const& fault = certificate.fault();
        reader.fault({fault.where == files.chain ? "chain" : "key"}, fault.where + ": " + fault.what, fault.mend);
        return;
    }
    if (auto const notice = net::expiry_notice((*certificate)->not_after(), wall_now()))
        reader.notice({"chain"}, files.chain + ": the certificate " + *notice, "renew it, then send SIGHUP");
    if (auto const notice = net::key_file_notice(files.key))
        reader.notice({"key"}, notice->where + ": " + notice->what, notice->mend);
    for (auto const& [name, file] : {std::pair("chain", files.chain), std::pair("key", files.key)}) {
        Reader::Step const key(reader, std::string_view(name));
        try_reload(reader, file, rights);
    }
}

void try_client_ca(Reader& reader, std::string const& file, Rights& rights) {
    if (file.empty()) return;
    Reader::Step const key(reader, std::string_view("client_ca"));
    auto const ca = net::read_client_ca(file);
    if (!ca) {
        reader.fault(file + ": " + ca.fault().what, ca.fault().mend);
        return;
    }
    for (auto const& certificate : ca->certificates)
        if (auto const notice = net::expiry_notice(net::not_after(certificate.get()), wall_now()))
            reader.notice(file + ": " + net::subject_of(certificate.get()) + " " + *notice, "replace it, then send SIGHUP");
    try_reload(reader, file, rights);
}

void try_listen_tls(Reader& reader, std::size_t index, net::ListenTls const& tls, Rights& rights) {
    Reader::Step const listener(reader, Reader::Below{"listen", index, "tls"});
    for (std::size_t i = 0; i < tls.certificates.size(); ++i) {
        Reader::Step const item(reader, Reader::Below{"certificates", i});
        try_certificate(reader, tls.certificates[i], rights);
    }
    try_client_ca(reader, tls.client_ca, rights);
}

void try_peer_tls(Reader& reader, std::size_t index, icp::PeerTls const& tls, Rights& rights) {
    Reader::Step const peer(reader, Reader::Below{"peers", index});
    try_certificates(reader, tls.trust());
    Reader::Step const key(reader, std::string_view("tls"));
    if (!tls.ca_file.empty()) {
        Reader::Step const ca_file(reader, std::string_view("ca_file"));
        try_reload(reader, tls.ca_file, rights);
    }
    if (!tls.chain.empty() && !tls.key.empty()) try_certificate(reader, tls.certificate(), rights);
}

void try_login_files(Reader& reader, auth::Options const& options, Rights& rights) {
    try_logins(reader, options);
    Reader::Step const key(reader, std::string_view("auth"));
    for (auto const& file : watched_files(options))
        try_read(reader, file, rights,
                 "give this user read access, such as by chgrp and chmod g+r, and let it enter the directory");
}

/// True if the start makes the account the owner of the access log.
bool gives_log(Config const& config, Rights& rights) {
    return rights.are_of_account() && can_give_log(config) && rights.have(X_OK, folder_of(config.proxy.log.access) / ".");
}

std::optional<garner::Fault> log_fault(Config const& config, Rights& rights) {
    fs::path const file = config.proxy.log.access;
    std::error_code error;
    if (fs::is_directory(file, error)) return garner::Fault{in_quotes(file.string()) + " is a directory", "name a file in it"};
    if (gives_log(config, rights)) return std::nullopt;
    if (fs::exists(file, error)) {
        if (rights.have(W_OK, file)) return std::nullopt;
        return garner::Fault{in_quotes(file.string()) + " cannot be written: " + rights.why(), "change its owner or mode"};
    }
    if (rights.have(W_OK | X_OK, folder_of(file) / ".")) return std::nullopt;
    return garner::Fault{"no file can be created in " + in_quotes(folder_of(file).string()) + ": " + rights.why(),
                         "create this directory and give the user that runs garner write access"};
}

void try_access_log(Reader& reader, Config const& config, Rights& rights) {
    auto const& file = config.proxy.log.access;
    if (file.empty() || file == "-") return;
    Reader::Step const key(reader, Reader::Below{"log", "access"});
    if (auto const fault = log_fault(config, rights)) return void(reader.fault(fault->what, fault->mend));
    auto const directory = folder_of(file);
    if (gives_log(config, rights) && !rights.have(W_OK | X_OK, directory / "."))
        reader.notice("no new file can be created in " + in_quotes(directory.string()) + " after a rename: " + rights.why(),
                      "give this user write access to the directory");
}

void try_hosts(Reader& reader, std::string const& file, Rights& rights) {
    if (file.empty() || file == net::ResolverOptions{}.hosts_file || rights.have(R_OK, file)) return;
    reader.notice({"dns", "hosts_file"}, in_quotes(file) + " cannot be read: " + rights.why(),
                  "give the user that runs garner read access; until then no names come from it");
}

/// The proxy can run without the disk tier: only a path that can never hold it is a fault.
void try_disk(Reader& reader, Config const& config, Rights& rights) {
    fs::path const path = config.disk.path;
    if (path.empty()) return;
    Reader::Step const key(reader, Reader::Below{"disk", "path"});
    std::error_code error;
    if (fs::is_regular_file(path, error))
        return void(reader.fault(in_quotes(path.string()) + " is a file", "name a directory, or a block device"));
    if (rights.are_of_account() && can_give_disk(config) && rights.have(X_OK, folder_of(path) / ".")) return;
    auto const place = fs::exists(path, error) ? path : folder_of(path);
    int const wanted = fs::is_block_file(path, error) ? R_OK | W_OK : W_OK | X_OK;
    if (!rights.have(wanted, place))
        reader.notice(in_quotes(place.string()) + " cannot be written: " + rights.why(),
                      "give the user that runs garner write access; until then nothing is stored on disk");
}

/// A file that the start cannot remove is not read.
void try_memory_file(Reader& reader, std::string const& file, Rights& rights) {
    if (file.empty()) return;
    Reader::Step const key(reader, Reader::Below{"memory", "save"});
    std::error_code error;
    if (fs::is_directory(file, error)) return void(reader.fault(in_quotes(file) + " is a directory", "name a file in it"));
    auto const directory = folder_of(file);
    if (!rights.have(W_OK | X_OK, directory / "."))
        reader.fault("no file can be created in " + in_quotes(directory.string()) + ": " + rights.why(),
                     "create this directory and give the user that runs garner write access");
}

/// The start fails without the directory. A service manager may create it only then.
void try_control(Reader& reader, std::string const& path, Rights& rights) {
    if (path.empty()) return;
    auto const directory = folder_of(path);
    if (!rights.have(W_OK | X_OK, directory / "."))
        reader.notice({"control", "path"}, "no socket can be created in " + in_quotes(directory.string()) + ": " + rights.why(),
                      "create this directory before the start, and give the user that runs garner write access");
}

/// The path, or the last directory above it that exists.
fs::path existing_part(fs::path path) {
    std::error_code error;
    while (!fs::exists(path, error) && path != folder_of(path)) path = folder_of(path);
    return path;
}

/// The proxy can run without the ledger: only a path that can never hold it is a fault. The start makes missing directories.
void try_state(Reader& reader, Config const& config, Rights& rights) {
    fs::path const given = config.state.path, path = given.has_filename() ? given : given.parent_path();
    if (path.empty()) return;
    Reader::Step const key(reader, Reader::Below{"state", "path"});
    std::error_code error;
    auto const place = existing_part(path);
    if (fs::exists(place, error) && !fs::is_directory(place, error))
        return void(reader.fault(in_quotes(place.string()) + " is no directory", "name a directory"));
    if (rights.are_of_account() && can_give_state(config) && rights.have(X_OK, folder_of(path) / ".")) return;
    if (rights.have(W_OK | X_OK, place / ".")) return;
    bool const is_there = place == path;
    reader.notice((is_there ? "no file can be created in " : "no directory can be created in ") + in_quotes(place.string()) + ": " +
                      rights.why(),
                  (is_there ? "" : "create " + path.string() + ", and ") +
                      "give the user that runs garner write access; until then a restart forgets the quotas");
}

/// Compares disk.size with the file system's free space plus the space that the store's file already occupies.
void try_disk_size(Reader& reader, store::DiskOptions const& disk) {
    struct statvfs system;
    std::error_code error;
    if (disk.path.empty() || !fs::is_directory(disk.path, error) || ::statvfs(disk.path.c_str(), &system) != 0) return;
    struct stat file;
    Bytes const taken = ::stat(store::disk::file_of(disk.path).c_str(), &file) == 0 ? static_cast<Bytes>(file.st_blocks) * 512 : 0;
    Bytes const room = static_cast<Bytes>(system.f_bavail) * system.f_frsize + taken;
    if (disk.size > room)
        reader.notice({"disk", "size"},
                      "is larger than the " + size_text(room) + " available in the file system of " + in_quotes(disk.path),
                      "lower disk.size, or free space");
}

/// The start treats such a file as empty. A reload would forget its names.
void try_hosts_of_reload(Reader& reader, std::string const& file, Rights& rights) {
    if (file.empty() || file == net::ResolverOptions{}.hosts_file || rights.have(R_OK, file)) return;
    reader.fault({"dns", "hosts_file"}, in_quotes(file) + " cannot be read: " + rights.why(),
                 "correct its path, or give the user that runs garner read access");
}

/// The files that a reload reads, too.
void try_read_files(Reader& reader, Config const& config, Rights& rights) {
    try_certificates(reader, config.tls);
    for (std::size_t i = 0; i < config.proxy.listen.size(); ++i)
        if (auto const& tls = config.proxy.listen[i].tls) try_listen_tls(reader, i, *tls, rights);
    for (std::size_t i = 0; i < config.mesh.peers.size(); ++i)
        if (auto const& tls = config.mesh.peers[i].tls) try_peer_tls(reader, i, *tls, rights);
    try_interception(reader, config.bump);
    try_ca_rights(reader, config.bump, rights);
    try_login_files(reader, config.auth, rights);
}

}   // namespace

void try_files_of_reload(Reader& reader, Config const& config) {
    Rights own;
    try_read_files(reader, config, own);
    try_hosts_of_reload(reader, config.dns.hosts_file, own);
    try_memory_file(reader, config.memory.save, own);
}

void try_files(Reader& reader, Config const& config) {
    try_user(reader, config);
    Rights rights(config);
    try_rights(reader, rights);
    try_read_files(reader, config, rights);
    try_access_log(reader, config, rights);
    try_hosts(reader, config.dns.hosts_file, rights);
    try_disk(reader, config, rights);
    try_disk_size(reader, config.disk);
    try_memory_file(reader, config.memory.save, rights);
    try_control(reader, config.control.path, rights);
    try_state(reader, config, rights);
}

}   // namespace garner::config
