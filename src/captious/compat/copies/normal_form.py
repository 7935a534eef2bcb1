"""The normal form of a function in a copy of a toolkit: what it computes, without what it is written like.

Two functions with the same normal form compute the same from the same globals, attributes and arguments. It is a list
of statements of the syntax tree, of which the digest of the table of known bodies is made. Left out are

- docstrings, comments, annotations, ``pass`` and statements after which nothing follows, as none of them computes;
- ``print``, logging and progress bars, and branches that are empty without them, if their arguments only read, and
  cannot fail;
- assertions that hold for captions in lists, one candidate and at least one reference per image, since captious leaves
  all other captions to the copy itself; other assertions are part of the form;
- texts of errors, and the names of local variables, which are numbered;
- styles of import, as ``np.log`` is ``numpy.log`` however it came into the file, and what ``six`` has for Python 2.

Part of it are parameters and their defaults, decorators, numbers and their types, and the values of the module's
constants that the function reads. Functions and classes of the copy stand in it by their names only.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

#: Libraries outside the standard library; what is imported from other modules belongs to the copy.
LIBRARIES = frozenset(
    {*sys.stdlib_module_names, *("numpy", "scipy", "torch", "nltk", "six", "future", "tqdm", "jieba")}
    - {"evaluation", "tokenizer", "token", "metrics"}
)
#: Calls that only read, so that a statement with them can be left out if nothing uses its value.
_READING = frozenset(
    {
        *("len", "str", "repr", "type", "round", "float", "int", "isinstance", "format", "keys", "values", "items"),
        *("mean", "isnan", "method", "upper", "lower", "get", "abs", "bool", "time", "range"),
    }
)
_LOGGERS = frozenset({"logging", "logger", "log", "LOGGER", "_logger", "LOG", "warnings"})
LOG_CALLS = frozenset({"debug", "info", "warning", "warn", "error", "critical"})
#: The name of a local variable in the text of a statement.
_NUMBERED = re.compile(r"%\d+")
#: Fields of the syntax tree that compute nothing.
_NOT_COMPUTED = frozenset({"ctx", "kind", "annotation", "returns", "type_comment"})
_TERMINAL = re.compile(r"sys\.(stdout|stderr)")
#: Where builtins can be imported from.
_BUILTINS = re.compile(r"(builtins|__builtin__|six\.moves|past\.builtins)\.\w+$")
#: Assertions that hold for all captions that captious scores instead of the copy. An image's candidates are ``res[]``,
#: its references ``gts[]``.
_HOLDING = frozenset(
    {
        *("gts.keys() == res.keys()", "res.keys() == gts.keys()", "sorted(gts.keys()) == sorted(res.keys())"),
        *("set(gts.keys()) == set(res.keys())", "set(res.keys()) == set(gts.keys())", "len(gts) == len(res)"),
        *("len(gts.keys()) == len(res.keys())", "sorted(gts) == sorted(res)"),
        *("type(res[]) is list", "type(gts[]) is list", "isinstance(res[], list)", "isinstance(gts[], list)"),
        *("type(res[]) == list", "type(gts[]) == list", "len(res[]) == 1", "len(res[]) >= 1", "len(res[]) > 0"),
        *("len(gts[]) >= 1", "len(gts[]) > 0", "type(res[][0]) is str", "len(candidate) == 1", "len(refs) > 0"),
        *("not math.isnan(val[])", "len(self.crefs) == len(self.ctest)"),
        "len(self.ctest) >= max(self.document_frequency.values())",
    }
)


@dataclass(frozen=True)
class Statement:
    """A statement, or the head of one that has others in it.

    Attributes:
        line: number of its first line in the file.
        depth: number of statements around it.
        text: its text with numbered names of local variables.
    """

    line: int
    depth: int
    text: str


@dataclass(frozen=True)
class Function:
    """A function of a module, or a method of one of its classes, in normal form.

    Attributes:
        name: qualified name, such as ``Bleu.compute_score``.
        line: number of its first line in the file: that of the first decorator, as for its code object.
        statements: the constants that it reads, its head, and its body.
        reads: global names that it reads -> what they are: "numpy" or another path in a library, "" for a builtin, "="
            for a constant of the module, "@" and a name for something of the copy, "?" for what cannot be found from
            here. Constants of its class are among them, as ".name", and what is read from modules of the copy, as
            "module.name".
        values: the constants that it reads, and its defaults, under "", if they are literals.
        attributes: all names of attributes in it.
        left_out: names in what was left out.
        logs: names of logs and of ``sys`` in messages that were left out.
        prints: whether it has print statements that were left out; not those of more than ``verbose=1``.
    """

    name: str
    line: int
    statements: tuple[Statement, ...]
    reads: dict[str, str] = field(hash=False)
    values: dict[str, object] = field(hash=False)
    attributes: frozenset[str]
    left_out: frozenset[str]
    logs: frozenset[str]
    prints: bool

    @cached_property
    def digest(self) -> str:
        """The digest of the normal form: 16 hexadecimal digits."""
        return _hash("\n".join(f"{statement.depth} {statement.text}" for statement in self.statements))[:16]

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """A mark of every statement, without names of local variables, to compare functions that differ elsewhere:
        four hexadecimal digits each.
        """
        return tuple(_hash(f"{each.depth} {_NUMBERED.sub('%', each.text)}")[:4] for each in self.statements)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def functions(tree: ast.Module) -> dict[str, Function]:
    """Return the functions of a module and the methods of its classes in normal form, by qualified name.

    Of several with one name, the last counts, as in Python; what stands inside ``if`` or ``try`` does not.
    """
    imports, constants = _imports(_at_top(tree.body)), _constants(tree)
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = _Form(node, imports, constants).function(node.name)
        elif isinstance(node, ast.ClassDef):
            known = {**constants, **{f".{name}": value for name, value in _constants(node).items()}}
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    name = f"{node.name}.{method.name}"
                    found[name] = _Form(method, imports, known).function(name)
    return found


# Globals of a module.


def _at_top(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the statements of a module outside functions and classes, even inside ``if`` and ``try``."""
    for node in nodes:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            yield from _at_top(ast.iter_child_nodes(node))


