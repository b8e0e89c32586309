// A read that begins while its connection is idle, and that the reader of the next message joins.
#pragma once
#include <memory>
#include <span>
#include <utility>

#include "net/receive.hpp"
#include "util/recycled_memory.hpp"

namespace garner::net {

/// Lives until its end, owned by the socket's operation. Until join() it takes nothing from the socket, and the first byte, the end
/// or an error of the connection ends it. Belongs to one worker.
class EarlyRead {
public:
    /// The socket is drained: see Received.
    static std::weak_ptr<EarlyRead> start(TcpSocket& socket) {
        auto read = std::allocate_shared<EarlyRead>(RecyclingAllocator<EarlyRead>());
        std::weak_ptr<EarlyRead> const started = read;
        DrainingBuffer const buffer(read->reading_);
        socket.async_read_some(buffer, [read = std::move(read)](Error const& error, std::size_t bytes) {
            if (auto const reader = std::move(read->reader_)) reader->resume(error, bytes);
        });
        return started;
    }

    /// Nothing has come: join() is possible.
    bool is_open() const { return !reading_.done; }
    /// Once, if is_open(): completes like the socket's async_read_some(), see Reading. While the reader handles the result, this
    /// object lives.
    auto join(std::span<char> into, HeadBuffer* late) {
        reading_.into = into;
        reading_.late = late;
        auto token = as_values;
        auto const keep = [this](auto reader) { reader_ = std::make_unique<Joined<decltype(reader)>>(std::move(reader)); };
        return asio::async_initiate<decltype(token), void(Error, std::size_t)>(keep, token);
    }
    /// After its end: see Received.
    bool drained() const { return reading_.drained; }

private:
    struct Reader : Recycled {
        virtual ~Reader() = default;
        virtual void resume(Error const& error, std::size_t bytes) = 0;
    };
    template <class Handler>
    struct Joined : Reader {
        explicit Joined(Handler handler) : handler(std::move(handler)) {}
        void resume(Error const& error, std::size_t bytes) override { std::move(handler)(error, bytes); }
        Handler handler;
    };
    Reading reading_;
    std::unique_ptr<Reader> reader_;
};

}   // namespace garner::net
