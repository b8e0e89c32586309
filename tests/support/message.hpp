// HTTP/1 messages as the actors see them: a forgiving reader that keeps every byte for the test to look at.
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
    std::string start;   // the start line
    Fields fields;

    bool has(std::string_view name) const { return !all(name).empty(); }
    std::vector<std::string> all(std::string_view name) const;
    /// All lines of that name joined with ", "; empty when there is none.
    std::string field(std::string_view name) const;

    std::string method() const;
    std::string target() const;
    std::string version() const;   // "HTTP/1.1", of requests and responses
    int status() const;            // 0 when this is not a status line
    std::string text() const;      // as on the wire
};

/// Takes the head at the start of `buffer` out of it; nothing while it is incomplete.
std::optional<Head> take_head(std::string& buffer);

/// Decodes one body as it comes.
class Body {
public:
    static Body of_request(Head const&);
    static Body of_response(Head const&, std::string_view method);

    /// Takes what belongs to the body out of `buffer`.
    void take(std::string& buffer);
    /// The peer has ended its side.
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

/// `size` bytes that differ everywhere and depend on `seed`: a crossed or shifted body is noticed.
std::string pattern(std::size_t size, unsigned seed = 1);

}   // namespace garner::test
