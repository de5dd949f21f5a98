"""Presenters: each shows the events of a turn to one kind of reader."""
