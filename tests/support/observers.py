"""An observer of progress that remembers what it was told."""

from __future__ import annotations

from captious.progress import Progress


class Events:
    """Record of the work that began, changed and ended, in order."""

    def __init__(self) -> None:
        #: ("begin" or "end", total) and (what, done), as they were at the time.
        self.seen: list[tuple[str, int]] = []
        self.works: list[Progress] = []

    def begin(self, work: Progress) -> None:
        self.works.append(work)
        self.seen.append(("begin", work.total))

    def change(self, work: Progress) -> None:
        self.seen.append((work.what, work.done))

    def end(self, work: Progress) -> None:
        self.seen.append(("end", work.total))

    @property
    def steps(self) -> list[str]:
        """Return the announced steps, in order."""
        return [what for what, _ in self.seen if what not in ("begin", "end")]
