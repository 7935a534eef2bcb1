"""``SectionedCommand``: a command whose options are listed by section in its help, those of its subject first."""

from __future__ import annotations

import click

from captious.cli.options import SETTINGS

_SECTIONS = {
    "Captions": ("harness", "no_references", "several", "of_k", "subset", "clean", "columns", "split"),
    "Settings of metrics": tuple(SETTINGS),
    "Output": ("format_", "output", "per_caption", "plot", "percent", "transpose", "naming", "interval_style"),
    "Shards": ("shards", "engine", "workers", "retries", "batch_rows"),
}
_SECTION_OF = {name: section for section, names in _SECTIONS.items() for name in names}


class SectionedCommand(click.Command):
    """A command with many options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        lines: dict[str, list[tuple[str, str]]] = {section: [] for section in ("Options", *_SECTIONS)}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and (line := parameter.get_help_record(ctx)) is not None:
                lines[_SECTION_OF.get(parameter.name or "", "Options")].append(line)
        for section, of_section in lines.items():
            if of_section:
                with formatter.section(section):
                    formatter.write_dl(of_section)
