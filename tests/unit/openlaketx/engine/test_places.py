"""File paths as Spark reports them, with Java's escaping."""

from __future__ import annotations

import pytest

from openlaketx.engine.locations import spark_file_address


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/lake/part-0.parquet", "/lake/part-0.parquet"),
        ("/a b/c%20d", "/a%20b/c%2520d"),
        ("/p=x;y,z/~(1)!*'@&+$:_", "/p=x;y,z/~(1)!*'@&+$:_"),
        ('/[a]{b}|^`"<>#?\\', "/%5Ba%5D%7Bb%7D%7C%5E%60%22%3C%3E%23%3F%5C"),
        ("/é/日本/😀", "/é/日本/😀"),
        ("/no\u00a0break\u2028\u0085\x7f", "/no%C2%A0break%E2%80%A8%C2%85%7F"),
    ],
)
def test_an_address_of_spark(path: str, expected: str) -> None:
    assert spark_file_address(path) == expected
