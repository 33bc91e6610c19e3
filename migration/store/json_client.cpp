#include "migration/store/json_client.hpp"

#include <algorithm>
#include <utility>

namespace weir::migration::store {
namespace {

// Of a store's words: enough to understand it, too little for a vector.
constexpr std::size_t longest_reason = 300;

// The words of a refusal in the forms that stores use: {"error": "…"}, {"message": "…"},
// {"status": {"error": "…"}}; anything else as it is.
std::string reason_in(const std::string& body) {
    const auto parsed = parse_json(body);
    const auto* const top = parsed ? &*parsed : nullptr;
    std::string reason;
    for (const auto* from :
         {member(member(top, "status"), "error"),
          member(top, "error"),
          member(top, "message"),
          member(top, "detail")}) {
        if (const auto text = text_of(from)) {
            reason += (reason.empty() ? "" : ": ") + std::string(*text);
        }
    }
    if (reason.empty()) {
        reason = body.substr(0, longest_reason * 4);
    }
    std::replace_if(
        reason.begin(),
        reason.end(),
        [](char each) { return each >= 0 && each < ' '; },
        ' '
    );
    if (reason.size() > longest_reason) {
        reason.resize(longest_reason);
        // Not in the middle of a character of UTF-8.
        while (!reason.empty() && (reason.back() & 0x80) != 0) {
            reason.pop_back();
        }
        reason += "...";
    }
    return reason;
}

}  // namespace

fault fault_of_status(unsigned status) noexcept {
    switch (status) {
    case 401:
    case 403: return fault::denied;
    case 404: return fault::missing;
    case 408:
    case 409:
    case 425: return fault::failed;
    case 413: return fault::too_large;
    case 429:
    case 503: return fault::throttled;
    default: break;
    }
    return status >= 400 && status < 500 ? fault::refused : fault::failed;
}

json_client::json_client(http_options options, std::string store)
    : client_(std::move(options)), store_(std::move(store)) {}

error json_client::make_error(fault what, std::string_view purpose, std::string_view why) const {
    return {
        .what = what,
        .text = store_ + " at " + client_.address() + ": " + std::string(purpose) + ": " +
                std::string(why)};
}

result<boost::json::value> json_client::call(const http_request& what, std::string_view purpose) {
    auto answer = client_.send(what);
    if (!answer) {
        auto error = answer.error();
        error.text = store_ + ": " + std::string(purpose) + ": " + error.text;
        return error;
    }
    if (answer->status == 200 || answer->status == 201) {
        if (answer->body.empty()) {
            return boost::json::value{};
        }
        if (auto parsed = parse_json(answer->body)) {
            return *std::move(parsed);
        }
        return make_error(fault::unreachable, purpose, "its answer is no JSON");
    }
    auto error = make_error(
        fault_of_status(answer->status),
        purpose,
        std::to_string(answer->status) + " " + reason_in(answer->body)
    );
    error.retry_after = answer->retry_after;
    return error;
}

}  // namespace weir::migration::store
