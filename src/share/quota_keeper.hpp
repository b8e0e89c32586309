// Keeps what quotas have counted in a ledger, over restarts.
#pragma once
#include <string>
#include <thread>

#include "share/ledger_file.hpp"
#include "share/quotas.hpp"
#include "util/mutex.hpp"

namespace garner::share {

/// Writes on a thread of its own. Its trouble with the disk is logged, shown by Quotas::figures(), and ends nothing.
/// Used by the main thread and by a takeover, one after the other.
class QuotaKeeper {
public:
    /// A process that is killed loses what it has counted since the last write: at most 10 s, with the time of the write.
    static constexpr milliseconds interval{8'000};

    /// `quotas` outlives it. `directory`: empty: nothing is kept.
    QuotaKeeper(Quotas& quotas, std::string directory, io::Faults* faults = nullptr);
    ~QuotaKeeper() { stop(); }

    /// Restores what the ledger has. Before start().
    void load();
    /// The counts came from another process: the ledger is written anew. Before start().
    void begin_anew() { wants_rewrite_ = has_rows_ = true; }
    void start();
    /// Writes what has changed, and lets another process open the ledger. start() may follow, after begin_anew().
    void stop();
    /// One write; for tests.
    void write() EXCLUDES(mutex_);

private:
    void run();
    bool open();
    void take(Ledger ledger);
    void fail(Fault const& fault);
    void note();

    Quotas& quotas_;
    bool const keeps_;
    LedgerFile file_;
    LedgerFigures figures_;
    bool wants_rewrite_ = false;
    bool has_rows_ = false;   // the rows of the ledger are in memory
    std::thread thread_;
    Mutex mutex_;
    ConditionVariable wake_;
    bool stops_ GUARDED_BY(mutex_) = false;
};

}   // namespace garner::share
