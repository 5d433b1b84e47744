"""What packagers read says what the project says."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
# The names of packages at conda-forge that are others at PyPI.
AT_CONDA = {"matplotlib": "matplotlib-base"}


def listed(section):
    """Return the requirements in a section of the recipe, as PyPI writes them."""
    text = re.search(rf"^  {section}:\n((?:^    .*\n)+)", RECIPE, re.M)[1]
    return {line.replace(" ", "") for line in re.findall(r"^    - (\S.*)$", text, re.M)}


def at_conda(requirements):
    """Return requirements with the names of conda-forge."""
    found = set()
    for requirement in requirements:
        name, bound = re.fullmatch(r"([\w-]+)(.*)", requirement).groups()
        found.add(AT_CONDA.get(name, name) + bound)
    return found


def test_the_recipe_has_the_dependencies_of_the_project():
    optional = PROJECT["project"]["optional-dependencies"]
    assert listed("run") == at_conda(PROJECT["project"]["dependencies"]) | {"python"}
    assert listed("run_constraints") == at_conda(optional["cli"])
    assert listed("host") == at_conda(PROJECT["build-system"]["requires"]) | {"python", "pip"}


def test_the_recipe_has_the_version_of_the_project():
    version = re.search(r"version: '(.+)'", (ROOT / "meson.build").read_text("utf-8"))[1]
    assert f'version: "{version}"' in RECIPE


def test_the_tests_of_the_wheels_exist():
    wheels = PROJECT["tool"]["cibuildwheel"]
    commands = [wheels["test-command"], *(part["test-command"] for part in wheels["overrides"])]
    for command in commands:
        named = re.findall(r"\{project\}/(\S+)", command)
        assert named
        assert all((ROOT / path).exists() for path in named)
    assert set(re.findall(r"tests/\w+\.py", RECIPE)) == set(
        re.findall(r"tests/\w+\.py", commands[0])
    )
