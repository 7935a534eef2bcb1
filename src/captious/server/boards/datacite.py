"""Metadata of a public archive in DataCite's schema 4.5, with which a DOI can be registered for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings
from django.utils import timezone

from captious.server.models import Challenge, Phase
from captious.version import __version__

_CREATIVE_COMMONS = re.compile(r"CC[ -]?(?P<kind>0|BY(?:-(?:NC|SA|ND)){0,2})[ -](?P<version>\d\.\d)", re.IGNORECASE)
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"{}<>,;]*[^\s\"{}<>,;.)]")
_ARXIV = re.compile(r"\barxiv[.:/\s]{0,3}(?:org/abs/)?(\d{4}\.\d{4,5})", re.IGNORECASE)


def datacite_record(
    challenge: Challenge, title: str, phases: Sequence[Phase], teams: Iterable[str], formats: Iterable[str]
) -> dict[str, Any]:
    """The attributes of a DOI for the archive of a challenge, for DataCite's REST API, which adds the DOI.

    Args:
        phases: the phases in the archive, at least one.
        teams: the teams with captions in the archive.
        formats: media types of the files.
    """
    definition, now = challenge.definition, timezone.now()
    end = max(now if phase.closes is None or phase.closes > now else phase.closes for phase in phases)
    abstract = (
        f"Submissions with their scores, computed with captious {__version__}; README.md says how to do it again."
    )
    record: dict[str, Any] = {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Captions of images with scores"},
        "titles": [{"title": title}],
        "creators": [*map(_creator, definition.organized_by)] or [_site()],
        "publisher": {"name": settings.CAPTIOUS.site_name},
        "publicationYear": str(end.year),
        "version": str(challenge.version),
        "formats": [*formats],
        "subjects": [{"subject": "image captioning"}, {"subject": "evaluation"}],
        "descriptions": [{"descriptionType": "Abstract", "description": f"{challenge.summary} {abstract}".strip()}],
    }
    optional = {
        "contributors": [{"name": name, "contributorType": "Producer"} for name in dict.fromkeys(teams)],
        "dates": [date for phase in phases for date in _dates(phase)],
        "rightsList": [_rights(definition.license)] if definition.license else [],
        "relatedIdentifiers": [*_publications(definition.citation), *_page(challenge)],
    }
    return record | {name: values for name, values in optional.items() if values}


def _creator(text: str) -> dict[str, Any]:
    """A person or institution; the text after a comma is the affiliation."""
    name, _, affiliation = text.partition(",")
    return {"name": name.strip(), **({"affiliation": [{"name": affiliation.strip()}]} if affiliation.strip() else {})}


def _site() -> dict[str, Any]:
    return {"name": settings.CAPTIOUS.site_name, "nameType": "Organizational"}


def _dates(phase: Phase) -> list[dict[str, str]]:
    ends = ["" if time is None else time.date().isoformat() for time in (phase.opens, phase.closes)]
    return [{"date": "/".join(ends), "dateType": "Collected", "dateInformation": str(phase)}] if all(ends) else []


def _rights(text: str) -> dict[str, str]:
    """A license, with its identifier and address if it is one of Creative Commons."""
    match = _CREATIVE_COMMONS.search(text)
    if match is None:
        return {"rights": text}
    kind, version = match["kind"].upper(), match["version"]
    folder = "publicdomain/zero" if kind == "0" else f"licenses/{kind.lower()}"
    return {
        "rights": text,
        "rightsUri": f"https://creativecommons.org/{folder}/{version}/",
        "rightsIdentifier": f"CC{'' if kind == '0' else '-'}{kind}-{version}",
        "rightsIdentifierScheme": "SPDX",
    }


def _publications(citation: str) -> list[dict[str, str]]:
    """The publications that a citation names by DOI or arXiv number."""
    relation = {"relationType": "IsSupplementTo"}
    dois = [{"relatedIdentifier": doi, "relatedIdentifierType": "DOI"} for doi in _DOI.findall(citation)]
    numbers = [{"relatedIdentifier": f"arXiv:{n}", "relatedIdentifierType": "arXiv"} for n in _ARXIV.findall(citation)]
    return [identifier | relation for identifier in dois + numbers]


def _page(challenge: Challenge) -> list[dict[str, str]]:
    """The page of the challenge, if the settings say where the site is."""
    site = settings.CAPTIOUS.address
    relation = {"relatedIdentifierType": "URL", "relationType": "IsDocumentedBy"}
    return [{"relatedIdentifier": f"{site}{challenge.url}", **relation}] if site else []
