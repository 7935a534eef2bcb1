"""What scores tell about private references: how many digits leave the server, when, and for which submissions."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from captious_server.models import Phase, User, board_changed
from server.tests.security.pages import body_of
from server.tests.security.world import write_challenge
from server.tests.support.site import Site, parsed
from server.tests.support.small_challenge import REFERENCES, write_folder

LONG = re.compile(r"(?<![\w.])-?\d*\.\d{4,}")  # of numbers with more digits than the phase shows
PHASES: dict[str, dict[str, Any]] = {
    "main": {"digits": 3},
    "late": {"scores_shown": "at-end", "closes": "2120-01-01T00:00:00Z"},
    "secret": {"scores_shown": "never"},
}


@pytest.fixture
def small_site(site: Site, tmp_path: Path) -> Site:
    """The challenge "small", with two submissions of ann in each phase."""
    site.build("two submissions in each phase", lambda: probe(site, tmp_path / "small"))
    return site


def probe(site: Site, folder: Path) -> None:
    folder.mkdir()
    phases = "".join(
        f'[[phases]]\nname = "{name}"\n' + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
        for name, values in PHASES.items()
    )
    head = 'title = "Small"\nslug = "small"\nmetrics = ["bleu", "rouge-l"]\norganizers = ["olga"]\n'
    captions = '[[captions]]\nname = "captions"\npublic = true\n'
    references = '[[references]]\nname = "c2"\nfile = "c2.json"\n'
    (folder / "challenge.toml").write_text(head + captions + references + phases)
    (folder / "c2.json").write_text(json.dumps(REFERENCES))
    ann = site.user("ann")
    site.user("bob"), site.user("olga")
    site.load(folder)
    for phase in PHASES:
        for method, caption in (("A", "a dog in the park"), ("B", "a dog runs on a stage")):
            rows = [{"image_id": image, "caption": caption} for image in REFERENCES]
            assert site.submit(ann, rows, challenge="small", phase=phase, method=method).status_code == 302
    site.work()


def addresses(site: Site, phase: str) -> Iterator[str]:
    a, b = site.submissions(phase__name=phase)
    board = f"?phase={phase}"
    yield from (f"/challenges/small/{page}{board}" for page in ("leaderboard", "leaderboard.json", "leaderboard.csv"))
    yield f"/challenges/small/compare{board}&a={a.pk}&b={b.pk}"
    yield f"/challenges/small/captions{board}"
    yield f"/challenges/small/captions/1{board}"
    yield from (a.url, f"{a.url}scores/captions/c2.csv", f"/api/v1/submissions/{a.pk}")


def client(site: Site, user: str) -> Any:
    if not user:
        return site.client()
    account = User.objects.get(username=user)
    made = site.client(account)
    made.defaults["HTTP_AUTHORIZATION"] = f"Bearer {site.token(account)}"  # the API does not know the session
    return made


@pytest.mark.parametrize("user", ["", "ann", "olga"])
def test_answers_have_only_the_digits_of_the_phase(small_site: Site, user: str) -> None:
    scores = [entry["score"] for entry in small_site.submissions()[0].outputs("c2").values()]
    assert any(score != round(score, 3) for score in scores)
    for address in addresses(small_site, "main"):
        text = body_of(client(small_site, user).get(address))
        assert ".2" in text or ".3" in text or ".5" in text, address  # there are scores
        others = r"(?s:<style>.*?</style>)|captious-\S+|<time.*?</time>|\d\d:\d\d:\S+"
        assert not LONG.findall(re.sub(others, "", text)), address


def test_explanations_have_only_the_digits_of_the_phase(small_site: Site) -> None:
    address = next(address for address in addresses(small_site, "main") if "/captions/" in address)
    assert "Why these scores?" not in body_of(small_site.client().get(address))
    Phase.objects.filter(name="main").update(digits=4)
    text = body_of(small_site.client().get(address))
    assert "Why these scores?" in text
    assert not re.findall(r"(?<![\w.])-?\d*\.\d{5,}", text)


def test_files_and_api_agree_with_the_page(small_site: Site) -> None:
    [row] = parsed(small_site.client().get("/challenges/small/leaderboard.json?phase=main"))
    response = small_site.client().get("/challenges/small/leaderboard.csv?phase=main")
    [line] = csv.DictReader(io.StringIO(response.getvalue().decode()))
    submission = next(each for each in small_site.submissions(phase__name="main") if each.method == row["method"])
    answer = small_site.client().get(f"/api/v1/submissions/{submission.pk}").json()
    assert answer["scores"] == row["scores"] == {name: float(line[name]) for name in row["scores"]}
    assert row["scores"]["rouge-l"] == round(submission.outputs("c2")["rouge-l"]["score"], 3)
    low = row["intervals"]["rouge-l"][0]
    assert low == round(low, 2) == answer["all_scores"]["c2"]["rouge-l"]["low"]


@pytest.mark.parametrize("phase", ["late", "secret"])
def test_scores_shown_later_or_never_are_withheld(small_site: Site, phase: str) -> None:
    for user in ("", "bob", "ann"):
        for address in addresses(small_site, phase):
            response = client(small_site, user).get(address)
            own = user == "ann" and ("/submissions/" in address) and "csv" not in address
            is_board = bool(re.search(r"/small/(leaderboard|compare|captions)\b", address))
            assert response.status_code == (200 if own else 403 if is_board else 404), (user, address)
            if own or is_board:
                text = re.sub("(?s)<style>.*?</style>", "", body_of(response))
                assert not re.search(r"(?<![\w.])\.\d{3}|\d\.\d{4}\b(?!:)|bleu-4", text), address
    for address in addresses(small_site, phase):
        assert client(small_site, "olga").get(address).status_code == 200, address
    submission = small_site.submissions(phase__name=phase)[0]
    answer = client(small_site, "ann").get(submission.url)
    assert ("does not show scores" if phase == "secret" else "when the last uploads have arrived") in body_of(answer)


def test_scores_appear_after_the_close_of_the_phase(small_site: Site) -> None:
    just_now = datetime.now(UTC) - timedelta(seconds=540)
    Phase.objects.filter(name="late").update(closes=just_now)  # an upload that began before may still arrive
    assert (
        client(small_site, "ann")
        .get(small_site.submissions(phase__name="late")[0].url + "scores/captions/c2.csv")
        .status_code
        == 404
    )
    Phase.objects.filter(name="late").update(closes="2021-01-01T00:00:00Z")
    for user in ("", "bob", "ann"):
        for address in addresses(small_site, "late"):
            assert client(small_site, user).get(address).status_code == 200, address


@pytest.mark.parametrize("closes", ["2120-01-01T00:00:00Z", "2021-01-01T00:00:00Z"])
def test_removed_phase_has_not_ended(small_site: Site, closes: str) -> None:
    Phase.objects.filter(name="late").update(closes=closes, is_retired=True)
    submission = small_site.submissions(phase__name="late")[0]
    for user in ("", "ann"):
        visible = closes < "2100"
        response = client(small_site, user).get(f"{submission.url}scores/captions/c2.csv")
        assert response.status_code == (200 if visible else 404), user
        answer = client(small_site, "ann").get(f"/api/v1/submissions/{submission.pk}").json()
        assert bool(answer["scores"]) is visible


def test_equal_shown_scores_are_indistinguishable(small_site: Site) -> None:
    """If rounding hides which of two captions is better, so do order, ranks and p values."""
    Phase.objects.filter(name="main").update(digits=1)
    a, b = small_site.submissions(phase__name="main")
    for submission, score in ((a, 0.4401), (b, 0.4402)):
        submission.shown_scores.outputs["c2"]["rouge-l"]["score"] = score
        submission.shown_scores.finished = timezone.now()
        submission.shown_scores.save()
    board_changed(a.phase_id)
    for sort in ("rouge-l", "-rouge-l"):
        rows = parsed(small_site.client().get(f"/challenges/small/leaderboard.json?phase=main&all=1&sort={sort}"))
        assert [(row["method"], row["rank"]) for row in rows] == [("A", 1), ("B", 1)]
    page = body_of(small_site.client().get(f"/challenges/small/compare?phase=main&a={a.pk}&b={b.pk}"))
    cells = re.findall(
        r"<td.*?</td>", re.search(r'"row" class="method">rouge-l.*?</tr>', page, re.DOTALL)[0], re.DOTALL
    )  # type: ignore[index]
    texts = [re.sub(r"<[^>]*>", " ", cell).split() for cell in cells]
    assert (texts[2][0], texts[4], texts[5]) == ("+.0", ["–", "–"], ["–"])  # on phones, the effect size is below p


class TestEqualCaptions:
    @pytest.fixture
    def many_images_site(self, site: Site, tmp_path: Path) -> Site:
        """The challenge "many" with 40 images, whose baseline says the same of all."""
        folder = write_challenge(
            tmp_path / "many",
            captions=[{"name": "captions"}],
            references=[{"name": "c1", "file": "many.json"}],
            phases=[{"name": "main"}, {"name": "free", "equal_captions": 1.0}],
            baselines=[{"method": "Constant", "file": "constant.json", "phases": ["main"]}],
        )
        (folder / "many.json").write_text(json.dumps({image: [f"reference {image}"] for image in range(40)}))
        (folder / "constant.json").write_text(json.dumps(dict.fromkeys(range(40), "a cat")))
        site.user("olga")
        site.load(folder)
        return site

    @staticmethod
    def rows(*equal: str) -> list[dict[str, Any]]:
        return [{"image_id": n, "caption": equal[n] if n < len(equal) else f"thing {n}"} for n in range(40)]

    @pytest.mark.parametrize(
        ("equal", "has"),
        [
            ([""] * 39, "39 of 40 images have a caption without words"),
            (["...", "__ _", " ", "!"] * 3, "12 of 40 images have a caption without words"),
            (["A cat.", "a cat", "a  cat!"] * 4, '12 of 40 images have the caption "a cat"'),
        ],
    )
    def test_too_many_equal_captions_are_refused(self, many_images_site: Site, equal: list[str], has: str) -> None:
        ann = many_images_site.user("ann")
        text = body_of(many_images_site.submit(ann, self.rows(*equal), challenge="many")).replace("&quot;", '"')
        assert f"{has}. At most 10 may have the same caption." in text
        assert many_images_site.submissions() == []
        assert many_images_site.submit(ann, self.rows(*equal), challenge="many", phase="free").status_code == 302

    def test_equal_captions_of_real_systems_are_accepted(self, many_images_site: Site) -> None:
        assert (
            many_images_site.submit(
                many_images_site.user("ann"), self.rows(*["a cat"] * 10), challenge="many"
            ).status_code
            == 302
        )

    def test_few_images_may_all_have_equal_captions(self, site: Site, tmp_path: Path) -> None:
        site.load(write_folder(tmp_path / "small"))
        rows = [{"image_id": image, "caption": "a cat"} for image in REFERENCES]
        assert site.submit(site.user("ann"), rows, challenge="small").status_code == 302
