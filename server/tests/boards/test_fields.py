"""Fields of submissions that a challenge declares: their problems, their values, and who sees them."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from captious_server import commands
from captious_server.boards.fields import as_text, value_of
from captious_server.challenges.definition import FieldDefinition, definition_from
from captious_server.challenges.drafts import line_of
from captious_server.challenges.problems import ChallengeError
from captious_server.models import Phase
from captious_server.operations import setup
from server.tests.boards.archives import archive, table
from server.tests.support.site import EXAMPLES, Site, example, parsed
from server.tests.support.small_challenge import as_toml
from tests.support.tables import tables

FIELDS: list[dict[str, Any]] = [
    {"name": "extra-data", "label": "Extra data", "kind": "yes/no", "required": True},
    {"name": "parameters", "kind": "number"},
    {"name": "machine", "on_board": False},
    {"name": "human-score", "kind": "number", "filled_by": "organizers"},
    {"name": "note", "filled_by": "organizers", "on_board": False},
]


def write(folder: Path, **values: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "references.json").write_bytes((EXAMPLES / "references.json").read_bytes())
    rows = {
        "title": "Fields",
        "slug": "fields",
        "organizers": ["olga"],
        "metrics": ["bleu"],
        "rank_by": "bleu-1",
        "references": [{"name": "c5", "file": "references.json"}],
        "phases": [{"name": "main"}],
        "fields": FIELDS,
    }
    (folder / "challenge.toml").write_text(as_toml({**rows, **values}))
    return folder


@pytest.fixture
def people(site: Site, tmp_path: Path) -> dict[str, Any]:
    """The organizer and two teams of a challenge, each of which has a scored submission."""
    users = {name: site.user(name) for name in ("olga", "ann", "bob")}
    site.load(write(tmp_path / "fields"))
    answers = {"ann": {"field-extra-data": "yes", "field-parameters": "86000000", "field-machine": "=1+1"}}
    for name, system in (("ann", "improved"), ("bob", "baseline")):
        values = {"field-extra-data": "no", **answers.get(name, {})}
        sent = site.submit(users[name], example(system), challenge="fields", method=name, **values)
        assert sent.status_code == 302
    site.work()
    return users


def board(site: Site, user: Any = None) -> dict[str, dict[str, Any]]:
    rows = parsed(site.client(user).get("/challenges/fields/leaderboard.json"))
    return {row["method"]: row for row in rows}


def fill(site: Site, user: Any, table: str) -> Any:
    values = {"action": "fields", "table": SimpleUploadedFile("table.csv", table.encode())}
    return site.client(user).post("/challenges/fields/manage", values)


@pytest.mark.parametrize(
    ("kind", "text", "value", "shown"),
    [
        ("text", "  two\n words ", "two words", "two words"),
        ("text", "", None, ""),
        ("number", "86000000", 86_000_000, "86000000"),
        ("number", "-2.5e-3", -0.0025, "-0.0025"),
        ("yes/no", "TRUE", True, "yes"),
        ("yes/no", "no", False, "no"),
    ],
)
def test_values_of_texts(kind: Any, text: str, value: object, shown: str) -> None:
    found = value_of(FieldDefinition(name="x", kind=kind), text)
    assert (found, type(found), as_text(found)) == (value, type(value), shown)


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("text", "x" * 201, "Enter up to 200 characters."),
        ("number", "many", "Enter a number, not 'many'."),
        ("number", "inf", "Enter a number, not 'inf'."),
        ("yes/no", "perhaps", "Enter yes or no, not 'perhaps'."),
    ],
)
def test_texts_without_a_value(kind: Any, text: str, problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        value_of(FieldDefinition(name="x", kind=kind), text)
    assert str(caught.value) == problem


@pytest.mark.parametrize(("values", "problem", "line"), tables(__file__)["problems"])
def test_problems_at_their_lines(values: dict[str, Any], problem: str, line: int) -> None:
    rows = {"title": "x", "metrics": ["bleu"]}
    rows |= {"references": [{"name": "c5", "file": "x"}], "fields": [values], "phases": [{"name": "m"}]}
    with pytest.raises(ChallengeError) as caught:
        definition_from(rows)
    [found] = caught.value.problems
    assert found.startswith(problem)
    assert line_of(as_toml(rows), found) == line


def test_fields_of_one_name_are_a_problem() -> None:
    rows = {"title": "x", "metrics": ["bleu"], "references": [{"name": "c5", "file": "x"}], "phases": [{"name": "m"}]}
    with pytest.raises(ChallengeError) as caught:
        definition_from({**rows, "fields": [{"name": "a"}, {"name": "a"}]})
    assert caught.value.problems == ["fields[2].name: 'a' is also the name of fields[1]"]


class TestTeams:
    """What teams fill in."""

    def test_values_are_columns_of_the_board_and_its_files(self, site: Site, people: dict[str, Any]) -> None:
        rows = board(site)
        assert rows["ann"]["fields"] == {"extra-data": True, "parameters": 86_000_000}
        assert rows["bob"]["fields"] == {"extra-data": False}
        answer = site.client().get("/challenges/fields/leaderboard.csv")
        table = [*csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode()))]
        assert [(row["extra-data"], row["parameters"], row["human-score"]) for row in table] == [
            ("True", "86000000", ""),
            ("False", "", ""),
        ]
        page = site.client().get("/challenges/fields/leaderboard").content.decode()
        assert (
            '<th scope="col" class="other">Extra data</th><th scope="col" class="number other">parameters</th>' in page
        )
        assert '<td class="other">yes</td><td class="number other">86,000,000</td>' in page

    def test_what_is_not_on_the_board_is_for_the_team_and_organizers(self, site: Site, people: dict[str, Any]) -> None:
        [own, _] = site.submissions()
        shown = {name: site.client(people[name]).get(own.url).content.decode() for name in people}
        assert {name: "<dt>machine</dt><dd>=1+1</dd>" in page for name, page in shown.items()} == {
            "olga": True,
            "ann": True,
            "bob": False,
        }
        assert all("<dt>parameters</dt><dd>86,000,000</dd>" in page for page in shown.values())
        assert board(site)["ann"]["fields"].keys() == {"extra-data", "parameters"}

    def test_form_demands_what_is_required_but_a_check_does_not(self, site: Site, people: dict[str, Any]) -> None:
        sent = site.submit(people["ann"], example(), challenge="fields")
        assert sent.status_code == 422
        assert "This field is required." in sent.content.decode()
        checked = site.submit(people["ann"], example(), challenge="fields", action="check")
        assert "No problems found." in checked.content.decode()
        wrong = site.submit(people["ann"], example(), challenge="fields", **{"field-parameters": "many"})
        assert "Enter a number, not &#x27;many&#x27;." in wrong.content.decode()

    def test_values_can_be_edited(self, site: Site, people: dict[str, Any]) -> None:
        [own, _] = site.submissions()
        client = site.client(people["ann"])
        assert 'value="86000000"' in client.get(f"{own.url}edit").content.decode()
        values = {"method": "ann", "public": "on", "field-extra-data": "no", "field-parameters": ""}
        assert client.post(f"{own.url}edit", values).status_code == 302
        assert board(site)["ann"]["fields"] == {"extra-data": False}
        [own, _] = site.submissions()
        assert own.fields == {"extra-data": False}
        assert own.events.get(action="edit").detail == "extra-data: yes → no, parameters: 86000000 → none, machine"

    def test_values_that_break_ties_are_frozen_with_the_phase(
        self, site: Site, people: dict[str, Any], tmp_path: Path
    ) -> None:
        site.load(write(tmp_path / "fields", ranks="scores", tie_breaks=["parameters"]))
        Phase.objects.update(closes=timezone.now() - timedelta(hours=1))
        [own, _] = site.submissions()
        values = {"method": "ann", "public": "on", "field-extra-data": "no", "field-parameters": "86000000"}
        for name, parameters in (("ann", "1"), ("ann", "86000000"), ("olga", "2")):
            client = site.client(people[name])
            answer = client.post(f"{own.url}edit", {**values, "field-parameters": parameters}, follow=True)
            frozen = "is closed, so only organizers can change this: parameters." in answer.content.decode()
            assert frozen == (parameters == "1")
            notes = client.get(f"{own.url}edit").content.decode().count("so only organizers can change this.")
            assert notes == (3 if name == "ann" else 0)  # also below "public" and "anonymous"
            [own, _] = site.submissions()
            assert own.fields["parameters"] == (2 if name == "olga" else 86_000_000)
        assert own.fields["extra-data"] is False

    def test_api_takes_and_shows_values(self, site: Site, people: dict[str, Any]) -> None:
        client, token = site.client(), site.token(people["ann"])
        headers = {"Authorization": f"Bearer {token}"}
        content = (EXAMPLES / "improved.json").read_bytes()

        def post(address: str, query: str, body: bytes = b"") -> Any:
            return client.post(f"/api/v1/{address}?{query}", body, "application/octet-stream", headers=headers)

        address = "challenges/fields/submissions"
        assert post(address, "method=x", content).json() == {
            "error": "The submission is not valid. extra-data: This field is required."
        }
        assert post(address, "method=x&field=nota%3Dgood", content).json() == {
            "error": "field must be NAME=VALUE, not 'nota'; names: extra-data, parameters, machine."
        }
        assert post(address, "method=x&field=human-score%3D5", content).json() == {
            "error": "Organizers fill in the field 'human-score', with a table."
        }
        made = post(address, "method=x&field=extra-data%3Dno&field=machine%3Da%3Db", content)
        assert (made.status_code, made.json()["fields"]) == (201, {"extra-data": False, "machine": "a=b"})
        edited = post(f"submissions/{made.json()['id']}/edit", "field=parameters%3D7")
        assert edited.json()["fields"] == {"extra-data": False, "parameters": 7, "machine": "a=b"}
        described = client.get("/api/v1/challenges/fields").json()["fields"]
        assert described[3] == {
            "name": "human-score",
            "label": "human-score",
            "kind": "number",
            "filled_by": "organizers",
            "required": False,
            "on_board": True,
        }


class TestOrganizers:
    """What organizers fill in with a table."""

    def test_table_by_team_or_submission(self, site: Site, people: dict[str, Any]) -> None:
        first, second = site.submissions()
        answer = fill(site, people["olga"], "team,human-score,note\nann,4.5,\n")
        assert answer.status_code == 302
        assert fill(site, people["olga"], f"submission,human-score,note\n{second.pk},3,late\n").status_code == 302
        rows = board(site)
        assert [rows[name]["fields"]["human-score"] for name in ("ann", "bob")] == [4.5, 3]
        assert rows["ann"]["fields"]["parameters"] == 86_000_000  # of the team, and it stays
        log = first.challenge.events.filter(action="fill fields").values_list("target", "detail")
        assert [*log] == [("human-score, note", "submissions: 1")] * 2
        assert "<dt>note</dt><dd>late</dd>" in site.client(people["olga"]).get(second.url).content.decode()
        assert "<dt>note</dt>" not in site.client(people["bob"]).get(second.url).content.decode()
        fill(site, people["olga"], "team,phase,human-score\nann,main,\n")
        assert "human-score" not in board(site)["ann"]["fields"]

    def test_problems_name_their_lines_and_nothing_changes(self, site: Site, people: dict[str, Any]) -> None:
        [first, _] = site.submissions()
        table = f"submission,human-score\n{first.pk},5\n{first.pk},6\n999,7\n{first.pk},good\n"
        page = fill(site, people["olga"], table)
        assert page.status_code == 422
        for problem in (
            f"Line 3: &#x27;{first.pk}&#x27; has another line.",
            "Line 4: there is no submission &#x27;999&#x27;.",
            "Line 5, human-score: Enter a number, not &#x27;good&#x27;.",
        ):
            assert problem in page.content.decode()
        assert "human-score" not in board(site)["ann"]["fields"]

    def test_entries_in_several_phases_need_the_phase(self, site: Site, people: dict[str, Any], tmp_path: Path) -> None:
        site.load(write(tmp_path / "fields", phases=[{"name": "main"}, {"name": "second"}]))
        values = {"method": "ann", "phase": "second", "field-extra-data": "no"}
        assert site.submit(people["ann"], example(), challenge="fields", **values).status_code == 302
        site.work()
        page = fill(site, people["olga"], "team,human-score\nann,4\n").content.decode()
        assert "Line 2: &#x27;ann&#x27; has entries in main, second; name one as phase." in page
        assert fill(site, people["olga"], "team,phase,human-score\nann,second,4\n").status_code == 302
        assert [row.fields.get("human-score") for row in site.submissions()] == [None, None, 4]

    @pytest.mark.parametrize(
        ("table", "problem"),
        [
            ("team,colour\nann,red\n", "Line 1: there is no field 'colour'."),
            (
                "human-score\n5\n",
                "Line 1 must name submission or team, and fields. Known are submission, team, phase, ",
            ),
            ("", "Line 1 must name submission or team, and fields."),
            ("team,note,note\nann,a,b\n", "Line 1 names a column twice."),
            ("team,note\nann\n", "Line 2 has 1 cells, but line 1 has 2."),
            ('team,note\nann,"x\n', "This is not a CSV table in UTF-8: unexpected end of data."),
        ],
    )
    def test_tables_without_columns(self, site: Site, people: dict[str, Any], table: str, problem: str) -> None:
        headers = {"Authorization": f"Bearer {site.token(people['olga'])}"}
        answer = site.client().post("/api/v1/challenges/fields/fields", table, "text/csv", headers=headers)
        assert answer.status_code == 400
        assert problem in answer.json()["error"]

    def test_command_fills_in_a_table(
        self, site: Site, people: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(setup, "set_up", lambda *_, **__: None)
        table = tmp_path / "table.csv"
        outcomes = []
        for text in ("team,human-score\nann,4.5\n", "team,human-score\nnobody,4\n"):
            table.write_text(text)
            arguments = ["fill", "fields", str(table), "--data", str(site.data)]
            outcomes.append(CliRunner().invoke(commands.challenge, arguments))
        assert (outcomes[0].exit_code, outcomes[0].output) == (0, "fields were set in 1 submission\n")
        assert board(site)["ann"]["fields"]["human-score"] == 4.5
        assert outcomes[1].exception.where == "Line 2: there is no entry of a team 'nobody'."

    def test_large_tables_are_refused(self, site: Site, people: dict[str, Any]) -> None:
        headers = {"Authorization": f"Bearer {site.token(people['olga'])}"}
        body = "team,note\n" + "x" * (1 << 20)
        answer = site.client().post("/api/v1/challenges/fields/fields", body, "text/csv", headers=headers)
        assert (answer.status_code, answer.json()) == (413, {"error": "A table may have up to 1 MiB."})

    def test_values_of_organizers_wait_for_the_scores(self, site: Site, people: dict[str, Any], tmp_path: Path) -> None:
        site.load(write(tmp_path / "fields", phases=[{"name": "main", "scores_shown": "never"}]))
        fill(site, people["olga"], "team,human-score\nann,4.5\n")
        [own, _] = site.submissions()
        assert own.fields["human-score"] == 4.5
        shown = {name: site.client(people[name]).get(own.url).content.decode() for name in ("olga", "ann")}
        assert {name: "<dt>human-score</dt>" in page for name, page in shown.items()} == {"olga": True, "ann": False}

    def test_text_of_tables_is_no_formula_in_csv(self, site: Site, people: dict[str, Any], tmp_path: Path) -> None:
        site.load(write(tmp_path / "fields", fields=[{"name": "note", "filled_by": "organizers"}]))
        fill(site, people["olga"], "team,note\nann,=1+1\n")
        answer = site.client().get("/challenges/fields/leaderboard.csv")
        assert "'=1+1" in b"".join(answer.streaming_content).decode()
        assert board(site)["ann"]["fields"] == {"note": "=1+1"}


def test_archives_have_the_values(site: Site, people: dict[str, Any]) -> None:
    """The public one has those of leaderboards, and one without names has no texts, which may tell a team."""
    fill(site, people["olga"], "team,human-score,note\nann,-4.5,fast\n")

    def values(**query: str) -> dict[str, str]:
        files = archive(site, "fields", **query)
        heads = pq.read_table(io.BytesIO(files["scores.parquet"])).column_names
        row = next(row for row in table(files) if row["field-human-score"])
        assert [*row] == heads
        return {name.removeprefix("field-"): text for name, text in row.items() if name.startswith("field-")}

    numbers = {"extra-data": "yes", "parameters": "86000000.0", "human-score": "-4.5"}
    assert values() == {**numbers, "machine": "'=1+1", "note": "fast"}
    assert values(anonymous="1") == numbers
    assert values(public="1").keys() == {field["name"] for field in FIELDS if field.get("on_board", True)}
    [own, _] = site.submissions()
    own.fields |= {"parameters": "many"}  # as if the field had been of another kind
    own.save()
    assert values()["parameters"] == ""


class TestTieBreaks:
    """Numbers of fields order equal scores where the challenge says so, and nothing else."""

    def test_numbers_break_ties(self, site: Site, tmp_path: Path) -> None:
        field = {"name": "human-score", "kind": "number", "filled_by": "organizers"}
        olga = site.user("olga")

        def ranks(**values: Any) -> dict[str, int]:
            site.load(write(tmp_path / "fields", ranks="scores", **values))
            return {name: row["rank"] for name, row in board(site).items()}

        site.load(write(tmp_path / "fields", fields=[field]))
        for name in ("one", "two", "three"):
            assert site.submit(site.user(name), example(), challenge="fields", method=name).status_code == 302
        site.work()
        fill(site, olga, "team,human-score\none,2\ntwo,5\n")
        assert ranks(fields=[field]) == {"one": 1, "two": 1, "three": 1}
        broken = {"fields": [field], "tie_breaks": ["human-score"]}
        assert [*ranks(**broken).items()] == [("two", 1), ("one", 2), ("three", 3)]
        fill(site, olga, "team,human-score\none,6\n")
        assert [*board(site)] == ["one", "two", "three"]
        lower = {"fields": [{**field, "lower_is_better": True}], "tie_breaks": ["human-score"]}
        assert [*ranks(**lower).items()] == [("two", 1), ("one", 2), ("three", 3)]

    def test_formulas_have_outputs_only(self) -> None:
        rows: dict[str, Any] = {"title": "x", "metrics": ["bleu"], "rank_by": "all", "phases": [{"name": "m"}]}
        rows |= {"references": [{"name": "c5", "file": "x"}], "fields": [{"name": "human-score", "kind": "number"}]}
        with pytest.raises(ChallengeError) as caught:
            definition_from({**rows, "formula": {"name": "all", "weights": {"human-score": 1.0}}})
        assert caught.value.problems == [
            "formula.weights: 'human-score' is a field, which images do not have; tie_breaks can name it"
        ]
