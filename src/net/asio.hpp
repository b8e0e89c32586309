// The Asio types of this project: one executor type, one completion token.
#pragma once
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detail/thread_info_base.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>

#include "util/recycled_memory.hpp"

namespace garner::net {

namespace asio = boost::asio;

using Executor = asio::io_context::executor_type;
/// Every coroutine runs on one worker's io_context; the concrete executor type saves a virtual call per operation.
template <class T>
using awaitable = asio::awaitable<T, Executor>;
using TcpSocket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using TcpEndpoint = asio::ip::tcp::endpoint;
using Address = asio::ip::address;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>;
using Error = boost::system::error_code;

/// The only completion token: errors are returned as values, and an operation allocates nothing.
inline constexpr auto as_values = asio::as_tuple(asio::deferred);

}   // namespace garner::net

// Coroutine frames. Asio itself would keep eight of any size, search them for a large enough one, and free one if there is none.

template <>
inline void* boost::asio::detail::thread_info_base::allocate<boost::asio::detail::thread_info_base::awaitable_frame_tag>(
    awaitable_frame_tag, thread_info_base*, std::size_t size, std::size_t) {
    return garner::RecycledMemory::take(size);
}

template <>
inline void boost::asio::detail::thread_info_base::deallocate<boost::asio::detail::thread_info_base::awaitable_frame_tag>(
    awaitable_frame_tag, thread_info_base*, void* pointer, std::size_t size) {
    garner::RecycledMemory::give_back(pointer, size);
}
