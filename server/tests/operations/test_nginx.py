"""``captious serve nginx-config``, and where ``captious serve`` may listen."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.errors import ParameterError
from captious_server.operations.nginx import configuration
from captious_server.settings import ServerSettings
from server.tests.golden.commands import captious


@pytest.mark.parametrize("address", ["80; deny all", "", "$host:80", "localhost:", "[::1]", "x y:80", "80\n"])
@pytest.mark.parametrize("place", ["listen", "upstream"])
def test_wrong_addresses_are_errors(tmp_path: Path, place: str, address: str) -> None:
    listen, upstream = (address, "8000") if place == "listen" else ("80", address)
    with pytest.raises(ParameterError, match="is not an address for nginx"):
        configuration(ServerSettings.load(tmp_path), [listen], upstream)


@pytest.mark.parametrize("path", ["a b", "x;y", "$x", 'q"'])
def test_wrong_paths_are_errors(tmp_path: Path, path: str) -> None:
    with pytest.raises(ParameterError, match="does not take this path"):
        configuration(ServerSettings.load(tmp_path), ["80"], "8000", folder=Path(path))


def test_certificate_needs_its_key() -> None:
    outcome = captious("serve", "nginx-config", "--listen", "443", "--certificate", "a.pem")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--certificate and --key belong together" in outcome.err


def test_sizes_are_those_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "captious.toml").write_text("upload_mebibytes = 7\n")
    outcome = captious("serve", "nginx-config", "--listen", "80", "--data", tmp_path)
    assert f"client_max_body_size {7 << 20};" in outcome.out
    monkeypatch.setenv("CAPTIOUS_SERVER_UPLOAD_MEBIBYTES", "3")
    assert f"client_max_body_size {3 << 20};" in captious("serve", "nginx-config", "--listen", "80").out
    outcome = captious("serve", "nginx-config", "--listen", "80", "--data", tmp_path / "nothing")
    assert (outcome.code, outcome.out) == (2, "")
    assert "there is no folder" in outcome.err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
@pytest.mark.parametrize("command", [["--demo"], ["web"]], ids=["serve", "web"])
def test_other_hosts_than_loopback_need_a_proxy(tmp_path: Path, host: str, command: list[str]) -> None:
    """The error is one line, and nothing is created."""
    outcome = captious("serve", *command, "--data", tmp_path / "data", "--host", host)
    assert outcome.code == 2
    [line] = outcome.err.splitlines()
    assert line.startswith(f"error: {host} can be reached from other machines")
    assert "server/docs/deployment.md" in line
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("way", ["option", "setting"])
def test_other_hosts_are_allowed_behind_a_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setenv("CAPTIOUS_SERVER_BEHIND_PROXY", "false" if way == "option" else "true")
    options = ["--behind-proxy"] if way == "option" else []
    outcome = captious("serve", "web", "--data", tmp_path, "--host", "0.0.0.0", *options)
    assert "is not the data folder of a server" in outcome.err
