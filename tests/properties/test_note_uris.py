import re
from urllib.parse import urlsplit

from hypothesis import example, given, settings
from hypothesis import strategies as st

from zkchat.mcp.service import Place, places_in, uri_of

SETTINGS = settings(max_examples=50, deadline=None)

names = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=20)
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


@SETTINGS
@given(paths, st.text(st.characters(codec="utf-8"), max_size=20))
@example("100%25 of it #1?.md", "a#b%20")
@example("a+b;c=d&e,f@g:h!.md", "")
@example("\u00e9/e\u0301 \u202e\n.md", "\n")
def test_a_path_and_a_heading_are_what_their_address_names(path: str, heading: str) -> None:
    uri = uri_of(path, heading)
    assert re.fullmatch(r"note:///[A-Za-z0-9/._~!$&'()*+,;=:@%-]*(#[A-Za-z0-9/._~!$&'()*+,;=:@%-]+)?", uri)
    assert urlsplit(uri).fragment == uri.partition("#")[2]
    assert places_in(uri)[0].path == path
    assert places_in(uri)[0] == Place(path, heading)


@SETTINGS
@given(paths)
def test_a_path_that_a_client_escapes_otherwise_is_still_found(path: str) -> None:
    throughout = "".join(f"%{byte:02x}" for byte in path.encode())
    assert places_in(f"NOTE:///{throughout}")[0].path == path
    as_in_a_browser = path.replace("%", "%25").replace(" ", "%20")
    assert path in {place.path for place in places_in(f"note:///{as_in_a_browser}")}


@SETTINGS
@given(st.text(max_size=30))
def test_any_text_is_an_address_or_none(text: str) -> None:
    assert all(isinstance(place, Place) for place in places_in(text))
    assert places_in(f"file:///{text}") == []
