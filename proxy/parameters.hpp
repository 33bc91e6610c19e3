// What ParameterStatus has said, as an immutable set shared by everybody who was told the same. One
// thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace weir::proxy {

using parameter_map = std::map<std::string, std::string, std::less<>>;
using parameters_ptr = std::shared_ptr<const parameter_map>;

// Equal sets become one object, so that comparing two peers is comparing two pointers.
class parameter_intern {
public:
    [[nodiscard]] parameters_ptr make(parameter_map&& set);
    // The set with one value changed.
    [[nodiscard]] parameters_ptr
    with(const parameters_ptr& set, std::string_view name, std::string_view value);

private:
    std::map<parameter_map, std::weak_ptr<const parameter_map>> known_;
};

}  // namespace weir::proxy
