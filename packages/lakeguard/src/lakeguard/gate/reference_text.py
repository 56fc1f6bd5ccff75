"""The prose of the reference; what can be read off the code stands in ``reference``."""

RULES_INTRODUCTION = """\
# Rules

<!-- Made by: python -m lakeguard.gate.reference rules > docs/rules.md -->

A rule says what good data is. It is one line, written under a column (which it then leaves out)
or under the dataset:

```yaml
columns:
  dep_delay: {type: double, rules: ["range(min=-120, max=2000) fail_if > 0.1%"]}
rules:
  - unique(flight_key)
  - {rule: "not_null(tail_num)", severity: WARN}
  - row_count(min=1)
```

Rules are judged before anything becomes visible. A rule that fails blocks the run; one that
warns is recorded, and the run goes on. All rules are judged, whatever the first one came to.
A rule that cannot be judged (a measure is missing, the column is gone) blocks like one that
fails.
"""

COUNTING = """\
## How rows are counted

- `failed_rows` is always a number of rows.
- NULL passes every rule but those that name it: `not_null`, and `is null` in a condition.
- Bounds are inclusive: `range(x, min=0, max=10)` accepts 0 and 10.
- NaN lies within no bounds and in no relation: it fails `range`, `compare` and `in_set`, and
  makes `mean`, `max` and `sum` fail.
- `unique` counts every row of a group of equal keys, in the table as the publish would leave it.
- Per cent means of all rows in the rule's scope: the new rows, or those of them for which the
  `where` is TRUE, or the rows of the table for `unique`. A share of no rows is 0 %.
- Numbers are compared exactly, but for means, and sums of float and double columns: evidence
  holds them with 12 significant digits, and they are compared at that precision.
- With no row at all every rule about rows passes; `row_count(min=1)` is the rule that does not.
  An aggregate without a single value has nothing to judge, and fails. A share of nothing passes.
- With `by`, all rows of a failing group fail. A group without a value fails.
- `change` and `band` look at what was measured of published versions, and never at the value that
  is judged. Until there is enough of it, `min` and `max` hold, or the rule passes and says why.
  Where the earlier values never differed, a band is still 1 % of their median wide, and one row.
"""

CLAUSES = """\
## Severity and limits

| written | any failing row | more than `warn_if` | more than `fail_if` |
|---|---|---|---|
| nothing, or `severity: FAIL` | fails | | |
| `severity: WARN` | warns | | |
| `warn_if > 0` | | warns | |
| `fail_if > 0.1%` | | | fails |
| `warn_if > 0 fail_if > 0.1%` | | warns | fails |

Limits are the whole truth: a rule with `fail_if` fails only beyond it, a rule with `warn_if`
alone never fails. A `severity:` that says otherwise is refused.

Clauses stand behind the rule in any order, each once:

- `by <column>, …`: each group of rows that are equal in these columns is judged by itself.
- `where <condition>`: only rows for which the condition is TRUE.
- `warn_if <comparison> <number>[%]`, `fail_if <comparison> <number>[%]`: for rules about rows
  `>` or `>=` and a number of rows or per cent; for rules about a value any comparison with it;
  for rules about a share any comparison with a per cent.
- `on_fail block`: the default. `on_fail quarantine`: new rows that fail are
  [set aside](quarantine.md), and the rest is published; it holds no failing row.
- `scope table` or `scope batch`: the table as the publish would leave it, or the new rows alone,
  for those rules that say so below.

A rule with `on_fail quarantine` blocks by its number only where `fail_if` says so, and that is held
against the batch as it came. Without limits it warns where it set rows aside; with `warn_if` alone
it warns beyond it. What a run may set aside at all, a
[QUARANTINE_BUDGET](policies.md#quarantine_budget) says. Only rules that point at single rows can
set aside: not those about sequences, intervals, groups, values or whole datasets, nor one that
names a column which only the load writes, such as `row_hash`.
"""

RESULTS = """\
## What a result says

Every decision keeps a result for each rule; the view `data_quality_results` shows them: what was
found, the sentence that says so, a fingerprint of the rule, and what the rule was given besides its
columns. A rule that is revised has another fingerprint.

Of a rule about rows that failed or warned, up to 20 rows are kept beside it: the key columns of the
load, then the columns that the rule names, as text of at most 100 characters. Values of a column
that carries a tag, of whatever kind and wherever it came from, or that a PII policy is about, are
not told: `***` stands in their place. Rows are drawn after the decision, and within seconds; where
that does not suffice there are fewer, or none, and nothing else changes. Of a rule about groups
they are rows of groups that fail; of `dataset_equal` they are rows that the other dataset lacks:
what that has besides is counted and not shown. A run whose files must be deleted keeps none, and
neither does the adoption of a table.

Of a column that carries a tag a rule about rows does not name the worst value either, and does not
ask for it. But some rules cannot do without: what `max`, `min`, `mean`, `sum`, `quantile`,
`freshness`, `sql_agg` and the like find is their statement, for a whole table or `by` group, and it
is recorded whatever the column carries. Do not ask them of a column whose values nobody may know.
"""

