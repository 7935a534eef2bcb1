// Splits rows among threads. Rows are independent, so the number of threads changes no bit of any result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace captious {

// Calls body(begin, end) on contiguous pieces of [0, n), one per thread; a piece has at least `grain` rows.
// What a piece throws is thrown again here, the first piece's first.
template <typename Body>
void parallel_for(std::size_t n, int threads, std::size_t grain, const Body& body) {
    std::size_t pieces = std::max<std::size_t>(1, std::min<std::size_t>(threads < 1 ? 1 : threads, n / grain));
    if (pieces == 1) {
        body(std::size_t{0}, n);
        return;
    }
    std::vector<std::exception_ptr> errors(pieces);
    std::vector<std::thread> workers;
    auto run = [&](std::size_t piece) {
        try {
            body(n * piece / pieces, n * (piece + 1) / pieces);
        } catch (...) {
            errors[piece] = std::current_exception();
        }
    };
    for (std::size_t piece = 1; piece < pieces; ++piece) workers.emplace_back(run, piece);
    run(0);
    for (std::thread& worker : workers) worker.join();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

}  // namespace captious
