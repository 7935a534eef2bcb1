// A vocabulary as Python holds it.
#pragma once

#include "bindings.hpp"
#include "vocabulary/vocabulary.hpp"

namespace captious::vocabulary {

// Python threads may share a vocabulary: readers wait for writers.
struct SharedVocabulary : Vocabulary {
    mutable SharedMutex mutex;
};

}  // namespace captious::vocabulary
