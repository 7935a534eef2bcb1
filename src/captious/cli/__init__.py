"""The command line: one module per command, which parses its arguments, calls the library and prints.

Exit codes: 0 success; 2 wrong usage or input, or results that cannot be written; 130 interrupted; 129 or 143 stopped by
a signal. Results go to stdout, everything else to stderr.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Threads of OpenBLAS, which numpy starts when it is imported, wait for work in a loop: for as long as importing takes.
# With this, they sleep at once.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

import click

from captious.cli.library_options import DocumentedCommand
from captious.cli.process import at_a_terminal, prepare_streams, silenced, stoppable
from captious.errors import CaptiousError, CaptiousWarning, MissingExtraError, ParameterError, shown
from captious.plugins import EntryPoints, deferred
from captious.progress import observed, told
from captious.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["Group", "main"]

#: The commands with their lines in `captious --help`, by section. Each is in a module of its name, or of ``_MODULES``.
COMMANDS = {
    "Score captions": {
        "score": "Score one or more systems against references.",
        "check": "Look at captions before they are scored.",
        "compare": "Test the differences between systems.",
        "explain": "Show why a caption got its score.",
        "report": "Write scores, tests and captions as one HTML page.",
        "judge-pairwise": "Ask a model which of two systems' captions it prefers.",
    },
    "Study metrics": {
        "judge": "Measure how well metrics agree with human judgments.",
        "study": "Study metrics: references, robustness, failures, cost.",
        "reproduce": "Compute the tables of papers, with the published figures.",
        "data": "List benchmarks of human judgments, or write their items.",
    },
    "Prepare and train": {
        "prepare": "Write references with what metrics compute about them.",
        "fit": "Fit a metric to references and write the result to a file.",
        "learn": "Train learned metrics: features, training data, networks.",
        "parse": "Write parses of captions to a file.",
    },
    "Other programs": {
        "run": "Run a program written for another toolkit on captious.",
        "evaluate-modules": "Write the metrics as modules for Hugging Face evaluate.",
    },
    "Evaluation server": {
        "challenges": "List the challenges of a server.",
        "submit": "Submit captions to a server.",
        "submissions": "List and download your submissions to a server.",
        "serve": "Run a server.",
        "challenge": "Make and check challenges for your server.",
    },
    "Installation": {
        "metrics": "List the metrics, their variants and what they need.",
        "resources": "Get and compile the large files that some metrics need.",
        "vectors": "Add, list and remove word vectors.",
        "doctor": "Show what is installed and what it enables.",
        "completion": "Make a shell complete commands, options and metrics.",
    },
}
#: The modules of commands that are not in one of their own name.
_MODULES = {
    **dict.fromkeys(("resources", "vectors", "doctor"), "installation"),
    **dict.fromkeys(("challenges", "submit"), "submissions"),
    **dict.fromkeys(("fit", "parse"), "prepare"),
}
#: The environment variable by which a shell asks for completions.
COMPLETION = "_CAPTIOUS_COMPLETE"
#: Options of captious itself, which can be given anywhere.
_ANYWHERE = ("--debug", "-q", "--quiet", "-V", "--version")


#: Commands of the package captious-server, which it offers under these names in the entry-point group.
OF_SERVER = ("serve", "challenge")
_OWN = [name for commands in COMMANDS.values() for name in commands]
_PLUGINS = EntryPoints("captious.commands", "command", [name for name in _OWN if name not in OF_SERVER])


def _command_of_plugin(name: str) -> click.Command | None:
    """Return a command of another package; None if there is none.

    Raises:
        MissingExtraError: a command of the evaluation server, which is not installed.
        ParameterError: it cannot be loaded.
    """
    if name not in _PLUGINS.by_name:
        if name not in OF_SERVER:
            return None
        raise MissingExtraError(f"captious {name} is part of the evaluation server", hint="pip install captious-server")
    command: click.Command = _PLUGINS.load(name, lambda item: isinstance(item, click.Command), "a click command")
    return command


def module_of(command: str) -> str:
    """Return the name of the module of a command."""
    return _MODULES.get(command, command.replace("-", "_"))


class Group(click.Group):
    """A group of commands that suggests the name that is meant. Its commands have ``-h`` as well as ``--help``.

    Packages that add commands, by entry points of the group "captious.commands", make their groups of this class.
    """

    command_class = DocumentedCommand

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"context_settings": {"help_option_names": ["-h", "--help"]}, **kwargs})

    def sections(self, ctx: click.Context) -> Mapping[str, Mapping[str, str]]:
        """Return title -> command -> its line in the help of the group, in the order of the help."""
        return {"Commands": {name: self.commands[name].get_short_help_str(100) for name in self.list_commands(ctx)}}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        is_name = args and not args[0].startswith("-") and not ctx.resilient_parsing
        if is_name and self.get_command(ctx, args[0]) is None:
            from captious.cli.usage import advice_on_command

            hint = advice_on_command(args[0], self.list_commands(ctx), ctx.command_path)
            raise ParameterError(f"there is no command {args[0]!r}", hint=hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.list_commands(ctx)))
        for title, commands in self.sections(ctx).items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, line in commands.items()])


class _Captious(Group):
    """The group of all commands, which are imported when they are called."""

    def sections(self, ctx: click.Context) -> Mapping[str, Mapping[str, str]]:
        others = {name: f"from {_PLUGINS.by_name[name].value}" for name in self.list_commands(ctx) if name not in _OWN}
        return {**COMMANDS, "Other packages": others} if others else COMMANDS

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_OWN, *sorted({*_PLUGINS.by_name} - {*OF_SERVER})]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete commands without loading them, as some may not be loadable."""
        from click.shell_completion import CompletionItem

        lines = {name: line for commands in self.sections(ctx).values() for name, line in commands.items()}
        items = [CompletionItem(name, help=line) for name, line in lines.items() if name.startswith(incomplete)]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in OF_SERVER or cmd_name not in _OWN:
            return _command_of_plugin(cmd_name)
        module = import_module(f"captious.cli.{module_of(cmd_name)}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command


@click.group(cls=_Captious, subcommand_metavar="COMMAND")
@click.option("--debug", is_flag=True, help="Show tracebacks; can be given anywhere.")
@click.option("-q", "--quiet", is_flag=True, help="Show results and errors only; can be given anywhere.")
@click.version_option(__version__, "-V", "--version", prog_name="captious")
@click.pass_context
def captious(context: click.Context, debug: bool, quiet: bool) -> None:
    """Evaluate image captions and caption metrics.

    'captious help COMMAND' shows the options of a command.
    """
    if quiet:
        context.with_resource(silenced())


def main() -> None:
    """Run the command line and exit."""
    prepare_streams()
    if COMPLETION in os.environ:
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(captious, {}, "captious", COMPLETION, os.environ[COMPLETION]))
    arguments = _arguments(sys.argv[1:])
    warnings.simplefilter("ignore", CaptiousWarning)  # commands print the warnings of their results
    observer = deferred("cli.progress_bar:ProgressBar" if at_a_terminal() else "cli.progress_bar:ProgressLines")()
    with stoppable(), observed(observer), told(lambda line: click.echo(line, err=True)):
        try:
            with captious.make_context("captious", [*arguments]) as context:
                captious.invoke(context)
            sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(2)
        except (CaptiousError, click.ClickException, MemoryError) as error:
            if "--debug" in arguments:
                import traceback

                traceback.print_exc()
            else:
                _complain(*_message(error, arguments))
            sys.exit(2)
        except click.exceptions.Exit as stop:
            sys.exit(stop.exit_code)
        except (click.Abort, KeyboardInterrupt):
            click.echo("interrupted", err=True)
            sys.exit(130)
        except BrokenPipeError:  # the reader of the output has ended, as `head` does
            sys.exit(0)