def _imports(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Return what is imported: name -> path in a library, or "@" and the name in a module of the copy."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                name, path = (alias.asname, alias.name) if alias.asname else (top, top)
                names[name] = path if top in LIBRARIES else "@"
        elif isinstance(node, ast.ImportFrom):
            is_library = node.level == 0 and (node.module or "").partition(".")[0] in LIBRARIES
            for alias in node.names:
                path = f"{node.module}.{alias.name}" if is_library else f"@{alias.name}"
                names[alias.asname or alias.name] = path
    return names


def _constants(tree: ast.Module | ast.ClassDef) -> dict[str, ast.expr]:
    """Return the values of the names of a module or class that it assigns exactly once, and not inside a statement."""
    assigned: dict[str, list[ast.expr | None]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            for target in node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]:
                if isinstance(target, ast.Name):
                    assigned.setdefault(target.id, []).append(value)
    return {name: value for name, (value, *others) in assigned.items() if value is not None and not others}


# One function.


class _Form:
    """The normal form of one function, while it is made."""

    def __init__(self, node: ast.FunctionDef, imports: dict[str, str], constants: dict[str, ast.expr]) -> None:
        self.node, self.imports, self.constants = node, imports, constants
        self.parameters = {argument.arg for argument in _arguments(node)} - {*_required(node)}
        self.locals = {*_bound(node), *_required(node)} - self.parameters
        self.declared_global = {word for each in ast.walk(node) if isinstance(each, ast.Global) for word in each.names}
        self.locals -= self.declared_global
        self.own_imports = _imports(ast.walk(node))
        self.left_out: set[str] = set()
        self.logs: set[str] = set()
        self.numbers: dict[str, int] = {}
        self.reads: dict[str, str] = {}
        self.attributes: set[str] = set()
        self.prints = False
        self.images = self._images()

    def function(self, name: str) -> Function:
        """Return the whole, under a name."""
        line = min([self.node.lineno, *(each.lineno for each in self.node.decorator_list)])
        statements = tuple(self._statements())
        names = frozenset(self.attributes), frozenset(self.left_out), frozenset(self.logs)
        return Function(name, line, statements, self.reads, self._values(), *names, self.prints)

    def _statements(self) -> Iterator[Statement]:
        """Yield the constants that are read, the head, and the body."""
        node = self.node
        is_generator = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node))  # even if none runs
        head = Statement(
            node.lineno, 0, self._text("generator" if is_generator else "def", node.args, node.decorator_list)
        )
        body = [*self._body(node.body, 1)]
        yield from (*self._read_constants(), head, *body)

    def _values(self) -> dict[str, object]:
        """Return the values of constants and of defaults that are literals."""
        arguments = self.node.args
        defaults = ast.Tuple([*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)])
        constants = {name: self.constants[name] for name, what in self.reads.items() if what == "="}
        values = {}
        for name, part in {"": defaults, **constants}.items():
            with suppress(ValueError, TypeError):
                values[name] = ast.literal_eval(part)
        return values

    def _read_constants(self) -> Iterator[Statement]:
        done: set[str] = set()
        while missing := sorted(name for name, what in self.reads.items() if what == "=" and name not in done):
            for name in missing:
                done.add(name)
                yield Statement(self.constants[name].lineno, 0, self._text(f"{name} =", self.constants[name]))

    def _text(self, word: str, *parts: object) -> str:
        return " ".join([word, *map(self._dump, parts)])

    # Statements.

    def _body(self, nodes: list[ast.stmt], depth: int) -> Iterator[Statement]:
        for number, node in enumerate(nodes):
            yield from self._statement(node, depth)
            if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break):
                self._leave_out(*nodes[number + 1 :])
                return

    def _leave_out(self, *nodes: ast.AST) -> None:
        self.left_out |= {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}

    def _leave_out_reading(self, *nodes: ast.AST) -> None:
        """Leave out what runs but only reads, as long as the functions that it calls are what their names say."""
        self._leave_out(*nodes)
        for each in (each for node in nodes for each in ast.walk(node)):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Name):
                self._name(each.func.id)

    def _statement(self, node: ast.stmt, depth: int) -> Iterator[Statement]:
        if self._is_left_out(node):
            self._leave_out_reading(node)
            return
        if isinstance(node, ast.If) and isinstance(node.test, ast.Constant):
            used, unused = (node.body, node.orelse) if node.test.value else (node.orelse, node.body)
            self._leave_out(*unused)
            yield from self._body(used, depth)
            return
        if isinstance(node, ast.AnnAssign):
            if node.value is None:
                return
            node = ast.copy_location(ast.Assign([node.target], node.value), node)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            self._leave_out(node)
            node = ast.copy_location(ast.Raise(node.exc.func), node)
        if isinstance(node, ast.FunctionDef):
            self._leave_out(*filter(self._only_reads, _annotations(node)))
            yield Statement(node.lineno, depth, self._text("def", ast.Name(node.name), node.args, node.decorator_list))
            yield from self._body(node.body, depth + 1)
            return
        blocks = {name: value for name, value in ast.iter_fields(node) if _is_block(value)}
        prints = self.prints
        inner = {name: [*self._inner(value, depth + 1)] for name, value in blocks.items()} if blocks else {}
        if isinstance(node, ast.If) and ast.unparse(node.test) == "verbose > 1":
            self.prints = prints
        if isinstance(node, ast.If) and not any(inner.values()) and self._only_reads(node.test):
            self._leave_out_reading(node.test)
            self._leave_out(node)
            return
        fields = [value for name, value in ast.iter_fields(node) if name not in blocks and name != "type_comment"]
        yield Statement(node.lineno, depth, self._text(type(node).__name__, *fields))
        for name, statements in inner.items():
            if name != "body" and statements:
                yield Statement(statements[0].line, depth, name)
            yield from statements

    def _inner(self, block: list[ast.AST], depth: int) -> Iterator[Statement]:
        yield from self._body([node for node in block if isinstance(node, ast.stmt)], depth)
        for node in block:
            if isinstance(node, ast.ExceptHandler):
                yield Statement(node.lineno, depth, self._text("except", node.type))
                yield from self._body(node.body, depth + 1)

    def _is_left_out(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.Assert):
            return self._holds(node.test)
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Call) and _is_message(value):
            if not all(map(self._only_reads, [*value.args, *(keyword.value for keyword in value.keywords)])):
                return False
            if isinstance(value.func, ast.Name):
                self.prints = True
                return True
            log = ast.unparse(value.func).partition(".")[0]
            if log in self.own_imports:
                return not self.own_imports[log].startswith("@")
            self.logs.add(log)
            return log not in self.locals and log not in self.parameters
        # A use of an imported name says what it is.
        return isinstance(value, ast.Constant) or isinstance(node, ast.Pass | ast.Import | ast.ImportFrom)

    def _only_reads(self, node: ast.AST) -> bool:
        for each in ast.walk(node):
            if isinstance(each, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) or _may_fail(each):
                return False
            if isinstance(each, ast.Call) and (_last_name(each.func) not in _READING or _is_of_self(each.func)):
                return False
        return True

    # Assertions.

    def _images(self) -> dict[str, str]:
        """Return the local names of an image's candidates and references: those assigned once, from ``res[...]``."""
        stores = [each.id for each in ast.walk(self.node) if isinstance(each, ast.Name) and _is_store(each)]
        arguments = [each.arg for each in self.node.args.args if each.arg != "self"]
        sides = {name: side for name, side in zip(arguments, ("gts", "res"), strict=False) if name not in stores}
        names = dict(sides) if self.node.name == "compute_score" else {}
        for node in ast.walk(self.node):
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and isinstance(target, ast.Name):
                of_image = re.fullmatch(r"(\w+)\[\w+\]", ast.unparse(node.value))
                if of_image is not None and of_image[1] in sides and stores.count(target.id) == 1:
                    names[target.id] = f"{sides[of_image[1]]}[]"
        return names

    def _side(self, name: str) -> str:
        return self.images.get(name, f"own_{name}" if name in ("gts", "res") else name)

    def _holds(self, test: ast.expr) -> bool:
        text = ast.unparse(test)
        text = re.sub(r"(?<![.\w])(\w+)\b(?!\()", lambda match: self._side(match[1]), text)
        text = re.sub(r"\b(gts|res|val)\[\w+\]", r"\1[]", text)
        return text in _HOLDING

    # Expressions.

    def _dump(self, node: object) -> str:
        if isinstance(node, list):
            return f"[{' '.join(self._dump(each) for each in node)}]"
        if isinstance(node, ast.Constant):
            return f"{type(node.value).__name__}:{node.value!r}"
        if isinstance(node, ast.Name | ast.arg):
            return self._name(node.id if isinstance(node, ast.Name) else node.arg)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.AST):
            parts = [
                f"{name}={self._dump(value)}"
                for name, value in ast.iter_fields(node)
                if value not in (None, []) and name not in _NOT_COMPUTED and (name, value) != ("is_async", 0)
            ]
            return f"{type(node).__name__}({' '.join(parts)})" if parts else type(node).__name__
        return repr(node)

    def _name(self, name: str) -> str:
        if name in self.own_imports:
            what = self.own_imports[name]
            if what.startswith("@"):
                self.reads[name] = "?"
            return what
        if name in self.locals:
            return f"%{self.numbers.setdefault(name, len(self.numbers))}"
        if name in self.parameters:
            return name
        if name in self.imports:
            return self._global(name, self.imports[name])
        if name in self.constants and name not in self.declared_global:
            self.reads[name] = "="
            return f"${name}"
        if name in vars(builtins):
            return self._global(name, "")
        return self._global(name, f"@{name}")

    def _global(self, name: str, what: str) -> str:
        self.reads[name] = what
        if _BUILTINS.match(what):
            name, what = what.rpartition(".")[2], ""
        return what or name.removeprefix("x")  # xrange of six

    def _attribute(self, node: ast.Attribute) -> str:
        self.attributes.add(node.attr)
        value = self._dump(node.value)
        if value in ("self", "cls") and f".{node.attr}" in self.constants and isinstance(node.ctx, ast.Load):
            self.reads[f".{node.attr}"] = "="
        if value == "@":  # a module of the copy
            self.reads[f"{ast.unparse(node.value)}.{node.attr}"] = f"@{node.attr}"
            return f"@{node.attr}"
        return f"{value}.{node.attr}"

    def _call(self, node: ast.Call) -> str:
        function, arguments = self._dump(node.func), [self._dump(each) for each in node.args]
        name, is_single = _last_name(node.func), len(arguments) == 1 and not node.keywords
        others = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        if function in ("tqdm.tqdm", "tqdm.auto.tqdm") and arguments and all(map(self._only_reads, others)):
            self._leave_out(node.func)
            return arguments[0]
        if function in ("dict", "list") and not arguments and not node.keywords:
            return name.capitalize()
        if re.fullmatch(r"six\.iter(items|keys|values)", function) and is_single:
            return f"{arguments[0]}.{name.removeprefix('iter')}()"
        if isinstance(node.func, ast.Name) and name == "list" and is_single and _is_view(node.args[0]):
            self._leave_out(node.func)
            return arguments[0]
        words = [*arguments, *(f"{each.arg}={self._dump(each.value)}" for each in node.keywords)]
        return f"{function}({' '.join(words)})"


