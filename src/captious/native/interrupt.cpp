// Checking for Python signals from within a kernel.
#include "interrupt.hpp"

#include <nanobind/nanobind.h>

namespace captious {
namespace {

using Clock = std::chrono::steady_clock;

thread_local const std::atomic<bool>* followed = nullptr;
thread_local bool asks_python = true;
thread_local Clock::time_point next_look{};

}  // namespace

StopScope::StopScope(const std::atomic<bool>& stop, bool own_thread) : outer_(followed), outer_asks_(asks_python) {
    followed = &stop;
    asks_python = !own_thread;
}

StopScope::~StopScope() {
    followed = outer_;
    asks_python = outer_asks_;
}

void begin_kernel() { next_look = Clock::now() + kPatience; }

void poll() {
    if (followed != nullptr && followed->load(std::memory_order_relaxed)) throw Stopped();
    if (!asks_python || Clock::now() < next_look) return;
    nanobind::gil_scoped_acquire acquire;
    int failed = PyErr_CheckSignals();
    next_look = Clock::now() + kPatience;
    if (failed != 0) throw nanobind::python_error();
}

}  // namespace captious
