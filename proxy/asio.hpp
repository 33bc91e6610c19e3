// Names used by every coroutine of the proxy, and the one completion token (see
// docs/architecture.md, errors).
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

namespace weir::proxy {

namespace asio = boost::asio;
using boost::system::error_code;
template <class T>
using result = boost::system::result<T>;

// Every asynchronous operation answers with (error_code, value); nothing throws on the data path.
constexpr auto use_tuple = asio::as_tuple(asio::use_awaitable);

using socket = asio::generic::stream_protocol::socket;  // TCP or Unix

}  // namespace weir::proxy
