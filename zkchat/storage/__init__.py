"""Everything on disk: sessions, the note index, the files of a vault."""
