"""The commands: each with its name, where it is defined in this package, and its line in `zkchat --help`.

Imports nothing: the help is drawn, and one command is found, before anything else is loaded.
"""

HELP = "Chat with your Markdown notes in the terminal, with sources and an honest picture of the context."

COMMANDS = {
    "Ask": (
        ("chat", "chat.chat", "Chat about your notes, one question after the other."),
        ("ask", "ask.ask", "Ask one question about your notes."),
    ),
    "Look into your notes": (
        ("search", "lookups.search", "Search your notes."),
        ("verify", "lookups.verify", "Check which statements of a text are in your notes, and where."),
        ("why", "actions.evaluation.why", "Show why a note does, or does not, answer a question."),
        ("eval", "evaluation.evaluate", "Measure how well your notes answer questions of yours."),
        ("show", "actions.notes.show", "Show a note, or a section of it."),
        ("recent", "actions.notes.recent", "Show the notes that changed last, the latest first."),
        ("tags", "actions.notes.tags", "Show the tags of your notes, each with the number of notes."),
        ("daily", "actions.notes.daily", "Show the daily note of today."),
        ("timeline", "actions.notes.timeline", "Show what happened to a note, in order of time."),
        ("brief", "ask.brief", "Show what changed, what is due, and what was on this day."),
        ("links", "lookups.links", "Show the links of a note and the links that lead to it."),
        ("backlinks", "actions.links.backlinks", "Show the links of other notes to a note, with their lines."),
        ("resolve", "actions.links.resolve", "Show what a link leads to, and why."),
        ("refs", "memory.refs", "Show which conversations used a note."),
        ("index", "vault.index", "Bring the index up to date."),
        ("vault", "vault.app", "Show what is in the vault, and what in it to mend."),
    ),
    "Change your notes": (
        ("changes", "note_changes.changes", "Show what zkchat changed in your notes, the latest first."),
        ("undo", "note_changes.undo", "Undo what zkchat changed last."),
        ("note", "note.app", "Write notes: new ones, and changes of those that there are."),
    ),
    "Conversations, and what is kept of them": (
        ("sessions", "sessions.app", "List, show, search, rename and delete conversations."),
        ("context", "context.app", "See, measure, summarise and move what a conversation holds."),
        ("memory", "memory.app", "See and change what is kept across conversations."),
    ),
    "Who answers, and how": (
        ("models", "models.app", "List the models there are, and fetch a small one."),
        ("agent", "agent.app", "List, show, make and change agents: who answers you."),
        ("rules", "rules.app", "List, show and make rules for the answers."),
    ),
    "Other programs": (
        ("mcp", "mcp.app", "Serve the vault to MCP hosts, and use MCP servers in chats."),
        ("acp", "ask.acp", "Answer in an editor, by the Agent Client Protocol (ACP)."),
    ),
    "zkchat itself": (
        ("setup", "setup.setup", "Set zkchat up by three questions."),
        ("config", "config.app", "Show and change settings."),
        ("trust", "trust.trust", "Show what comes with the vault, and approve it."),
        ("doctor", "doctor.doctor", "Check installation, vault, settings and models."),
        ("completion", "completion.completion", "Print the script that teaches your shell to complete."),
        ("help", "help.help_", "Show a page of the documentation, or the help of a command."),
    ),
}
"""By the headings of the help, in this order. A test holds the lines to the docstrings."""

HELP_OPTIONS = ("-h", "--help")

EPILOG = """\
Start here:          cd ~/notes && zkchat
Ask one question:    zkchat ask "How much [[Sleep]] do I need?" --vault ~/notes
Ask an agent:        zkchat @research "What do my notes say about sleep?"
Something is wrong?  zkchat doctor
Read more:           zkchat help"""

PLACES = {name: place for rows in COMMANDS.values() for name, place, _ in rows}
"""Where each command is: `module.attribute` for a function or a `Typer`, `actions.module.name` for an action."""

SECTIONS = {heading: [(name, line) for name, _, line in rows] for heading, rows in COMMANDS.items()}
"""The names and lines, as the help shows them."""
