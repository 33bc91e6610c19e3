# Asio and Beast, compiled once. Proxy and migration link weir_asio and include the headers as usual.
add_library(weir_asio STATIC "${PROJECT_SOURCE_DIR}/proxy/asio.cpp")
target_link_libraries(weir_asio PUBLIC
  weir_options Boost::headers OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
target_compile_definitions(weir_asio PUBLIC BOOST_BEAST_SEPARATE_COMPILATION)
# g++ 12 takes Asio's recycling of coroutine frames for a mismatched new and delete at -O2.
target_compile_options(weir_asio PUBLIC $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>)
# Foreign code: our warnings about it help nobody.
target_compile_options(weir_asio PRIVATE -w)

# weir_pch(<target> [REUSE <other>]): the slow headers precompiled, for targets that link weir_asio.
# REUSE takes the other target's instead of making one; both must compile with the same options.
function(weir_pch target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "REUSE" "")
  if(arg_REUSE)
    target_precompile_headers(${target} REUSE_FROM ${arg_REUSE})
  else()
    target_precompile_headers(${target} PRIVATE
      <boost/asio.hpp> <boost/asio/ssl.hpp> <spdlog/spdlog.h>
      <chrono> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view> <vector>)
  endif()
  # Without these ccache cannot use what it has stored for sources with a precompiled header.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()
