"""Makes the bundled grammar, from the official derivations of captions.

    python training/grammar/train.py --data ../shared/data

README.md beside this file says what each step does.
"""

from __future__ import annotations

import argparse
import hashlib
import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from captions import other_captions, treebank_captions
from captious.files import whole_file
from captious.parsing.lexicon import lexicon_of
from captious.parsing.tree_parser import TreeParser, tuned_bounds
from captious.resources import corenlp
from captious.resources.cache import Arrays, write_arrays
from captious.resources.grammar import FILE, FORMAT, VERSION, Grammar
from counts import Reduced, category, count
from derivations import Derivations, derive
from perceptron import Perceptron, State
from spans import likely_tags, span_ends, train_span_ends
from variants import rare_words, truncated, variants

HELD_OUT = 2000
#: Passes over captions, and over captions, truncated ones and variants; each pass with its first change of a score.
STEPS = (0.2,) * 6 + (0.05,) * 2
STEPS_OF_VARIANTS = (0.1, 0.05, 0.02)
VARIANTS = 8  # of a word, others in every pass
TRUNCATED = 200_000
PASSES_OF_SPANS = 2
TUNED_ON = 3000  # captions; it makes parsing faster and changes nothing

Made = TypeVar("Made")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the captions")
    parser.add_argument("--captions", type=int, help="learn from so many captions only")
    parser.add_argument("--steps", type=float, nargs="+", default=STEPS, help="one for each pass over captions")
    parser.add_argument(
        "--steps-of-variants", type=float, nargs="+", default=STEPS_OF_VARIANTS, help="then for each over variants, too"
    )
    parser.add_argument("--variants", type=int, default=VARIANTS, help="captions made for each rare word in a pass")
    parser.add_argument("--truncated", type=int, default=TRUNCATED, help="captions that break off")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, help="keep what each step makes here, to go on from there")
    parser.add_argument("-o", "--output", type=Path, default=FILE)
    options = parser.parse_args()
    work: Path | None = options.work

    installed = corenlp.find()
    if installed is None:
        raise SystemExit(f"the official grammar is not here: {corenlp.INSTALL}")
    official = installed.grammar()
    treebank = treebank_captions(options.data)
    captions = [*treebank[:-HELD_OUT], *other_captions(options.data)][: options.captions] + treebank[-HELD_OUT:]
    parser_ = TreeParser(official, tuned_bounds(official, captions[:TUNED_ON]))
    derived = kept(work, "captions", lambda: derive(parser_, captions))
    derivations, held_out = derived[: len(derived) - HELD_OUT], derived[len(derived) - HELD_OUT :]
    lexicon = lexicon_of(official)
    words = rare_words(derivations, lexicon)

    def made(number: int) -> Derivations:
        """Derive the truncated captions, which come first, or the variants of a pass."""
        rng = np.random.default_rng([options.seed, number])
        if not number:
            return derive(parser_, truncated(derivations, official.states, options.truncated, rng))
        return derive(parser_, variants(derivations, lexicon, words, options.variants, rng))

    everything, ends = derivations, [len(derivations)]
    for number in range(1 + len(options.steps_of_variants)):
        everything += kept(work, f"made-{number}", partial(made, number))
        ends.append(len(everything))
    grammar = count(official, everything)
    print(
        f"{len(everything):,} captions, {len(words):,} rare words; {len(grammar.states):,} states, "
        f"{len(grammar.binary_rules):,} binary and {len(grammar.unary_rules):,} unary rules, "
        f"{len(grammar.lexical_scores):,} tagged words and shapes",
        flush=True,
    )
    model = Perceptron(grammar, everything + held_out)
    held = range(ends[-1], ends[-1] + len(held_out))
    print(f"frequencies: {model.agreement(held, model.state.scores):.2%} of held-out derivations", flush=True)

    def trained(sentences: NDArray[np.int64], step: float) -> tuple[float, State]:
        return model.train(sentences, options.batch, step), model.state

    passes = [(step, np.arange(ends[0])) for step in options.steps]
    for step, begin, end in zip(options.steps_of_variants, ends[1:-1], ends[2:], strict=True):
        passes.append((step, np.r_[: ends[1], begin:end]))
    rng = np.random.default_rng(options.seed)
    for (step, _), stage in groupby(enumerate(passes), lambda item: (item[1][0], len(item[1][1]))):
        model.anneal()
        for number, (_, sentences) in stage:
            order = rng.permutation(sentences)
            wrong, model.state = kept(work, f"pass-{number}", partial(trained, order, step))
            right = model.agreement(held, model.state.averaged)
            print(f"step {step}: {wrong:.2%} wrong in training, {right:.2%} of held-out derivations", flush=True)
    tags = likely_tags(official, grammar, everything)
    offsets = np.cumsum([0, *map(len, everything.sentences)])
    entries = np.concatenate([model.entries[sentence] for sentence in everything.sentences])
    spans = train_span_ends(entries, offsets, tags, span_ends(official, everything), PASSES_OF_SPANS, rng)
    scores = model.state.averaged
    with whole_file(options.output, "wb") as file:
        write_arrays(file, bundled_arrays(official, grammar, scores, captions[:TUNED_ON]) | spans.arrays(), FORMAT)
    print(f"{options.output}: {options.output.stat().st_size / 1e6:.1f} MB")


