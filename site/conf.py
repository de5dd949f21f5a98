"""Sphinx's settings for the site; scripts/site.py lays out its sources and runs it."""

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
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#00695c", "color-brand-content": "#00695c"},
    "dark_css_variables": {"color-brand-primary": "#4db6ac", "color-brand-content": "#4db6ac"},
}
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure"]  # jsonc and logs stay plain
pygments_style = "friendly"
pygments_dark_style = "native"
