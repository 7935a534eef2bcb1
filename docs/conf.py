"""The site: what Sphinx needs to make one of README.md, these pages and the docstrings of captious.

    pip install 'captious[docs]'
    sphinx-build -W -n -c docs . build/site

The pages are plain Markdown, whose links work on a code host, too. The source folder is therefore the whole project,
README.md is the front page, and the sidebar lists the pages in the order of docs/README.md.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from inspect import isroutine
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from pygments.lexers.special import TextLexer
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.nodes import make_refnode
from sphinx.writers.html5 import HTML5Translator
from sphinx_click.ext import ClickDirective

import captious
from captious import cli

DOCS = Path(__file__).parent
#: The front page of the server, which is above the pages in server/docs.
SERVER = "server/README"
#: Commands that the server brings.
OF_SERVER = "captious_server.commands"
#: The pages that list others.
SECTIONS = ["docs/start", "docs/guides", "docs/metrics", "docs/reference", "docs/about"]

project = "captious"
author = copyright = "captious contributors"
version = release = captious.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
]
root_doc = "README"
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/*/*.md",
    "server/*.md",
    "server/docs/*.md",
    "benchmarks/README.md",
    "examples/README.md",
    "training/*/README.md",
]
exclude_patterns = [".*", "build", "src", "tests", "tools"]

# ---- Markdown
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4

# ---- API
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_inherit_docstrings = False
napoleon_numpy_docstring = False
python_maximum_signature_line_length = 100
# Signatures name types of other packages and of the inner modules, which have no pages.
nitpick_ignore_regex = [(r"py:.*", r"(?!captious\.).*"), (r"py:class", r"captious\.\w+\..*")]

# ---- pages
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
smartquotes = False  # the help of commands has options and json
html_title = f"captious {release}"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
html_search_scorer = str(DOCS / "search-scorer.js")

# ---- links to other sites, which only `sphinx-build -b linkcheck` follows
linkcheck_ignore = [r"https?://[\w.-]*\bexample\b.*", r"http://127\.0\.0\.1.*"]


def linked_pages(page: str) -> list[str]:
    """Return the pages that a page links to, in order, without their extension."""
    text = (DOCS.parent / f"{page}.md").read_text(encoding="utf-8")
    folder = posixpath.dirname(page)
    targets = re.findall(r"\]\(([^)#:]+)\.md\)", text)
    return list(
        dict.fromkeys(posixpath.normpath(posixpath.join(folder, target)) for target in targets)
    )


def children(page: str) -> list[str]:
    """Return the pages below a page in the sidebar.

    The front page is above the sections, a section above the pages that it lists, and a page such as judgment.md above
    those in the folder judgment.
    """
    if page == root_doc:
        return SECTIONS
    if page == SERVER:
        return [other for other in linked_pages(page) if posixpath.dirname(other) == "server/docs"]
    if page in SECTIONS:
        return [other for other in linked_pages(page) if _parent(other) == page]
    return [other for other in linked_pages(page) if posixpath.dirname(other) == page]


def _parent(page: str) -> str:
    folder = posixpath.dirname(page)
    if folder == "server/docs":
        return SERVER
    if (DOCS.parent / f"{folder}.md").exists():
        return folder
    return next(section for section in SECTIONS if page in linked_pages(section))


class CommandOptions(ClickDirective):
    """What the help of a command says, as a section of its page."""

    def run(self) -> list[nodes.section]:
        (section,) = super().run()
        section[0] = nodes.title(text="Help")
        section["ids"], section["names"] = ["help"], []
        for link in list(section.findall(nodes.reference)):
            # A name of a protocol, benchmark@protocol, is taken for an address.
            if link.get("refuri", "").startswith("mailto:"):
                link.replace_self(nodes.Text(link.astext()))
        for subcommand in section.findall(nodes.section):
            if subcommand is not section and not any(
                subcommand.findall(nodes.section, include_self=False)
            ):
                self._fold(subcommand)
        return [section]

    @staticmethod
    def _fold(subcommand: nodes.section) -> None:
        """Let readers unfold the options of a subcommand."""
        for place, part in enumerate(subcommand):
            if isinstance(part, nodes.rubric) and part.astext() == "Options":
                subcommand[place] = nodes.raw("", "<details><summary>Options</summary>", format="html")
                subcommand.append(nodes.raw("", "</details>", format="html"))
                return


def public_names(page: str) -> str:
    """Return the API page with those public classes and functions that it does not list itself."""
    listed = set(re.findall(r"^\.\. auto\w+:: captious\.(\w+)$", page, flags=re.MULTILINE))
    public = {name: getattr(captious, name) for name in captious.__all__ if not name.startswith("_")}
    others = [
        name
        for name, value in public.items()
        if name not in listed and (isinstance(value, type) or isroutine(value))
    ]
    metrics = [name for name in others if _is_metric(getattr(captious, name))]
    for group, names in (
        ("metrics", metrics),
        ("others", [name for name in others if name not in metrics]),
    ):
        entries = [_directive(name, getattr(captious, name)) for name in names]
        page = page.replace(
            f"<!-- names of {group} -->", "\n".join(["```{eval-rst}", *entries, "```"])
        )
    return page


def _directive(name: str, value: object) -> str:
    if isinstance(value, type):
        return f".. autoclass:: captious.{name}\n   :members:"
    return f".. autofunction:: captious.{name}"


def _is_metric(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, captious.Metric)


def complete_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the pages below a page into the sidebar, public names on the API page, and help on the pages of commands."""
    if name == "docs/api":
        source[0] = public_names(source[0])
    if name.startswith("docs/command-line/"):
        command = posixpath.basename(name)
        name_in_module = command.replace("-", "_")
        place = OF_SERVER if command in cli.OF_SERVER else f"captious.cli.{cli.module_of(command)}"
        directive = [
            f".. command-options:: {place}:{name_in_module}",
            f"   :prog: captious {command}",
        ]
        help = "\n".join(["```{eval-rst}", *directive, "   :nested: full", "```"])
        source[0] = source[0].replace("<!-- options -->", help)
    if name == "docs/README":  # the index on a code host; on the site, the sidebar is
        source[0] = "---\norphan: true\n---\n\n" + source[0]
    if pages := children(name):
        source[0] += "\n".join(
            ["\n```{toctree}", ":hidden:", "", *(f"/{page}" for page in pages), "```\n"]
        )


