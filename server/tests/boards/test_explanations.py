"""Why candidates got their scores, on the page of an image."""

from __future__ import annotations

import json
import re
from pathlib import Path

from server.tests.support.site import Site
from server.tests.support.small_challenge import REFERENCES


def test_explanations_of_the_same_metric_with_different_parameters_have_different_names(
    site: Site, tmp_path: Path
) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "challenge.toml").write_text(
        'title = "Small"\nslug = "small"\n'
        'metrics = ["concur", "concur-recall", "concur:language=de", "concur-recall:language=de"]\n'
        '[[captions]]\nname = "captions"\npublic = true\n'
        '[[references]]\nname = "c2"\nfile = "c2.json"\n'
        '[[phases]]\nname = "main"\ndigits = 4\n'
    )
    (folder / "c2.json").write_text(json.dumps(REFERENCES))
    ann = site.user("ann")
    site.load(folder)
    rows = [{"image_id": image, "caption": "a dog in the park"} for image in REFERENCES]
    assert site.submit(ann, rows, challenge="small", method="A").status_code == 302
    site.work()
    page = site.client().get("/challenges/small/captions/1?phase=main").content.decode()
    # the last metric ranks, unless the phase says otherwise, and what ranks comes first
    assert re.findall("<h3>(concur.*?)</h3>", page) == ["concur:language=de", "concur"]
