"""A real server, and Chromium with pages that report what went wrong in them.

Playwright and the server live as long as the tests of this folder: while Playwright runs, Django cannot be used in
this process.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from server.tests.browser.scenes import write_scenes, write_wide
from server.tests.browser.steps import sign_in, sign_up
from server.tests.support.openid_provider import CLIENT, SECRET, OpenIDProvider
from server.tests.support.server import ADMIN, Server
from tests.support.browser import browser

__all__ = ["browser"]

#: Users with accounts: an organizer of the challenge "scenes", and one who is nothing special.
ORGANIZER, USER = "olga", "ursula"
#: Where the images of "scenes" are, and what is there.
IMAGES = "https://images.example.org"
IMAGE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="48"><rect width="64" height="48" fill="teal"/></svg>'
)


@pytest.fixture(scope="package")
def running_server(
    browser: Any, tmp_path_factory: pytest.TempPathFactory, worker_id: str, is_on_postgres: bool
) -> Iterator[tuple[Server, dict[str, Any]]]:
    """A server, and the cookies of users who have signed in. The first process of a run makes its data for all."""
    limits = {"REQUESTS_PER_MINUTE": "100000", "UPLOAD_MEBIBYTES": "1", "WRONG_PASSWORDS": "3"}
    environment = {f"CAPTIOUS_SERVER_{name}": value for name, value in limits.items()}
    own = tmp_path_factory.mktemp("browser")
    made = (own if worker_id == "master" or is_on_postgres else tmp_path_factory.getbasetemp().parent) / "made"
    with OpenIDProvider() as provider:
        sites = {"local": {"title": "Local", "issuer": provider.url, "client_id": CLIENT, "client_secret": SECRET}}
        environment["CAPTIOUS_SERVER_SIGN_IN"] = json.dumps(sites)
        with FileLock(f"{made}.lock"):
            if not made.exists():
                _make(browser, own / "making", environment).rename(made)
        shutil.copytree(made / "data", own / "data")
        about = json.loads((made / "about.json").read_text())
        with Server(own / "data", environment={**environment, "DATABASE_URL": about["database"]}) as started:
            yield started, about["cookies"]


def _make(browser: Any, folder: Path, environment: dict[str, str]) -> Path:
    """Make the data of a server, and ``about.json``: its database, and the cookies."""
    folder.mkdir()
    with Server(folder / "data", "--demo", environment=environment) as started:
        cookies = {}
        for name, enter in ((ORGANIZER, sign_up), (USER, sign_up), (ADMIN, sign_in)):
            page = browser.new_page(base_url=started.url)
            enter(page, name)
            cookies[name] = page.context.storage_state()
            page.context.close()
        for challenge in (write_scenes(folder / "scenes", organizer=ORGANIZER), write_wide(folder / "wide")):
            loaded = started.captious("challenge", "load", str(challenge), "--data", str(started.data))
            assert loaded.returncode == 0, loaded.stderr
        started.wait_until_idle()
    about = {"database": started.environment["DATABASE_URL"], "cookies": cookies}
    (folder / "about.json").write_text(json.dumps(about))
    return folder


@pytest.fixture(scope="package")
def server(running_server: tuple[Server, dict[str, Any]]) -> Server:
    """A server with the demonstration and the challenges "scenes" and "wide", on whose boards all baselines are."""
    return running_server[0]


@pytest.fixture
def open_page(browser: Any, running_server: tuple[Server, dict[str, Any]]) -> Iterator[Callable[..., Any]]:
    """Opens pages in browsers of their own. The test fails if something goes wrong in one of them: errors on the
    console, such as violations of the content security policy, exceptions, and requests that fail or are refused.
    """
    server, cookies = running_server
    contexts = []
    problems: list[str] = []

    def opened(
        user: str = "",
        *,
        width: int = 1280,
        dark: bool = False,
        scripts: bool = True,
        zone: str = "UTC",
        refused: tuple[int, ...] = (),
    ) -> Any:
        """A page.

        Args:
            user: who has signed in; nobody by default.
            width: of the window, in pixels.
            dark: the reader prefers dark pages.
            scripts: run JavaScript.
            zone: the reader's time zone.
            refused: statuses that are no problem.
        """
        context = browser.new_context(
            base_url=server.url,
            viewport={"width": width, "height": 800},
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            timezone_id=zone,
            storage_state=cookies.get(user),
        )
        context.set_default_timeout(20_000)
        context.route(f"{IMAGES}/**", lambda route: route.fulfill(body=IMAGE, content_type="image/svg+xml"))
        contexts.append(context)
        page = context.new_page()

        def said(message: Any) -> None:
            by_status = message.text.startswith("Failed to load resource: the server responded")  # seen below
            if message.type in {"error", "warning"} and not by_status:
                problems.append(f"{page.url}: {message.text}")

        def answered(response: Any) -> None:
            if response.status >= 400 and response.status not in refused:
                problems.append(f"{response.status}: {response.request.method} {response.url}")

        def failed(request: Any) -> None:
            if request.failure != "net::ERR_ABORTED":  # the reader went to another page, or downloads a file
                problems.append(f"{request.failure}: {request.url}")

        page.on("console", said)
        page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
        page.on("response", answered)
        page.on("requestfailed", failed)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture(params=[(1280, True), (360, True), (360, False)], ids=["desktop", "phone", "phone without scripts"])
def page(open_page: Callable[..., Any], request: pytest.FixtureRequest) -> Any:
    """A visitor's page on a desktop, on a phone, and without JavaScript."""
    width, scripts = request.param
    return open_page(width=width, scripts=scripts)


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    """A valid submission of the demonstration."""
    from server.tests.support.site import EXAMPLES

    return Path(shutil.copy(EXAMPLES / "improved.json", tmp_path / "captions.json"))
