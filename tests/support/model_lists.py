"""A server on loopback that lists models, as Ollama and as servers of OpenAI's kind do."""

from dataclasses import dataclass, field

from tests.providers.loopback import Connection, Loopback, Request


@dataclass
class Listing(Loopback):
    """Answers with `lists` at those paths, and elsewhere as every loopback server does."""

    lists: dict[str, tuple[int, object]] = field(default_factory=dict)

    async def serve(self, request: Request, connection: Connection) -> None:
        if request.path not in self.lists:
            return await super().serve(request, connection)
        status, body = self.lists[request.path]
        return await connection.reply(status, body, Location="http://127.0.0.1:9/elsewhere")


def tags(*names: str, family: str = "llama", **more: object) -> tuple[int, object]:
    """A list of models as Ollama gives it, each with the same details."""
    details = {"family": family, **more}
    return 200, {"models": [{"name": name, "model": name, "details": details} for name in names]}
