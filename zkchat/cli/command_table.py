"""The commands: each with its name, where it is defined in this package, and its line in `zkchat --help`.

Imports nothing: the help is drawn, and one command is found, before anything else is loaded.
"""

HELP = "Chat with your Markdown notes in the terminal. See the sources of each answer, and what fills the context."

COMMANDS = {
    "Conversations": (
        ("ask", "ask.ask", "Ask one question about your notes."),
        ("sessions", "sessions.app", "List, show, search, rename and delete conversations."),
        ("context", "context.app", "See what a model is sent, make room, export and import conversations."),
        ("memory", "memory.app", "See and change what is kept across conversations."),
    ),
    "Your notes": (
        ("search", "lookups.search", "Search your notes."),
        ("show", "lookups.show", "Show a note, its links, or what happened to it."),
        ("today", "ask.today", "Show what is due, what changed, and what was on this day."),
        ("check", "vault.check", "Check your notes for problems, or a text against your notes."),
        ("note", "note.app", "Create notes, and change existing ones."),
        ("undo", "note_changes.undo", "Undo what zkchat changed last."),
    ),
    "zkchat itself": (
        ("models", "models.app", "List the available models, and fetch one."),
        ("setup", "setup.setup", "Set up zkchat with three questions."),
        ("config", "config.app", "Show and change settings, agents, servers; find what is wrong."),
        ("serve", "serve.app", "Chat in a browser, and serve editors and other programs."),
        ("help", "help.help_", "Show a page of the documentation, or the help of a command."),
    ),
}
"""By the headings of the help, in this order. A test holds the lines to the docstrings."""

FURTHER = (
    ("chat", "chat.chat", "Chat about your notes, one question after the other."),
    ("recent", "actions.notes.recent", "Show the notes that changed last, newest first."),
    ("tags", "actions.notes.tags", "Show the tags of your notes, each with the number of notes."),
    ("refs", "memory.refs", "Show which conversations used a note."),
    ("why", "actions.evaluation.why", "Show why a note does, or does not, answer a question."),
    ("lsp", "serve.lsp", "Follow, check and rename links in your editor (LSP)."),
    ("eval", "evaluation.evaluate", "Measure how well your notes answer your questions."),
)
"""Those that few need: `zkchat help all` and the manual page list them too."""

EARLIER = (
    ("acp", "ask.acp", "serve acp"),
    ("agent", "agent.app", "config agents, ask --goal"),
    ("backlinks", "actions.links.backlinks", "show NOTE --links"),
    ("brief", "ask.brief", "today --summary"),
    ("changes", "note_changes.changes", "undo --list"),
    ("completion", "completion.completion", "config completion"),
    ("daily", "actions.notes.daily", "today --note"),
    ("doctor", "doctor.doctor", "config doctor"),
    ("index", "vault.index", "config index"),
    ("links", "lookups.links", "show NOTE --links"),
    ("mcp", "mcp.app", "serve mcp, config servers"),
    ("resolve", "actions.links.resolve", "show LINK --why"),
    ("rules", "rules.app", "memory rules"),
    ("timeline", "actions.notes.timeline", "show NOTE --timeline"),
    ("trust", "trust.trust", "config trust"),
    ("vault", "vault.app", "check, show NOTE --mentions"),
    ("verify", "lookups.verify", "check FILE"),
)
"""Names of earlier versions, which work as they did, each with what it is called now."""

BELOW = {
    "config": {
        "agents": "agent.app",
        "servers": "mcp.servers",
        "trust": "trust.trust",
        "doctor": "doctor.doctor",
        "index": "vault.index",
        "completion": "completion.completion",
    },
    "memory": {"rules": "rules.app"},
    "serve": {"mcp": "mcp.app", "acp": "ask.acp"},
}
"""Commands below another one that are in modules of their own, which are loaded only where they are used."""

_MODEL = "zkchat config set model NAME, or --model NAME for once, or /model in a chat"
_OPEN = "zkchat show NOTE --open, or /open in a chat"
_SAVE = 'zkchat ask "QUESTION" | zkchat note new TITLE - --answer --yes, or /save in a chat'
MEANT = {
    "config": {"list": "zkchat config show"},
    "memory": dict.fromkeys(("delete", "remove"), "zkchat memory forget"),
    "models": {"list": "zkchat models", **dict.fromkeys(("set", "use"), _MODEL)},
    "note": {"open": _OPEN, "save": _SAVE, **dict.fromkeys(("delete", "remove"), "zkchat note trash")},
    "sessions": {"remove": "zkchat sessions delete"},
    "": {
        "find": "zkchat search",
        "history": "zkchat sessions list, or /history in a chat",
        "model": _MODEL,
        "open": _OPEN,
        "resume": "zkchat -r, or /resume in a chat",
        "save": _SAVE,
    },
}
"""What people type who do not know the commands, and what does it."""

HELP_OPTIONS = ("-h", "--help")

EPILOG = """\
Start a chat:         cd ~/notes && zkchat
Ask one question:     zkchat "How much [[Sleep]] do I need?" --vault ~/notes
Ask an agent:         zkchat @research "What do my notes say about sleep?"
Something is wrong?   zkchat config doctor
Take a tour:          zkchat help tour
See every command:    zkchat help all"""

GOAL = "ask --goal"
"""A command of its own, because its options are not those of `ask`."""

_ROWS = [row for rows in COMMANDS.values() for row in rows]
PLACES = {**{name: place for name, place, _ in (*_ROWS, *FURTHER, *EARLIER)}, GOAL: "agent.run"}
"""Where each command is: `module.attribute` for a function or a `Typer`, `actions.module.name` for an action."""

SECTIONS = {heading: [(name, line) for name, _, line in rows] for heading, rows in COMMANDS.items()}
"""The names and lines, as the help shows them."""
