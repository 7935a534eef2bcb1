"""The layers of the server's packages. ``tests/test_architecture.py`` holds the rules that both distributions share."""

from __future__ import annotations

import pytest

from tests.test_architecture import imports_between_files

#: From the lowest up. Modules beside the packages join them, and are not in this order.
LAYERS = (
    {"people"},
    {"submissions"},
    {"challenges"},
    {"scoring"},
    {"boards"},
    {"notices"},
    {"actions"},
    {"operations"},
    {"api", "pages"},
)
LAYER_OF = {package: layer for layer, packages in enumerate(LAYERS) for package in packages}

IMPORTS = {module: names for module, names in imports_between_files().items() if module.startswith("captious_server.")}


def package_of(module: str) -> str:
    """Return the package of the server that a module belongs to, or the module beside the packages."""
    return module.split(".")[1] if module.startswith("captious_server.") else ""


def test_every_package_has_a_layer() -> None:
    packages = {package_of(module) for module in IMPORTS if module.count(".") > 1}
    assert packages == {*LAYER_OF, "formats", "migrations", "templatetags"}


@pytest.mark.parametrize("package", sorted(LAYER_OF))
def test_packages_import_only_from_layers_below(package: str) -> None:
    for module, names in IMPORTS.items():
        if package_of(module) == package:
            for name in names:
                other = package_of(name)
                if other in LAYER_OF and other != package:
                    assert LAYER_OF[other] < LAYER_OF[package], f"{module} must not import {name}"
