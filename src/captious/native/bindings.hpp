// Helpers of the bindings: NumPy arrays in and out, a lock for objects shared by Python threads, checks.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <shared_mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokens.hpp"

namespace captious {

namespace nb = nanobind;

using Int32In = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Int64In = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Vector = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <typename T>
using Matrix = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

// A NumPy array that owns the values.
template <typename Array, typename T>
Array owning(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array(owned.release()->data(), shape, owner);
}

template <typename T>
Vector<T> to_numpy(std::vector<T>&& values) {
    std::size_t size = values.size();
    return owning<Vector<T>>(std::move(values), {size});
}

// Rows of a number of columns. Throws std::invalid_argument if the values do not fill whole rows.
template <typename T>
Matrix<T> to_numpy(std::vector<T>&& values, std::size_t columns) {
    if (columns == 0 || values.size() % columns != 0) throw std::invalid_argument("values do not fit columns");
    std::size_t rows = values.size() / columns;
    return owning<Matrix<T>>(std::move(values), {rows, columns});
}

// A mutex that is never awaited while holding the GIL: a kernel may hold it and acquire the GIL to check for signals.
class SharedMutex {
public:
    void lock() {
        if (!mutex_.try_lock()) wait([&] { mutex_.lock(); });
    }
    void lock_shared() {
        if (!mutex_.try_lock_shared()) wait([&] { mutex_.lock_shared(); });
    }
    void unlock() { mutex_.unlock(); }
    void unlock_shared() { mutex_.unlock_shared(); }

private:
    template <typename Lock>
    static void wait(const Lock& lock) {
        nb::gil_scoped_acquire acquire;  // the stable ABI cannot tell whether this thread holds it
        nb::gil_scoped_release release;
        lock();
    }

    std::shared_mutex mutex_;
};

// Result of a kernel that runs without the GIL.
template <typename Kernel>
auto without_gil(const Kernel& kernel) {
    nb::gil_scoped_release release;
    return kernel();
}

// Numbers that a kernel writes without the GIL: kernel(first number).
template <typename T, typename Kernel>
std::vector<T> fill_vector(std::size_t size, const Kernel& kernel) {
    std::vector<T> out(size);
    without_gil([&] { kernel(out.data()); });
    return out;
}

// The values as a NumPy array.
template <typename T, typename Kernel>
Vector<T> fill_array(std::size_t size, const Kernel& kernel) {
    return to_numpy(fill_vector<T>(size, kernel));
}

template <typename T, typename Kernel>
Matrix<T> fill_array(std::size_t rows, std::size_t columns, const Kernel& kernel) {
    return owning<Matrix<T>>(fill_vector<T>(rows * columns, kernel), {rows, columns});
}

using Strings = nb::typed<nb::tuple, nb::str, nb::ellipsis>;

// Types of NumPy arrays in signatures.
#define UINT8S "numpy.typing.NDArray[numpy.uint8]"
#define INT32S "numpy.typing.NDArray[numpy.int32]"
#define INT64S "numpy.typing.NDArray[numpy.int64]"
#define UINT64S "numpy.typing.NDArray[numpy.uint64]"
#define FLOAT32S "numpy.typing.NDArray[numpy.float32]"
#define ARRAYS "dict[str, numpy.typing.NDArray[typing.Any]]"

template <typename T>
using ArrayIn = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// An array of a dictionary, which keeps it alive.
template <typename T>
std::span<const T> array_of(const nb::dict& arrays, const char* name) {
    if (!arrays.contains(name)) throw nb::value_error((std::string("there is no array ") + name).c_str());
    auto array = nb::cast<ArrayIn<T>>(arrays[name], false);
    return {array.data(), array.size()};
}

inline nb::tuple to_numpy(FlatTokens&& tokens) {
    return nb::make_tuple(to_numpy(std::move(tokens.ids)), to_numpy(std::move(tokens.offsets)));
}

// UTF-8 of a tuple of strings, which keeps them alive. Raises UnicodeEncodeError for lone surrogates.
inline std::vector<std::string_view> utf8(const nb::tuple& strings) {
    std::vector<std::string_view> out;
    out.reserve(strings.size());
    for (nb::handle string : strings) {
        Py_ssize_t size;
        const char* text = PyUnicode_AsUTF8AndSize(string.ptr(), &size);
        if (text == nullptr) throw nb::python_error();
        out.emplace_back(text, static_cast<std::size_t>(size));
    }
    return out;
}

// Whether offsets start at 0, end at `last` and rise by at least `step`.
inline bool rise_to(const Int64In& offsets, std::size_t last, std::int64_t step) {
    const std::int64_t* values = offsets.data();
    if (offsets.size() == 0 || values[0] != 0 || values[offsets.size() - 1] != static_cast<std::int64_t>(last))
        return false;
    for (std::size_t i = 1; i < offsets.size(); ++i)
        if (values[i] < values[i - 1] || values[i] - values[i - 1] < step) return false;
    return true;
}

inline TokensView view(const Int32In& ids, const Int64In& offsets) {
    if (!rise_to(offsets, ids.size(), 0)) throw nb::value_error("offsets do not fit ids");
    if (std::any_of(ids.data(), ids.data() + ids.size(), [](std::int32_t id) { return id < 0; }))
        throw nb::value_error("ids do not fit: one is negative");
    return {ids.data(), offsets.data(), offsets.size() - 1};
}

inline std::span<const std::int64_t> span(const Int64In& values) { return {values.data(), values.size()}; }

inline void check_images(const TokensView& candidates, const TokensView& references, const Int64In& image_offsets) {
    if (image_offsets.size() != candidates.count + 1 || !rise_to(image_offsets, references.count, 1))
        throw nb::value_error("image_offsets do not fit candidates and references");
}

// One function for each subject, in its own folder: NAME/NAME_bindings.cpp.
void bind_vocabulary(nb::module_& m);
void bind_ngrams(nb::module_& m);
void bind_cider(nb::module_& m);
void bind_correlation(nb::module_& m);
void bind_json(nb::module_& m);
void bind_marks(nb::module_& m);
void bind_meteor(nb::module_& m);
void bind_parsing(nb::module_& m);
void bind_vectors(nb::module_& m);

}  // namespace captious
