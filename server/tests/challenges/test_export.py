"""Folders that the site writes: they are those that were loaded, and loading them brings a challenge back."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from captious_server import commands
from captious_server.actions.loading import check_for_server, export_challenge
from captious_server.challenges.starter import write_demo, write_starter
from captious_server.models import Challenge, Phase, Submission
from captious_server.operations import setup
from server.tests.support.site import EXAMPLES, Site
from server.tests.support.small_challenge import write_folder

#: What of a challenge and its phases does not depend on when they were loaded.
_CHALLENGE = (
    "slug",
    "title",
    "summary",
    "access",
    "definition_values",
    "texts",
    "downloads",
    "terms_version",
    "counts",
)
_PHASE = (
    *("name", "title", "position", "opens", "closes", "scored_per_day", "scored_in_total", "attempts_per_day", "board"),
    *("digits", "scores_shown", "equal_captions", "entries", "captions", "is_retired", "set_keys", "board_values"),
)


def state() -> tuple[Any, ...]:
    """The only challenge of the site, as the database has it."""
    baselines = Submission.objects.filter(is_baseline=True).exclude(status="deleted").order_by("phase__name", "method")
    return (
        Challenge.objects.values(*_CHALLENGE).get(),
        [*Phase.objects.order_by("position").values(*_PHASE)],
        [*Challenge.objects.get().organizers.order_by("username").values_list("username", flat=True)],
        [*baselines.values_list("phase__name", "method", "description", "link", "is_human", "filename")],
    )


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def exported(folder: Path) -> dict[str, bytes]:
    """The files of the only challenge of the site, which is exported to a folder."""
    folder.parent.mkdir(parents=True)
    names = export_challenge(Challenge.objects.get(), folder)
    files = files_of(folder)
    assert sorted(names) == sorted(files)
    return files


def forget() -> None:
    """Remove the challenge, as on another server."""
    Submission.objects.all().delete()
    Challenge.objects.all().delete()


def check_round_trip(site: Site, folder: Path, place: Path) -> None:
    """Export what was loaded, load that on an emptied site, and export it again: folders and rows are equal."""
    site.load(folder)
    before = state()
    files = exported(place / "first" / folder.name)
    assert files == files_of(folder)
    forget()
    site.load(place / "first" / folder.name)
    assert state() == before
    other = exported(place / "second" / "another-name")
    slug = before[0]["slug"]
    assert tomllib.loads(other["challenge.toml"].decode()) == {
        **tomllib.loads(files["challenge.toml"].decode()),
        "slug": slug,
    }
    forget()
    site.load(place / "second" / "another-name")
    assert exported(place / "third" / "a-third-name") == other


class TestRoundTripOfExamples:
    def test_demonstration_survives_export(self, site: Site, tmp_path: Path) -> None:
        site.user("olga")
        write_demo(tmp_path / "demo", ["olga"])
        check_round_trip(site, tmp_path / "demo", tmp_path)

    def test_starter_survives_export(self, site: Site, tmp_path: Path) -> None:
        write_starter(tmp_path / "new", EXAMPLES / "references.json")
        check_round_trip(site, tmp_path / "new", tmp_path)

    def test_documented_example_survives_export(self, site: Site, tmp_path: Path) -> None:
        """It has comments, two captions files and several reference sets."""
        folder = tmp_path / "coco"
        text = (Path(__file__).parents[2] / "docs" / "challenges.md").read_text().split("```toml\n")[1].split("```")[0]
        head = text.split("[[baselines]]")[0].replace('organizers = ["alice", "bob"]', "# nobody   yet")
        (folder / "references").mkdir(parents=True)
        (folder / "challenge.toml").write_text(head)
        (folder / "overview.md").write_text("# Words\r\n", newline="")
        for name in ("val2014_c5", "test2014_c5", "test2014_c40"):
            shutil.copy(EXAMPLES / "references.json", folder / "references" / f"{name}.json")
        check_round_trip(site, folder, tmp_path)

    def test_settings_of_the_site_are_exported(self, site: Site, tmp_path: Path) -> None:
        """Hidden leaderboards and submissions are in the folder; its comments are kept."""
        folder = write_folder(tmp_path / "small", phases=("dev", "final"), limits='board = "public"  # for now')
        site.load(folder)
        Phase.objects.filter(name="final").update(board="hidden")
        before, text = state(), (folder / "challenge.toml").read_text()
        files = exported(tmp_path / "out" / "small")
        head, tail = text.split('name = "final"')
        assert files["challenge.toml"].decode() == head + 'name = "final"' + tail.replace('"public"', '"hidden"')
        forget()
        site.load(tmp_path / "out" / "small")
        after = state()
        assert after[1] == before[1]
        assert after[0]["definition_values"]["phases"][1]["board"] == "hidden"


_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
_LINES = _TEXTS.filter(lambda text: bool(text.strip()) and len(text.splitlines()) == 1)
_NAMES = st.text("abc-12", min_size=1, max_size=8)
_TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)).map(
    lambda time: time.replace(microsecond=0)
)
_LIMITS = st.integers(0, 1000)


@st.composite
def challenges(draw: st.DrawFn) -> dict[str, Any]:
    """What a challenge.toml can say about three images, most of it optional."""
    phases = []
    for name in draw(st.lists(_NAMES, min_size=1, max_size=3, unique=True)):
        opens = draw(st.none() | _TIMES)
        phase = {
            "title": draw(st.none() | _LINES),
            "opens": opens,
            "closes": draw(st.sampled_from([None, datetime(2101, 1, 1, tzinfo=UTC)])),
            "scored_per_day": draw(st.none() | _LIMITS),
            "attempts_per_day": draw(st.none() | _LIMITS),
            "board": draw(st.sampled_from([None, "public", "hidden"])),
            "digits": draw(st.none() | st.integers(1, 8)),
            "entries": draw(st.sampled_from([None, "all", "one"])),
            "equal_captions": draw(st.none() | st.floats(0.01, 1)),
        }
        phases.append({"name": name, **{key: value for key, value in phase.items() if value is not None}})
    values = {
        "title": draw(_LINES),
        "slug": "small",
        "summary": draw(st.none() | _TEXTS),
        "access": draw(st.sampled_from([None, "public", "participants"])),
        "organized_by": draw(st.none() | st.lists(_LINES, max_size=3)),
        "license": draw(st.none() | _TEXTS),
        "citation": draw(st.none() | _TEXTS),
        "team_size": draw(st.none() | _LIMITS),
        "teams_close": draw(st.none() | _TIMES),
        "metrics": draw(st.permutations(["bleu", "rouge-l:beta=1.5", "cider-d"])),
        "rank_by": draw(st.sampled_from([None, "bleu-4", "cider-d"])),
        "settings": draw(st.sampled_from([None, {"tokenizer": "ptb"}])),
        "captions": draw(st.sampled_from([None, [{"public": True}], [{"name": "val", "pattern": "v*"}]])),
        "references": [{"name": name, "file": "c2.json"} for name in draw(st.sampled_from([["c2"], ["c2", "b"]]))],
        "phases": phases,
    }
    return {key: value for key, value in values.items() if value is not None}


@pytest.fixture
def new_folders(tmp_path: Path) -> Any:
    """A function that yields a new folder for each Hypothesis example."""
    numbers = iter(range(10_000))

    @contextmanager
    def new() -> Iterator[Path]:
        place = tmp_path / str(next(numbers))
        place.mkdir()
        yield place
        shutil.rmtree(place)

    return new


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=challenges(), by_hand=st.booleans(), comment=_LINES)
def test_any_challenge_survives_export(
    site: Site, new_folders: Any, values: dict[str, Any], by_hand: bool, comment: str
) -> None:
    with new_folders() as place:
        folder = write_folder(place / "small")
        text = tomlkit.dumps(values)
        if by_hand:
            comment = "".join(letter for letter in comment if letter.isprintable())
            text = f"# {comment}\n{text}\n\n# {comment}"
        (folder / "challenge.toml").write_text(text, encoding="utf-8", newline="")
        check_round_trip(site, folder, place)
        forget()


class TestCommentedChallenge:
    def test_round_trip_is_exact(self, site: Site, commented_folder: Path, tmp_path: Path) -> None:
        """What is exported is what was loaded, and loading it changes nothing."""
        challenge = Challenge.objects.get()
        first = tmp_path / "out" / "commented"
        first.parent.mkdir()
        assert export_challenge(challenge, first) == ["c2.json", "challenge.toml", "pages/overview.md"]
        for name in ("c2.json", "challenge.toml", "pages/overview.md"):
            assert (first / name).read_bytes() == (commented_folder / name).read_bytes()
        _, changes = check_for_server(first)
        assert (changes.folder, changes.reversals, changes.overrides) == ([], [], [])
        before = {name: getattr(challenge, name) for name in ("definition_values", "texts", "counts")}
        challenge.delete()
        loaded = site.load(first)
        assert {name: getattr(loaded, name) for name in before} == before

    def test_export_has_settings_of_the_site(self, site: Site, commented_folder: Path, tmp_path: Path) -> None:
        Phase.objects.update(board="hidden")
        other = tmp_path / "other-name"
        export_challenge(Challenge.objects.get(), other)
        checked, changes = check_for_server(other)
        assert checked.slug == "commented"
        assert checked.definition.phases[0].board == "hidden"
        assert changes.reversals == []
        assert changes.overrides == []

    def test_command_exports_a_challenge(
        self, site: Site, commented_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(setup, "set_up", lambda *_, **__: None)
        for slug, code in (("commented", 0), ("nowhere", 1)):
            out = tmp_path / f"out-{slug}"
            run = CliRunner().invoke(commands.challenge, ["export", slug, "-o", str(out), "--data", str(site.data)])
            assert (run.exit_code, out.exists()) == (code, code == 0), run.output
        assert "there is no challenge 'nowhere'" in str(run.exception)
