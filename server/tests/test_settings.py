"""Settings from a file and the environment: every mistake is named, and none is taken for something else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captious.errors import ParameterError
from captious_server.settings import ServerSettings
from tests.support.tables import tables


def test_environment_takes_precedence_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "captious.toml").write_text('workers = 3\nsite_name = "ours"\nhosts = ["a.example", "b.example"]\n')
    environment = {"CAPTIOUS_SERVER_WORKERS": "2", "CAPTIOUS_SERVER_HTTPS": "true", "DATABASE_URL": "postgres://h/n"}
    settings = ServerSettings.load(tmp_path, environment)
    assert (settings.workers, settings.site_name, settings.https) == (2, "ours", True)
    assert settings.hosts == ("a.example", "b.example")
    assert settings.database_url == "postgres://h/n"
    assert ServerSettings.load(tmp_path, {"CAPTIOUS_SERVER_HOSTS": "x.example, y.example"}).hosts == (
        "x.example",
        "y.example",
    )


def test_identity_providers_are_read_from_file_and_environment(tmp_path: Path) -> None:
    (tmp_path / "captious.toml").write_text('[sign_in.orcid]\nclient_id = "x"\nclient_secret = "y"\n')
    orcid = ServerSettings.load(tmp_path, {}).sign_in["orcid"]
    assert (orcid.issuer, orcid.title) == ("https://orcid.org", "ORCID")
    uni = {"client_id": "x", "client_secret": "y", "issuer": "https://id.example/"}
    environment = {"CAPTIOUS_SERVER_SIGN_IN": json.dumps({"uni": uni})}
    [(name, provider)] = ServerSettings.load(tmp_path, environment).sign_in.items()
    assert (name, provider.issuer, provider.title) == ("uni", "https://id.example", "uni")
    with pytest.raises(ParameterError, match="must be JSON"):
        ServerSettings.load(tmp_path, {"CAPTIOUS_SERVER_SIGN_IN": "orcid"})


@pytest.mark.parametrize(("line", "said"), tables(__file__)["invalid"])
def test_invalid_settings_are_refused(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "captious.toml").write_text(line)
    with pytest.raises(ParameterError) as caught:
        ServerSettings.load(tmp_path, {})
    assert said in str(caught.value)


def test_invalid_settings_are_reported_together(tmp_path: Path) -> None:
    (tmp_path / "captious.toml").write_text('workers = 0\ntime_zone = "X/Y"\nnothing = 1\n')
    with pytest.raises(ParameterError) as caught:
        ServerSettings.load(tmp_path, {})
    assert len(caught.value.where.splitlines()) == 3


def test_unknown_environment_variable_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="CAPTIOUS_SERVER_WORKERZ") as caught:
        ServerSettings.load(tmp_path, {"CAPTIOUS_SERVER_WORKERZ": "3"})
    assert "workers" in caught.value.hint


def test_secret_key_is_created_once(tmp_path: Path) -> None:
    key = ServerSettings.load(tmp_path, {}).secret_key
    assert len(key) >= 50
    assert ServerSettings.load(tmp_path, {}).secret_key == key
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


def test_secret_key_of_the_environment_is_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_SERVER_SECRET_KEY", "x" * 31)
    with pytest.raises(ParameterError, match="CAPTIOUS_SERVER_SECRET_KEY has fewer than 32 characters"):
        _ = ServerSettings.load(tmp_path).secret_key
    monkeypatch.setenv("CAPTIOUS_SERVER_SECRET_KEY", "x" * 32)
    assert ServerSettings.load(tmp_path).secret_key == "x" * 32
