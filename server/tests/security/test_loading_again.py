"""Loading a challenge again undoes nothing that was set on the site, unless somebody agrees."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from captious.cli import captious
from captious.errors import ParameterError
from captious_server.models import Phase, Submission
from server.tests.security.world import upload, write_challenge
from server.tests.support.site import Site
from server.tests.support.small_challenge import queue

PHASES = [{"name": "main"}, {"name": "late", "board": "hidden"}]
BASELINE = {"method": "Base", "file": "base.zip", "phases": ["main"]}


class Organizer:
    """Olga with her challenge, its folder and its page."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site, self.folder = site, folder
        self._client = site.client(site.user("olga"))
        self.write()
        site.load(folder)
        site.work()

    def write(self, caption: str = "a cat", **values: Any) -> None:
        """The folder, anew."""
        shutil.rmtree(self.folder, ignore_errors=True)
        write_challenge(self.folder, **{"phases": PHASES, "baselines": [BASELINE], **values})
        (self.folder / "base.zip").write_bytes(upload(caption))

    def act(self, action: str, **values: Any) -> None:
        sent = {"action": action, "sure": "1", **values}
        assert self._client.post("/challenges/open/manage", sent).status_code == 302

    def post(self, address: str, **values: Any) -> int:
        return int(self._client.post(address, values).status_code)

    def board(self, phase: str) -> str:
        return str(Phase.objects.get(name=phase).board)

    def baselines(self) -> list[Any]:
        return list(Submission.objects.filter(is_baseline=True).exclude(status="deleted"))

    def run(self, command: str, *options: str) -> Result:
        arguments = ["challenge", command, str(self.folder), "--data", str(self.site.data), *options]
        return CliRunner().invoke(captious, arguments)


@pytest.fixture
def olga(site: Site, tmp_path: Path) -> Organizer:
    return Organizer(site, tmp_path / "open")


class TestBoards:
    def test_setting_of_the_site_survives_a_load(self, olga: Organizer) -> None:
        olga.act("board", phase="main", board="hidden")
        olga.act("board", phase="late", board="public")
        olga.write(title="Another title")
        done = olga.run("load")
        assert (olga.board("main"), olga.board("late")) == ("hidden", "public")
        assert "changed in the folder: title: Open → Another title\n" in done.stderr
        assert "stays: phase main: the leaderboard stays hidden; challenge.toml says public" in done.stderr

    def test_changed_setting_of_the_folder_wins_on_confirmation(self, olga: Organizer) -> None:
        olga.write(phases=[{"name": "main"}, {"name": "late", "board": "public"}])
        with pytest.raises(ParameterError, match="would undo"):
            olga.site.load(olga.folder)
        refused = olga.run("load")
        assert "phase late: the leaderboard is hidden now and becomes public" in refused.stderr
        assert "would undo" in str(refused.exception)
        assert olga.board("late") == "hidden"
        assert olga.run("load", "--yes").exit_code == 0
        assert olga.board("late") == "public"

    def test_restored_phase_keeps_its_setting(self, olga: Organizer) -> None:
        olga.act("board", phase="main", board="hidden")
        for phases in ([{"name": "late", "board": "hidden"}], PHASES):
            olga.write(phases=phases, baselines=[{**BASELINE, "phases": ["late"]}])
            olga.site.load(olga.folder)
        assert olga.board("main") == "hidden"


