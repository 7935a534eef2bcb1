// Splits rows among threads. Rows are independent, so the number of threads changes no bit of any result.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "interrupt.hpp"

namespace captious {

// Calls body(begin, end) on contiguous pieces of [0, n), one per thread; a piece has at least `grain` rows. The calling
// thread takes over pieces that get no thread, and checks for signals while it waits. Once a
// piece has thrown, the others are told to stop, and the exception is rethrown here; the first piece's, if
// several threw.
template <typename Body>
void parallel_for(std::size_t n, int threads, std::size_t grain, const Body& body) {
    std::size_t pieces = std::max<std::size_t>(1, std::min<std::size_t>(threads < 1 ? 1 : threads, n / grain));
    begin_kernel();
    if (pieces == 1) {
        body(std::size_t{0}, n);
        return;
    }
    std::vector<std::exception_ptr> errors(pieces);
    std::vector<std::thread> workers;
    workers.reserve(pieces - 1);  // nothing may throw while threads run, so allocate first
    std::atomic<bool> stop = false;
    std::mutex mutex;
    std::condition_variable ended;
    std::size_t running = 0;  // under the mutex

    auto guarded = [&errors](std::size_t piece, const auto& work) {
        try {
            work();
            return true;
        } catch (const Stopped&) {  // another thread has the actual error
        } catch (...) {
            if (!errors[piece]) errors[piece] = std::current_exception();
        }
        return false;
    };
    auto run = [&](std::size_t piece, bool own_thread) {
        StopScope scope(stop, own_thread);
        if (!guarded(piece, [&] { body(n * piece / pieces, n * (piece + 1) / pieces); })) stop = true;
    };
    auto work = [&](std::size_t piece) {
        run(piece, true);
        std::lock_guard lock(mutex);
        --running;
        ended.notify_one();
    };
    for (std::size_t piece = 1; piece < pieces; ++piece) {
        try {
            {
                std::lock_guard lock(mutex);
                ++running;
            }
            workers.emplace_back(work, piece);
        } catch (const std::exception&) {  // no thread, or no memory for one
            std::lock_guard lock(mutex);
            --running;
            break;
        }
    }
    run(0, false);
    for (std::size_t piece = workers.size() + 1; piece < pieces && !stop; ++piece) run(piece, false);
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, kPatience, [&] { return running == 0; }))
        if (!stop && !guarded(0, poll)) stop = true;
    lock.unlock();
    for (std::thread& worker : workers) worker.join();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

}  // namespace captious
