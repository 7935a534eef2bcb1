"""Makes the bundled grammar, from the official derivations of captions.

    python training/grammar/train.py --data ../shared/data

README.md beside this file says what each step does.
"""

from __future__ import annotations

import argparse
import hashlib
from dataclasses import replace
from itertools import groupby
from pathlib import Path

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
from derivations import derive
from perceptron import Perceptron
from spans import likely_tags, span_ends, train_span_ends
from variants import rare_words, variants

HELD_OUT = 2000
#: Passes over captions, and over captions and variants; each pass with its first change of a score.
STEPS = (0.2,) * 6 + (0.05,) * 2
STEPS_OF_VARIANTS = (0.1, 0.05, 0.02)
VARIANTS = 16  # of a word
PASSES_OF_SPANS = 2
TUNED_ON = 3000  # captions; it makes parsing faster and changes nothing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the captions")
    parser.add_argument("--captions", type=int, help="learn from so many captions only")
    parser.add_argument("--steps", type=float, nargs="+", default=STEPS, help="one for each pass over captions")
    parser.add_argument(
        "--steps-of-variants", type=float, nargs="+", default=STEPS_OF_VARIANTS, help="then for each over variants, too"
    )
    parser.add_argument("--variants", type=int, default=VARIANTS, help="captions made for each rare word")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=FILE)
    options = parser.parse_args()

    installed = corenlp.find()
    if installed is None:
        raise SystemExit(f"the official grammar is not here: {corenlp.INSTALL}")
    official = installed.grammar()
    treebank = treebank_captions(options.data)
    captions = [*treebank[:-HELD_OUT], *other_captions(options.data)][: options.captions] + treebank[-HELD_OUT:]
    parser_ = TreeParser(official, tuned_bounds(official, captions[:TUNED_ON]))
    derived = derive(parser_, captions)
    n_captions = len(derived) - HELD_OUT
    derivations, held_out = derived[:n_captions], derived[n_captions:]
    lexicon = lexicon_of(official)
    rng = np.random.default_rng(options.seed)
    words = rare_words(derivations, lexicon)
    varied = variants(derivations, lexicon, words, options.variants, rng)
    print(f"{len(varied):,} variants of captions, of {len(words):,} rare words", flush=True)
    derivations += derive(parser_, varied)
    n_all = len(derivations)
    grammar = count(official, derivations)
    print(
        f"{n_captions:,} captions; {len(grammar.states):,} states, {len(grammar.binary_rules):,} binary and "
        f"{len(grammar.unary_rules):,} unary rules, {len(grammar.lexical_scores):,} tagged words and shapes",
        flush=True,
    )
    derivations += held_out
    held = range(n_all, len(derivations))
    model = Perceptron(grammar, derivations)
    print(f"frequencies: {model.agreement(held, model.scores):.2%} of held-out derivations", flush=True)
    passes = [(n_captions, step) for step in options.steps] + [(n_all, step) for step in options.steps_of_variants]
    for (n, step), stage in groupby(passes):
        model.anneal()
        for _ in stage:
            wrong = model.train(rng.permutation(n), options.batch, step)
            right = model.agreement(held, model.averaged)
            print(f"step {step}: {wrong:.2%} wrong in training, {right:.2%} of held-out derivations", flush=True)
    tags = likely_tags(official, grammar, derivations[:n_all])
    offsets = np.cumsum([0, *map(len, derivations.sentences[:n_all])])
    entries = np.concatenate([model.entries[sentence] for sentence in derivations.sentences[:n_all]])
    labels = span_ends(official, derivations[:n_all])
    spans = train_span_ends(entries, offsets, tags, labels, PASSES_OF_SPANS, rng)
    with whole_file(options.output, "wb") as file:
        write_arrays(
            file, bundled_arrays(official, grammar, model.averaged, captions[:TUNED_ON]) | spans.arrays(), FORMAT
        )
    print(f"{options.output}: {options.output.stat().st_size / 1e6:.1f} MB")


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
