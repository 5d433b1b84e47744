"""What pages and docstrings name leads somewhere, and what is no part of the site is left out."""

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.typing import ExtensionMetadata

import onlinekern

# Files outside of the folder of the pages that are pages of the site all the same.
MOVED = {
    "](../CONTRIBUTING.md": "](contributing.md",
    "](../CHANGELOG.md": "](changelog.md",
    "](../SECURITY.md": "](security.md",
    "](../examples)": "](auto_examples/index.rst)",
}
SOURCE = "https://github.com/onlinekern/onlinekern/blob/main/"


class LinkNames(SphinxTransform):
    """Makes a link of each literal that is a public name of the library."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        """Replace the literals."""
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext().removesuffix("()")
            inside_link = isinstance(literal.parent, nodes.reference | addnodes.pending_xref)
            if name not in onlinekern.__all__ or inside_link:
                continue
            target = f"onlinekern.{name}"
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=target, refdoc=self.env.docname
            )
            literal.replace_self(link)
            link += literal


def resolve(app: Sphinx, env: Any, link: addnodes.pending_xref, content: Any) -> Any:
    """A public name in the docstring of another module: `StreamPipeline`, `SPAClassifier.fit`."""
    name = link.get("reftarget", "")
    if link.get("refdomain") != "py" or name.partition(".")[0] not in onlinekern.__all__:
        return None
    python = env.get_domain("py")
    return python.resolve_xref(
        env, link["refdoc"], app.builder, "obj", f"onlinekern.{name}", link, content
    )


def own_members(
    app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Skip what a class has from scikit-learn, and properties: the docstring lists attributes."""
    function = getattr(member, "__func__", member)
    foreign = not str(getattr(function, "__module__", "")).startswith("onlinekern")
    return True if what == "class" and (foreign or isinstance(member, property)) else None


def links_to_root(app: Sphinx, page: str, source: list[str]) -> None:
    """Links to files of the root that are pages of the site, and to those that are none."""
    for there, here in MOVED.items():
        source[0] = source[0].replace(there, here)
    if "/" not in page:
        source[0] = source[0].replace("](../", "](" + SOURCE)


def no_markdown_in_the_gallery(app: Sphinx) -> None:
    """A folder of `examples` with a README.md is a package, and no part of the gallery."""
    app.config.sphinx_gallery_conf["source_suffix"] = {".rst": "restructuredtext"}


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect the above."""
    app.add_transform(LinkNames)
    app.connect("autodoc-skip-member", own_members)
    app.connect("missing-reference", resolve)
    app.connect("source-read", links_to_root)
    # Before the gallery, which begins at 500.
    app.connect("builder-inited", no_markdown_in_the_gallery, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