VALUES = """\
## Values

- Numbers: `5`, `-120`, `0.25`, `1e4`.
- Texts: `'EWR'`; a quote inside is doubled, `'it''s'`.
- Dates and times: `'2013-12-31'`, `'2013-12-31T10:00:00Z'`, quoted or bare. A time without a
  zone is UTC. A timestamp needs its time of day; a timestamp_ntz has no zone.
- Lengths of time: `90s`, `15m`, `24h`, `7d`, `2w`, quoted or bare.
- Shares: `95%`.
- `true` and `false`.
- Lists: `['A', 'B']`.

A value takes the type of the column that it is compared with. Where the type is coarser, bounds
move inward: `range(count, min=0.5)` on an integer column is `min=1`; on a `decimal(9,2)` a `max`
of 2.519 is 2.51. A value that the type cannot hold at all is refused.

Columns with odd names stand in backticks: `` `order id` ``.
"""

CONDITIONS = """\
## Conditions

`where`, `sql_row` and `array_elements` hold conditions. A condition compares values: `=` `<>` `<`
`<=` `>` `>=`, `is [not] null`, `[not] in (…)`, `[not] between … and …`, `[not] like '…'`, and the
functions below that are TRUE or FALSE; joined by `and`, `or`, `not` and brackets, at most 20 deep.
It is TRUE, FALSE or NULL as in SQL. What is plainly the same for every row is refused when it is
said: `length(name) >= 0`, `n > 5 and n < 3`, `n % 0 = 1`, and so are bounds that every value keeps.
A rule that is registered stays as it is. There are no subqueries, and no function besides those
below.

What `sql_query` holds is a condition over the aggregates of a group, and not over the values of a
row: what may stand in it is said with that rule. Inside of an aggregate stand values as here.

A value is a column, a field of a struct (`address.city`), a literal, a function, or arithmetic:

- `+` `-` `*` `%` of integers and decimals are exact. They have at most 38 digits; where a value
  needs more, the rule cannot be judged, and blocks.
- `/` is a double. It and `%` are NULL where the divisor is 0. The sign of `%` is that of the
  first.
- With a float or a double on either side everything is reckoned in doubles.
- A value is NULL where a part of it is, but for `coalesce` and `if`.
- In a condition NaN equals NaN and is above every number.
- A number is followed by a blank before a minus: `60 - a`.

Two values can be compared if no digit is lost on the way: of one type, integers and decimals
with each other, float with double, and integers up to `integer` with double; `double(…)` gives
digits up. Of a nested column only `is [not] null` and `size(…)` can be asked.

Every engine counts alike. Whether a text is JSON is no condition, because engines disagree on it:
`json_valid`, `json_keys` and `json_schema` ask it.
"""

PATTERNS = """\
## Patterns

A `regex` matches the whole value, with the part of the pattern language that means the same in
every engine: literal characters, `\\d \\w \\D \\W` (ASCII), classes, `\\t \\n \\r \\f`, `\\x41`,
`\\x{1F600}`, `\\p{Z}`, groups, alternatives, and the quantifiers `* + ? {m} {m,} {m,n}`, greedy
or lazy, up to 1000.

| instead of | write |
|---|---|
| `.` | `[^\\n]`, or `[\\d\\D]` for any character at all |
| `^` `$` `\\A` `\\z` | nothing: the whole value is matched |
| `\\s` | `[ \\t\\n\\x0B\\f\\r]` |
| `(?i)ab` | `[aA][bB]` |
| `(a\\|b)*` | `[ab]*`, or an end: `(a\\|b){0,100}` |
| `(?:[^\\n]*,){12}` | `(?:[^,\\n]*,){12}`: a part that ends where it cannot go on |

Look-around, back-references, named groups, Unicode classes and possessive quantifiers are
refused, and so are shapes on which an engine would hang or overflow its stack.
"""

