"""The settings of models and servers: where they are, and what they may be sent."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from zkchat.config.marks import Expects, UserOnly
from zkchat.config.value_types import (
    ContextWindow,
    Globs,
    HttpAddress,
    OptionalHttpAddress,
    OptionalVariableName,
    VariableName,
    matching,
)
from zkchat.model.providers import ProviderName

_LOCAL_SERVER: Final = (
    "`false`: a server on this machine only forwards to another one, as LiteLLM or a tunnel does, so that its models "
    "get no local notes. A server elsewhere is never local."
)


class Ollama(Struct, frozen=True, kw_only=True):
    host: Annotated[HttpAddress, "Address of the Ollama server."] = "http://127.0.0.1:11434"
    local: Annotated[bool, _LOCAL_SERVER] = True


class OpenAI(Struct, frozen=True, kw_only=True):
    base_url: Annotated[
        OptionalHttpAddress, "Address of a server that speaks OpenAI's protocol. Empty: OpenAI itself."
    ] = ""
    api_key_env: Annotated[
        VariableName, "Name of the environment variable that holds the key. Keys are never kept in a settings file."
    ] = "OPENAI_API_KEY"
    local: Annotated[bool, _LOCAL_SERVER] = True


class Embeddings(Struct, frozen=True, kw_only=True):
    model: Annotated[
        str,
        matching(r"((ollama|openai):.+)?"),
        Expects('"ollama:NAME" or "openai:NAME", such as ollama:nomic-embed-text, or empty'),
        "The model whose vectors the search uses: `ollama:nomic-embed-text`, "
        "`openai:text-embedding-3-small`. Your notes are sent to its server, `local` ones only if it is on this "
        "machine. Empty: the vectors that come with zkchat.",
    ] = ""
    base_url: Annotated[OptionalHttpAddress, "Address of its server. Empty: `ollama.host` or `openai.base_url`."] = ""
    api_key_env: Annotated[
        OptionalVariableName,
        "Name of the environment variable that holds the key for `embeddings.base_url`. Empty: the key of "
        "`openai.api_key_env` where the server is the same or OpenAI itself, else none.",
    ] = ""
    dimensions: Annotated[
        Annotated[int, Meta(ge=16, le=16_384)] | None,
        "Numbers that a vector is to have, for models that can shorten theirs. Unset: the model's own.",
    ] = None
    query_prefix: Annotated[str | None, "What is put before a question. Unset: what is known of the model."] = None
    document_prefix: Annotated[str | None, "What is put before a passage. Unset: what is known of the model."] = None
    batch_size: Annotated[int, Meta(ge=1, le=2_048), "Passages that are sent at once."] = 32
    timeout: Annotated[float, Meta(gt=0, le=3_600), "Seconds that the server may take for them."] = 60.0
    query_timeout: Annotated[
        float,
        Meta(gt=0, le=3),
        "Seconds that a search waits for the vector of its question. Then it goes by words and by the "
        "vectors that come with zkchat.",
    ] = 1.0
    options: Annotated[
        dict[str, object], "What else is sent with every request, as the server knows it: `{ num_ctx = 2048 }`."
    ] = {}
    local: Annotated[
        bool,
        "`false`: the model runs on another machine although its server's address is this one, and gets no "
        "local notes.",
    ] = True


class Model(Struct, frozen=True, kw_only=True):
    provider: Annotated[ProviderName, "Who runs it."]
    id: Annotated[
        str,
        Meta(min_length=1),
        Expects("the name that the provider knows it by"),
        "The model's name there, such as `qwen3:8b`; for `local` a name or a file.",
    ]
    context_limit: Annotated[
        ContextWindow | None,
        "Its context window in tokens, used whole unless `context.max_tokens` is less. Unset: what the provider says.",
    ] = None
    temperature: Annotated[
        Annotated[float, Meta(ge=0, le=2)] | None,
        "How freely it chooses its words. Unset: what the provider takes, 0 for a small model.",
    ] = None
    calls_tools: Annotated[
        bool | None, "Whether it is offered tools; else zkchat searches for it. Unset: what the provider says."
    ] = None
    sees_images: Annotated[
        bool | None,
        "Whether images are sent to it; else it reads their names. Unset: what the provider says, and for "
        "OpenAI's own models what is known of them.",
    ] = None
    options: Annotated[
        dict[str, object], "What else is sent with every request, as the server knows it: `{ top_p = 0.9 }`."
    ] = {}
    local: Annotated[
        bool, "`false`: it runs on another machine although its server's address is this one, and gets no local notes."
    ] = True


class Mcp(Struct, frozen=True, kw_only=True):
    allow: Annotated[
        Globs,
        UserOnly(),
        "Tools of your MCP servers that may be called without a question, also where nobody can be asked: "
        "`server/tool`, or `server` for all of its tools.",
    ] = ()
