"""Parameters of metrics, declared in the class: name, default, range and meaning, once.

    class CiderD(Cider):
        name = "cider-d"
        sigma: NumberParameter[float] = NumberParameter(default=6.0, least=0.001, summary="width of the length penalty")

The constructor and its checks, the text form (``cider-d:sigma=4``), labels, signatures, help and documentation are
derived from the declaration.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, TypedDict, TypeVar, Unpack, overload

from captious.errors import ParameterError, UnknownNameError
from captious.text import Tokenizer, as_tokenizer
from captious.words import shortened

#: The limit of ranges that have no other: larger values add nothing, and their powers may overflow.
LARGE = 1_000_000

Input = TypeVar("Input", contravariant=True)
Value = TypeVar("Value", covariant=True)
MaybeNumber = TypeVar("MaybeNumber", bound=float | None)
MaybeInteger = TypeVar("MaybeInteger", bound=int | None)

_TRUTH = {"true": True, "yes": True, "false": False, "no": False}


class Described(TypedDict, total=False):
    """What is said of a parameter of any kind; see ``Parameter``."""

    summary: str
    signature_key: str | None
    none: str


class Parameter(Generic[Input, Value]):
    """A parameter of a metric, as an attribute of its class.

    The constructor of a metric checks and converts values of type ``Input`` to ``Value``; later they cannot be changed.
    This class accepts any value unchanged; subclasses check.

    Args:
        default: the default value.
        summary: its meaning, a phrase for help and documentation.
        signature_key: its name in signatures; None for the name with hyphens, "" to leave it out.
        none: text for None in signatures.
    """

    #: Whether labels show a value that is not the default. Data of a run, such as its images, is not shown.
    in_labels: bool = True
    #: Description of text values for messages; empty for a parameter without a text form.
    text_form: str = ""
    #: Whether a metric cannot be made unless this is given, although the constructor has a default.
    required: bool = False

    def __init__(
        self, *, default: Input, summary: str = "", signature_key: str | None = None, none: str = "none"
    ) -> None:
        self.default = default
        self.summary = summary
        self.signature_key = signature_key
        self.none = none
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        if self.signature_key is None:
            self.signature_key = name.replace("_", "-")

    if TYPE_CHECKING:  # values are in the dictionary of the instance, where Python finds them by itself

        @overload
        def __get__(self, instance: None, owner: type) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: type) -> Value: ...
        def __get__(self, instance: object | None, owner: type) -> Any: ...

    def __set__(self, instance: object, value: Input) -> None:
        if instance.__dict__.get("is_complete"):
            raise AttributeError(f"{self.name} cannot be changed: make another {type(instance).__name__}")
        instance.__dict__[self.name] = self.check(instance, value)

    def check(self, metric: Any, value: Any) -> Any:
        """Check and convert a value.

        Raises:
            ParameterError: a value of another type, or outside the range.
        """
        return value

    def _refusal(self, metric: Any, value: object, values: str) -> ParameterError:
        return ParameterError(
            f"invalid {self.name} for {metric.name}: {shortened(value)}", hint=f"{self.name} must be {values}"
        )

    @property
    def takes_none(self) -> bool:
        """Whether None is a valid value."""
        return self.default is None

    def is_default(self, value: object) -> bool:
        """Return whether a value is the default. Only plain values are compared, as others need not be comparable."""
        default: object = self.default
        plain = isinstance(value, str | Real) and isinstance(default, str | Real)
        return value is default or (plain and isinstance(value, bool) == isinstance(default, bool) and value == default)

    def from_text(self, text: str) -> Any:
        """Parse the text form of a value; ``check`` decides whether it is in range.

        Raises:
            ValueError: invalid text.
        """
        if self.takes_none and text.lower() == "none":
            return None
        return self.parse(text)

    def parse(self, text: str) -> Any:
        """Parse text other than "none"; this class takes it as it is."""
        return text

    def to_text(self, value: Any) -> str:
        """Format a value for labels, as the inverse of ``from_text``."""
        if value is None:
            return "none"
        return str(getattr(value, "label", None) or getattr(value, "name", None) or value)

    def shown(self, value: Any) -> object:
        """Format the value for signatures."""
        return self.none if value is None else value

    @property
    def values(self) -> str:
        """The accepted values, a phrase for help and documentation; empty if the summary states them."""
        return ""


class NumberParameter(Parameter[MaybeNumber, MaybeNumber]):
    """A number in a range; None as well if that is the default, or with ``optional``.

    Args:
        least, most: the range, ends included.
        below: whether ``most`` itself is excluded.
        optional: whether None is valid although it is not the default.
    """

    text_form = "a number"
    #: The type of values, and what numbers are accepted.
    _of: ClassVar[tuple[type, type]] = (float, Real)

    def __init__(
        self,
        *,
        default: MaybeNumber,
        least: float = -LARGE,
        most: float = LARGE,
        below: bool = False,
        optional: bool = False,
        **described: Unpack[Described],
    ) -> None:
        super().__init__(default=default, **described)
        self.least, self.most, self.below, self.optional = least, most, below, optional

    @property
    def takes_none(self) -> bool:
        return self.optional or self.default is None

    def check(self, metric: Any, value: Any) -> Any:
        if value is None and self.takes_none:
            return None
        kind, accepted = self._of
        is_number = isinstance(value, accepted) and not isinstance(value, bool)
        if not (is_number and self.least <= value <= self.most) or (self.below and value == self.most):
            raise self._refusal(metric, value, self.values)
        return kind(value)

    def parse(self, text: str) -> float:
        number: float = self._of[0](text)
        return number

    def to_text(self, value: Any) -> str:
        return "none" if value is None else exact(value) if isinstance(value, float) else str(value)

    @property
    def values(self) -> str:
        return f"{self.text_form} from {self.least:,} to {'below ' if self.below else ''}{self.most:,}"


class IntegerParameter(NumberParameter[MaybeInteger]):
    """An integer in a range; None as well if that is the default, or with ``optional``."""

    text_form = "an integer"
    _of = (int, Integral)

    def __init__(
        self,
        *,
        default: MaybeInteger,
        least: int = 0,
        most: int = LARGE,
        optional: bool = False,
        **described: Unpack[Described],
    ) -> None:
        super().__init__(default=default, least=least, most=most, optional=optional, **described)


class FlagParameter(Parameter[bool, bool]):
    """True or False."""

    text_form = "true or false"

    @property
    def values(self) -> str:
        return self.text_form

    def check(self, metric: Any, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self._refusal(metric, value, "True or False")
        return value

    def parse(self, text: str) -> bool:
        return self.truth(text)

    @staticmethod
    def truth(text: str) -> bool:
        """Parse "true", "yes", "false" or "no".

        Raises:
            ValueError: other text.
        """
        try:
            return _TRUTH[text.lower()]
        except KeyError:
            raise ValueError(text) from None

    def to_text(self, value: Any) -> str:
        return "true" if value else "false"


class ChoiceParameter(Parameter[str, str]):
    """One of several words.

    Args:
        choices: the words.
        refusal: error message for another word, with {metric}, {name} and {value}.
    """

    text_form = "text"

    def __init__(
        self,
        *,
        default: str,
        choices: Iterable[str],
        refusal: str = "{metric} has no {name} {value}",
        **described: Unpack[Described],
    ) -> None:
        super().__init__(default=default, **described)
        self.choices = tuple(choices)
        self.refusal = refusal

    def check(self, metric: Any, value: Any) -> str:
        if value not in self.choices:
            raise UnknownNameError(
                self.refusal.format(metric=metric.name, name=self.name, value=shortened(value)),
                hint=f"give {', '.join(self.choices)}",
            )
        return str(value)

    @property
    def values(self) -> str:
        return ", ".join(self.choices)


class TextParameter(Parameter[str, str]):
    """Text without commas and vertical bars, which separate parameters in labels and signatures."""

    text_form = "text"

    def check(self, metric: Any, value: Any) -> str:
        if not isinstance(value, str) or {",", "|"} & set(value):
            raise self._refusal(metric, value, "text without commas and vertical bars")
        return value


class ResourceParameter(Parameter[Input, Value]):
    """A resource that is read from a name, a file or an object: vectors, frequencies, weights.

    Args:
        read: converts the input to a value; also None, unless ``keep_none``.
        keep_none: keep None as it is.
        show: formats the value for signatures; None for its label.
        needs: what a metric lacks without a value, for messages; empty if it can be made without.
        hint: how to give a value that a metric lacks.
        in_labels: whether labels show a value that is not the default.
    """

    text_form = "text"

    def __init__(
        self,
        *,
        default: Input,
        read: Callable[[Any], Any] | None = None,
        keep_none: bool = False,
        show: Callable[[Any], object] | None = None,
        needs: str = "",
        hint: str = "",
        in_labels: bool = True,
        **described: Unpack[Described],
    ) -> None:
        super().__init__(default=default, **described)
        self._read, self._keep_none, self._show = read, keep_none, show
        self._needs, self._hint = needs, hint
        self.required, self.in_labels = self.required or bool(needs), in_labels

    def check(self, metric: Any, value: Any) -> Any:
        if value is None and self._needs:
            raise ParameterError(f"{metric.name} needs {self._needs}", hint=self._hint)
        if self._read is None and isinstance(value, int):  # which open() takes for a file that is open already
            raise self._refusal(metric, value, "a name, a file or an object")
        return value if self._read is None or (value is None and self._keep_none) else self._read(value)

    def to_text(self, value: Any) -> str:
        return "none" if value is None else label_of(value)

    def shown(self, value: Any) -> object:
        if self._show is not None:
            return self._show(value)
        return self.to_text(value) if value is None or isinstance(value, str | os.PathLike) else value.label


TokenizerLike: TypeAlias = str | Tokenizer | Callable[[str], Sequence[str]]


class TokenizerParameter(ResourceParameter[TokenizerLike | None, Tokenizer]):
    """The tokenizer: a name, or any argument of ``captious.text.as_tokenizer``.

    A metric whose default is None sets its tokenizer in ``setup``.
    """

    def __init__(self, *, default: TokenizerLike | None = "ptb", summary: str = "how captions become words") -> None:
        super().__init__(
            default=default, read=as_tokenizer, keep_none=default is None, show=attrgetter("name"), summary=summary
        )


def label_of(value: object) -> str:
    """Return the name of a value in messages and signatures."""
    if isinstance(value, str | os.PathLike):
        return os.fspath(value)
    from captious.models import Encoder

    if isinstance(value, Encoder):
        return value.model  # its label would load it
    return str(getattr(value, "label", None) or getattr(value, "name", None) or value)


def exact(number: float) -> str:
    """Return the shortest text that parses to exactly this number."""
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))
