"""The words of the languages that zkchat knows: lists by what they are for, from a data file for each language."""
