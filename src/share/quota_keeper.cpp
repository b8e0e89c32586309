#include "share/quota_keeper.hpp"

#include <pthread.h>

#include "io/log.hpp"

namespace garner::share {

namespace {

constexpr std::size_t rewritten_at = 4;   // times the live rows
constexpr std::size_t few_rows = 1'000;   // are not worth a rewrite

}   // namespace

QuotaKeeper::QuotaKeeper(Quotas& quotas, std::string directory, io::Faults* faults)
    : quotas_(quotas), keeps_(!directory.empty()), file_(std::move(directory), faults) {
    if (keeps_) figures_.path = file_.path();
}

void QuotaKeeper::load() {
    if (keeps_ && open()) (void)quotas_.take_changes(wall_now());   // the ledger has them
    note();
}

/// A file that can only be read is read. After a start that could not do even that, its rows are added to what was counted since.
bool QuotaKeeper::open() {
    if (file_.is_open()) return true;
    auto ledger = file_.open();
    bool const is_open = static_cast<bool>(ledger);
    if (!is_open) {
        fail(ledger.fault());
        if (has_rows_) return false;
        ledger = file_.read_only();
    }
    if (ledger) take(*std::move(ledger));
    return is_open;
}

void QuotaKeeper::take(Ledger ledger) {
    if (!ledger.is_whole()) {
        figures_.damaged += ledger.damaged + (ledger.torn_bytes > 0 ? 1 : 0);
        spdlog::warn("{}: dropped {} damaged rows and {} bytes at its end; their counts are lost", file_.path(), ledger.damaged,
                     ledger.torn_bytes);
        wants_rewrite_ = true;
    }
    if (!std::exchange(has_rows_, true)) quotas_.add(last_rows(std::move(ledger.rows)));
}

void QuotaKeeper::start() {
    if (!keeps_) return;
    {
        MutexLock const lock(mutex_);
        stops_ = false;
    }
    thread_ = std::thread([this] { run(); });
}

void QuotaKeeper::stop() {
    if (!thread_.joinable()) return;
    {
        MutexLock const lock(mutex_);
        stops_ = true;
    }
    wake_.notify_all();
    thread_.join();
    file_.close();
}

void QuotaKeeper::run() {
    ::pthread_setname_np(::pthread_self(), "quotas");
    for (bool stops = false; !stops;) {
        {
            MutexLock const lock(mutex_);
            auto const until = steady_now() + interval;
            while (!stops_ && steady_now() < until) wake_.wait_until(mutex_, until);
            stops = stops_;
        }
        write();
    }
}

/// A failed write is repeated with all rows: those that were taken are no longer marked as changed.
void QuotaKeeper::write() {
    if (!keeps_ || !open()) return note();
    auto const now = wall_now();
    bool const is_full = file_.rows() > few_rows && file_.rows() > rewritten_at * quotas_.figures().subjects;
    bool const rewrites = wants_rewrite_ || is_full;
    auto const rows = rewrites ? quotas_.all_rows(now) : quotas_.take_changes(now);
    if (!rewrites && rows.empty() && figures_.trouble.empty()) return;
    auto const written = rewrites ? file_.rewrite(rows) : file_.append(rows);
    if (written) {
        if (!figures_.trouble.empty()) spdlog::info("{} is written again", file_.path());
        figures_.trouble.clear();
        figures_.rows += rows.size();
        figures_.rewrites += rewrites ? 1 : 0;
        wants_rewrite_ = false;
    } else {
        fail(written.fault());
        quotas_.mark_all();
    }
    note();
}

/// Logged when it begins.
void QuotaKeeper::fail(Fault const& fault) {
    ++figures_.failures;
    if (figures_.trouble.empty()) spdlog::error("{}; the counts of quotas are only in memory", fault.text());
    figures_.trouble = fault.what;
}

void QuotaKeeper::note() { quotas_.note_ledger(figures_); }

}   // namespace garner::share
