"""Sphinx's settings for the site; scripts/site.py lays out its sources and runs it."""

from docutils import nodes
from sphinx.application import Sphinx

LONGEST_WHOLE_WORD = 16
"""Letters of code in a table above which it may break inside a word; shorter code such as `--help` never breaks."""
STACKED = {"setting", "promise"}
"""The first heading of tables whose columns are too many for a phone."""

project = "zkchat"
copyright = "the zkchat authors"
extensions = ["myst_parser"]
myst_heading_anchors = 4  # named as GitHub names them
myst_enable_extensions = ["attrs_block"]
myst_links_external_new_tab = True
html_theme = "furo"
html_title = "zkchat"
html_favicon = "favicon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_use_index = False  # nothing here is indexed by hand
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#00695c", "color-brand-content": "#00695c"},
    "dark_css_variables": {"color-brand-primary": "#4db6ac", "color-brand-content": "#4db6ac"},
}
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]  # jsonc and logs stay plain
pygments_style = "friendly"
pygments_dark_style = "native"


def mark_tables(_app: Sphinx, page: nodes.document, _name: str) -> None:
    """Say of the tables of a page what `site.css` needs to know to lay them out on a phone."""
    for table in page.findall(nodes.table):
        if next(table.findall(nodes.entry)).astext() in STACKED:
            stack(table)
        for code in table.findall(nodes.literal):
            words = code.astext().split()
            if any(len(word) > LONGEST_WHOLE_WORD for word in words):
                code["classes"].append("long")
            elif len(words) == 1:
                code["classes"].append("whole")


def stack(table: nodes.table) -> None:
    """Put the heading of its column before the text of each cell but the first: it is seen where cells are stacked."""
    table["classes"].append("stacked")
    headings, *rows = table.findall(nodes.row)
    for row in rows:
        for heading, cell in list(zip(headings, row, strict=True))[1:]:
            if cell.children:
                cell[0].insert(0, nodes.inline("", f"{heading.astext()}: ", classes=["heading"]))


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", mark_tables)