def kept(work: Path | None, name: str, make: Callable[[], Made]) -> Made:
    """Return what this makes, or what it has made in an earlier run, which the folder keeps."""
    if work is None:
        return make()
    file = work / f"{name}.pickle"
    if file.exists():
        with file.open("rb") as stream:
            found: Made = pickle.load(stream)
        return found
    work.mkdir(parents=True, exist_ok=True)
    made = make()
    with whole_file(file, "wb") as stream:
        pickle.dump(made, stream)
    return made


def bundled_arrays(
    official: Grammar, reduced: Reduced, scores: NDArray[np.float64], captions: list[tuple[str, ...]]
) -> Arrays:
    """Return the bundled grammar, with bounds that are tuned on these captions."""
    grammar = as_grammar(official, reduced, scores)
    states = tuple(official.states[state] for state in reduced.states.tolist())
    tags = tuple(states[tag] for tag in reduced.tags.tolist())
    bounds = tuned_bounds(replace(grammar, states=states, tags=tags), captions)
    return grammar.arrays() | {"symbols": bounds.symbols, "potentials": bounds.potentials, "common": bounds.common}


def as_grammar(official: Grammar, reduced: Reduced, scores: NDArray[np.float64]) -> Grammar:
    """Return the bundled grammar."""
    names = [_name(official.states[state], number) for number, state in enumerate(reduced.states.tolist())]
    n_binary, n_rules = len(reduced.binary_rules), len(reduced.rule_scores)
    single = scores.astype(np.float32)
    none = np.zeros((0, 2), np.int32)
    return Grammar(
        name=VERSION,
        fingerprint=hashlib.sha256(single.tobytes()).hexdigest()[:16],
        states=tuple(names),
        tags=tuple(names[tag] for tag in reduced.tags.tolist()),
        words=reduced.lexicon,
        binary_rules=reduced.binary_rules,
        binary_scores=single[:n_binary],
        unary_rules=reduced.unary_rules,
        unary_scores=single[n_binary:n_rules],
        seen=none,
        seen_counts=np.zeros(0),
        unseen=none,
        unseen_counts=np.zeros(0),
        lexical_rules=reduced.lexical_rules,
        lexical_scores=single[n_rules:],
    )


def _name(state: str, number: int) -> str:
    """Return the name of a state: its category and number, or only its number if trees do not show it."""
    if "@" in state:
        return f"@{number}"
    if state == "ROOT" or state.startswith("-"):
        return state
    return f"{category(state)}{'-TMP' if '-TMP' in state else ''}-{number}"


if __name__ == "__main__":
    main()
