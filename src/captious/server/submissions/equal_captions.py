"""Submissions with one caption for many images, or empty ones: mistakes, or the simplest probe of references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from captious.data.ids import ImageId
from captious.server.submissions.upload import Problem, printable

#: As many equal captions are allowed in any submission: on few images, good systems repeat themselves, too.
ALWAYS_ALLOWED = 10
_QUOTE_LENGTH = 60


def equal_captions(captions: Mapping[ImageId, str], file: str, share: float) -> Iterator[Problem]:
    """The problem that too many images have the same caption.

    Captions are equal if their words are, whatever their case, spaces and punctuation. Those without words are equal.

    Args:
        captions: image id -> caption.
        file: name of the file in the problem.
        share: the largest share of images that may have the same caption.
    """
    limit = max(int(share * len(captions)), ALWAYS_ALLOWED)
    if share >= 1 or len(captions) <= limit:
        return
    words = {image: " ".join(re.findall(r"[^\W_]+", caption.casefold())) for image, caption in captions.items()}
    text, n = Counter(words.values()).most_common(1)[0]
    if n > limit:
        images = [image for image, caption in words.items() if caption == text]
        description = f'the caption "{printable(text[:_QUOTE_LENGTH])}"' if text else "a caption without words"
        message = f"{n:,} of {len(captions):,} images have {description}. At most {limit:,} may have the same caption."
        yield Problem.about(file, message, images)
