#include "migration/time_codec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

namespace weir::migration {
namespace {

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t day = 86'400 * second;
constexpr std::int64_t days_to_2000 = 10'957;  // from 1970-01-01
// The calendar repeats after 400 years.
constexpr std::int64_t cycle_years = 400;
constexpr std::int64_t cycle_days = 146'097;

std::int64_t floor_divide(std::int64_t number, std::int64_t by) {
    return number / by - (number % by < 0 ? 1 : 0);
}

// Finite values stay apart from the infinities.
std::int64_t microseconds_of_days(std::int64_t days) {
    constexpr auto most = (time_infinity - 1) / day;
    if (days > most) {
        return time_infinity - 1;
    }
    return days < -most ? time_minus_infinity + 1 : days * day;
}

// Years before 1 are 0, -1, … as astronomers count. std::chrono knows 16-bit years only, so the
// date is looked up in the cycle that begins with 2000.
std::int64_t days_of(std::int64_t year, unsigned month, unsigned of_month) {
    const auto cycle = floor_divide(year - 2000, cycle_years);
    const std::chrono::year_month_day date(
        std::chrono::year(static_cast<int>(year - cycle * cycle_years)),
        std::chrono::month(month),
        std::chrono::day(of_month)
    );
    return std::chrono::sys_days(date).time_since_epoch().count() + cycle * cycle_days;
}

struct calendar_day {
    std::int64_t year = 0;
    unsigned month = 0;
    unsigned day = 0;
};

calendar_day calendar_of(std::int64_t days) {
    const auto cycle = floor_divide(days - days_to_2000, cycle_days);
    const std::chrono::year_month_day date{
        std::chrono::sys_days(std::chrono::days(days - cycle * cycle_days))};
    return {
        static_cast<int>(date.year()) + cycle * cycle_years,
        static_cast<unsigned>(date.month()),
        static_cast<unsigned>(date.day())};
}

// Takes the parts of a text off its front; latches the first fault.
class scanner {
public:
    explicit scanner(std::string_view text) : left_(text) {}

    std::int64_t number(std::size_t least, std::size_t most) {
        std::int64_t read = 0;
        std::size_t size = 0;
        while (size < left_.size() && size < most && left_[size] >= '0' && left_[size] <= '9') {
            read = read * 10 + (left_[size] - '0');
            ++size;
        }
        left_.remove_prefix(size);
        good_ = good_ && size >= least;
        return read;
    }

    bool skip(std::string_view what) {
        if (!left_.starts_with(what)) {
            return false;
        }
        left_.remove_prefix(what.size());
        return true;
    }

    void expect(std::string_view what) { good_ = skip(what) && good_; }

    void require(bool holds) { good_ = good_ && holds; }

    // Digits of a fraction, as millionths.
    std::int64_t fraction() {
        const auto before = left_.size();
        auto read = number(1, 6);
        for (auto digits = before - left_.size(); digits < 6; ++digits) {
            read *= 10;
        }
        return read;
    }

    [[nodiscard]] bool good() const { return good_; }

    [[nodiscard]] bool finished() const { return good_ && left_.empty(); }

private:
    std::string_view left_;
    bool good_ = true;
};

// "12:34:56.789" in microseconds.
std::int64_t time_of_day(scanner& from) {
    const auto hour = from.number(2, 2);
    from.expect(":");
    const auto minute = from.number(2, 2);
    from.expect(":");
    const auto seconds = from.number(2, 2);
    from.require(hour <= 24 && minute < 60 && seconds <= 60);
    const auto part = from.skip(".") ? from.fraction() : 0;
    return ((hour * 60 + minute) * 60 + seconds) * second + part;
}

// "+05", "-03:30", "+00:19:32": how far local time is ahead of UTC.
std::int64_t offset(scanner& from) {
    const bool west = from.skip("-");
    if (!west && !from.skip("+")) {
        return 0;
    }
    auto seconds = from.number(2, 2) * 3600;
    if (from.skip(":")) {
        seconds += from.number(2, 2) * 60;
        if (from.skip(":")) {
            seconds += from.number(2, 2);
        }
    }
    return (west ? -seconds : seconds) * second;
}

// The date with " BC" where it is needed; `between` stands after the day.
std::string written(std::int64_t days, const std::string& between) {
    const auto at = calendar_of(days);
    const bool before_christ = at.year <= 0;
    std::array<char, 48> text{};
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): bounded, and g++ 12 has no std::format
    std::snprintf(
        text.data(),
        text.size(),
        "%04lld-%02u-%02u",
        static_cast<long long>(before_christ ? 1 - at.year : at.year),
        at.month,
        at.day
    );
    return text.data() + between + (before_christ ? " BC" : "");
}

const char* infinity_text(std::int64_t time) {
    return time == time_infinity ? "infinity" : "-infinity";
}

bool infinite(std::int64_t time) {
    return time == time_infinity || time == time_minus_infinity;
}

}  // namespace

std::int64_t time_of_timestamp(std::int64_t since_2000) {
    constexpr auto shift = days_to_2000 * day;
    if (infinite(since_2000)) {
        return since_2000;
    }
    return since_2000 > time_infinity - 1 - shift ? time_infinity - 1 : since_2000 + shift;
}

std::int64_t time_of_date(std::int32_t days_since_2000) {
    if (days_since_2000 == std::numeric_limits<std::int32_t>::max()) {
        return time_infinity;
    }
    if (days_since_2000 == std::numeric_limits<std::int32_t>::min()) {
        return time_minus_infinity;
    }
    return microseconds_of_days(days_since_2000 + days_to_2000);
}

codec_result<std::int64_t> read_time(std::string_view text) {
    if (text == "infinity") {
        return time_infinity;
    }
    if (text == "-infinity") {
        return time_minus_infinity;
    }
    scanner from(text);
    auto year = from.number(4, 7);
    from.expect("-");
    const auto month = static_cast<unsigned>(from.number(2, 2));
    from.expect("-");
    const auto of_month = static_cast<unsigned>(from.number(2, 2));
    from.require(month >= 1 && month <= 12 && of_month >= 1 && of_month <= 31);
    std::int64_t within = 0;
    if (!from.skip(" BC") && !from.finished()) {
        from.expect(" ");
        within = time_of_day(from);
        within -= offset(from);
        from.skip(" BC");
    }
    if (!from.finished()) {
        return codec_fault::bad_syntax;
    }
    if (text.ends_with(" BC")) {
        year = 1 - year;
    }
    std::int64_t time = 0;
    if (__builtin_add_overflow(
            microseconds_of_days(days_of(year, month, of_month)),
            within,
            &time
        )) {
        return time_infinity - 1;  // nothing is as early as the smallest number
    }
    return std::min(time, time_infinity - 1);
}

std::string timestamp_text(std::int64_t time) {
    if (infinite(time)) {
        return infinity_text(time);
    }
    const auto days = floor_divide(time, day);
    const auto within = time - days * day;
    std::array<char, 40> clock{};
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): bounded
    std::snprintf(
        clock.data(),
        clock.size(),
        " %02d:%02d:%02d.%06d+00",
        static_cast<int>(within / (3600 * second)),
        static_cast<int>(within / (60 * second) % 60),
        static_cast<int>(within / second % 60),
        static_cast<int>(within % second)
    );
    return written(days, clock.data());
}

std::string date_text(std::int64_t time) {
    return infinite(time) ? infinity_text(time) : written(floor_divide(time, day), "");
}

}  // namespace weir::migration
