"""Scores the captions of examples/ with the installed captious, and compares the scores with those of README.md.

    python tools/release/score_examples.py [PROJECT]

It imports nothing of the project's folder but the captions, and needs no compiler and no extra.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import captious


def main(project: Path) -> None:
    readme = (project / "README.md").read_text(encoding="utf-8")
    examples = project / "examples"
    shown = {  # metric -> scores of the two systems
        name: (float(baseline), float(improved))
        for name, baseline, improved in re.findall(
            r"^  ([a-z0-9-]+) +(\S+)  \S+ – \S+ +(\S+) ", readme, flags=re.MULTILINE
        )
    }
    expected = ["bleu", "rouge-l", "cider-d:idf=coco"]
    actual = 0
    for column, system in enumerate(("baseline", "improved")):
        report = captious.score(examples / f"{system}.json", examples / "references.json", expected)
        for name, result in report.items():
            assert abs(result.score - shown[name.partition(":")[0]][column]) < 5.1e-5, (
                system,
                name,
                result.score,
                shown,
            )
            actual += 1
    assert actual == 12, actual
    print(f"captious {captious.__version__} at {Path(captious.__file__).parent}: {actual} scores as in README.md")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2])
