// The URL-seen service for crawlers: HTTP/1.1, batches, partitions by host.
#pragma once
#include <memory>
#include <string>

#include "seen/options.hpp"
#include "util/result.hpp"

namespace garner::web {
class HttpService;
}

namespace garner::seen {

class ServiceState;

/// Has one thread for connections and one for the set. docs/reference/url-seen-api.md describes requests and replies.
class Service {
public:
    /// Fails on an option that does not fit, an address in use, a directory in use.
    /// `handed`: as in web::HttpService.
    static Result<std::unique_ptr<Service>> open(Options const&, int handed = -1);
    /// Stops the service, too.
    ~Service();

    void start();
    /// Waits at most Options::drain for batches in progress, and answers them. Then synchronizes and closes the set. Fails if
    /// the set may not survive. It cannot be started again.
    Result<void> stop();
    /// The address that it listens on: "127.0.0.1:3132".
    std::string address() const;
    /// The listening socket, until stop().
    int descriptor() const;
    /// For example "runs, 12345 URLs".
    std::string set_text() const;

private:
    Service();

    std::unique_ptr<web::HttpService> http_;
    std::unique_ptr<ServiceState> state_;   // its timers and connections are those of the loop
};

}   // namespace garner::seen
