// The series of one family in one worker: label values to a number that is counted there.
#pragma once

#include "metrics/labels.hpp"

#include <array>
#include <cassert>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::metrics {

template <std::size_t N>
using label_values = std::array<std::string, N>;

// How many series of one family there may be before new ones are counted together.
constexpr std::size_t default_series_limit = 500;

// What all labels of that common series say.
constexpr std::string_view overflow_label = "other";

// Threads: `get` belongs to the owning worker; `each` may be called from anywhere. The lock is
// taken when a series is made and when all are read, never when one is counted.
template <class T, std::size_t N>
class series {
public:
    explicit series(std::size_t limit = default_series_limit) : limit_(limit) {}

    series(const series&) = delete;
    series& operator=(const series&) = delete;
    ~series() = default;

    // The number for these label values, made on first use. The reference is valid as long as this
    // object: look up once, keep it.
    [[nodiscard]] T& get(const std::array<std::string_view, N>& names) {
        label_values<N> labels;
        for (std::size_t i = 0; i < N; ++i) {
            labels[i] = clean_label(names[i]);
        }
        if (const auto found = by_labels_.find(labels); found != by_labels_.end()) {
            return *found->second;
        }
        if (entries_.size() >= limit_) {
            if (overflow_ == nullptr) {
                labels.fill(std::string(overflow_label));
                const auto named_so = by_labels_.find(labels);
                overflow_ =
                    named_so != by_labels_.end() ? named_so->second : &make(std::move(labels));
            }
            return *overflow_;
        }
        return make(std::move(labels));
    }

    // Calls visit(labels, number) for each series, in the order they were made.
    template <class F>
    void each(F&& visit) const {
        const std::lock_guard lock(mutex_);
        for (const auto& one : entries_) {
            visit(one.labels, one.value);
        }
    }

private:
    struct entry {
        explicit entry(const label_values<N>& names) : labels(names) {}

        label_values<N> labels;
        T value{};
    };

    T& make(label_values<N> labels) {
        const std::lock_guard lock(mutex_);
        auto& made = entries_.emplace_back(labels).value;
        by_labels_.emplace(std::move(labels), &made);
        return made;
    }

    const std::size_t limit_;
    mutable std::mutex mutex_;
    std::deque<entry> entries_;                // written under the mutex
    std::map<label_values<N>, T*> by_labels_;  // the owner's alone
    T* overflow_ = nullptr;
};

// A series table by small numbers instead of names, for the hot path: the names are resolved when a
// combination is first seen, later uses are one array step. Belongs to the owning worker.
template <class T, std::size_t N>
class grid {
public:
    // names[d][i] is the label value for index i of dimension d. `from` must outlive the grid.
    grid(series<T, N>& from, std::array<std::vector<std::string>, N> names)
        : from_(&from), names_(std::move(names)) {
        std::size_t cells = 1;
        for (const auto& dimension : names_) {
            cells *= dimension.size();
        }
        cells_.resize(cells, nullptr);
    }

    template <class... Index>
    [[nodiscard]] T& at(Index... index) {
        static_assert(sizeof...(Index) == N);
        const std::array<std::size_t, N> place{static_cast<std::size_t>(index)...};
        std::size_t cell = 0;
        for (std::size_t d = 0; d < N; ++d) {
            assert(place[d] < names_[d].size());
            cell = cell * names_[d].size() + place[d];
        }
        if (cells_[cell] == nullptr) {
            cells_[cell] = &resolve(place);
        }
        return *cells_[cell];
    }

private:
    T& resolve(const std::array<std::size_t, N>& place) {
        std::array<std::string_view, N> values;
        for (std::size_t d = 0; d < N; ++d) {
            values[d] = names_[d][place[d]];
        }
        return from_->get(values);
    }

    series<T, N>* from_;
    std::array<std::vector<std::string>, N> names_;
    std::vector<T*> cells_;
};

}  // namespace weir::metrics