def _arguments(words: list[str]) -> list[str]:
    """Return the arguments as click takes them: options of captious itself first, and the help of a command as its
    option.
    """
    own, others = _split_arguments(words)
    if "--" in own:
        end = own.index("--")
        own, others = own[:end], own[end:] + others
    first = [word for word in own if word in _ANYWHERE]
    own = [word for word in own if word not in _ANYWHERE]
    if own[:1] in (["help"], ["--help"], ["-h"]) and len(own) > 1:
        own = [*own[1:], "--help"]
    elif own[-1:] == ["help"] and len(own) <= 2:  # captious help, captious score help
        own = [*own[:-1], "--help"]
    return [*first, *own, *others]


def _split_arguments(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Split the arguments of captious from those of the program that ``captious run`` runs."""
    command = next((number for number, text in enumerate(arguments) if not text.startswith("-")), None)
    if command is None or arguments[command] != "run":
        return arguments, []
    from captious.cli.run import program_start

    start = command + 1 + program_start(arguments[command + 1 :])
    return arguments[:start], arguments[start:]


def _message(error: Exception, arguments: list[str]) -> tuple[str, str, str]:
    """Format an error: the problem, the place, the remedy."""
    from captious.cli.usage import context_of, message_of

    if isinstance(error, CaptiousError):
        message, where, hint = (shown(text, "command line") for text in (error.message, error.where, error.hint))
        return message, where, hint
    if isinstance(error, MemoryError):
        steps = getattr(error, "__notes__", None) or [context_of(arguments, captious).command_path]
        help = "score fewer captions at once, raise the memory limit (ulimit -v), or use a larger machine"
        return "out of memory", "\n".join(filter(None, [*steps, str(error)])), help
    assert isinstance(error, click.ClickException)
    return message_of(error, arguments, captious)


def _complain(message: str, where: str, help: str) -> None:
    from captious.drawing import single_line

    lines = [f"{click.style('error:', fg='red')} {single_line(message)}"]
    lines += [f"  {single_line(line)}" for line in where.splitlines()]
    lines += [f"{'' if number else '  help: '}{single_line(line)}" for number, line in enumerate(help.splitlines())]
    click.echo("\n".join(lines), err=True)
