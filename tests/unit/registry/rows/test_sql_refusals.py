"""SQL other than literal INSERT rows is refused at its position."""

from __future__ import annotations

import pytest

from lakeguard.registry.rows.source_text import MAX_VALUE
from tests.unit.registry.rows.row_files import mistakes

GOOD = "INSERT INTO t (a) VALUES (1);\n"
ONLY = "is not supported: only INSERT INTO table (columns) VALUES (...) is"


def the_mistake(content: str | bytes) -> str:
    found = mistakes("t.sql", content)
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT 1;", f"2:1 LG-2027 SELECT {ONLY}"),
        ("  update t SET a = 1;", f"2:3 LG-2027 update {ONLY}"),
        ("DELETE FROM t;", f"2:1 LG-2027 DELETE {ONLY}"),
        ("MERGE INTO t USING s ON a = b;", f"2:1 LG-2027 MERGE {ONLY}"),
        ("DROP TABLE t;", f"2:1 LG-2027 DROP {ONLY}"),
        ("TRUNCATE TABLE t", f"2:1 LG-2027 TRUNCATE {ONLY}"),
        ("CREATE TABLE t (a int);", f"2:1 LG-2027 CREATE {ONLY}"),
        ("WITH x AS (SELECT 1) INSERT INTO t (a) SELECT 1;", f"2:1 LG-2027 WITH {ONLY}"),
        ("EXEC sp_x 'a';", f"2:1 LG-2027 EXEC {ONLY}"),
        ("ROLLBACK;", f"2:1 LG-2027 ROLLBACK {ONLY}"),
        ("IF 1 = 1 INSERT INTO t (a) VALUES (1);", f"2:1 LG-2027 IF {ONLY}"),
        ("BEGIN TRY", f"2:7 LG-2027 BEGIN TRY {ONLY}"),
        ("START x;", f"2:1 LG-2027 START {ONLY}"),
        ("COMMIT AND CHAIN;", f"2:8 LG-2027 COMMIT AND {ONLY}"),
        ("USE x y;", f"2:7 LG-2027 USE x y {ONLY}".replace("USE x y", "USE y")),
        ("SET NOCOUNT ON DELETE FROM t;", f"2:16 LG-2027 DELETE {ONLY}"),
        ("SET x = (SELECT 1);", f"2:10 LG-2027 SELECT {ONLY}"),
        ("GO 5", "2:4 LG-2027 GO 5 is not supported: GO must be alone on its line"),
        (":r other.sql", "2:1 LG-2027 :r is not supported: sqlcmd commands are not supported"),
        ("\\copy t from x", f"2:1 LG-2027 \\ {ONLY}"),
        ("'text';", f"2:1 LG-2027 a string {ONLY}"),
        ("INSERT OVERWRITE t (a) VALUES (1);", f"2:8 LG-2027 INSERT OVERWRITE {ONLY}"),
        ("INSERT OR REPLACE INTO t (a) VALUES (1);", f"2:8 LG-2027 INSERT OR {ONLY}"),
        ("INSERT ALL INTO t (a) VALUES (1);", f"2:8 LG-2027 INSERT ALL {ONLY}"),
        (
            "INSERT INTO t (a) SELECT 1;",
            "2:19 LG-2027 INSERT ... SELECT is not supported: rows must",
        ),
        ("INSERT INTO t SELECT 1;", "2:15 LG-2027 INSERT ... SELECT is not supported: rows must"),
        ("INSERT INTO t (SELECT 1);", "2:16 LG-2027 INSERT ... SELECT is not supported: rows must"),
        (
            "INSERT INTO t (a) (SELECT 1);",
            "2:19 LG-2027 INSERT ... (...) is not supported: rows must",
        ),
        ("INSERT INTO t (a) WITH x AS (SELECT 1) SELECT 1;", "2:19 LG-2027 INSERT ... WITH is not"),
        ("INSERT INTO t DEFAULT VALUES;", f"2:15 LG-2027 INSERT ... DEFAULT {ONLY}"),
        (
            "INSERT INTO t (a) OUTPUT inserted.a VALUES (1);",
            f"2:19 LG-2027 INSERT ... OUTPUT {ONLY}",
        ),
        ("INSERT INTO t AS x (a) VALUES (1);", f"2:15 LG-2027 INSERT ... AS {ONLY}"),
        ("INSERT INTO t (a);", "2:18 LG-2027 INSERT is not supported: expected VALUES before ;"),
        ("INSERT INTO t (a) VALUES;", "2:25 LG-2027 INSERT is not supported: expected ("),
        (
            "INSERT INTO t (a) VALUES ROW(1);",
            "2:26 LG-2027 INSERT is not supported: expected (",
        ),
        ("INSERT INTO t (a) VALUES (1),;", "2:30 LG-2027 INSERT is not supported: expected ("),
        ("INSERT INTO t (a) VALUES (1) ON CONFLICT DO NOTHING;", "2:30 LG-2027 ON CONFLICT is not"),
        (
            "INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 2;",
            "2:30 LG-2027 ON DUPLICATE",
        ),
        (
            "INSERT INTO t (a) VALUES (1) RETURNING a;",
            "2:30 LG-2027 INSERT ... VALUES ... RETURNING",
        ),
        (
            "INSERT INTO t (a) VALUES (1) UNION SELECT 2;",
            "2:30 LG-2027 INSERT ... VALUES ... UNION",
        ),
        ("INSERT INTO t (a) VALUES (1) SELECT 2;", f"2:30 LG-2027 SELECT {ONLY}"),
        (
            "INSERT INTO (a) VALUES (1);",
            "2:13 LG-2027 the statement is not supported: expected a name",
        ),
        (
            "INSERT INTO s.$(T) (a) VALUES (1);",
            "2:15 LG-2027 INSERT is not supported: the table name",
        ),
        (
            "INSERT INTO #t (a) VALUES (1);",
            "2:13 LG-2027 the statement is not supported: expected a",
        ),
        ("INSERT INTO t VALUES (1);", "2:15 LG-2026 the columns are missing"),
        ("INSERT INTO t () VALUES ();", "2:16 LG-2026 expected a column name before )"),
        ("INSERT INTO t (a, 'b') VALUES (1, 2);", "2:19 LG-2026 expected a column name"),
        ("INSERT INTO t (a b) VALUES (1);", "2:18 LG-2026 expected a comma or ) before b"),
        ("INSERT INTO t (a, [A]) VALUES (1, 2);", "2:19 LG-2026 duplicate column 'A'"),
        ("INSERT INTO t (${a}) VALUES (1);", "2:16 LG-2026 column ${a} is a variable"),
        ("INSERT INTO t (a", "2:17 LG-2026 expected a comma or ) before the end of the file"),
        ("INSERT INTO t (a) VALUES (1, 2);", "2:26 LG-2025 2 values for 1 column"),
        ("INSERT INTO t (a, b) VALUES (1);", "2:29 LG-2025 1 value for 2 columns"),
        ("INSERT INTO t (a) VALUES ('x", "2:27 LG-2023 not valid SQL: unterminated '"),
        ("INSERT INTO t (a) VALUES (N'x", "2:27 LG-2023 not valid SQL: unterminated N'"),
        ('INSERT INTO "t (a)', '2:13 LG-2023 not valid SQL: unterminated "'),
        ("INSERT INTO [t (a)", "2:13 LG-2023 not valid SQL: unterminated ["),
        ("INSERT INTO [] (a)", "2:13 LG-2023 not valid SQL: empty name"),
        ("/* a /* b */", "2:1 LG-2023 not valid SQL: unterminated comment"),
    ],
)
def test_statements(statement: str, expected: str) -> None:
    assert the_mistake(GOOD + statement).startswith(expected)


