"""The site: what Sphinx needs to make one of README.md, these pages and the docstrings of captious.

    pip install 'captious[docs]'
    sphinx-build -W -n -c docs . build/site

The pages are plain Markdown, whose links work on a code host, too. The source folder is therefore the whole project,
README.md is the front page, and the sidebar has the sections of docs/README.md and docs/metrics.md.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import sys
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
sys.path.insert(0, str(DOCS.parent))  # for the programs in tools/

from tools import metric_facts  # noqa: E402

#: The front page of the server, which is above the pages in server/docs.
SERVER = "server/README"
#: Commands that the server brings.
OF_SERVER = "captious_server.commands"
#: The pages whose sections are those of the sidebar: all pages, and those about metrics.
INDEX, METRICS = "docs/README", "docs/metrics"
#: Pages for developers, which are neither in the sidebar nor found by the search.
DEVELOPERS = "docs/developers/"

#: What readers search for, and the pages that answer: words that are not in their titles or headings, or in many.
SEARCHED = {
    "docs/rewards": [
        "GRPO",
        "PPO",
        "SCST",
        "RL",
        "reinforcement learning",
        "TRL",
        "DataLoader",
        "workers",
        "reward",
    ],
    "docs/captions": [
        "significance",
        "p value",
        "split",
        "karpathy",
        "LaTeX",
        "table of a paper",
        "score",
    ],
    "docs/new-metrics": ["plugin", "entry point", "own metric", "custom metric", "register"],
    "docs/judgment": [
        "human judgments",
        "correlation",
        "Kendall",
        "Flickr8k",
        "Composite",
        "PASCAL-50S",
    ],
    "docs/languages": ["Chinese", "Japanese", "German", "multilingual", "tokenizer", "PTB"],
    "docs/long-captions": ["VLM", "LLM", "Markdown", "refusal", "detailed captions", "clean"],
    "docs/drop-in": [
        "pycocoevalcap",
        "aac-metrics",
        "torchmetrics",
        "evaluate",
        "coco-caption",
        "migration",
    ],
    "docs/scale": ["shards", "Ray", "Spark", "cluster", "prepare"],
    "docs/resources": [
        "offline",
        "cache",
        "GloVe",
        "word2vec",
        "CoreNLP",
        "SPICE grammar",
        "download",
    ],
    "docs/metrics/chair": ["hallucination"],
    "docs/metrics/judges": ["GPT-4", "LLM as a judge", "CLAIR", "Ollama", "vLLM"],
    "docs/several": ["diversity", "beam search", "n candidates"],
    SERVER: ["leaderboard", "host a challenge", "challenge server", "board"],
}

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
    return list(dict.fromkeys(_links((DOCS.parent / f"{page}.md").read_text(encoding="utf-8"), page)))


def _links(text: str, page: str) -> list[str]:
    targets = re.findall(r"\]\(([^)#:]+)\.md\)", text)
    return [posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) for target in targets]


def sections(page: str) -> list[tuple[str, list[str]]]:
    """Return the headings of a page, each with the pages in its list."""
    text = (DOCS.parent / f"{page}.md").read_text(encoding="utf-8")
    parts = re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    lists = [
        (heading, "\n".join(re.findall(r"^- .*(?:\n  .*)*", part, re.MULTILINE)))
        for heading, part in parts
    ]
    return [(heading, _links(items, page)) for heading, items in lists if items]


def sidebar() -> list[tuple[str, list[str]]]:
    """Return the captions of the sidebar, each with its pages."""
    parts: list[tuple[str, list[str]]] = [("", [INDEX])]
    for heading, pages in sections(INDEX):
        parts.append((heading, [page for page in pages if not _parent(page)]))
        if METRICS in pages:
            parts += [
                (f"{heading}: {kind[0].lower()}{kind[1:]}", listed)
                for kind, listed in sections(METRICS)
            ]
    return parts


def children(page: str) -> list[str]:
    """Return the pages below a page in the sidebar: those of its folder, such as judgment/ for judgment.md."""
    if page in (INDEX, METRICS):
        return []
    return [other for other in linked_pages(page) if _parent(other) == page]


def _parent(page: str) -> str:
    """Return the page above a page in the sidebar; nothing if it is in a section of the sidebar itself."""
    folder = posixpath.dirname(page)
    if folder == "server/docs":
        return SERVER
    return folder if folder != METRICS and (DOCS.parent / f"{folder}.md").exists() else ""


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
    """Put the pages below a page into the sidebar, and on pages what code knows: names, help, facts of metrics."""
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
    # The file that a block is written to is its caption.
    named = "```{code-block} \\1\n:caption: \\2\n\n"
    source[0] = re.sub(r"^```(\w+) ([\w.-]+)\n", named, source[0], flags=re.MULTILINE)
    if name == METRICS or name.startswith(f"{METRICS}/"):
        source[0] = metric_facts.with_facts(source[0])
    if name in SEARCHED:
        entries = [f"   ! single: {words}" for words in SEARCHED[name]]
        lines = ["```{eval-rst}", ".. index::", *entries, "```", "", source[0]]
        source[0] = "\n".join(lines)
    if name.startswith(DEVELOPERS):
        source[0] = "---\norphan: true\nnosearch: true\n---\n\n" + source[0]
    if name.startswith("training/"):  # linked from the pages of the metrics
        source[0] = "---\norphan: true\n---\n\n" + source[0]
    for caption, pages in sidebar() if name == root_doc else [("", children(name))]:
        if pages:
            options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
            source[0] += "\n".join(
                ["\n```{toctree}", *options, "", *(f"/{page}" for page in pages), "```\n"]
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
    """Write a formula as MathML, which browsers show without a script from another site.

    Where a page is narrow, the parts of a block that \\qquad separates are below each other.
    """
    block = isinstance(node, nodes.math_block)
    text = node.astext().replace(r"\dots", r"\ldots")
    parts = text.split(r"\qquad") if block else [text]
    try:
        formulas = [tex2mathml(part.strip(), as_block=block) for part in parts]
    except MathError as error:
        logging.getLogger(__name__).warning("formula that cannot be shown: %s", error, location=node)
    else:
        if block:
            formulas = [
                '<div class="formula">',
                *(f"<div>{part}</div>" for part in formulas),
                "</div>",
            ]
        writer.body.append("".join(formulas))
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
