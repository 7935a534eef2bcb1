"""The evaluation server under load and attack: what its visitors wait for, in one table.

    python benchmarks/server_load.py [SECTION ...] [--postgresql] [--site SRC] [--output FILE] [--before FILE]

Each section starts a server of its own. ``--site`` runs the package in another folder ``src``, such as that of an older
checkout; ``--output`` writes the figures of a run, which ``--before`` shows beside those of another. README.md beside
this file says what is measured. A section is a function here, listed in ``SECTIONS``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from measurement import machine, print_table
from server_traffic import (
    REPOSITORY,
    Site,
    Visitor,
    databases,
    quantile,
    sign_in,
    slow_clients,
    visiting,
)

BOARD = "/challenges/demo/leaderboard"
PAGES = ("/", "/challenges/demo/", BOARD)
KINDS = ("idle", "headers", "bodies", "silent")
CAPTIONS = (REPOSITORY / "examples" / "improved.json").read_bytes()

#: What a section measures, label -> value.
Figures = dict[str, float]


def waits(visitor: Visitor, what: str) -> Figures:
    """Return how long a visitor waited for pages."""
    return {
        f"{what}: pages, p50, s": quantile(visitor.seconds, 0.5),
        f"{what}: pages, p95, s": quantile(visitor.seconds, 0.95),
        f"{what}: pages, slowest, s": max(visitor.seconds, default=float("nan")),
        f"{what}: pages that failed": visitor.failures,
    }


async def pages(site: Site, options: argparse.Namespace) -> Figures:
    """1,000 page views by 4 visitors."""
    rest = iter(range(1000))

    async def view() -> None:
        for number in rest:
            answer = await site.get(PAGES[number % len(PAGES)])
            assert answer.status == 200, answer

    await site.get(BOARD)
    cpu, began = site.cpu("web"), time.perf_counter()
    await asyncio.gather(*(view() for _ in range(4)))
    return {
        "1,000 pages, wall s": time.perf_counter() - began,
        "1,000 pages, CPU s of web": site.cpu("web") - cpu,
        "1,000 pages, peak memory of web, MiB": site.memory("web"),
    }


async def slow(site: Site, options: argparse.Namespace) -> Figures:
    """500 clients of each kind that send nothing, or a byte a second, or read nothing, for a minute."""
    figures: Figures = {}
    for kind in options.kinds:
        clients = slow_clients(site, kind, 500)
        holding = [asyncio.create_task(client.hold()) for client in clients]
        await asyncio.sleep(2)
        visitor, cpu = Visitor(site, *PAGES), site.cpu("web")
        async with visiting(visitor):
            await asyncio.sleep(options.seconds)
        cpu = site.cpu("web") - cpu
        for task in holding:
            task.cancel()
        await asyncio.gather(*holding, return_exceptions=True)
        ends = [end for client in clients for end in client.ends]
        figures |= waits(visitor, f"500 {kind}")
        figures |= {
            f"500 {kind}: CPU s of web": cpu,
            f"500 {kind}: connections that the server ended": len(ends),
            f"500 {kind}: with 408": sum(status == 408 for status, _ in ends),
            f"500 {kind}: after, p95, s": quantile([seconds for _, seconds in ends], 0.95),
            f"500 {kind}: peak memory of web so far, MiB": site.memory("web"),
        }
        await asyncio.sleep(2)
    return figures


async def uploads(site: Site, options: argparse.Namespace) -> Figures:
    """Return figures of three uploads of 100 MB, in turn and then at once, while a visitor looks at pages."""
    token, content = site.token(), CAPTIONS + b" " * (100_000_000 - len(CAPTIONS))
    cpu, began = site.cpu("web"), time.perf_counter()
    for number in range(3):
        answer = await site.upload(token, content, method=f"large {number}")
        assert answer.status == 201, answer
    figures = {
        "upload of 100 MB, wall s": (time.perf_counter() - began) / 3,
        "upload of 100 MB, CPU s of web": (site.cpu("web") - cpu) / 3,
    }
    visitor = Visitor(site, *PAGES)
    async with visiting(visitor):
        answers = await asyncio.gather(*(site.upload(token, content, method=f"more {n}") for n in range(3)))
    figures["3 uploads of 100 MB at once: not taken"] = sum(answer.status != 201 for answer in answers)
    figures |= waits(visitor, "3 uploads of 100 MB at once")
    return {**figures, "uploads of 100 MB, peak memory of web, MiB": site.memory("web")}


async def burst(site: Site, options: argparse.Namespace) -> Figures:
    """100 uploads at once, while somebody looks at pages."""
    token, visitor = site.token(), Visitor(site, *PAGES)
    await site.get(BOARD)
    began = time.perf_counter()
    async with visiting(visitor):
        answers = await asyncio.gather(*(site.upload(token, CAPTIONS, method=f"burst {n}") for n in range(100)))
    figures = {
        "100 uploads at once, wall s": time.perf_counter() - began,
        "100 uploads at once: taken": sum(answer.status == 201 for answer in answers),
        "100 uploads at once: sent back (429)": sum(answer.status == 429 for answer in answers),
    }
    return figures | waits(visitor, "100 uploads at once")


async def sign_ins(site: Site, options: argparse.Namespace) -> Figures:
    """24 people sign in at once, while somebody looks at pages."""
    visitor = Visitor(site, *PAGES)
    await site.get(BOARD)
    async with visiting(visitor):
        await asyncio.sleep(0.5)
        answers = await asyncio.gather(*(sign_in(site, "admin") for _ in range(24)))
        await asyncio.sleep(0.5)
    seconds = [answer.seconds for answer in answers]
    return {
        "24 sign-ins at once, slowest, s": max(seconds),
        "24 sign-ins at once: signed in": sum(answer.status == 302 for answer in answers),
        "24 sign-ins at once: sent back (429)": sum(answer.status == 429 for answer in answers),
        **waits(visitor, "24 sign-ins at once"),
    }


Section = Callable[[Site, argparse.Namespace], Awaitable[Figures]]
SECTIONS: dict[str, Section] = {
    "pages": pages,
    "slow": slow,
    "uploads": uploads,
    "burst": burst,
    "sign-ins": sign_ins,
}
SETTINGS = {"requests_per_minute": 10_000, "workers": 1}


def measure(name: str, options: argparse.Namespace, database: str) -> Figures:
    """Run a section with a server of its own, and end it if it takes too long."""

    async def bounded() -> Figures:
        async with asyncio.timeout(options.longest):
            return await SECTIONS[name](site, options)

    with tempfile.TemporaryDirectory() as place, Site(options.site, Path(place), database, **SETTINGS) as site:
        return asyncio.run(bounded())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; default: all")
    parser.add_argument("--postgresql", action="store_true", help="a temporary PostgreSQL instead of SQLite")
    parser.add_argument("--site", type=Path, default=REPOSITORY / "src", metavar="SRC", help="the package to run")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS, help="of slow clients; default: all")
    parser.add_argument("--seconds", type=float, default=60, help="how long slow clients are held")
    parser.add_argument("--longest", type=float, default=600, help="time limit of a section, seconds")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the figures as JSON")
    parser.add_argument("--before", type=Path, metavar="FILE", help="figures of another run, to show as well")
    options = parser.parse_args()
    options.site = options.site.absolute()
    if unknown := [name for name in options.sections if name not in SECTIONS]:
        parser.error(f"there is no section {unknown[0]}; sections: {', '.join(SECTIONS)}")
    figures: Figures = {}
    with databases(options.postgresql) as new_database:
        for name in options.sections or SECTIONS:
            figures |= measure(name, options, new_database())
    if options.output:
        options.output.write_text(json.dumps(figures, indent=1))
    before: Figures = json.loads(options.before.read_text()) if options.before else {}
    print(f"{machine()}, {'PostgreSQL' if options.postgresql else 'SQLite'}")
    rows = [["", *(["before"] if before else []), "now"]]
    for label, value in figures.items():
        rows.append([label, *([shown(before.get(label))] if before else []), shown(value)])
    print_table(rows)


def shown(value: float | None) -> str:
    if value is None or value != value:
        return ""
    if value == int(value) or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


if __name__ == "__main__":
    main()
