// The real Chroma server as a process of a test, with data and a port of its own.
#pragma once

#include "tests/stores/server.hpp"

#include <memory>
#include <string>

namespace weir::stores {

class chroma_process {
public:
    // Starts it and waits until it answers. Throws std::runtime_error when it does not.
    chroma_process();
    // Ends it and removes the data.
    ~chroma_process();
    chroma_process(const chroma_process&) = delete;
    chroma_process& operator=(const chroma_process&) = delete;

    void kill() noexcept { server_->kill(); }

    // Again, on the same port and data.
    void start() { server_->start(); }

    [[nodiscard]] std::string url() const { return server_->url(); }

private:
    std::string folder_;
    std::unique_ptr<server> server_;
};

}  // namespace weir::stores
