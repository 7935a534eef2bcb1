"""Makes the bundled grammar, from the official derivations of captions.

    python training/grammar/train.py --data ../shared/data

README.md beside this file says what each step does.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captions import other_captions, treebank_captions
from captious.atomic_write import whole_file
from captious.parsing.bounds import tuned_bounds
from captious.parsing.tree_parser import TreeParser
from captious.resources import spice_grammar
from captious.resources.arrays import Arrays, write_arrays
from captious.resources.grammar import FILE, FORMAT, VERSION, Grammar
from counts import Reduced, count
from derivations import derive
from perceptron import Perceptron
from productive import productive

HELD_OUT = 2000
PASSES, STEPS = (6, 2), (0.2, 0.05)
TUNED_ON = 3000  # captions; it makes parsing faster and changes nothing
BLOCK = 10_000
LEAST_USES = 2  # of a rule in the best derivations of all captions
_MARKS = re.compile(r"(?<=.)[-=|#^~_\[].*")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the captions")
    parser.add_argument("--captions", type=int, help="learn from so many captions only")
    parser.add_argument("--passes", type=int, nargs=2, default=PASSES, help="with each of the steps")
    parser.add_argument("--steps", type=float, nargs=2, default=STEPS)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=FILE)
    options = parser.parse_args()

    installed = spice_grammar.find()
    if installed is None:
        raise SystemExit(f"the official grammar is not here: {spice_grammar.INSTALL}")
    official = installed.grammar()
    treebank = treebank_captions(options.data)
    captions = [*treebank[:-HELD_OUT], *other_captions(options.data)][: options.captions] + treebank[-HELD_OUT:]
    bounds = tuned_bounds(official, captions[:TUNED_ON])
    derivations = derive(TreeParser(official, bounds), captions)
    learn = np.arange(len(derivations) - HELD_OUT)
    held_out = list(range(len(derivations) - HELD_OUT, len(derivations)))
    grammar = count(official, derivations.first(len(learn)))
    print(
        f"{len(learn):,} captions; {len(grammar.states):,} states, {len(grammar.binary_rules):,} binary and "
        f"{len(grammar.unary_rules):,} unary rules, {len(grammar.lexical_scores):,} tagged words and shapes",
        flush=True,
    )
    model = Perceptron(grammar, derivations)
    print(f"frequencies: {model.agreement(held_out, model.scores):.2%} of held-out derivations", flush=True)
    for stage, (passes, step) in enumerate(zip(options.passes, options.steps, strict=True)):
        rng = np.random.default_rng(options.seed + stage)
        model.anneal()
        for number in range(passes):
            wrong = model.train(rng.permutation(learn), options.batch, step)
            right = model.agreement(held_out, model.averaged)
            print(f"pass {number + 1}: {wrong:.2%} wrong in training, {right:.2%} of held-out derivations", flush=True)
    with whole_file(options.output, "wb") as file:
        write_arrays(file, bundled_arrays(official, grammar, model.averaged, captions), FORMAT)
    print(f"{options.output}: {options.output.stat().st_size / 1e6:.1f} MB")


def bundled_arrays(
    official: Grammar, reduced: Reduced, scores: NDArray[np.float64], captions: list[tuple[str, ...]]
) -> Arrays:
    """The bundled grammar, with bounds, without the rules that the derivations of these captions hardly use."""
    grammar = as_grammar(official, reduced, scores)
    states = tuple(official.states[state] for state in reduced.states.tolist())
    tags = tuple(states[tag] for tag in reduced.tags.tolist())
    bounds = tuned_bounds(replace(grammar, states=states, tags=tags), captions[:TUNED_ON])
    n_binary = len(grammar.binary_rules)
    uses = np.zeros(n_binary + len(grammar.unary_rules), np.int64)
    parser = TreeParser(grammar, bounds)
    for start in range(0, len(captions), BLOCK):
        rules = parser.derivations(captions[start : start + BLOCK]).rules
        uses += np.bincount(rules[rules >= 0], minlength=len(uses))
    kept = uses >= LEAST_USES
    print(f"{kept[:n_binary].sum():,} binary and {kept[n_binary:].sum():,} unary rules are kept")
    grammar = replace(
        grammar,
        binary_rules=grammar.binary_rules[kept[:n_binary]],
        binary_scores=grammar.binary_scores[kept[:n_binary]],
        unary_rules=grammar.unary_rules[kept[n_binary:]],
        unary_scores=grammar.unary_scores[kept[n_binary:]],
    )
    grammar, bounds = productive(grammar, replace(bounds, common=bounds.common[kept]))
    return grammar.arrays() | {"symbols": bounds.symbols, "potentials": bounds.potentials, "common": bounds.common}


def as_grammar(official: Grammar, reduced: Reduced, scores: NDArray[np.float64]) -> Grammar:
    """The bundled grammar."""
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
    """What a state is called: its category and its number; only the number if trees do not show it."""
    if "@" in state:
        return f"@{number}"
    if state == "ROOT" or state.startswith("-"):
        return state
    return f"{_MARKS.sub('', state)}{'-TMP' if '-TMP' in state else ''}-{number}"


if __name__ == "__main__":
    main()
