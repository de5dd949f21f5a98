"""Composition: the only package that names concrete adapters. The command line and the tests both use it."""
