"""One definition of every kind that refers to every other, as files and as they are read."""

from __future__ import annotations

TARGET = """\
target: raw_zone
location: zones/raw
zone: raw
type: folder
format: delta
partition_by: [country]
transform: select *, upper(country) as country_code from batch
sources:
  - {source: crm, relationship: ingestion, description: All of it, active: true}
description: Where raw things lie
details: {retention_days: 30, compressed: true}
external_id: "17"
"""
CRM = """\
source: crm
format: csv
path: exports
owner: crm-team
description: The CRM's exports
details: {user: reader, password: "env:CRM_PASSWORD"}
external_id: SRC-9
"""
CUSTOMERS = """\
dataset: bronze.customers
owner: sales
domain: shop
source: {name: crm, object: customers/*.csv, external_id: OBJ-1}
target: raw_zone
schema: {profile: Lenient}
load: {type: INCREMENTAL, keys: [id], hash: ROW_HASH, watermark: seen_at, partition_by: [country]}
columns:
  id: {type: long}
  country: {type: string}
  seen_at: {type: timestamp}
details: {batch_size: 500}
external_id: "42"
"""
JOB = """\
job: load_customers
title: Load customers
dataset: bronze.customers
owner: sales
description: Every night
type: build
details: {cores: 4}
config:
  trigger#EventBridge: nightly
  status#ActiveConfig: true
  schedule: 0 2 * * *
external_id: J-1
"""
PROFILE = "profile: lenient\nallow_column_drop: true\ndescription: Columns may go\n"
RULE = """\
rule: in_bounds
expression: range({column}, min={low}, max={high})
severity: WARN
description: A number between two others
"""
CLEAN = """\
dataset: silver.customers
owner: sales
domain: shop
parents: [bronze.customers]
build: {python: jobs/clean.py:customers}
columns:
  id: {type: long}
"""
UPLOADS = """\
dataset: bronze.uploads
owner: sales
domain: shop
build: frame
columns:
  id: {type: long}
"""
CODE = "def customers(spark, inputs):\n    return inputs['bronze.customers'].select('id')\n"
EVERY_KIND = {
    "definitions/targets/raw_zone.yaml": TARGET,
    "definitions/sources/crm.yaml": CRM,
    "definitions/bronze/customers.yaml": CUSTOMERS,
    "definitions/jobs/load_customers.yaml": JOB,
    "definitions/profiles/lenient.yaml": PROFILE,
    "definitions/rules/in_bounds.yaml": RULE,
    "definitions/policies/no_pii.yaml": (
        "policy: no_pii\napplies_to: gold\ntype: PII\nexpression: forbid tag:pii\n"
    ),
}
MORE_BUILDS = {
    "definitions/bronze/uploads.yaml": UPLOADS,
    "definitions/silver/customers.yaml": CLEAN,
    "jobs/clean.py": CODE,
}
"""Beside ``EVERY_KIND``: what Python builds, and what a program brings."""
