"""The provider `scripted`: a model that plays a file."""

from typing import TYPE_CHECKING, Final

from zkchat.providers.descriptor import NamedModel, ProviderContext, ProviderDescriptor

if TYPE_CHECKING:
    from zkchat.ports.models import ModelProvider


class ScriptedDescriptor(ProviderDescriptor, frozen=True):
    def create(self, model: NamedModel, context: ProviderContext) -> "ModelProvider":
        from zkchat.providers.script_player import Scripted, read_script

        return Scripted(read_script(context.folder / model.id))


PROVIDER: Final = ScriptedDescriptor(
    name="scripted", usage="`scripted:FILE` (plays a file)", in_process=True, answers_anytime=False
)
