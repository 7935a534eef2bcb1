"""The forms of a draft of a challenge: a new one, the challenge as a whole, and uploads. Lists: ``draft_parts``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from captious.server.challenges.challenge_metrics import directions_of, lacking_metrics, ready_metrics
from captious.server.models import Challenge, Draft
from captious.server.pages.draft_fields import LinesField, MomentField, NameField, NumberField, WordsField, choices_with
from captious.server.pages.draft_problems import is_marked


class NewChallengeForm(forms.Form):
    """A new challenge; everything else has defaults."""

    title = forms.CharField(max_length=200)
    summary = forms.CharField(required=False, max_length=500, help_text="One sentence for the list of challenges.")
    slug = NameField(required=False, label="Name in addresses", help_text="By default, derived from the title.")
    file = forms.FileField(
        label="References", help_text="In any format that captious reads, such as COCO annotations, JSON or CSV."
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        slug = values.get("slug") or slugify(values.get("title", "")).replace("_", "-")[:80]
        if "title" in values and not slug:
            self.add_error("slug", "Enter a name: the title has no letters from a to z and no digits.")
        elif Challenge.objects.filter(slug=slug).exists() or Draft.objects.filter(slug=slug).exists():
            self.add_error("slug", f"The name {slug} is taken.")
        return {**values, "slug": slug}


class _UploadForm(forms.Form):
    """A file for a draft. Its fields are next to their list in the editor, but are sent separately.

    Attributes:
        form_id: the id of the form with which they are sent.
    """

    file = forms.FileField()

    def __init__(self, *args: Any, form_id: str, **kwargs: Any) -> None:
        super().__init__(*args, auto_id=f"id_{form_id}_%s", **kwargs)
        self.form_id = form_id
        for field in self.fields.values():
            field.widget.attrs["form"] = form_id


class ReferencesFileForm(_UploadForm):
    """A file of references, for a new reference set or in place of an earlier file.

    Args:
        files: the saved captions files of the draft.
    """

    name = NameField(
        label="Name of the reference set", help_text="For example, c5. If it exists, its file is replaced."
    )
    captions = NameField(required=False, label="Captions file that it judges")
    field_order = ["name", "captions", "file"]

    def __init__(self, *args: Any, files: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, form_id="upload-references", **kwargs)
        choices = [("", "choose one"), *((name, name) for name in files)]
        widget = forms.Select(choices=choices) if len(files) > 1 else forms.HiddenInput()
        widget.attrs["form"] = self.form_id
        self.fields["captions"].widget = widget


class UploadFileForm(_UploadForm):
    """A file of the challenge: its logo, one to download, or a baseline.

    Args:
        kind: one of ``KINDS``.
    """

    KINDS: Mapping[str, str] = {"downloads": "Title", "baselines": "Method", "logo": ""}

    kind = forms.ChoiceField(choices=[*KINDS.items()], widget=forms.HiddenInput)
    name = forms.CharField(required=False, max_length=120, help_text="If it exists, its file is replaced.")
    field_order = ["kind", "name", "file"]

    def __init__(self, *args: Any, kind: str, **kwargs: Any) -> None:
        super().__init__(*args, form_id=f"upload-{kind}", initial={"kind": kind}, **kwargs)
        self.fields["name"].label = self.KINDS.get(kind, "")
        self.fields["name"].required = bool(self.fields["name"].label)
        if not self.fields["name"].required:
            self.fields["name"].widget = forms.HiddenInput(attrs={"form": self.form_id})

    def clean_name(self) -> str:
        return " ".join(str(self.cleaned_data["name"]).split())


class DraftForm(forms.Form):
    """The settings in challenge.toml that concern the challenge as a whole."""

    title = forms.CharField(max_length=200)
    summary = forms.CharField(required=False, help_text="One sentence for the list of challenges.")
    access = forms.ChoiceField(choices=[("public", "public"), ("participants", "participants only")])
    organizers = WordsField(required=False, help_text="User names.")
    organized_by = LinesField(required=False, label="Organized by", help_text="As shown on pages, one name per line.")
    license = forms.CharField(required=False, max_length=500)
    citation = forms.CharField(
        required=False, max_length=5000, widget=forms.Textarea(attrs={"rows": 4}), label="How to cite"
    )
    terms = forms.ChoiceField(required=False, help_text="The text that teams accept before they submit.")
    team_approval = forms.BooleanField(required=False, label="Teams need the approval of the organizers to submit")
    team_size = NumberField(min_value=0, label="Members of a team", help_text="The maximum; 0 for no limit.")
    teams_close = MomentField(required=False, help_text="Users who join a team later cannot submit for it. In UTC.")
    logo = forms.CharField(required=False, help_text="A file of the challenge.")
    image_url = forms.CharField(
        required=False, label="Address of images", help_text="With {id}, such as https://images.example.org/{id}.jpg."
    )
    metrics = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    more_metrics = LinesField(
        required=False,
        label="Metrics with parameters",
        help_text="Metrics with parameters or further requirements, one per line, such as spice:parser=bundled or wmd.",
    )
    rank_by = forms.ChoiceField(
        label="Ranked by", help_text="Outputs of metrics with parameters are listed after saving."
    )
    max_words = NumberField(min_value=1, max_value=1000, label="Words per caption")
    settings = LinesField(required=False, label="Settings of metrics", help_text="One per line, such as language = de.")
    state = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, initial: Mapping[str, Any]) -> None:
        """``initial`` has all metrics as a list of texts, and so have ``requested`` and ``cleaned_data``, in order."""
        self.requested, plain = [*initial["metrics"]], _plain_metrics()
        other_metrics = [text for text in self.requested if text not in plain]
        checked_metrics = [text for text in self.requested if text in plain]
        super().__init__(data, initial={**initial, "metrics": checked_metrics, "more_metrics": other_metrics})
        self._choices("metrics").choices = [(name, name) for name in plain]
        self.fields["metrics"].help_text = " ".join(
            f"{', '.join(names)}: not installed on this server; install them with {command}."
            for command, names in lacking_metrics(_COMMON_METRICS).items()
        )
        lines = "" if data is None else str(data.get("more_metrics", ""))
        outputs = _outputs_of([*self.requested, *plain, *map(str.strip, lines.splitlines())])
        rank_by = str(initial["rank_by"])
        if not any(rank_by in labels for labels in outputs.values()):
            outputs = {rank_by: [rank_by], **outputs}
        self._choices("rank_by").choices = [
            (text, [(label, label) for label in labels]) for text, labels in outputs.items()
        ]
        titles = [str(text.get("title", "")) for text in initial["texts"]]
        self._choices("terms").choices = [("", "none"), *choices_with(titles, [initial["terms"]])]

    def _choices(self, name: str) -> Any:
        return self.fields[name]

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        metrics = dict.fromkeys([*values.get("metrics", []), *values.pop("more_metrics", [])])
        if not metrics and not self.errors:
            self.add_error("metrics", "Choose at least one metric.")
        former = [text for text in self.requested if text in metrics]
        values["metrics"] = [*former, *(text for text in metrics if text not in former)]
        return values

    @property
    def groups(self) -> list[dict[str, Any]]:
        """The fields in groups: title, fields, and whether one of them is wrong. The first one has no title."""
        return [
            {
                "title": title,
                "fields": [self[name] for name in names],
                "is_wrong": any(self[name].errors or is_marked(self, name) for name in names),
            }
            for title, names in _FIELD_GROUPS.items()
        ]

    def clean_citation(self) -> str:
        return str(self.cleaned_data["citation"]).replace("\r\n", "\n")

    def clean_settings(self) -> dict[str, str]:
        pairs = [line.partition("=") for line in self.cleaned_data["settings"]]
        if invalid := [line for line, sign, _ in pairs if not sign]:
            raise ValidationError(f"Write NAME = VALUE on each line, not {invalid[0]!r:.80}.")
        return {name.strip(): value.strip() for name, _, value in pairs}


#: The metrics that most challenges have; they come first.
_COMMON_METRICS = ("bleu", "meteor", "rouge-l", "cider-d", "spice", "spider")


@cache
def _plain_metrics() -> tuple[str, ...]:
    """The metrics with a checkbox: those that this server can run without parameters or settings."""
    names = ready_metrics()
    return tuple(
        sorted(names, key=lambda name: _COMMON_METRICS.index(name) if name in _COMMON_METRICS else len(_COMMON_METRICS))
    )


def _outputs_of(metrics: Iterable[str]) -> dict[str, list[str]]:
    """The outputs of existing metrics."""
    outputs = {}
    for text in dict.fromkeys(metrics):
        with suppress(ValueError):
            outputs[text] = [*directions_of(text)] if text else []
    return {text: labels for text, labels in outputs.items() if labels}


_FIELD_GROUPS: Mapping[str, tuple[str, ...]] = {
    "": ("title", "summary", "access", "organizers", "metrics", "more_metrics", "rank_by", "state"),
    "Organizers, license, citation, logo, images": (
        "organized_by",
        "license",
        "citation",
        "logo",
        "image_url",
    ),
    "Terms and teams": ("terms", "team_approval", "team_size", "teams_close"),
    "Captions and settings of metrics": ("max_words", "settings"),
}
