// A request without a client: for a revalidation in the background, or for the rest of a body.
#pragma once
#include "proxy/client_stream.hpp"

namespace garner::proxy {

/// Runs in the name of the client whose request it was.
class NoClient : public ClientStream {
public:
    /// `request`: a complete head.
    NoClient(std::string_view request, std::shared_ptr<Client const> client);

    bool is_absent() const override { return true; }
    IpAddress own_address() const override { return {}; }
    bool body_done() const override { return true; }
    net::awaitable<Piece> read_body(milliseconds) override { co_return Piece{}; }
    std::string const& trailers() const override { return no_trailers_; }
    std::string_view leftover() const override { return {}; }

    bool takes_interim() const override { return false; }
    bool begin_without_length(Patch&) override { return false; }
    std::string_view before_piece(Bytes) override { return {}; }
    std::string_view behind_piece() override { return {}; }
    std::string_view behind_body(std::string_view) override { return {}; }
    void show_truncation() override {}
    net::IoResult try_send(std::span<iovec>&) override { return {}; }
    net::awaitable<net::IoResult> send(std::span<iovec>, milliseconds) override { co_return net::IoResult{}; }

    void cancel() override {}
    void watch(std::function<void()>) override {}
    void unwatch() override {}
    Traffic take_traffic() override { return {}; }
    Bytes received() const override { return 0; }
    Bytes acknowledged() const override { return 0; }
    net::Transport& transport() override;

private:
    std::string const request_;
    std::string const no_trailers_;
};

}   // namespace garner::proxy
