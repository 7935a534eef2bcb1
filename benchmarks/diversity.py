"""CPU seconds of the metrics of diversity compared with a direct implementation of their formulas.

    python benchmarks/diversity.py [--images N] [--threads N]

README.md beside this file says what is measured.
"""

from __future__ import annotations

import math
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from measurement import common_options, machine, print_table, read_references, read_system, systems

METRICS = ("div", "mbleu", "self-cider", "lsa", "distinct")
PARTS = {"div": ("div-1", "div-2"), "mbleu": tuple(f"mbleu-{n}" for n in (1, 2, 3, 4))}

Words = tuple[str, ...]


def ngrams(words: list[str], n: int) -> Counter[Words]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def direct_div(captions: list[list[str]]) -> list[float]:
    total = sum(map(len, captions))
    return [len({g for words in captions for g in ngrams(words, n)}) / (1e-6 + total) for n in (1, 2)]


def direct_mbleu(captions: list[list[str]]) -> list[float]:
    counts = [[ngrams(words, n) for n in (1, 2, 3, 4)] for words in captions]
    scores = []
    for i, words in enumerate(captions):
        others = [j for j in range(len(captions)) if j != i]
        product, row = 1.0, []
        closest = min((abs(len(captions[j]) - len(words)), len(captions[j])) for j in others)[1]
        ratio = (len(words) + 1e-15) / (closest + 1e-9)
        for n in range(4):
            most: Counter[Words] = Counter()
            for j in others:
                most |= counts[j][n]
            matches = sum(min(count, most[gram]) for gram, count in counts[i][n].items())
            product *= (matches + 1e-15) / (max(0, len(words) - n) + 1e-9)
            row.append(product ** (1 / (n + 1)) * (math.exp(1 - 1 / ratio) if ratio < 1 else 1.0))
        scores.append(row)
    return np.mean(scores, axis=0).tolist()  # type: ignore[no-any-return]


def direct_self_cider(captions: list[list[str]], idf: Callable[[Words], float]) -> list[float]:
    vectors = [[{g: c * idf(g) for g, c in ngrams(words, n).items()} for n in (1, 2, 3, 4)] for words in captions]
    norms = [[math.sqrt(sum(v * v for v in vector.values())) for vector in each] for each in vectors]
    m = len(captions)
    kernel = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            for n in range(4):
                if norms[i][n] and norms[j][n]:
                    dot = sum(v * vectors[j][n].get(g, 0.0) for g, v in vectors[i][n].items())
                    kernel[i, j] += dot / (norms[i][n] * norms[j][n]) / 4
    roots = np.sqrt(np.clip(np.linalg.eigvalsh(kernel), 0, None))
    return [-math.log(roots.max() / roots.sum()) / math.log(m)]


def direct_lsa(captions: list[list[str]]) -> list[float]:
    words = sorted({word for caption in captions for word in caption})
    values = np.linalg.svd(np.array([[c.count(word) for c in captions] for word in words]), compute_uv=False)
    return [-math.log(values.max() / values.sum()) / math.log(len(captions))]


def direct_distinct(captions: list[list[str]]) -> list[float]:
    return [len(set(map(tuple, captions))) / len(captions)]


def main() -> None:
    parser = common_options(__doc__, "nothing", repeats=3, peer_repeats=1)
    parser.add_argument("--images", type=int, default=5000, help="images of the comparison")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    os.environ["CAPTIOUS_THREADS"] = str(options.threads)
    warnings.simplefilter("ignore")

    import captious
    from captious.text import PTB

    names = systems(options.data)[:5]
    references = read_references(options.data)
    outputs = [read_system(options.data, name) for name in names]
    print(f"{machine()}; threads of captious: {options.threads}; candidates: {', '.join(names)}")
    some = sorted(references)[: options.images]
    table = captious.read_references({image: references[image] for image in some})
    idf_table = captious.DocumentFrequencies.of(table)
    by_ngram, log_n = idf_table.by_ngram(), math.log(idf_table.n_documents)

    def idf(gram: Words) -> float:
        return log_n - math.log(max(1, by_ngram.get(gram, 0)))

    tokens = {image: [PTB(output[image]) for output in outputs] for image in some}
    direct: dict[str, Callable[[list[list[str]]], list[float]]] = {
        "div": direct_div,
        "mbleu": direct_mbleu,
        "self-cider": lambda captions: direct_self_cider(captions, idf),
        "lsa": direct_lsa,
        "distinct": direct_distinct,
    }
    rows = [["CPU s", f"captious x{options.repeats}", "direct x1", "ratio", "largest difference"]]
    for name in METRICS:
        ours: list[float] = []
        for _ in range(options.repeats):
            sets = captious.read_captions({i: [o[i] for o in outputs] for i in some}, table, several="mean")
            start = time.process_time()
            report = captious.score(sets, metrics=[name], settings=settings(captious, name, idf_table))
            ours.append(time.process_time() - start)
        start = time.process_time()
        theirs = np.array([direct[name](tokens[image]) for image in some])
        spent = time.process_time() - start
        scores = np.stack([report[output].per_caption for output in PARTS.get(name, (name,))], axis=1)
        middle = float(np.median(ours))
        difference = float(np.abs(scores - theirs).max())
        rows.append([name, f"{middle:.3f}", f"{spent:.2f}", f"{spent / middle:,.1f}", f"{difference:.1e}"])
        if difference > 1e-7:
            raise SystemExit(f"{name}: the two sides differ by {difference}")
    print(
        f"\n{len(some):,} images, {len(names)} candidates each; captious from raw captions, the other one from tokens"
    )
    print_table(rows)

    table = captious.read_references(references)
    sets = captious.read_captions({i: [o[i] for o in outputs] for i in references}, table, several="mean")
    start = time.process_time()
    captious.score(sets, metrics=[*METRICS], settings=captious.Settings(idf="coco"))
    print(
        f"\n{len(table):,} images, {len(names)} candidates each, all of these: {time.process_time() - start:.2f} CPU s"
    )
    metrics = ["bleu", "rouge-l", "cider-d"]
    start = time.process_time()
    captious.score({i: outputs[0][i] for i in references}, captious.read_references(references), metrics)
    single = time.process_time() - start
    candidates = {i: [output[i] for output in outputs] for i in references}
    start = time.process_time()
    captious.score(candidates, captious.read_references(references), metrics, several=("mean", "best"))
    several = time.process_time() - start
    print(
        f"{', '.join(metrics)}: {single:.2f} CPU s for one candidate, {several:.2f} for mean and best of {len(names)}"
    )


def settings(captious: Any, name: str, idf: Any) -> Any:
    return captious.Settings(idf=idf) if name == "self-cider" else None


if __name__ == "__main__":
    main()