def _may_fail(node: ast.AST) -> bool:
    """Return whether an expression may raise an error by itself: an element that may not be there, or a quotient."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value != 0
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv):
        return not isinstance(node.right, ast.Constant)
    return False


def _is_view(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _last_name(node.func) in ("keys", "items", "values")


def _is_block(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(each, ast.stmt | ast.ExceptHandler) for each in value)


def _arguments(node: ast.AST) -> Iterator[ast.arg]:
    """Yield the parameters of a function and of all functions in it."""
    return (each for each in ast.walk(node) if isinstance(each, ast.arg))


def _annotations(node: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield the annotations of a function and of those in it."""
    annotations = [*(argument.annotation for argument in _arguments(node)), node.returns]
    yield from (each for each in annotations if each is not None)


def _required(node: ast.AST) -> Iterator[str]:
    """Yield the parameters without defaults, which callers give by position; not the object or the class."""
    for each in ast.walk(node):
        if isinstance(each, ast.arguments):
            positional = [*each.posonlyargs, *each.args]
            required = positional[: len(positional) - len(each.defaults)]
            yield from (argument.arg for argument in required if argument.arg not in ("self", "cls"))


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a function and those in it assign."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and _is_store(each):
            yield each.id
        elif isinstance(each, ast.ExceptHandler | ast.FunctionDef | ast.ClassDef) and each is not node and each.name:
            yield each.name


def _is_store(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _is_of_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def _is_message(call: ast.Call) -> bool:
    """Return whether a call prints to the terminal or writes to a log."""
    function = call.func
    if isinstance(function, ast.Name):
        files = [ast.unparse(each.value) for each in call.keywords if each.arg == "file"]
        return function.id == "print" and all(map(_TERMINAL.fullmatch, files))
    if not isinstance(function, ast.Attribute):
        return False
    owner = ast.unparse(function.value)
    if _TERMINAL.fullmatch(owner):
        return function.attr in ("write", "flush")
    return owner in _LOGGERS and function.attr in LOG_CALLS
