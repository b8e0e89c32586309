// Equal bytes through Garner to nginx, Apache and Node: they must agree on every request, and see no other.
#include <functional>
#include <mutex>
#include <thread>

#include "story/scene.hpp"
#include "support/gateways.hpp"
#include "support/mutations.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

using namespace std::string_literals;

// ---- messages ----

std::string const host = "Host: h\r\n";
std::string const get_x = "GET /x HTTP/1.1\r\n" + host;
std::string const post = "POST /x HTTP/1.1\r\n" + host;
std::string const put = "PUT /x HTTP/1.1\r\n" + host;
std::string const smuggled = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n";
std::string const chunks = "\r\n5\r\nhello\r\n0\r\n\r\n";

std::vector<std::string> const clear{
    get_x + "\r\n",
    "HEAD /x HTTP/1.1\r\n" + host + "\r\n",
    "DELETE /x HTTP/1.1\r\n" + host + "\r\n",
    "OPTIONS /x HTTP/1.1\r\n" + host + "\r\n",
    "PATCH /x HTTP/1.1\r\n" + host + "Content-Length: 2\r\n\r\nab",
    "GET /x HTTP/1.0\r\n\r\n",
    "GET /x HTTP/1.0\r\n" + host + "Connection: keep-alive\r\n\r\n",
    post + "Content-Length: 5\r\n\r\nhello",
    post + "Content-Length: 0\r\n\r\n",
    post + "\r\n",
    post + "Transfer-Encoding: chunked\r\n" + chunks,
    put + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    get_x + "Content-Length: 5\r\n\r\nhello",
    get_x + "Transfer-Encoding: chunked\r\n" + chunks,
    get_x + "\r\n" + get_x + "\r\n" + get_x + "\r\n",
    post + "Content-Length: 5\r\n\r\nhello" + post + "Transfer-Encoding: chunked\r\n" + chunks + get_x + "\r\n",
    post + "Content-Length: " + std::to_string(smuggled.size()) + "\r\n\r\n" + smuggled,
    post + "Transfer-Encoding: chunked\r\n\r\n26\r\n" + smuggled.substr(0, 38) + "\r\n0\r\n\r\n",
    post + "Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
    post + "Content-Length: 70000\r\n\r\n" + std::string(70'000, 'b'),
    // unusual but unambiguous
    "\r\n" + get_x + "\r\n",
    "\r\n\r\n" + get_x + "\r\n",
    "GET /x HTTP/1.9\r\n" + host + "\r\n",
    "GET /a//b/%2e%2e/c?d=e&f HTTP/1.1\r\n" + host + "\r\n",
    "GET /x?y=http://z/ HTTP/1.1\r\n" + host + "\r\n",
    "GET http://other/x HTTP/1.1\r\n" + host + "\r\n",
    "GET http://other HTTP/1.1\r\n" + host + "\r\n",
    "GET /\xc3\xa9 HTTP/1.1\r\n" + host + "\r\n",
    "GET /" + std::string(3000, 'p') + " HTTP/1.1\r\n" + host + "\r\n",
    "get /x HTTP/1.1\r\n" + host + "\r\n",
    "BREW /x HTTP/1.1\r\n" + host + "Content-Length: 3\r\n\r\ntea",
    "TRACE /x HTTP/1.1\r\n" + host + "\r\n",
    "OPTIONS * HTTP/1.1\r\n" + host + "\r\n",
    "GET /x HTTP/1.1\r\nhOsT:h\t \r\nX:\r\nY: \t z \t\r\n\r\n",
    "GET /x HTTP/1.1\r\nHost:\r\n\r\n",
    get_x + "X: caf\xc3\xa9 \"a, b\" (c)\r\n\r\n",
    get_x + "X_Y: z\r\nTransfer_Encoding: chunked\r\n\r\n",
    post + "Content-Length: 0005\r\n\r\nhello",
    post + "Content-Length:5\r\nContent_Length: 9\r\n\r\nhello",
    post + "transfer-encoding:\tCHUNKED \r\n" + chunks,
    post + "Transfer-Encoding: chunked\r\n\r\n0005\r\nhello\r\n000\r\n\r\n",
    post + "Transfer-Encoding: chunked\r\n\r\n5;a=b;c=\"d;\\\"\"\r\nhello\r\n0;e\r\n\r\n",
    post + "Transfer-Encoding: chunked\r\n\r\n1\r\nh\r\n4\r\nello\r\n0\r\nX-Sum: 1\r\nContent-Length: 9\r\n\r\n",
    post + "Connection: Content-Length, Transfer-Encoding\r\nContent-Length: 5\r\n\r\nhello",
    post + "Connection: close, Host\r\nContent-Length: 5\r\n\r\nhello",
    post + "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\nhello",
    post + "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\nhello",
    get_x + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + get_x + "\r\n",
    get_x + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello",
    post + "TE: trailers, chunked\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n" + chunks,
    post + "Content-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello",
};

std::vector<std::string> const faulty{
    post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n" + chunks + smuggled,
    post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n" + chunks + smuggled,
    post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello" + smuggled,
    post + "Content-Length: 5\r\nContent-Length: 0\r\n\r\nhello" + smuggled,
    post + "Content-Length: 5, 5\r\n\r\nhello" + smuggled,
    post + "Content-Length: +5\r\n\r\nhello" + smuggled,
    post + "Content-Length: 0x5\r\n\r\nhello" + smuggled,
    post + "Content-Length: 18446744073709551621\r\n\r\nhello" + smuggled,
    post + "Content-Length : 5\r\n\r\nhello" + smuggled,
    post + "Transfer-Encoding: gzip, chunked\r\n" + chunks + smuggled,
    post + "Transfer-Encoding: chunked, identity\r\n" + chunks + smuggled,
    post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" + chunks + smuggled,
    post + "Transfer-Encoding: \vchunked\r\n" + chunks + smuggled,
    post + "Transfer-Encoding : chunked\r\n" + chunks + smuggled,
    post + "Transfer-Encoding:\r\n chunked\r\n" + chunks + smuggled,
    post + "X: y\nTransfer-Encoding: chunked\r\n" + chunks + smuggled,
    post + "X: y\rTransfer-Encoding: chunked\r\n" + chunks + smuggled,
    "POST /x HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n" + chunks + smuggled,
    post + "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n" + smuggled,
    post + "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n" + smuggled,
    post + "Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n" + smuggled,
    post + "Transfer-Encoding: chunked\r\n\r\n5;\nx\r\nhello\r\n0\r\n\r\n" + smuggled,
    post + "Transfer-Encoding: chunked\r\n\r\n5;\"\r\n\r\nhello\r\n0\r\n\r\n" + smuggled,
    post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n" + smuggled,
    post + "Transfer-Encoding: chunked\r\n\r\n100000005\r\nhello\r\n0\r\n\r\n" + smuggled,
    post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n" + smuggled,
    post + "Content-Length: 500\r\n\r\nhello",
    "GET /x HTTP/1.1\r\n\r\n" + smuggled,
    get_x + "Host: i\r\n\r\n" + smuggled,
    "GET /x\r\n\r\n" + smuggled,
    "GET /x HTTP/2.0\r\n" + host + "\r\n" + smuggled,
    "GET /x y HTTP/1.1\r\n" + host + "\r\n" + smuggled,
    get_x + "X\0: y\r\n\r\n"s + smuggled,
    get_x + "\n" + smuggled,
};

// clang-format off
std::vector<std::string> const words{"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "\r\n\r\n", "0\r\n\r\n",
                                     "\n", "\r", "\0"s, " ", "\t", "\v", ":", ",", ";", "chunked", "5", "-", "+", "\"",
                                     "\r\n ", "HTTP/1.1", "GET /y HTTP/1.1\r\n", "Host: i\r\n", "0", "f", "\x80",
                                     "/", "%"};
// clang-format on

// ---- outcomes ----

/// Each entry is one response with its sender and status, or one request as received behind the server.
using Answers = std::vector<std::string>;

struct Outcome {
    Answers answers;
    Answers understood;   // every request received behind the server
};

std::string text_of(Request const& request) {
    return request.head.method() + " " + request.head.target() + " " + std::to_string(request.body.size()) + " " +
           ::testing::PrintToString(request.body.substr(0, 200));
}

/// Garner sends no Server; Apache answers OPTIONS * without its configured fields.
bool is_of_server(Head const& head) { return head.has("X-Gateway") || head.has("Server"); }

/// Garner as an accelerator of one server; every request that the server forwards is recorded.
class Lane {
public:
    using Start = std::function<std::unique_ptr<Gateway>(std::uint16_t onward)>;

    /// Without a server: records Garner's own requests.
    Lane(std::string name, Start const& start) : name_(std::move(name)) {
        recorder_.otherwise([this](Hand& hand) { record(hand); });
        if (start) gateway_ = start(recorder_.port());
        server_ = gateway_ ? gateway_->authority() : recorder_.authority();
        proxy_ = std::make_unique<Proxy>(Proxy::Setup{.patch = R"({"workers": 1})", .accelerates = "http://" + server_});
    }

    std::string const& name() const { return name_; }

    /// Sends the message and one more request, then another request over these pooled connections.
    Outcome exchange(std::string const& message, Millis quiet) {
        Outcome outcome{.answers = answers_to(message, quiet), .understood = {}};
        auto const mark = "/mark" + std::to_string(++marks_);
        EXPECT_EQ(Client("127.0.0.1", proxy_->accelerator()).get(mark).status(), 200) << name_;
        std::lock_guard lock(mutex_);
        for (auto& text : understood_)
            if (!text.starts_with("GET " + mark + " ")) outcome.understood.push_back(std::move(text));
        understood_.clear();
        return outcome;
    }

    /// Requests that were received although no client had sent one.
    Answers leftovers() {
        std::lock_guard lock(mutex_);
        return understood_;
    }

private:
    void record(Hand& hand) {
        hand.read_body();
        if (hand.leaves()) return;
        auto text = text_of(hand.request());
        if (hand.request().head.field("Host") != server_) text += " for " + hand.request().head.field("Host");
        std::string number;
        {
            std::lock_guard lock(mutex_);
            understood_.push_back(text);
            number = std::to_string(all_.size());
            all_.push_back(text);
        }
        hand.answer({.fields = {{"Cache-Control", "no-store"}, {"X-Recorded", number}}});
    }

    Answers answers_to(std::string const& message, Millis quiet) {
        auto wire = Wire::connect("127.0.0.1", proxy_->accelerator());
        wire.send(message + "GET /end HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        Wire::Read read;
        while ((read = wire.receive(quiet)) == Wire::Read::data) {
        }
        if (read == Wire::Read::timeout) {   // an incomplete request
            wire.half_close();
            while (wire.receive(Millis{2000}) == Wire::Read::data) {
            }
        }
        return read_answers(wire.buffer());
    }

    Answers read_answers(std::string& bytes) {
        Answers answers;
        while (auto head = take_head(bytes)) {
            if (head->status() < 200) continue;
            // A response to HEAD announces a body but has none.
            auto body = Body::of_response(*head, bytes.starts_with("HTTP/1.1 ") ? "HEAD" : "GET");
            body.take(bytes);
            std::lock_guard lock(mutex_);
            if (auto const number = head->field("X-Recorded"); !number.empty())
                answers.push_back(all_.at(std::stoul(number)));
            else
                answers.push_back((is_of_server(*head) ? "server " : "garner ") + std::to_string(head->status()));
        }
        return answers;
    }

    std::string name_;
    std::string server_;
    Origin recorder_;
    std::unique_ptr<Gateway> gateway_;
    std::unique_ptr<Proxy> proxy_;
    std::mutex mutex_;
    Answers understood_, all_;
    int marks_ = 0;
};

bool is_own(std::string const& answer) { return answer.starts_with("server "); }

/// The difference between a server's outcome and Garner's request; empty
/// if there is none. A server may refuse a request as a whole.
std::string difference(Outcome const& meant, Outcome const& outcome) {
    if (meant.answers.size() != outcome.answers.size()) return "another number of answers";
    Answers recorded;
    for (std::size_t i = 0; i < meant.answers.size(); ++i) {
        if (is_own(outcome.answers[i])) continue;
        if (outcome.answers[i] != meant.answers[i]) return "another request: " + outcome.answers[i];
        if (!outcome.answers[i].starts_with("garner ")) recorded.push_back(outcome.answers[i]);
    }
    return outcome.understood == recorded ? "" : "a request that had no answer";
}

struct Lanes {
    std::vector<std::unique_ptr<Lane>> all;
    std::size_t agreed = 0, refused_by_garner = 0, refused_by_servers = 0;

    Lanes() {
        all.push_back(std::make_unique<Lane>("garner", nullptr));
        all.push_back(std::make_unique<Lane>("nginx", Gateway::nginx));
        all.push_back(std::make_unique<Lane>("apache", Gateway::apache));
        all.push_back(std::make_unique<Lane>("node", Gateway::node));
    }

    std::vector<Outcome> exchange(std::string const& message, Millis quiet) {
        std::vector<Outcome> outcomes(all.size());
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < all.size(); ++i)
            threads.emplace_back([&, i] {
                try {
                    outcomes[i] = all[i]->exchange(message, quiet);
                } catch (Trouble const& trouble) {
                    outcomes[i].answers = {all[i]->name() + ": " + trouble.what()};
                }
            });
        for (auto& thread : threads) thread.join();
        return outcomes;
    }

    /// The names of differing servers with the differences.
    std::string differences(std::vector<Outcome> const& outcomes) const {
        std::string text;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (auto const how = difference(outcomes[0], outcomes[i]); !how.empty())
                text += all[i]->name() + ": " + how + "; answers " + ::testing::PrintToString(outcomes[i].answers) +
                        ", understood " + ::testing::PrintToString(outcomes[i].understood) + "\n";
        return text;
    }

    void expect_agreement(std::string const& message) {
        auto outcomes = exchange(message, 150ms);
        // Retries with more time, because the machine may be busy.
        if (!differences(outcomes).empty()) outcomes = exchange(message, 1500ms);
        EXPECT_EQ(differences(outcomes), "") << ::testing::PrintToString(message) << "\nmeant "
                                             << ::testing::PrintToString(outcomes[0].answers);
        for (auto const& answer : outcomes[0].answers) ++(answer.starts_with("garner ") ? refused_by_garner : agreed);
        for (auto const& outcome : outcomes)
            for (auto const& answer : outcome.answers) refused_by_servers += is_own(answer);
    }

    void expect_nothing_left() {
        pause_for(300ms);
        for (auto const& lane : all) EXPECT_EQ(lane->leftovers(), Answers{}) << lane->name();
    }
};

}   // namespace

TEST(Differential, three_servers_understand_what_Garner_sends_as_Garner_means_it) {
    NEEDS("nginx");
    NEEDS("apache2");
    NEEDS("node");
    Lanes lanes;
    for (auto const* messages : {&clear, &faulty})
        for (auto const& message : *messages) lanes.expect_agreement(message);
    EXPECT_GE(lanes.agreed, 80u);
    EXPECT_GE(lanes.refused_by_garner, 30u);
    // Few requests may be refused by servers, otherwise nothing would be compared.
    EXPECT_LE(lanes.refused_by_servers, 12u);
    lanes.expect_nothing_left();
}

TEST(Differential, three_servers_agree_on_whatever_Garner_makes_of_messages_with_faults) {
    NEEDS("nginx");
    NEEDS("apache2");
    NEEDS("node");
    Lanes lanes;
    auto const messages = mutated(clear, words, 300);
    for (auto const& message : messages) lanes.expect_agreement(message);
    EXPECT_GE(lanes.agreed, messages.size() / 6);
    EXPECT_GE(lanes.refused_by_garner, messages.size() / 6);
    lanes.expect_nothing_left();
}

}   // namespace garner::test
