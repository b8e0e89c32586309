// Reads the memory objects of a former process, behind the first requests.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "cache/restoration.hpp"
#include "store/object_stream.hpp"
#include "util/clock.hpp"

namespace garner::app {

/// Works on a thread of its own.
class Restoring {
public:
    enum class Pace : std::uint8_t {
        fast,
        behind_requests   // workers get the processor first
    };
    enum class Asks : bool {
        no,
        yes   // requests that miss an object ask for it on the socket
    };
    /// Owns the descriptor: of a file, or of a socket. `from`: for the log. Before the workers run.
    /// `former`: see cache::Restoration.
    Restoring(cache::Cache& cache, int descriptor, std::string from, Pace pace, std::uint64_t former = 0, Asks asks = Asks::no);
    /// Leaves the rest.
    ~Restoring();

    /// Waits at most `patience` for the end.
    void wait(milliseconds patience) const;
    bool is_over() const { return over_; }

private:
    void run(Pace pace);
    bool read();
    void take_records();
    void tell(SteadyTime begun) const;

    bool ask(std::string_view key) const;

    int const descriptor_;
    std::string const from_;
    cache::Wanted& wanted_;
    std::optional<cache::Restoration> restoration_;
    store::RecordStream stream_;
    std::atomic<bool> stopped_{false}, over_{false};
    std::thread thread_;
};

}   // namespace garner::app