class TestPhases:
    def test_phase_whose_final_scores_were_shown_is_reopened_on_confirmation(self, olga: Organizer) -> None:
        olga.write(phases=[{"name": "main", "closes": "2020-01-01T00:00:00Z"}, PHASES[1]])
        olga.site.load(olga.folder)
        olga.write()
        said = "phase main: IS REOPENED, after its final scores were shown"
        assert f"to be confirmed: {said}\n" in olga.run("check").stderr
        with pytest.raises(ParameterError, match="would reopen or remove phases"):
            olga.site.load(olga.folder)
        assert Phase.objects.get(name="main").state == "closed"
        assert olga.run("load", "--yes").exit_code == 0
        assert Phase.objects.get(name="main").state == "open"

    def test_phase_with_submissions_is_removed_on_confirmation(self, olga: Organizer) -> None:
        queue(2)
        olga.write(phases=PHASES[1:], baselines=[{**BASELINE, "phases": ["late"]}])
        refused = olga.run("load")
        assert "to be confirmed: phase main: IS REMOVED with 2 submissions\n" in refused.stderr
        assert not Phase.objects.get(name="main").is_retired
        assert olga.run("load", "--yes").exit_code == 0
        assert Phase.objects.get(name="main").is_retired


class TestBaselines:
    def test_deleted_baseline_stays_deleted(self, olga: Organizer) -> None:
        [base] = olga.baselines()
        assert olga.post(f"/submissions/{base.pk}/delete") == 302
        olga.site.load(olga.folder)
        olga.site.load(olga.folder)
        assert olga.baselines() == []
        olga.write("another caption")
        with pytest.raises(ParameterError, match="would undo"):
            olga.site.load(olga.folder)
        assert olga.run("load", "--yes").exit_code == 0
        assert len(olga.baselines()) == 1

    def test_baseline_restored_in_the_folder_comes_back(self, olga: Organizer) -> None:
        for number, baselines in ((0, []), (1, [BASELINE])):
            olga.write(baselines=baselines or [{**BASELINE, "method": "Other"}])
            olga.site.load(olga.folder)
            assert [base.method for base in olga.baselines()] == (["Base"] if number else ["Other"])

    def test_hidden_baseline_stays_hidden_with_a_new_file(self, olga: Organizer) -> None:
        [base] = olga.baselines()
        olga.act("hide", submission=base.pk)
        olga.write("another caption")
        olga.site.load(olga.folder)
        [new] = olga.baselines()
        assert new.pk != base.pk
        assert new.is_hidden

    @pytest.mark.parametrize("without", [{"phases": PHASES[1:]}, {}], ids=["its phase", "it"])
    def test_hidden_baseline_stays_hidden_when_restored(self, olga: Organizer, without: Any) -> None:
        [base] = olga.baselines()
        olga.act("hide", submission=base.pk)
        olga.write(**without, baselines=[{**BASELINE, "method": "Other", "phases": ["late"]}])
        olga.site.load(olga.folder)
        assert [each.method for each in olga.baselines()] == ["Other"]
        olga.write()
        done = olga.run("load")
        assert "stays: baseline 'Base' of phase main: was hidden on the site and stays hidden" in done.stderr
        assert [new.is_hidden for new in olga.baselines()] == [True]

    def test_baseline_details_are_updated_from_the_folder(self, olga: Organizer) -> None:
        [base] = olga.baselines()
        assert olga.post(f"/submissions/{base.pk}/edit", method="Renamed") == 404


def test_check_on_the_server_predicts_the_load(olga: Organizer) -> None:
    olga.write(organizers=["olga", "nobody"])
    without = CliRunner().invoke(captious, ["challenge", "check", str(olga.folder)])
    assert without.exit_code == 0
    assert "with --data DIR, it is also checked that the organizers have accounts" in without.stderr
    checked = olga.run("check")
    assert "organizers[2]: there is no user 'nobody'" in str(checked.exception)
    assert str(checked.exception) == str(olga.run("load").exception)
    phases = [{"name": "main", "scored_per_day": 3}, {"name": "new"}]
    olga.write("another caption", summary="Another summary", phases=phases)
    assert olga.run("check").stderr.splitlines() == [
        "changed in the folder: summary: Captions of three images. → Another summary",
        "changed in the folder: phase 'main', scored per day: 0 → 3",
        "changed in the folder: phase 'late': removed",
        "changed in the folder: phase 'new': new",
        "changed in the folder: file base.zip: changed",
    ]
    assert olga.run("load").exit_code == 0
    assert olga.run("check").stderr == ""