POLICIES_INTRODUCTION = """\
# Policies

<!-- Made by: python -m lakeguard.gate.reference policies > docs/policies.md -->

A policy is a guarantee of the platform, above every pipeline:

```yaml
policy: no_pii_in_gold
applies_to: gold          # a layer; left out: every layer
domain: aviation          # only datasets of this domain
tag: customer             # only datasets with a column that carries this tag
type: PII
expression: forbid tag:pii unless masked by [sha2]
enforcement: BLOCK        # the default; ALERT warns and goes on
```

Where several of layer, domain and tag are given all must hold; where none is given the policy is
for every dataset. A tag that came down from another dataset counts like a declared one.

A `BLOCK` policy is absolute: there is no waiver, only a new revision of the policy. An `ALERT`
policy that is violated is recorded as a warning in the decision. What needs no data is refused
before the first byte is staged. An inactive policy is listed as not evaluated. A policy that
cannot be read, or not be judged because something is missing, blocks, whatever its enforcement.

An expression is one sentence. Words are read in any case; texts that are not plain words stand in
single quotes, a quote inside is doubled. A rollback is judged by the policies of today on the
evidence of then.
"""

SCHEMA_DIFFERENCES = """\
## Differences of schema

Every run compares the schema that it finds with what is declared, before anything is staged. The
dataset's profile answers each difference; a `SCHEMA` policy outranks it, and what the policy's mode
blocks is blocked. [Changes of schema](schema-changes.md) has every class of difference and what
each profile, and so each mode, says to it.
"""

TRAVELLING_TAGS = """\
## How tags travel

What came from a tagged column carries its tag, through any number of datasets, until a function
that the policy names under `unless masked by`:

- A SQL build is followed column by column. A value carries the tags of every column that it is made
  of: `concat(first, last)` those of both, `count(email)` that of `email`. Columns that only choose
  or order rows (`where`, `join … on`, `group by`) do not count. A function masks what is inside its
  brackets: `sha2(email, 256)` does, `concat(email, sha2(email, 256))` does not. Where a column
  cannot be followed, or is declared and not in the SELECT, it carries the tags of everything that
  is read.
- What a Python build makes of its inputs is not known. There a tag travels to
  columns of the same name, in any case; declare the tag where a column is renamed. A policy sees a
  target's transform likewise: a tag stays with the name of its column.
- Messages and samples of failing rows are stricter: every column that a Python build or a target's
  transform makes counts as tagged with all that was read, and its values are not shown.
- Frames and sources have no inputs: their tags are those that are declared.
- The tags of today count, and those that were declared when a version was made: they stay with the
  version, whether it is read or shown again.
- A column that a run accepts as new carries what came down to it, and brings the policies over its
  tags.
"""

PRIVATE_VALUES = """\
## Values that nobody may know

What is recorded is kept for good, of blocked runs too. So of a column that carries a tag, of
whatever kind, or that a PII policy is about,

- no message of a failed run tells a value;
- samples of failing rows have `***` in its place;
- a rule about rows does not name the worst value;
- the statistics of files, in evidence and in the table's log, count its NULLs and tell no least
  and no greatest value; evidence that does is refused. Where a policy forbids a pattern this holds
  for every column with texts. A load by such a key reads more files: no range leaves one out.

Some things cannot be hidden; do not ask for them where values must not be known:

- A column that partitions a table has its values in the table's log and in evidence.
- The watermark of a load is kept with each version.
- Rules whose own value is the statement record it: `max`, `min`, `mean`, `sum`, `quantile`,
  `freshness`, `sql_agg`; `psi` of numbers and times records some fifty of them. `set_drift`, and
  `psi` of others, keep digests without a salt: who can guess a value can find it.
- Statistics that were written before a column was tagged, or by others before a table was adopted,
  stay as they are until the files are rewritten, and in the evidence of then for good.
- Parquet files hold the rows, and so their least and greatest values, for readers of the table.
"""

WAIVERS = """\
## Waivers

Somebody can answer, for a time, for a rule that fails or an `ALERT` policy that is violated:

```bash
lakeguard waive silver.flights range.dep_delay --until 2027-01-31 \\
    --approver "Ada Lovelace" --reason "late feed, ticket 4711"
lakeguard waivers silver.flights
```

The check then stands in the decision as a warning that says who answers for it, until when and why.
A waiver ends by itself, at most 90 days after it was given, or with
`lakeguard waivers --revoke`. It holds for what the check said when it was given: a rule or policy
with another expression is not waived by it. `BLOCK` policies, and checks that could not be judged,
cannot be waived.
"""
