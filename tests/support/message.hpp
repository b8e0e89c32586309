// HTTP/1 messages for the actors: a lenient parser that keeps every byte for the test.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace garner::test {

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Head {
    std::string start;   // start line
    Fields fields;

    bool has(std::string_view name) const { return !all(name).empty(); }
    std::vector<std::string> all(std::string_view name) const;
    /// All lines of that name joined with ", "; empty if there is none.
    std::string field(std::string_view name) const;

    std::string method() const;
    std::string target() const;
    std::string version() const;   // "HTTP/1.1", of a request or response
    int status() const;            // 0 if it is no status line
    std::string text() const;      // the head as received
};

/// Removes the head from the start of `buffer`; empty while it is incomplete.
std::optional<Head> take_head(std::string& buffer);

/// Decodes one body incrementally.
class Body {
public:
    static Body of_request(Head const&);
    static Body of_response(Head const&, std::string_view method);

    /// Removes the body's bytes from `buffer`.
    void take(std::string& buffer);
    /// Call this when the peer has closed.
    void ended();

    bool done() const { return state_ == State::done; }
    bool cut_short() const { return cut_short_; }
    std::string const& bytes() const { return bytes_; }
    Fields const& trailers() const { return trailers_; }
    bool chunked() const { return chunked_; }

private:
    enum class State : std::uint8_t { length, size_line, chunk, chunk_end, trailers, until_close, done };
    bool step(std::string& buffer);

    State state_ = State::done;
    std::uint64_t left_ = 0;
    std::string bytes_;
    Fields trailers_;
    bool chunked_ = false;
    bool cut_short_ = false;
};

std::string chunk(std::string_view bytes, std::string_view extension = "");
std::string http_date(std::int64_t seconds_from_now = 0);
std::string lower(std::string_view);
bool same_name(std::string_view, std::string_view);

/// `size` bytes without repetitions that depend on `seed`, so that a swapped or shifted body is detected.
std::string pattern(std::size_t size, unsigned seed = 1);

}   // namespace garner::test
