#include "proxy/logging.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <utility>

namespace weir::proxy {

namespace {

// The message as the inside of a JSON string; the pattern's %*.
class json_message final : public spdlog::custom_flag_formatter {
public:
    void format(
        const spdlog::details::log_msg& message,
        const std::tm& time,
        spdlog::memory_buf_t& into
    ) override {
        static_cast<void>(time);
        const auto text = json_escape({message.payload.data(), message.payload.size()});
        into.append(text.data(), text.data() + text.size());
    }

    [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
        return std::make_unique<json_message>();
    }
};

std::unique_ptr<spdlog::formatter> formatter_for(const config::log& how) {
    auto made = std::make_unique<spdlog::pattern_formatter>(
        how.json ? spdlog::pattern_time_type::utc : spdlog::pattern_time_type::local
    );
    if (how.json) {
        made->add_flag<json_message>('*');
        made->set_pattern(
            R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","process":%P,"message":"%*"})"
        );
    } else {
        made->set_pattern("%Y-%m-%d %H:%M:%S.%e %P %l %v");
    }
    return made;
}

spdlog::level::level_enum level_of(config::log_level level) {
    switch (level) {
    case config::log_level::debug: return spdlog::level::debug;
    case config::log_level::info: return spdlog::level::info;
    case config::log_level::warning: return spdlog::level::warn;
    case config::log_level::error: return spdlog::level::err;
    }
    return spdlog::level::info;
}

}  // namespace

void set_up_logging(const config::log& how) {
    static std::once_flag made;
    std::call_once(made, [] {
        auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
        spdlog::set_default_logger(std::make_shared<spdlog::logger>("pgweir", std::move(sink)));
    });
    const auto logger = spdlog::default_logger();
    logger->set_formatter(formatter_for(how));
    logger->set_level(level_of(how.level));
    logger->flush_on(spdlog::level::debug);
}

std::string json_escape(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string made;
    made.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            made += '\\';
            made += c;
        } else if (c == '\n') {
            made += "\\n";
        } else if (byte < 0x20) {
            made += "\\u00";
            made += digits[byte >> 4U];
            made += digits[byte & 0xFU];
        } else {
            made += c;
        }
    }
    return made;
}

}  // namespace weir::proxy
