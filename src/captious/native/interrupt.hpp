// Lets Ctrl-C interrupt long kernels: their loops count steps and check for signals now and then.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

namespace captious {

// Interval at which a kernel checks for signals.
constexpr std::chrono::milliseconds kPatience{100};

// Thrown in a thread of a kernel whose other threads have been told to stop.
struct Stopped {};

// During its lifetime, poll() throws Stopped in this thread once the flag is set. In worker threads, poll()
// does not call Python. Scopes may be nested: each restores what applied before it.
class StopScope {
public:
    StopScope(const std::atomic<bool>& stop, bool own_thread);
    ~StopScope();
    StopScope(const StopScope&) = delete;
    StopScope& operator=(const StopScope&) = delete;

private:
    const std::atomic<bool>* outer_;
    bool outer_asks_;
};

// Marks the start of a kernel, which need not check for signals before its patience is over.
void begin_kernel();

// In the calling thread of the kernel, throws exceptions of Python's signal handlers (nanobind::python_error);
// handlers run at most once in kPatience, under the GIL, which the thread need not hold. Within a StopScope,
// throws Stopped if its flag is set.
void poll();

// Counts the steps of a loop, each of a few nanoseconds, and polls often enough to notice signals soon.
class Pulse {
public:
    void operator()(std::size_t steps) {
        steps_ += steps;
        if (steps_ < kSteps) return;
        steps_ = 0;
        poll();
    }

private:
    static constexpr std::size_t kSteps = 1 << 16;
    std::size_t steps_ = 0;
};

}  // namespace captious
