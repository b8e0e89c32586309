// The file of the ledger: rows are appended; a new file replaces one that has grown.
#pragma once
#include <string>
#include <vector>

#include "io/file.hpp"
#include "share/ledger.hpp"
#include "util/result.hpp"

namespace garner::share {

/// Waits for the disk. Used on one thread at a time.
class LedgerFile {
public:
    /// `faults` outlives the file; for tests.
    explicit LedgerFile(std::string directory, io::Faults* faults = nullptr);

    std::string const& path() const { return path_; }
    bool is_open() const { return static_cast<bool>(file_); }
    /// Makes the directory and the file if they are missing, takes the lock of the file, and reads it.
    Result<Ledger> open();
    /// Reads a file that cannot be opened for writing, unless another process has its lock.
    Result<Ledger> read_only() const;
    /// Another process may open it.
    void close() { file_.close(); }

    /// Adds rows after those that were written. After a fault they are not there, and a later call writes at the same place.
    Result<void> append(std::vector<LedgerRow> const& rows);
    /// Replaces all rows.
    Result<void> rewrite(std::vector<LedgerRow> const& rows);
    /// Rows in the file, with former ones of the same subject.
    std::size_t rows() const { return rows_; }

private:
    Result<io::File> open_locked(std::string const& path, io::File::Mode mode) const;
    Result<Ledger> read(io::File const& file) const;
    Fault trouble(std::string const& what, int error) const;

    std::string const directory_, path_;
    io::Faults* const faults_;
    io::File file_;
    Bytes size_ = 0;   // up to the end of the last whole row
    std::size_t rows_ = 0;
};

}   // namespace garner::share
