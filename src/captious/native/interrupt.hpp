// Lets long kernels end when the user presses Ctrl-C: their loops count steps and look for signals now and then.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

namespace captious {

// Interval at which a kernel checks for signals.
constexpr std::chrono::milliseconds kPatience{100};

// Thrown in a thread of a kernel whose other threads have been told to stop.
struct Stopped {};

// While it lives, poll() throws Stopped in this thread once the flag is set. In a thread of the kernel's own, poll()
// does not ask Python.
class StopScope {
public:
    StopScope(const std::atomic<bool>& stop, bool own_thread);
    ~StopScope();
    StopScope(const StopScope&) = delete;
    StopScope& operator=(const StopScope&) = delete;
};

// Says that a kernel begins, which need not look for signals before its patience is over.
void begin_kernel();

// In the thread that has called the kernel, throws what Python's signal handlers raise (nanobind::python_error);
// handlers are asked at most once in kPatience, under the GIL, which the thread need not hold. Where a StopScope lives,
// throws Stopped if its flag is set.
void poll();

// Counts the steps of a loop, each of a few nanoseconds, and polls after so many that little time has passed.
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
