"""Which properties of a note tell when it was written and changed."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from zkchat.vault.dates.day_texts import parse_property
from zkchat.vault.dates.day_words import folded

_CREATED: Final = """
    date created created_at created_on created_date created_time date_created time_created creation_date creation_time
    create_date create_time creation ctime datetime published published_at date_published publish_date pub_date
    datum erstellt erstellt_am erstelldatum angelegt angelegt_am
    créé créé_le crée_le date_de_création
    fecha creado creado_el fecha_de_creación fecha_creación
    data criado criado_em data_de_criação
    日期 创建 创建时间 创建日期 日付 作成日 作成日時 作成
"""
_UPDATED: Final = """
    updated modified last_modified last_updated lastmod updated_at modified_at updated_on modified_on date_updated
    date_modified updated_date modified_date update_date modification_date update_time modified_time last_modified_at
    last_updated_at last_modified_date last_edited last_edited_at last_edit edited edited_at last_changed changed mtime
    revised
    aktualisiert aktualisiert_am geändert geändert_am bearbeitet bearbeitet_am zuletzt_geändert
    modifié modifié_le mis_à_jour mise_à_jour date_de_modification
    actualizado modificado fecha_de_modificación última_modificación
    atualizado atualizado_em modificado_em data_de_modificação
    更新 更新时间 更新日期 修改时间 修改日期 更新日 更新日時 最終更新
"""
"""With spaces, dashes or no gap in place of `_`, in any case, and with or without accents. The first that holds a date
counts."""
_GAPS: Final = str.maketrans("", "", " _-:")


def stated_dates(properties: Mapping[str, object]) -> tuple[str | None, str | None]:
    """When a note was written and when it was changed, by its properties, in the form of `DateFacts`."""
    if not properties:
        return None, None
    known = _known_names()
    found: dict[str, object] = {}
    for name, value in properties.items():
        key = _plain(name)
        if key in known:
            found.setdefault(key, value)
    return _first(found, _names(_CREATED)), _first(found, _names(_UPDATED))


def _first(found: Mapping[str, object], names: Iterable[str]) -> str | None:
    return next((day for name in names if name in found and (day := parse_property(found[name]))), None)


@cache
def _names(listed: str) -> tuple[str, ...]:
    return tuple(map(_plain, listed.split()))


@cache
def _known_names() -> frozenset[str]:
    return frozenset(_names(_CREATED) + _names(_UPDATED))


def _plain(name: str) -> str:
    return folded(name).translate(_GAPS)
