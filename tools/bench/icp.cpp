// Measures ICP replies a second and the CPU time of one.
//
//   icp ADDRESS PORT URLS SOURCES SECONDS [PID]
//
// URLS is a file of absolute URLs, one a line, which are queried in turn. SOURCES is the number of local ports that send. A
// proxy whose workers share its port answers one port on one worker, and many ports on all. PID is the proxy's, if given: its
// CPU time during the measurement, user and system, is divided by the replies. Prints
// {"answers": N, "hits": N, "others": N, "lost": N, "per_second": X, "cpu_us": X}; `lost` counts queries without a reply in time.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

using Clock = std::chrono::steady_clock;

constexpr unsigned batch = 32;
constexpr long in_flight = 512;   // limit for all sources together: full sockets would drop more
constexpr int patience = 50;      // ms without any reply, after which the queries in flight are lost
constexpr std::size_t longest = 2'048;

long answers = 0, hits = 0, lost = 0;
std::uint32_t number = 0;

std::vector<std::string> queries_of(char const* file) {
    std::vector<std::string> queries;
    std::ifstream in(file);
    for (std::string url; std::getline(in, url);) {
        auto const length = 24 + url.size() + 1;
        if (url.empty() || length > longest) continue;
        std::string query(24, '\0');
        query[0] = 1;   // QUERY, version 2
        query[1] = 2;
        query[2] = static_cast<char>(length >> 8);
        query[3] = static_cast<char>(length);
        queries.push_back(query + url + '\0');
    }
    return queries;
}

/// CPU time of the process in seconds; 0 without such a process.
double cpu_of(char const* pid) {
    std::ifstream in("/proc/" + std::string(pid) + "/stat");
    std::string const text{std::istreambuf_iterator<char>(in), {}};
    auto const after_name = text.rfind(')');
    if (after_name == text.npos) return 0;
    long user = 0, system = 0;
    std::sscanf(text.c_str() + after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system);
    return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

class Source {
public:
    explicit Source(sockaddr_in const& to) : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
        if (fd_ < 0 || connect(fd_, reinterpret_cast<sockaddr const*>(&to), sizeof to) != 0) {
            std::perror("icp: connect");
            std::exit(1);
        }
        for (unsigned i = 0; i < batch; ++i) {
            pieces_[i] = {bytes_.get() + i * longest, longest};
            headers_[i].msg_hdr.msg_iov = &pieces_[i];
            headers_[i].msg_hdr.msg_iovlen = 1;
        }
    }
    int fd() const { return fd_; }
    long waits_for() const { return waits_for_; }

    void ask(std::vector<std::string> const& queries, std::size_t& next, unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            auto const& query = queries[next++ % queries.size()];
            if (++number == 0) ++number;
            std::memcpy(pieces_[i].iov_base, query.data(), query.size());
            auto const wire = htonl(number);
            std::memcpy(static_cast<char*>(pieces_[i].iov_base) + 4, &wire, 4);
            pieces_[i].iov_len = query.size();
        }
        waits_for_ += std::max(sendmmsg(fd_, headers_, count, 0), 0);
    }
    /// Returns the number of replies received.
    long hear() {
        for (auto& piece : pieces_) piece.iov_len = longest;
        int const n = recvmmsg(fd_, headers_, batch, 0, nullptr);
        for (int i = 0; i < n; ++i) {
            ++answers;
            hits += *static_cast<char const*>(pieces_[i].iov_base) == 2;
        }
        long const came = std::max(n, 0);
        waits_for_ -= std::min(came, waits_for_);
        return came;
    }
    void give_up() {
        lost += waits_for_;
        waits_for_ = 0;
    }

private:
    int fd_;
    long waits_for_ = 0;
    std::unique_ptr<char[]> bytes_ = std::make_unique<char[]>(batch * longest);
    mmsghdr headers_[batch]{};
    iovec pieces_[batch];
};

int main(int count, char** words) {
    if (count < 6) return std::fprintf(stderr, "icp: see the head of icp.cpp\n"), 2;
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(words[2])));
    auto const queries = queries_of(words[3]);
    auto const sources_wanted = std::atol(words[4]);
    if (inet_pton(AF_INET, words[1], &to.sin_addr) != 1 || queries.empty() || sources_wanted < 1)
        return std::fprintf(stderr, "icp: an IPv4 address, a port, a file of URLs and a number of sources\n"), 2;

    std::vector<std::unique_ptr<Source>> sources;
    std::vector<pollfd> waits;
    for (long i = 0; i < sources_wanted; ++i) {
        sources.push_back(std::make_unique<Source>(to));
        waits.push_back({sources.back()->fd(), POLLIN, 0});
    }
    long const of_each = std::max(in_flight / sources_wanted, 1L);
    auto const begun = Clock::now();
    auto const until = begun + std::chrono::duration<double>(std::atof(words[5]));
    auto const cpu_before = count > 6 ? cpu_of(words[6]) : 0;
    std::size_t next = 0;
    while (Clock::now() < until) {
        for (auto& source : sources)
            if (auto const room = std::min<long>(of_each - source->waits_for(), batch); room > 0)
                source->ask(queries, next, static_cast<unsigned>(room));
        bool const heard = poll(waits.data(), waits.size(), patience) > 0;
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (!heard) sources[i]->give_up();
            if (waits[i].revents) sources[i]->hear();
        }
    }
    auto const took = std::chrono::duration<double>(Clock::now() - begun).count();
    auto const cpu = count > 6 ? cpu_of(words[6]) - cpu_before : 0;
    std::printf("{\"answers\": %ld, \"hits\": %ld, \"others\": %ld, \"lost\": %ld, \"per_second\": %.0f, \"cpu_us\": %.2f}\n",
                answers, hits, answers - hits, lost, static_cast<double>(answers) / took,
                answers > 0 ? cpu * 1e6 / static_cast<double>(answers) : 0);
}
