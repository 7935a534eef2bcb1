"""Submissions that look like probes of private references, which are held until an organizer releases them.

A caption with one word and gibberish tells from its score whether the references of the image have the word, because
gibberish matches nothing. So what is held has words that are neither in the references of public captions files nor in
other submissions, or repeats a few captions. Private references are not asked: whether something is held would tell
about them.

The largest share of such words in nine published systems on COCO, and in captions of people: .072 and .104 with the
references of 150 images in public, which have 1,222 words; .024 and .052 with those of 500 images; .102 and .121 with
words of at least two of five systems on 1,000 images. At least .209 of their captions are distinct, on 20,252 images.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path

from captious_server.models import Submission
from captious_server.submissions import storage
from captious_server.submissions.reading import words_of

_MIN_WORDS = 1000  # of public references that tell which words are usual
_MIN_OTHERS = 5  # submissions of other teams that tell it otherwise
_MAX_OTHERS = 10
_MIN_SUBMISSIONS = 2  # in which a word must be


def why_held(submission: Submission, folder: Path) -> str:
    """The reason why a submission must be released by an organizer, in one sentence; empty if it need not be."""
    challenge = submission.challenge
    names = [name for name in submission.phase.captions if not challenge.is_public(name)]
    if submission.is_baseline or not names:
        return ""
    definition = challenge.definition
    captions = [words_of(text) for name in names for text in storage.candidates_in(folder, name).values()]
    distinct = len({*captions}) / len(captions)
    if distinct < definition.distinct_captions:
        return f"It waits for the organizers, as {distinct:.0%} of its captions are distinct."
    usual = _usual_words(submission)
    words = [word for caption in captions for word in caption]
    if usual is None or not words:
        return ""
    unknown = sum(word not in usual for word in words) / len(words)
    if unknown <= definition.unknown_words:
        return ""
    return f"It waits for the organizers, as {unknown:.0%} of its words are in hardly any other captions."


def _usual_words(submission: Submission) -> set[str] | None:
    """The words of public references and other submissions; None if there are too few of both."""
    challenge = submission.challenge
    usual = {*challenge.words_file.read_text(encoding="utf-8").split()}
    rows = Submission.objects.filter(phase=submission.phase).exclude(team=submission.team)
    rows = rows.exclude(status__in=[Submission.Status.HELD, Submission.Status.DELETED, Submission.Status.CANCELED])
    folders = dict(rows.order_by("pk").values_list("team", "folder_name"))  # the last of each team
    if len(usual) < _MIN_WORDS and len(folders) < _MIN_OTHERS:
        return None
    counts = Counter(word for name in [*folders.values()][-_MAX_OTHERS:] for word in _submitted_words(name))
    return usual | {word for word, n in counts.items() if n >= _MIN_SUBMISSIONS}


@lru_cache(maxsize=256)
def _submitted_words(folder_name: str) -> frozenset[str]:
    """The words of a submission, which never change."""
    folder = Submission(folder_name=folder_name).folder
    captions = (storage.candidates_in(folder, name) for name in storage.captions_names(folder))
    return frozenset(word for rows in captions for text in rows.values() for word in words_of(text))
