// A vocabulary as Python holds it.
#pragma once

#include <shared_mutex>

#include "bindings.hpp"
#include "vocabulary/vocabulary.hpp"

namespace captious::vocabulary {

// Threads of Python may share a vocabulary: who reads waits for who adds.
struct SharedVocabulary : Vocabulary {
    mutable SharedMutex mutex;
};

}  // namespace captious::vocabulary
