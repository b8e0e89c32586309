// The work of the main thread every second for a running server: warnings that workers cannot wait to log, and memory given back.
#pragma once
#include "proxy/certificate_watch.hpp"
#include "proxy/server.hpp"
#include "util/burst.hpp"

namespace garner::app {

/// Used on one thread.
class Upkeep {
public:
    explicit Upkeep(proxy::Server& server) : server_(server) {}

    /// Every second.
    void look();

private:
    void warn_of_users();
    void warn_of_dns();
    void warn_of_log();
    void warn_of_handshakes();
    void warn_of_certificates();
    void give_memory_back();

    proxy::Server& server_;
    proxy::AccessLog::Stats log_;   // at the last look
    proxy::CertificateWatch certificates_;
    Burst connections_;
    bool dns_was_silent_ = false;
    unsigned looks_ = 0;
    unsigned quiet_until_ = 0;   // the look from which failed handshakes are logged again
};

}   // namespace garner::app
