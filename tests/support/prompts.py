"""The chat around a prompt, for tests of the prompt alone."""


class RecordingHost:
    """Implements `repl.prompt.PromptHost`."""

    session_id = ""

    def __init__(self, status: str = "") -> None:
        self._status = status
        self.accepted: list[str] = []
        self.times_painted = 0
        self.times_dropped = 0

    def status_line(self, _width: int) -> str:
        return self._status

    def prompt_painted(self) -> None:
        self.times_painted += 1

    def text_changed(self) -> None: ...

    def text_accepted(self, text: str) -> None:
        self.accepted.append(text)

    def text_dropped(self) -> None:
        self.times_dropped += 1

    def toggle_thinking(self) -> None: ...
