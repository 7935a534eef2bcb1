"""A copy of one's data, and the deletion of an account: what goes, and what stays without a name."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from captious_server.commands import serve
from captious_server.models import AuditEvent, Challenge, Membership, Phase, Submission, Team, User
from captious_server.operations import worker
from captious_server.people.teams import create_team
from captious_server.scoring import queue
from server.tests.support.site import PASSWORD, Site, parsed
from server.tests.support.small_challenge import upload, write_folder


@pytest.fixture
def small_site(site: Site, tmp_path: Path) -> Site:
    """The challenge "small", to which Ann has submitted for herself, and for Alpha with Mia."""

    def scene() -> None:
        site.load(write_folder(tmp_path / "small"))
        site.user("root", is_superuser=True)
        ann, mia = site.user("ann", email="ann@example.org"), site.user("mia")
        alpha = create_team("Alpha", ann)
        Membership.objects.create(team=alpha, user=mia)
        submit(
            site, ann, method="Best", link="https://ann.example.org", description="By Ann.", filename="ann-smith.json"
        )
        submit(site, ann, method="Private", public="")
        submit(site, ann, method="Of Alpha", team="alpha")
        site.work()

    site.build("submissions of Ann and of Alpha", scene)
    return site


@pytest.fixture
def ann(small_site: Site) -> Any:
    return User.objects.get(username="ann")


def submit(site: Site, user: Any, **values: Any) -> None:
    assert site.submit(user, json.loads(upload()), challenge="small", **values).status_code == 302


def delete(site: Site, user: Any, **values: str) -> Any:
    sent = {"name": user.username, "proof": PASSWORD, **values}
    return site.client(user).post("/account/delete", sent)


def board(site: Site) -> list[tuple[str, str]]:
    rows = parsed(site.client().get("/challenges/small/leaderboard.json?all=1"))
    return sorted((row["method"], row["team"]) for row in rows)


class TestExport:
    def test_json_export_has_the_account(self, small_site: Site, ann: Any) -> None:
        small_site.token(ann)
        response = small_site.client(ann).post("/account/data.json")
        assert response["Content-Disposition"] == 'attachment; filename="account.json"'
        values = response.json()
        assert values["account"]["email"] == "ann@example.org"
        assert [row["name"] for row in values["teams"]] == ["Alpha", "ann"]
        assert [row["method"] for row in values["submissions"]] == ["Best", "Private", "Of Alpha"]
        assert "bleu-4" in json.dumps(values["submissions"][0]["scores"])
        assert "submit" in {row["action"] for row in values["log"]}
        assert "hash" not in response.content.decode()
        assert "password" not in values["account"]

    def test_zip_export_has_uploads(self, small_site: Site, ann: Any) -> None:
        response = small_site.client(ann).post("/account/data.zip")
        archive = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))
        names = archive.namelist()
        assert names[0] == "account.json"
        assert archive.read(names[1]) == small_site.submissions()[0].folder.joinpath("upload").read_bytes()
        assert names[1].endswith("/ann-smith.json")
        assert len(names) == 4

    def test_export_omits_withheld_scores_and_former_teams(self, small_site: Site, ann: Any) -> None:
        Phase.objects.update(scores_shown="never")
        Membership.objects.filter(team__slug="alpha", user=ann).delete()
        values = small_site.client(ann).post("/account/data.json").json()
        assert [(row["method"], row["scores"]) for row in values["submissions"]] == [("Best", {}), ("Private", {})]


class TestDeletion:
    @staticmethod
    def write_fields(challenge: Challenge) -> None:
        """Fill fields of the best submission: two by its team, and one by organizers."""
        fields = [
            {"name": "note", "kind": "text"},
            {"name": "size", "kind": "number"},
            {"name": "remark", "kind": "text", "filled_by": "organizers"},
        ]
        values = {**challenge.definition_values, "fields": fields}
        Challenge.objects.filter(pk=challenge.pk).update(definition_values=values)
        Submission.objects.filter(method="Best").update(fields={"note": "ann@x.org", "size": 7, "remark": "Good."})

    def test_deleted_account_leaves_anonymized_submissions(self, small_site: Site, ann: Any) -> None:
        before = board(small_site)
        private = Submission.objects.get(method="Private")
        self.write_fields(Challenge.objects.get())
        page = small_site.client(ann).get("/account/delete").content.decode()
        assert "1 of your submissions is on leaderboards" in page
        client = small_site.client(ann)
        assert delete(small_site, ann).status_code == 302
        assert client.get("/account/")["Location"].startswith("/sign-in")
        assert not User.objects.filter(username="ann").exists()
        kept = Submission.objects.get(method="Best")
        number = kept.team_id
        assert (kept.user, kept.link, kept.description, kept.filename) == (None, "", "", "submission.json")
        assert kept.fields == {"size": 7, "remark": "Good."}
        assert before == [("Best", "ann"), ("Of Alpha", "Alpha")]
        assert board(small_site) == [("Best", f"Deleted team {number}"), ("Of Alpha", "Alpha")]
        assert not Submission.objects.filter(pk=private.pk).exists()
        assert not private.folder.exists()
        alpha = Team.objects.get(name="Alpha")
        assert [(row.user.username, row.is_captain) for row in alpha.memberships.all()] == [("mia", True)]
        left = [
            value
            for row in AuditEvent.objects.values("actor", "address", "target", "detail")
            for value in row.values()
            if "ann" in str(value).split() or value == "ann"
        ]
        assert left == []
        assert AuditEvent.objects.filter(actor=f"deleted user {ann.pk}", address="").exists()
        small_site.user("ann")  # the name is free again, and has nothing of the former account
        assert (
            small_site.client(User.objects.get(username="ann")).post("/account/data.json").json()["submissions"] == []
        )

    def test_account_is_deleted_with_its_submissions(self, small_site: Site, ann: Any) -> None:
        delete(small_site, ann, submissions="on")
        assert board(small_site) == [("Of Alpha", "Alpha")]
        assert not Team.objects.filter(slug__in=["ann", "deleted"]).exists()

    @pytest.mark.parametrize("values", [{"name": "ANN"}, {"name": ""}])
    def test_deletion_needs_the_name(self, small_site: Site, ann: Any, values: dict[str, str]) -> None:
        assert delete(small_site, ann, **values).status_code == 422
        assert User.objects.filter(username="ann").exists()

    def test_organizers_and_the_last_administrator_cannot_be_deleted(self, small_site: Site, ann: Any) -> None:
        Challenge.objects.get().organizers.add(ann)
        refused = delete(small_site, ann)
        assert refused.status_code == 409
        assert "ann is an organizer of Small" in refused.content.decode()
        refused = delete(small_site, User.objects.get(username="root"))
        assert "the only administrator" in refused.content.decode()

    def test_submission_being_scored_is_deleted(self, small_site: Site, ann: Any) -> None:
        submit(small_site, ann, method="Running")
        taken = queue.take("test")
        delete(small_site, ann)
        worker.score(taken)  # which finds that it was lost
        assert not Submission.objects.filter(method="Running").exists()
        assert {row.status for row in Submission.objects.filter(method="Best")} == {"done"}

    def test_submissions_of_deleted_accounts_are_scored_again(self, small_site: Site, ann: Any) -> None:
        delete(small_site, ann)
        queue.queue_again(Submission.objects.all())
        small_site.work()
        assert [row.status for row in small_site.submissions()] == ["done", "done"]


def test_commands_export_and_delete_an_account(small_site: Site, ann: Any, tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(serve, [*words, "--data", str(small_site.data)])

    written = run("export-user", "--user", "ann", "-o", str(tmp_path / "ann.zip"))
    assert written.exit_code == 0, written.output
    assert "account.json" in zipfile.ZipFile(tmp_path / "ann.zip").namelist()
    assert "there is no user 'eve'" in str(run("delete-user", "--user", "eve", "--yes").exception)
    gone = run("delete-user", "--user", "ann", "--yes")
    assert f"ann is deleted user {ann.pk} now. Submissions: 1 kept, 1 deleted." in gone.output


class TestAdministrationPages:
    """Administration pages delete accounts as their owners do."""

    def delete(self, small_site: Site, *users: Any) -> Any:
        sent = {"action": "delete_selected", "_selected_action": [user.pk for user in users], "post": "yes"}
        return small_site.client(administrator()).post("/admin/captious/user/", sent, follow=True)

    def test_administrator_deletes_an_account(self, small_site: Site, ann: Any) -> None:
        before, root = len(board(small_site)), administrator()
        address = f"/admin/captious/user/{ann.pk}/delete/"
        assert "as users delete their own accounts" in small_site.client(root).get(address).content.decode()
        assert small_site.client(root).post(address, {"post": "yes"}).status_code == 302
        assert not User.objects.filter(username="ann").exists()
        assert len(board(small_site)) == before
        assert ("Best", f"Deleted team {small_site.submissions()[0].team_id}") in board(small_site)
        assert "ann" not in {*AuditEvent.objects.values_list("actor", flat=True)}
        assert "ann" not in {*AuditEvent.objects.values_list("target", flat=True)}

    def test_administrator_deletes_several_accounts(self, small_site: Site, ann: Any) -> None:
        self.delete(small_site, *User.objects.filter(username__in=["ann", "mia"]))
        assert [*User.objects.values_list("username", flat=True)] == ["root"]

    def test_organizers_and_the_last_administrator_cannot_be_deleted(self, small_site: Site, ann: Any) -> None:
        Challenge.objects.get().organizers.add(ann)
        for user in (ann, administrator()):
            page = self.delete(small_site, user).content.decode()
            assert (
                "add another organizer to the challenge first" in page or "another user an administrator first" in page
            )
        other = small_site.user("other", is_superuser=True, is_staff=True)
        page = self.delete(small_site, other, administrator()).content.decode()
        assert "another user an administrator first" in page
        assert User.objects.filter(is_superuser=True).count() == 1
        logged = AuditEvent.objects.filter(action="delete user").values_list("target", flat=True)
        assert [*logged] == [f"deleted user {other.pk}"]


def administrator() -> Any:
    User.objects.filter(username="root").update(is_staff=True)
    return User.objects.get(username="root")
