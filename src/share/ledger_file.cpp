#include "share/ledger_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace garner::share {

namespace {

// Far above what 100,000 subjects need: such a file is another one.
constexpr Bytes size_max = 256 * MiB;

std::string text_of(std::vector<LedgerRow> const& rows) {
    std::string text;
    for (auto const& row : rows) append_row(row, text);
    return text;
}

}   // namespace

LedgerFile::LedgerFile(std::string directory, io::Faults* faults)
    : directory_(std::move(directory)), path_(directory_ + "/quotas"), faults_(faults) {}

Fault LedgerFile::trouble(std::string const& what, int error) const {
    if (error == EWOULDBLOCK) return {path_ + " is in use by another process", "give each proxy its own state.path"};
    return {path_ + " " + what + ": " + io::text_of_error(error), "free space, or make state.path writable"};
}

Result<io::File> LedgerFile::open_locked(std::string const& path, io::File::Mode mode) const {
    auto opened = io::File::open(path, mode, faults_);
    if (opened.error != 0) return trouble("cannot be opened", opened.error);
    if (int const error = opened.file.lock(); error != 0) return trouble("cannot be locked", error);
    // Another process may have put a new file in its place before the lock.
    if (path == path_ && !opened.file.is_at(path)) return trouble("was replaced", EAGAIN);
    return std::move(opened.file);
}

Result<Ledger> LedgerFile::open() {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);   // the file tells why this fails
    auto file = open_locked(path_, io::File::Mode::create_here);
    if (!file) return file.fault();
    auto ledger = read(*file);
    if (!ledger) return ledger;
    size_ = file->size() - ledger->torn_bytes;
    rows_ = ledger->rows.size() + ledger->damaged;
    file_ = *std::move(file);
    return ledger;
}

Result<Ledger> LedgerFile::read_only() const {
    auto const file = open_locked(path_, io::File::Mode::read);
    if (!file) return file.fault();
    return read(*file);
}

Result<Ledger> LedgerFile::read(io::File const& file) const {
    if (file.size() > size_max) return Fault{path_ + " is larger than any ledger", "remove it"};
    std::string text(file.size(), '\0');
    if (auto const read = file.read_at(0, text); read.error != 0) return trouble("cannot be read", read.error);
    return parse_ledger(text);
}

Result<void> LedgerFile::append(std::vector<LedgerRow> const& rows) {
    std::string text(size_ == 0 ? ledger_head : std::string_view());
    text += text_of(rows);
    if (auto const written = file_.write_at(size_, text); written.error != 0) {
        (void)file_.resize(size_);   // otherwise a later, shorter write would leave whole rows of this one behind it
        return trouble("cannot be written", written.error);
    }
    size_ += text.size();
    rows_ += rows.size();
    return {};
}

/// The former file stays until the new one is on disk.
Result<void> LedgerFile::rewrite(std::vector<LedgerRow> const& rows) {
    auto const fresh = path_ + ".new";
    std::error_code error;
    std::filesystem::remove(fresh, error);   // a killed process may have left it
    auto file = open_locked(fresh, io::File::Mode::create_here);
    if (!file) return file.fault();
    auto const text = std::string(ledger_head) + text_of(rows);
    auto const written = file->write_at(0, text);
    int const failed = written.error != 0 ? written.error : file->sync();
    if (failed == 0 && std::rename(fresh.c_str(), path_.c_str()) == 0) {
        file_ = *std::move(file);
        size_ = text.size();
        rows_ = rows.size();
        return {};
    }
    auto const why = failed != 0 ? failed : errno;
    std::filesystem::remove(fresh, error);
    return trouble("cannot be replaced", why);
}

}   // namespace garner::share
