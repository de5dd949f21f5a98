"""The provider `scripted`: a model that plays a file."""

from typing import Final

from zkchat.ports.models import ModelProvider
from zkchat.providers.descriptor import NamedModel, ProviderContext, ProviderDescriptor
from zkchat.providers.script_player import Scripted, read_script


class ScriptedDescriptor(ProviderDescriptor, frozen=True):
    def create(self, model: NamedModel, context: ProviderContext) -> ModelProvider:
        return Scripted(read_script(context.folder / model.id))


PROVIDER: Final = ScriptedDescriptor(
    name="scripted", usage="`scripted:FILE` (plays a file)", in_process=True, answers_anytime=False
)
