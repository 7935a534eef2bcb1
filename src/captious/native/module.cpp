// The Python module of the kernels: arrays and UTF-8 text in, arrays out.
#include "bindings.hpp"

using namespace captious;

NB_MODULE(_kernels, m) {
    // No leak warnings for objects that live until the interpreter ends, in globals of users or a cache.
    nb::set_leak_warnings(false);
    m.doc() = "Kernels over arrays of numbers and UTF-8 text.";

    bind_vocabulary(m);
    bind_ngrams(m);
    bind_cider(m);
    bind_correlation(m);
    bind_json(m);
    bind_marks(m);
    bind_meteor(m);
    bind_parsing(m);
    bind_vectors(m);
}
