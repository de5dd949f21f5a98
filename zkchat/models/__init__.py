"""Models that answer and embed, and MCP servers."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.models.embedding_conventions import EmbeddingSettings
    from zkchat.models.embeddings import ServerEmbedder, ollama_embedder, openai_embedder
    from zkchat.models.gguf import Progress, Weights
    from zkchat.models.local import list_models
    from zkchat.models.mcp_servers import McpServers
    from zkchat.models.ollama import Ollama
    from zkchat.models.onnx import OnnxEmbedder
    from zkchat.models.openai import OPENAI, OpenAI
    from zkchat.models.registry import (
        SERVICES,
        SETUP_HELPS,
        Choice,
        GuardedProvider,
        ModelSettings,
        NamedModel,
        OfferedModel,
        ProviderContext,
        ProviderDescriptor,
        ResumedProvider,
        choose,
        create,
        descriptor_of,
        descriptors,
        find,
        first_choice,
        is_loopback,
        resolve_name,
        services_with_key,
    )
    from zkchat.models.static_vectors import installed
else:
    __getattr__ = lazy_names(__name__, __file__)
