#include "proxy/statement.hpp"

#include <utility>

namespace weir::proxy {

void statement_registry::make_key(const request& wanted) {
    key_.assign(wanted.text);
    key_ += '\0';
    key_ += wanted.oids;
    key_ += '\0';
    key_ += wanted.search_path;
}

statement_ptr statement_registry::find(const request& wanted) {
    make_key(wanted);
    const auto found = shared_->known.find(key_);
    return found == shared_->known.end() ? nullptr : found->second.lock();
}

statement_ptr statement_registry::add(
    const request& wanted,
    const routing::shape& shape,
    std::shared_ptr<const routing::traits> traits,
    const routing::route_override& asked,
    std::string stand_in
) {
    make_key(wanted);
    const std::size_t size = 2 * key_.size() + sizeof(statement);
    if (shared_->bytes + size > limit_) {
        return nullptr;
    }
    auto made = std::make_unique<statement>();
    made->id = next_++;
    made->server_name = "weir_" + std::to_string(worker_) + "_" + std::to_string(made->id);
    made->text = wanted.text;
    made->oids = wanted.oids;
    made->shape = shape;
    made->traits = std::move(traits);
    made->asked = asked;
    made->stand_in = std::move(stand_in);
    const auto release = [shared = shared_, key = key_, size](const statement* gone) {
        shared->known.erase(key);
        shared->bytes -= size;
        delete gone;
    };
    statement_ptr owned(made.release(), release);
    shared_->known[key_] = owned;
    shared_->bytes += size;
    return owned;
}

}  // namespace weir::proxy