OUT = "is not supported: only literals are supported, no expressions"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("(SELECT 1)", "LG-2028 ( is not supported: subqueries and expressions are not supported"),
        ("SELECT 1", f"LG-2028 SELECT {OUT}"),
        ("upper('x')", "LG-2028 upper() is not supported: functions are not supported"),
        ("NEXT VALUE FOR s", f"LG-2028 NEXT {OUT}"),
        ("DEFAULT", f"LG-2028 DEFAULT {OUT}"),
        ("now", f"LG-2028 now {OUT}"),
        ("x", f"LG-2028 x {OUT}"),
        ('"x"', "LG-2028 x is not supported: it is a name; write strings in single quotes"),
        ("E'a\\'b'", "LG-2028 a string is not supported: escape sequences are not supported"),
        ("?", "LG-2028 ? is not supported: parameters are not supported"),
        ("@p", "LG-2028 @ is not supported: parameters are not supported"),
        ("$(x)", "LG-2028 $(x) is not supported: variables are not supported"),
        ("", "LG-2028 ) is not supported: expected a value before it"),
        ("-'1'", f"LG-2028 - {OUT}"),
        ("0x1F", f"LG-2028 0x1F {OUT}"),
        ("1.2.3", f"LG-2028 1.2.3 {OUT}"),
        ("INTERVAL '1 day'", f"LG-2028 INTERVAL {OUT}"),
        ("CASE WHEN 1 THEN 2 END", f"LG-2028 CASE {OUT}"),
        ("CONVERT(int, '1')", "LG-2028 CONVERT() is not supported: functions are not supported"),
        ("NULL()", "LG-2028 NULL() is not supported: functions are not supported"),
        ("CAST", "LG-2028 CAST is not supported: expected ( after CAST"),
        ("1" * 401, "LG-2024 the number is larger than"),
        (f"'{'x' * MAX_VALUE}'", "LG-2024 the value is larger than 1,000,000 characters"),
        ("q'[it's]'", "LG-2023 not valid SQL: q' is not a supported quote"),
        ("$$x$$", "LG-2023 not valid SQL: $$ is not a supported quote"),
    ],
)
def test_values_at_their_place(written: str, expected: str) -> None:
    found = the_mistake(f"INSERT INTO t (v)\nVALUES ({written});")
    assert found.startswith(f"2:9 {expected}")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("'a' || 'b'", f"2:13 LG-2028 || {OUT}"),
        ("'a' + 'b'", f"2:13 LG-2028 + {OUT}"),
        ("'a' 'b'", "2:13 LG-2028 a string is not supported: two strings are not joined"),
        ("1 + 1", f"2:11 LG-2028 + {OUT}"),
        ("1::int IS NULL", f"2:16 LG-2028 IS {OUT}"),
        ("'a'::text LIKE 'b'", f"2:19 LG-2028 LIKE {OUT}"),
        ("'a'::", "2:14 LG-2028 ) is not supported: expected a type"),
        ("'a'::text[]", "2:18 LG-2023 not valid SQL: empty name"),
        ("'it\\'s'", "2:15 LG-2023 not valid SQL: unterminated '"),
        (
            "CAST(upper('a') AS text)",
            "2:14 LG-2028 upper() is not supported: functions are not supported",
        ),
        ("CAST(CAST(1 AS int) AS text)", "2:14 LG-2028 CAST() is not supported: functions are not"),
        ("CAST('a' || 'b' AS text)", f"2:18 LG-2028 || {OUT}; expected AS in CAST"),
        ("CAST(1 AS int + 1)", "2:23 LG-2028 + is not supported: expected ) after CAST"),
        ("getdate() - 1", f"2:19 LG-2028 - {OUT}"),
        ("now('x')", f"2:13 LG-2028 a string {OUT}"),
        ("1, ", "2:12 LG-2028 ) is not supported: expected a value before it"),
    ],
)
def test_values_at_the_place_within(written: str, expected: str) -> None:
    assert the_mistake(f"INSERT INTO t (v)\nVALUES ({written});").startswith(expected)


