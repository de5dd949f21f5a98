"""Days and times, in words, in names and in properties of notes."""
