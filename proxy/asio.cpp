// The bodies of Asio and Beast, compiled once for the whole program (target weir_asio).
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
