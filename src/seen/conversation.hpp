// One connection of a crawler, and its requests one after the other.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "net/asio.hpp"
#include "net/waiter.hpp"
#include "seen/body_forms.hpp"
#include "seen/desk.hpp"
#include "util/ip.hpp"
#include "util/link.hpp"

namespace garner::seen {

/// In the service's list for as long as it lasts.
class Conversation : public Link {
public:
    using Stream = boost::beast::basic_stream<net::asio::ip::tcp, net::Executor>;

    Conversation(Desk&, net::TcpSocket, IpAddress client);
    ~Conversation();

    net::awaitable<void> run();
    /// Waits for a request.
    bool idle() const { return idle_; }
    SteadyTime idle_since() const { return idle_since_; }
    /// Ends what it sends and receives; a batch that is with the set is still waited for.
    void close() { stream_.close(); }

private:
    struct Reply {
        unsigned status = 200;
        std::string body;
        std::string type = "text/plain; charset=utf-8";
        std::string allow = {};        // 405: the methods there are
        unsigned retry_after = 0;      // seconds; 0: not said
    };
    struct Asked {
        BodyForm const* form = nullptr;
        AnswerForm answer = AnswerForm::text;
        bool durable = false;
        bool forwarded = false;
    };
    struct Forward;

    net::awaitable<bool> exchange();
    net::awaitable<bool> answer_batch();
    net::awaitable<std::optional<Reply>> take_batch(Asked const&);
    net::awaitable<std::optional<Reply>> read_body(BodyReader&);
    net::awaitable<std::optional<Reply>> find_answers(Asked const&);
    net::awaitable<void> await_answer(Forward&, SteadyTime until);
    net::awaitable<bool> send_answers(AnswerForm);
    net::awaitable<bool> send(Reply const&, bool last);
    net::awaitable<bool> write(std::string_view bytes);
    net::awaitable<void> say_goodbye();

    std::optional<Reply> refusal() const;
    std::optional<Reply> framing_fault() const;
    std::optional<Reply> read_question(Asked&) const;
    Reply page(std::string_view path) const;
    void begin_forwards(bool durable, SteadyTime until);
    Reply counted(Reply, std::uint64_t& counter) const;
    Reply overloaded(std::string why) const;
    std::string head_of(Reply const&, std::uint64_t length, bool last) const;
    bool keeps() const;
    void let_go();

    Desk& desk_;
    IpAddress const client_;
    bool idle_ = true;
    SteadyTime idle_since_ = steady_now();
    Stream stream_;
    boost::beast::flat_buffer buffer_;
    std::optional<boost::beast::http::request_parser<boost::beast::http::buffer_body>> parser_;
    std::string piece_;                         // of a body, then of the answer
    std::string out_;

    LinkSorter sorter_;
    Batch batch_;
    Bytes held_ = 0;                            // that the desk counts for the batch
    std::vector<Answer> own_answers_;
    std::vector<std::unique_ptr<Forward>> forwards_;
};

}  // namespace garner::seen
