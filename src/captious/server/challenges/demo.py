"""``write_demo``: a small challenge to try a server with, made of the captions of the examples.

The first reference of every image is the human baseline; the other four are the reference set, against which all are
judged, so that no caption is among its own references.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from captious.data import References, read_references
from captious.server.challenges.files import FILE_NAME
from captious.server.challenges.new_folder import new_folder
from captious.server.challenges.starter import metrics_here, toml_text

__all__ = ["CAPTIONS", "write_demo"]

#: Captions of images that do not exist, which came with the package.
CAPTIONS = Path(__file__).parents[1] / "demo"

_TOML = """\
# The demonstration of captious: 24 images that do not exist, with captions that anyone may use.

title = "Demo"
slug = "demo"
summary = "Try an upload: 24 images, two systems and captions written by people."
access = "public"
organisers = {organisers}
metrics = {metrics}
rank_by = "cider-d"

[[texts]]
title = "Overview"
file = "overview.md"

[[texts]]
title = "Rules"
file = "rules.md"

[[captions]]
name = "captions"
public = true

[[references]]
name = "c4"
file = "references/c4.json"

[[phases]]
name = "main"
title = "Main phase"

[[baselines]]
method = "Baseline"
file = "baselines/baseline.json"
description = "A captioner that sees the main objects."

[[baselines]]
method = "Improved"
file = "baselines/improved.json"
description = "The same captioner after training on more data."

[[baselines]]
method = "Human captions"
file = "baselines/human.json"
human = true
description = "The first of five human captions of each image. The other four are the references."
"""

_OVERVIEW = """\
This challenge shows how the server works. Its captions were written for captious and describe images that do not exist.

## Try an upload

1. Sign up, and create a team if you want to submit with others.
2. Save the captions below as `captions.json`.
3. Choose **Submit**, select the file, name your method, and press **Check only** for a dry run or **Submit**.

```json
{captions}
```

These are the captions of *Baseline*; change some and see what happens to the scores. A file with an image missing, or
with an unknown image, is refused with the ids of the images.

`captious submit` does the same from the command line.

## References

Five captions of each image were written by people. The first is the submission *Human captions*, and the other four
are the references. They are public here, as are the scores of every caption: choose **Captions** to see them. Most
challenges keep both private. SPICE is not among the metrics of this challenge.
"""

_RULES = """\
There are no limits here: submit as often as you like. Submissions may be removed at any time.
"""


def write_demo(folder: Path, organisers: Sequence[str] = ()) -> None:
    """Make the folder of the challenge "demo".

    Args:
        folder: a folder that does not exist yet, or an empty one.
        organisers: user names.

    Raises:
        OutputError: the folder is not empty, or cannot be written.
    """
    people = read_references(CAPTIONS / "references.json").with_numbers_for_ids
    first = people.offsets[:-1].tolist()
    human = [{"image_id": image, "caption": people.texts[i]} for image, i in zip(people.ids, first, strict=True)]
    with new_folder(folder) as new:
        for name in ("references", "baselines"):
            (new / name).mkdir()
        toml = _TOML.format(organisers=toml_text([*organisers]), metrics=toml_text(metrics_here()))
        captions = (CAPTIONS / "baseline.json").read_text(encoding="utf-8").strip()
        (new / FILE_NAME).write_text(toml, encoding="utf-8")
        (new / "overview.md").write_text(_OVERVIEW.format(captions=captions), encoding="utf-8")
        (new / "rules.md").write_text(_RULES, encoding="utf-8")
        _write_json(new / "references" / "c4.json", _others(people))
        _write_json(new / "baselines" / "human.json", human)
        for name in ("baseline.json", "improved.json"):
            shutil.copyfile(CAPTIONS / name, new / "baselines" / name)


def _others(people: References) -> dict[str, object]:
    """All captions but the first of each image, as COCO writes annotations."""
    annotations = [
        {"image_id": image, "id": 10 * row + n, "caption": people.texts[i]}
        for row, image in enumerate(people.ids)
        for n, i in enumerate(range(people.offsets[row] + 1, people.offsets[row + 1]))
    ]
    return {"images": [{"id": image} for image in people.ids], "annotations": annotations}


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
