// Responses of all kinds through Garner to curl, to Node and to a strict parser: they agree on every body, its end, and the
// origin's meaning, with the repairs that RFC 9112 allows. Otherwise Garner answers 502, or aborts the connection so that each
// client notices.
#include <mutex>
#include <sstream>
#include <thread>

#include "story/scene.hpp"
#include "support/mutations.hpp"
#include "support/programs.hpp"
#include "support/strict.hpp"

namespace garner::test {

namespace {

using namespace std::string_literals;
using nlohmann::json;

// ---- responses ----

std::string const ok = "HTTP/1.1 200 OK\r\n";
std::string const kept = ok + "Cache-Control: max-age=600\r\n";
std::string const hello = "Content-Length: 5\r\n\r\nhello";
std::string const answer_chunks = "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
std::string const poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";

std::vector<std::string> const answer_clear{
    ok + hello,
    kept + hello,
    ok + answer_chunks,
    kept + answer_chunks,
    ok + "Content-Length: 0\r\n\r\n",
    kept + "Content-Length: 0\r\n\r\n",
    ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    kept + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ok + "\r\nuntil the end",
    kept + "\r\nuntil the end",
    kept + "\r\n",
    "HTTP/1.0 200 OK\r\n\r\nuntil the end",
    "HTTP/1.0 200 OK\r\nCache-Control: max-age=600\r\n" + hello,
    "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + hello,
    "HTTP/1.9 200 OK\r\n" + hello,
    "HTTP/1.1 200\r\n" + hello,
    "HTTP/1.1 200 \r\n" + hello,
    "HTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 204 No Content\r\nCache-Control: max-age=600\r\n\r\n",
    "HTTP/1.1 204 No Content\r\n" + hello + poison,
    "HTTP/1.1 204 No Content\r\n" + answer_chunks + poison,
    "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 205 Reset Content\r\n" + hello,
    "HTTP/1.1 205 Reset Content\r\n" + answer_chunks,
    "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n",
    "HTTP/1.1 304 Not Modified\r\n" + hello + poison,
    "HTTP/1.1 304 Not Modified\r\n" + answer_chunks + poison,
    "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-4/9\r\n" + hello,
    "HTTP/1.1 301 Moved\r\nLocation: /else\r\n" + hello,
    "HTTP/1.1 404 Not Found\r\n" + hello,
    "HTTP/1.1 416 No\r\nContent-Range: bytes */5\r\n" + hello,
    "HTTP/1.1 503 No\r\nRetry-After: 1\r\n" + answer_chunks,
    "HTTP/1.1 299 Odd\r\n" + hello,
    "HTTP/1.1 599 Odd\r\nCache-Control: max-age=600\r\n" + answer_chunks,
    "HTTP/1.1 999 Odd\r\n" + hello,
    "HTTP/1.1 100 Continue\r\n\r\n" + ok + hello,
    "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + kept + answer_chunks,
    "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + ok + hello,
    "HTTP/1.1 199 Odd\r\n\r\n" + ok + hello,
    ok + "Connection: close\r\n" + hello,
    ok + "Connection: close\r\n" + hello + poison,
    ok + "Connection: Content-Length, Transfer-Encoding, X\r\nX: y\r\n" + hello,
    ok + "Connection: Transfer-Encoding\r\n" + answer_chunks,
    ok + "Keep-Alive: timeout=5\r\nTrailer: X\r\nUpgrade: h2c\r\nProxy-Connection: close\r\n" + hello,
    ok + "Content-Encoding: gzip\r\n" + hello,
    ok + "Content-Encoding: chunked\r\n" + hello,
    ok + "Content_Length: 9\r\nTransfer_Encoding: chunked\r\n" + hello,
    ok + "Content-Length: 0005\r\n\r\nhello",
    ok + "CONTENT-LENGTH:\t5 \r\n\r\nhello",
    ok + "transfer-encoding:\tCHUNKED \r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ok + "Transfer-Encoding: chunked\r\n\r\n0005\r\nhello\r\n000\r\n\r\n",
    kept + "Transfer-Encoding: chunked\r\n\r\n5;a=b;c=\"d;\\\"\"\r\nhello\r\n0;e\r\n\r\n",
    kept + "Transfer-Encoding: chunked\r\n\r\n1\r\nh\r\n4\r\nello\r\n0\r\nX-Sum: 1\r\nContent-Length: 9\r\n\r\n",
    ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nh\r\n4\r\nello\r\n0\r\nX-Sum: 1\r\nTransfer-Encoding: gzip\r\n\r\n",
    kept + "Transfer-Encoding: chunked\r\n\r\n2\r\n\r\n\r\n7\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n",
    ok + hello + poison,
    kept + hello + poison,
    ok + answer_chunks + poison,
    kept + answer_chunks + poison,
    kept + "Content-Length: " + std::to_string(poison.size()) + "\r\n\r\n" + poison,
    ok + "Content-Length: 70000\r\n\r\n" + std::string(70'000, 'b'),
    kept + "Transfer-Encoding: chunked\r\n\r\n11170\r\n" + std::string(70'000, 'b') + "\r\n0\r\n\r\n" + poison,
    ok + "X: caf\xc3\xa9 \"a, b\" (c)\r\nY:\r\n" + hello,
};

std::vector<std::string> const answer_faulty{
    ok + "Content-Length: 0\r\n" + hello + poison,
    ok + "Content-Length: +5\r\n\r\nhello" + poison,
    ok + "Content-Length: 0x5\r\n\r\nhello" + poison,
    ok + "Content-Length: 18446744073709551621\r\n\r\nhello" + poison,
    ok + "Content-Length:\r\n\r\nhello" + poison,
    ok + "Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + poison,
    ok + "Transfer-Encoding: identity\r\n" + hello + poison,
    ok + "Transfer-Encoding: chunked\r\n" + answer_chunks + poison,
    ok + "Transfer-Encoding: \vchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + poison,
    ok + "Transfer-Encoding:\r\n chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + poison,
    ok + "X\0: y\r\n"s + hello + poison,
    "HTTP/2.0 200 OK\r\n" + hello,
    "HTTP/1.1 20 OK\r\n" + hello,
    "HTTP/1.1 2000 OK\r\n" + hello,
    "\r\n" + ok + hello,
    "hello",
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n" + poison,
    "HTTP/1.1 103 Early Hints\r\n" + hello + poison,
    ok + "Content-Length: 500\r\n\r\nhello",
    kept + "Content-Length: 500\r\n\r\nhello",
    kept + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    kept + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    ok + "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n" + poison,
    ok + "Transfer-Encoding: chunked\r\n\r\n5;\"\r\n\r\nhello\r\n0\r\n\r\n" + poison,
    ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n" + poison,
    ok + "Transfer-Encoding: chunked\r\n\r\n100000005\r\nhello\r\n0\r\n\r\n" + poison,
    ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n" + poison,
};

/// These are repaired.
std::vector<std::string> const answer_repaired{
    ok + "Content-Length: 5\r\n" + answer_chunks + poison,
    ok + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + poison,
    ok + "Content-Length: 5\r\n" + hello + poison,
    ok + "Content-Length: 5, 5\r\n\r\nhello" + poison,
    ok + "Content-Length : 5\r\n\r\nhello" + poison,
    ok + "X: y\n" + answer_chunks + poison,
    ok + "X: y\r" + answer_chunks + poison,
    ok + "\n" + hello + poison,
    "HTTP/1.0 200 OK\r\n" + answer_chunks + poison,
    ok + "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n" + poison,
    ok + "Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n" + poison,
    kept + "X: y\r\n z\r\n" + hello + poison,
    kept + "X : y\r\n" + hello + poison,
    kept + "X: \x1b[2J\0z\r\n"s + hello + poison,
    "HTTP/1.1 200 OK\nCache-Control: max-age=600\n" + hello + poison,
    "HTTP/1.1 103 Early Hints\nX : y\n\n" + kept + hello + poison,
    kept + "Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\nX : y\n\n" + poison,
};

// clang-format off
std::vector<std::string> const answer_words{"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "\r\n\r\n", "0\r\n\r\n",
                                     "\n", "\r", "\0"s, " ", "\t", "\v", ":", ",", ";", "chunked", "5", "-", "+", "\"",
                                     "\r\n ", "HTTP/1.1", "HTTP/1.1 200 OK\r\n", "1", "0", "f", "\x80",
                                     "\r\n5\r\nhello"};
// clang-format on

// ---- outcomes ----

constexpr Millis longest_run{30 * 60'000};   // limit for a program that requests all of them

/// One response from a client's view.
struct Had {
    enum class How { refused, whole, cut, unreadable, nothing };
    How how = How::nothing;
    int status = 0;
    std::string body = {};
    std::string next = {};   // the body of the next request's response

    static How from(int status, bool complete) { return complete ? (status == 502 ? How::refused : How::whole) : How::cut; }
    friend std::ostream& operator<<(std::ostream& out, Had const& had) {
        char const* const names[]{"refused", "whole", "cut", "unreadable", "nothing"};
        return out << names[static_cast<int>(had.how)] << " " << had.status << " "
                   << ::testing::PrintToString(had.body.substr(0, 200)) << ", then " << had.next;
    }
};

struct Asked {
    std::string method = "GET";
    std::string answer;
};

/// An origin that sends each response at its own path, behind one Garner with one
/// worker, so that clients share the connections that earlier responses left.
class Stage {
public:
    explicit Stage(std::vector<Asked> asked) : asked_(std::move(asked)) {
        origin_.otherwise([this](Hand& hand) { play(hand); });
        proxy_ = std::make_unique<Proxy>(R"({"workers": 1, "caching": {"negative_ttl": "0s"},
                                               "deadlines": {"first_byte": "5s", "body": "5s", "stream": "5s"}})");
    }

    std::size_t size() const { return asked_.size(); }
    Asked const& asked(std::size_t number) const { return asked_[number]; }
    Proxy const& proxy() const { return *proxy_; }
    std::string url(std::size_t number) const { return origin_.url("/" + std::to_string(number)); }
    std::string url_of_next(std::size_t number) const { return origin_.url("/next?" + std::to_string(number)); }

private:
    void play(Hand& hand) {
        hand.read_body();
        auto const path = hand.request().head.target();
        auto const mark = path.find('?');
        if (mark != path.npos) return hand.answer(no_store("next " + path.substr(mark + 1)));
        auto const& asked = asked_.at(std::stoul(path.substr(1)));
        hand.send(asked.answer);
        // If the response has an explicit end, the connection may be reused, but bytes after that end must not be.
        if (read_tolerantly(asked.answer, asked.method).end != StrictAnswer::End::whole) hand.leave();
    }

    std::vector<Asked> asked_;
    Origin origin_;
    std::unique_ptr<Proxy> proxy_;
};

std::string next_of(std::size_t number) { return "next " + std::to_string(number); }

/// Reads one response until it or the connection ends.
StrictAnswer receive_strictly(Wire& wire, std::string const& method, bool& ended) {
    for (;;) {
        auto answer = read_strictly(wire.buffer(), method);
        if (ended || answer.end == StrictAnswer::End::whole || answer.end == StrictAnswer::End::refused) return answer;
        ended = wire.receive() != Wire::Read::data;
    }
}

Had ask_strictly(Stage const& stage, std::size_t number) {
    auto wire = Wire::connect("127.0.0.1", stage.proxy().port());
    auto const& method = stage.asked(number).method;
    bool ended = false;
    wire.send(method + " " + stage.url(number) + " HTTP/1.1\r\nHost: h\r\n\r\n");
    auto answer = receive_strictly(wire, method, ended);
    Had had{.how = Had::from(answer.status, answer.complete()), .status = answer.status, .body = answer.body};
    if (answer.end == StrictAnswer::End::refused) had.how = Had::How::unreadable;
    if (had.how == Had::How::whole && !ended) {
        wire.buffer().erase(0, answer.bytes);
    } else {
        wire = Wire::connect("127.0.0.1", stage.proxy().port());
        ended = false;
    }
    wire.send("GET " + stage.url_of_next(number) + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    had.next = receive_strictly(wire, "GET", ended).body;
    return had;
}

std::vector<Had> ask_all_strictly(Stage const& stage) {
    std::vector<Had> all;
    for (std::size_t number = 0; number < stage.size(); ++number) all.push_back(ask_strictly(stage, number));
    return all;
}

/// One curl process for all, so that it can reuse its connections.
std::vector<Had> ask_all_with_curl(Stage const& stage) {
    TempDir dir;
    auto const part = [&](std::string const& url, std::string const& more) {
        return "url = \"" + url + "\"\nproxy = \"" + stage.proxy().url() + "\"\nmax-time = 20\nsilent\n" + more +
               "write-out = \"%{exitcode} %{http_code}\\n\"\nnext\n";
    };
    auto const file = [&](std::string const& name) { return "output = \"" + dir.path(name).string() + "\"\n"; };
    std::string script;
    for (std::size_t number = 0; number < stage.size(); ++number) {
        bool const head = stage.asked(number).method == "HEAD";
        auto const name = std::to_string(number);
        script += part(stage.url(number), head ? "head\n" + file("head") : file(name));
        script += part(stage.url_of_next(number), file("next" + name));
    }
    auto const finished = run({"curl", "-K", dir.write("script", script)}, longest_run);
    std::istringstream lines(finished.output);
    std::vector<Had> all(stage.size());
    for (std::size_t number = 0; number < stage.size(); ++number) {
        int code = -1, status = 0, next_code = 0, next_status = 0;
        lines >> code >> status >> next_code >> next_status;
        auto const name = std::to_string(number);
        auto& had = all[number];
        bool const was_cut = code == 18 || code == 52 || code == 56;
        had.how = code == 0 || was_cut ? Had::from(status, code == 0) : Had::How::unreadable;
        had.status = status;
        had.body = read_file(dir.path(name));
        had.next = read_file(dir.path("next" + name));
    }
    return all;
}

constexpr auto node_program = R"(
const http = require('http');
const [port, ...pairs] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
function ask(method, url) {
  return new Promise(resolve => {
    const had = { status: 0, complete: false, error: '', body: '' };
    const request = http.request({ host: '127.0.0.1', port, agent, method, path: url, headers: { Host: 'h' } });
    const done = () => resolve(had);
    request.setTimeout(20000, () => request.destroy());
    request.on('error', error => { had.error = error.code; done(); });
    request.on('upgrade', (answer, socket) => { had.error = 'UPGRADE'; socket.destroy(); done(); });
    request.on('response', answer => {
      had.status = answer.statusCode;
      answer.setEncoding('latin1');
      answer.on('data', piece => had.body += piece);
      answer.on('error', error => { had.error = error.code; });
      answer.on('close', () => { had.complete = answer.complete; done(); });
    });
    request.end();
  });
}
(async () => {
  const all = [];
  for (const line of require('fs').readFileSync(pairs[0], 'latin1').trim().split('\n')) {
    const [method, url, next] = line.split(' ');
    const had = await ask(method, url);
    had.next = (await ask('GET', next)).body;
    all.push(had);
  }
  for (const had of all)
    for (const name of ['body', 'next']) had[name] = Buffer.from(had[name], 'latin1').toString('hex');
  console.log(JSON.stringify(all));
  process.exit(0);
})();
)";

std::string from_hex(std::string const& hex) {
    std::string bytes;
    for (std::size_t at = 0; at + 1 < hex.size(); at += 2) bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
    return bytes;
}

std::vector<Had> ask_all_with_node(Stage const& stage) {
    TempDir dir;
    std::string list;
    for (std::size_t number = 0; number < stage.size(); ++number)
        list += stage.asked(number).method + " " + stage.url(number) + " " + stage.url_of_next(number) + "\n";
    std::vector<std::string> const command{"node", dir.write("ask.js", node_program), std::to_string(stage.proxy().port()),
                                           dir.write("list", list)};
    auto const finished = run(command, longest_run);
    auto const told = json::parse(finished.output, nullptr, false);
    if (!told.is_array()) throw Trouble("node: " + finished.errors);
    std::vector<Had> all;
    for (auto const& row : told) {
        int const status = row["status"];
        std::string const error = row["error"];
        auto& had = all.emplace_back();
        had.how = error.empty() || error == "ECONNRESET" ? Had::from(status, row["complete"]) : Had::How::unreadable;
        had.status = status;
        had.body = from_hex(row["body"]);
        had.next = from_hex(row["next"]);
        if (had.how == Had::How::unreadable) had.body = error;
    }
    return all;
}

/// True if the client got the response as the origin meant it, or an error response.
bool is_what_was_meant(StrictAnswer const& meant, Had const& had, std::size_t number) {
    if (had.next != next_of(number)) return false;
    if (had.how == Had::How::refused) return true;
    if (meant.complete()) return had.how == Had::How::whole && had.status == meant.status && had.body == meant.body;
    return had.how == Had::How::cut && meant.body.starts_with(had.body);
}

struct Sums {
    std::size_t whole = 0, refused = 0, cut = 0;
};

Sums expect_agreement(std::vector<Asked> asked) {
    Stage const stage(std::move(asked));
    std::vector<Had> const strict = ask_all_strictly(stage);
    std::vector<Had> curl, node;
    std::thread other([&] { curl = ask_all_with_curl(stage); });
    try {
        node = ask_all_with_node(stage);
    } catch (Trouble const& trouble) {
        ADD_FAILURE() << trouble.what();
        node.resize(stage.size());
    }
    other.join();
    std::vector<Had> const again = ask_all_strictly(stage);
    Sums sums;
    for (std::size_t number = 0; number < stage.size(); ++number) {
        auto const& [method, answer] = stage.asked(number);
        auto meant = read_strictly(answer, method);
        if (meant.end == StrictAnswer::End::refused) meant = read_tolerantly(answer, method);
        auto const trace = method + " " + ::testing::PrintToString(answer.substr(0, 1000));
        Had const* const everybody[]{&strict[number], &curl[number], &node[number], &again[number]};
        for (auto const* had : everybody) {
            EXPECT_TRUE(is_what_was_meant(meant, *had, number))
                << trace << "\nstrict " << strict[number] << "\ncurl " << curl[number] << "\nnode " << node[number]
                << "\nstrict again " << again[number];
            sums.whole += had->how == Had::How::whole;
            sums.refused += had->how == Had::How::refused;
            sums.cut += had->how == Had::How::cut;
            // One client may get a refusal and another a truncated response, but a whole response is whole for both.
            EXPECT_EQ(had->how == Had::How::whole, strict[number].how == Had::How::whole) << trace;
        }
    }
    return sums;
}

}   // namespace

TEST(DifferentialAnswers, curl_and_Node_and_the_letter_agree_on_every_answer) {
    NEEDS("curl");
    NEEDS("node");
    std::vector<Asked> asked;
    for (auto const* answers : {&answer_clear, &answer_repaired, &answer_faulty})
        for (auto const& answer : *answers)
            for (auto const* method : {"GET", "HEAD"}) asked.push_back({method, answer});
    auto const sums = expect_agreement(std::move(asked));
    EXPECT_GE(sums.whole, 8 * (answer_clear.size() + answer_repaired.size()));
    EXPECT_GE(sums.refused + sums.cut, 4 * (answer_faulty.size() - 2));
    EXPECT_GE(sums.cut, 8u);
}

TEST(DifferentialAnswers, curl_and_Node_and_the_letter_agree_on_answers_with_faults) {
    NEEDS("curl");
    NEEDS("node");
    std::vector<Asked> asked;
    for (auto& answer : mutated(answer_clear, answer_words, 300)) asked.push_back({asked.size() % 8 ? "GET" : "HEAD", answer});
    auto const count = asked.size();
    auto const sums = expect_agreement(std::move(asked));
    EXPECT_GE(sums.whole, count / 2);
    EXPECT_GE(sums.refused, count / 2);
}

}   // namespace garner::test
