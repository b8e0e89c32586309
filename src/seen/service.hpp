// The service a crawler asks which URLs it has seen: HTTP/1.1, batches, partitions by host.
#pragma once
#include <memory>
#include <string>

#include "seen/options.hpp"

namespace garner::seen {

/// A loop on a thread of its own, and another thread for the set. docs/url_seen.md says what it is asked and answers.
class Service {
public:
    /// nullptr with one line in `fault`: an option that does not fit, an address in use, a directory in use.
    static std::unique_ptr<Service> open(Options const&, std::string& fault);
    /// Stops it, too.
    ~Service();

    void start();
    /// Batches under way get Options::drain to come in; what has come is answered. Then the set is made to survive and
    /// closed. Empty, or why it may not survive. Not to be started again.
    std::string stop();
    /// Where it really listens: "127.0.0.1:3132".
    std::string const& address() const;
    /// Such as "runs, 12345 URLs".
    std::string set_text() const;

private:
    struct Inside;
    explicit Service(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace garner::seen
