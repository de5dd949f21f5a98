"""The base of the values that are stored or printed as JSON."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """Frozen; unknown fields of newer files are ignored, missing ones of older files take their defaults."""

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())