def test_every_mistake_of_a_file_is_told() -> None:
    content = """\
INSERT INTO t (a, b) VALUES (1, upper('x;')), (1), (CAST(f(2) AS int), 3), (1, 2);
DELETE FROM t WHERE a = ';';
INSERT INTO t VALUES (1)
GO
INSERT INTO t (a) SELECT 1
GO
DROP TABLE t;
INSERT INTO t (a) VALUES (1
"""
    assert [line[:12] for line in mistakes("t.sql", content)] == [
        "1:33 LG-2028",
        "1:47 LG-2025",
        "1:58 LG-2028",
        "2:1 LG-2027 ",
        "3:15 LG-2026",
        "5:19 LG-2027",
        "7:1 LG-2027 ",
        "9:1 LG-2028 ",
    ]


@pytest.mark.parametrize(
    "content",
    [
        "INSERT INTO $(S).t (a) VALUES ('$(Env)-bucket');",
        "INSERT INTO [$(S)].t (a) VALUES ('x'), ('$(Env)');",
        ":setvar Env dev\nINSERT INTO t (a) VALUES ('$(Env)');",
    ],
)
def test_a_text_that_sqlcmd_would_change_is_refused(content: str) -> None:
    assert "LG-2028 a string with $(...) is not supported: sqlcmd would substitute" in the_mistake(
        content
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"INSERT INTO t (a) VALUES ('\xff');", "1:28 LG-2023 not valid SQL: not UTF-8"),
        ("INSERT INTO t (a)\nVALUES ('\x00');", "2:10 LG-2023 not valid SQL: U+0000"),
        ("-- \u202e\n", "1:4 LG-2023 not valid SQL: U+202E RIGHT-TO-LEFT OVERRIDE"),
    ],
)
def test_characters(content: str | bytes, expected: str) -> None:
    assert the_mistake(content).startswith(expected)