def show_dark_pictures(app: Sphinx, page: nodes.document) -> None:
    """Beside a picture that has a dark one, show that on dark pages."""
    folder = (DOCS.parent / app.env.docname).parent
    for image in list(page.findall(nodes.image)):
        light = Path(image["uri"])
        dark = light.with_stem(f"{light.stem}-dark")
        if (folder / dark).exists():
            other = image.deepcopy()
            other["uri"] = str(dark)
            image["classes"].append("only-light")
            other["classes"].append("only-dark")
            image.parent.insert(image.parent.index(image) + 1, other)


def name_front_page(app: Sphinx, failure: Exception | None) -> None:
    """Give the front page the name that web servers look for."""
    front = Path(app.outdir) / f"{root_doc}.html"
    if failure is None and front.exists():
        shutil.copyfile(front, front.with_name("index.html"))


def public_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """Let the name of a class in its own module lead to the public name that has a page."""
    if node.get("refdomain") != "py" or not node["reftarget"].startswith("captious."):
        return None
    objects = env.domains.python_domain.objects
    last = node["reftarget"].rpartition(".")[2]
    for name, entry in objects.items():
        if name.rpartition(".")[2] == last and entry.objtype != "method":
            return make_refnode(
                app.builder, node["refdoc"], entry.docname, entry.node_id, content, name
            )
    return None


def keep_colons(
    app: Sphinx, kind: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Keep napoleon from reading the first line of a property, up to a colon, as its type."""
    if kind in ("attribute", "data", "property"):
        lines.insert(0, "")


def write_formula(writer: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML, which browsers show without a script from another site."""
    block = isinstance(node, nodes.math_block)
    try:
        formula = tex2mathml(node.astext().replace(r"\dots", r"\ldots"), as_block=block)
        writer.body.append(f'<div style="overflow-x: auto">{formula}</div>' if block else formula)
    except MathError as error:
        logging.getLogger(__name__).warning("formula that cannot be shown: %s", error, location=node)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    app.add_lexer("csv", TextLexer)
    app.connect("autodoc-process-docstring", keep_colons, priority=400)
    app.connect("source-read", complete_page)
    app.add_directive("command-options", CommandOptions)
    app.connect("doctree-read", show_dark_pictures, priority=400)
    app.connect("missing-reference", public_name)
    app.connect("build-finished", name_front_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
