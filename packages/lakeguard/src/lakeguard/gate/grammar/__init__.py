"""The rule language: tokens, parsers and syntax tree."""
