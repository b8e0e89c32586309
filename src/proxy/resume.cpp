#include "proxy/resume.hpp"

#include "proxy/whole_request.hpp"

namespace garner::proxy {

using client::Trouble;

Resumption::Resumption(Request const& request, std::vector<icp::Source> sources, std::size_t at, http::BrokenBody body)
    : services_(request.services), request_(whole_request(request.head(), request.target.host_field)),
      client_(request.kept_client()), sources_(std::move(sources)), at_(at), body_(body) {}

net::awaitable<Rest> Resumption::find(std::shared_ptr<Options const> const& options, store::Object const& growing,
                                      Trouble trouble) {
    auto broken = body_;
    broken.done = growing.body()->size() - body_.first;
    http::Remainder missing(growing.head(), broken);
    if (!no_client_) no_client_ = std::make_unique<NoClient>(request_, client_);
    Transaction transaction(services_, *no_client_, nullptr, scratch_, options);
    asking_ = &transaction;
    auto rest = co_await transaction.find_rest(sources_, at_, missing, trouble);
    asking_ = nullptr;
    co_return rest;
}

}   // namespace garner::proxy
