"""Matches of language models against programs, for verifiers."""

from herbrand.oracle.verifiers import PlayEnv, PlayTaskset

__all__ = ["PlayEnv", "PlayTaskset"]
