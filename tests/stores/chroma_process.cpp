#include "tests/stores/chroma_process.hpp"

#include "tests/integration/support/file_descriptor.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace weir::stores {

chroma_process::chroma_process()
    : folder_(std::filesystem::temp_directory_path() / "pgweir-chroma-XXXXXX") {
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
