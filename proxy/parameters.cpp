#include "proxy/parameters.hpp"

#include <utility>

namespace weir::proxy {

parameters_ptr parameter_intern::make(parameter_map&& set) {
    if (known_.size() > 1024) {
        std::erase_if(known_, [](const auto& item) { return item.second.expired(); });
    }
    auto& slot = known_[set];
    auto shared = slot.lock();
    if (!shared) {
        shared = std::make_shared<const parameter_map>(std::move(set));
        slot = shared;
    }
    return shared;
}

parameters_ptr
parameter_intern::with(const parameters_ptr& set, std::string_view name, std::string_view value) {
    if (set) {
        const auto found = set->find(name);
        if (found != set->end() && found->second == value) {
            return set;
        }
    }
    parameter_map changed = set ? *set : parameter_map{};
    changed.insert_or_assign(std::string(name), std::string(value));
    return make(std::move(changed));
}

}  // namespace weir::proxy
