"""``datacite.json`` of an archive, against DataCite's own schema."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from captious.version import __version__
from captious_server.models import Challenge, Phase
from server.tests.boards.archives import archive
from server.tests.support.site import Site


def checked_record(site: Site, **values: Any) -> Any:
    schema45 = pytest.importorskip("datacite.schema45")

    challenge = Challenge.objects.get()
    challenge.definition_values |= values
    challenge.save()
    files = archive(site, public="1")
    record = json.loads(files["datacite.json"])
    schema45.validator.validate(record)
    return record


def test_the_demonstration(demo: Site) -> None:
    record = checked_record(demo)
    assert record["titles"] == [{"title": "Demo: Main phase"}]
    assert record["publisher"] == {"name": "captious"}
    assert record["types"]["resourceTypeGeneral"] == "Dataset"
    assert record["contributors"] == [{"name": "ann", "contributorType": "Producer"}]
    assert f"captious {__version__}" in record["descriptions"][0]["description"]
    assert "datacite.json" not in archive(demo)


def test_creators_rights_and_publications(demo: Site) -> None:
    demo.configure(hosts=("captions.example.org",), https=True, site_name="Captions of X")
    record = checked_record(
        demo,
        organized_by=["Ann Smith, University of X, Y", "Society of Captions"],
        license="CC-BY-SA 4.0",
        citation="@inproceedings{x, doi = {10.1109/CVPR.2015.7299087}}\nSee arXiv:1504.00325, and more.",
    )
    assert record["creators"] == [
        {"name": "Ann Smith", "affiliation": [{"name": "University of X, Y"}]},
        {"name": "Society of Captions"},
    ]
    assert record["rightsList"] == [
        {
            "rights": "CC-BY-SA 4.0",
            "rightsUri": "https://creativecommons.org/licenses/by-sa/4.0/",
            "rightsIdentifier": "CC-BY-SA-4.0",
            "rightsIdentifierScheme": "SPDX",
        }
    ]
    assert [(each["relatedIdentifier"], each["relationType"]) for each in record["relatedIdentifiers"]] == [
        ("10.1109/CVPR.2015.7299087", "IsSupplementTo"),
        ("arXiv:1504.00325", "IsSupplementTo"),
        ("https://captions.example.org/challenges/demo/", "IsDocumentedBy"),
    ]
    assert record["publisher"] == {"name": "Captions of X"}


@pytest.mark.parametrize(
    ("license", "address"),
    [
        ("CC BY 4.0", "https://creativecommons.org/licenses/by/4.0/"),
        ("CC0 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        ("Images: CC BY-NC-ND 3.0", "https://creativecommons.org/licenses/by-nc-nd/3.0/"),
        ("Ask us", None),
    ],
)
def test_licenses(demo: Site, license: str, address: str | None) -> None:
    [rights] = checked_record(demo, license=license)["rightsList"]
    assert (rights["rights"], rights.get("rightsUri")) == (license, address)


def test_without_names_nobody_is_named(demo: Site) -> None:
    assert b"ann" not in archive(demo, public="1", anonymous="1")["datacite.json"]


def test_the_year_in_which_a_phase_closed(demo: Site) -> None:
    Phase.objects.update(opens=datetime(2019, 1, 1, tzinfo=UTC), closes=datetime(2020, 2, 1, tzinfo=UTC))
    record = checked_record(demo)
    assert record["publicationYear"] == "2020"
    assert record["dates"] == [
        {"date": "2019-01-01/2020-02-01", "dateType": "Collected", "dateInformation": "Main phase"}
    ]
