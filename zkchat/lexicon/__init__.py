"""Word lists by kind, each with all its languages. Data only: who uses a list splits and stems it."""
