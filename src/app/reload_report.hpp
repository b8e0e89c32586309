// The result of a reload, for the log and for the command that asked for it. Pure.
#pragma once
#include <string>
#include <vector>

#include "config/fault.hpp"
#include "config/key_changes.hpp"
#include "proxy/used_certificates.hpp"
#include "store/disk_options.hpp"

namespace garner::app {

struct ReloadReport {
    std::vector<config::Fault> faults;   // not empty: the configuration is refused, and nothing has changed
    std::vector<config::Fault> notices;
    std::vector<config::KeyChange> changes;   // of keys; those that need a takeover have not changed
    std::vector<std::string> new_certificates = {}, removed_certificates = {};   // see proxy::new_certificates()

    bool refused() const { return !faults.empty(); }
    /// Adds the differences. A renewed certificate is a new one, and a removed one.
    void note_certificates(proxy::UsedCertificates const& before, proxy::UsedCertificates const& after);
    /// A notice if all objects on disk will be lost: records lie anywhere in a store, so none can be made smaller.
    void note_disk(store::DiskOptions const& before, store::DiskOptions const& after);
    /// The keys that wait for a takeover.
    std::vector<std::string> pending() const;
    /// "configuration reloaded: 3 keys changed; 1 new certificate; 1 key waits for a takeover: workers"
    std::string summary(bool shown_only = false) const;
    /// 0 applied, 1 refused, 3 applied but for the pending keys.
    int exit_code() const;
    std::vector<std::string> certificate_lines() const;
    /// Faults, notices, changes, certificates, and last a line that sums up. `shown_only`: nothing was applied.
    std::vector<std::string> lines(bool shown_only) const;
};

}   // namespace garner::app
