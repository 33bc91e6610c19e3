#include "tests/stores/chroma_process.hpp"

#include "tests/integration/support/file_descriptor.hpp"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace weir::stores {
namespace {

// Memory, where there is enough: Chroma waits for the disk at every request, and only the end of
// the process is tried here.
std::filesystem::path data_folder() {
    constexpr std::uintmax_t enough = std::uintmax_t{1} << 30;
    const std::filesystem::path memory("/dev/shm");
    std::error_code none;
    const auto space = std::filesystem::space(memory, none);
    return none || space.available < enough ? std::filesystem::temp_directory_path() : memory;
}

}  // namespace

chroma_process::chroma_process() : folder_(data_folder() / "pgweir-chroma-XXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) {
        throw std::runtime_error("no temporary folder");
    }
    server_ = std::make_unique<server>(std::vector<std::string>{
        std::string(WEIR_STORES_FOLDER) + "/chroma_server",
        folder_,
        std::to_string(integration::free_port())});
}

chroma_process::~chroma_process() {
    server_->kill();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

}  // namespace weir::stores
