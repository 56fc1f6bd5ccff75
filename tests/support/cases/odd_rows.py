"""Rows of every loadable table whose values are all written in other ways than ours."""

from __future__ import annotations

Rows = list[dict[str, str]]

BEFORE: dict[str, Rows] = {
    "dataset_registry": [
        {"dataset_id": "9", "dataset_name": "gold.sums", "domain": "shop", "owner": "sales"}
    ]
}
"""What the others rename."""

ODD: dict[str, Rows] = {
    "schema_compatibility_rules": [
        {
            "profile_name": "Careful Ones",
            "allow_column_drop": "n",
            "allow_type_widen": "Yes",
            "allow_type_narrow": "0",
            "allow_nullable_change": "t",
            "auto_add_columns": "DISABLED",
            "description": " spaced ",
            "active": "Enabled",
            "reactions": '{"widen":   "BLOCK"}',
        }
    ],
    "dq_rule_catalog": [
        {
            "rule_name": "Within Bounds",
            "rule_expression": " range({column}, min={low}) ",
            "severity": "Error",
            "description": "bounds",
            "active": "1",
        }
    ],
    "policy_rules": [
        {
            "policy_id": "No PII",
            "applies_to_layer": "GOLD",
            "policy_type": "pii",
            "policy_expression": "FORBID   tag:pii",
            "enforcement": "block",
            "active": "yes",
            "applies_to_domain": " shop",
            "applies_to_tag": "PII",
            "external_id": "P-1",
        }
    ],
    "md_src_ctrl": [
        {
            "source_id": "crm",
            "source_name": "CRM Export",
            "enabled": "ACTIVE",
            "description": "from the CRM ",
            "owner": " sales",
            "external_id": "X-17",
        }
    ],
    "source_systems": [
        {
            "source_system_id": "CRM-1",
            "source_name": "Crm  Export",
            "system_name": "The CRM",
            "source_type": "CSV",
            "active": "t",
            "secret_name": "env:CRM_SECRET",
            "secret_reference": "secret://crm",
            "default_database": "Sales",
            "business_owner": "Ann",
            "technical_owner": "Bob",
            "escalation_list": "a@example.com",
            "owner": "sales",
            "description": "from the CRM",
            "path": "in/*.csv",
            "external_id": " X-17",
        }
    ],
    "md_src_det": [
        {"source_id": "CRM-1", "detail_name": "Format", "detail_value": "Csv"},
        {"source_id": "crm", "detail_name": "PATH", "detail_value": " in/*.csv"},
        {"source_id": "crm", "detail_name": "Malformed", "detail_value": "REFUSE"},
        {"source_id": "crm", "detail_name": "landing", "detail_value": "y"},
        {"source_id": "crm", "detail_name": "header", "detail_value": "Customer ID#, Amount"},
        {"source_id": "crm", "detail_name": "delimiter", "detail_value": ";"},
        {"source_id": "crm", "detail_name": "detail.Team", "detail_value": "Blue"},
        {"source_id": "crm", "detail_name": "secret.token", "detail_value": "env:TOKEN"},
    ],
    "md_tgt_ctrl": [
        {
            "target_id": "T1",
            "location": " lake/raw",
            "target_type": "Data Lake",
            "zone": "RAW Zone",
            "status": "enabled",
            "target_name": "Raw-Zone",
            "description": "what arrives ",
            "external_id": "tgt-1",
        }
    ],
    "md_tgt_det": [
        {"target_id": "T1", "detail_name": "FORMAT", "detail_value": "Delta"},
        {"target_id": "raw_zone", "detail_name": "Partition_By", "detail_value": "amount"},
        {"target_id": "T1", "detail_name": "detail.note", "detail_value": " as is "},
    ],
    "md_src_tgt_ctrl": [
        {
            "source_id": "CRM-1",
            "target_id": "T1",
            "relationship_type": "Full Ingestion",
            "description": " both ",
            "enabled": "Y",
        }
    ],
    "source_objects": [
        {
            "source_object_id": "customers",
            "source_system_id": "crm",
            "object_name": "Customers",
            "layer": "Bronze",
            "load_type": "hybrid",
            "hash_strategy": "row_hash",
            "business_keys": "Customer ID#",
            "watermark_column": "Amount",
            "schema_compat_profile": "CAREFUL ONES",
            "dq_enabled": "y",
            "dq_fail_behavior": "Warning",
            "active": "T",
            "owner": "sales ",
            "business_owner": "Ann",
            "technical_owner": "Bob",
            "domain": " shop",
            "description": "Customers",
            "dataset_id": "41",
            "dataset_name": "BRONZE.Customers",
            "target_id": "raw_zone",
            "profiling_enabled": "N",
            "quarantine_path": "bad/",
            "partition_by": "[ ]",
            "external_id": "O-7",
        }
    ],
    "source_object_columns": [
        {
            "source_object_id": "customers",
            "column_name": "Customer ID#",
            "ordinal_position": "010",
            "data_type": "VARCHAR(10)",
            "is_nullable": "0",
            "dq_rule_set": ' [{"rule": "MAX_LENGTH", "max": 20}] ',
            "dq_severity": "error",
            "active": "yes",
            "clean_name": " customer_id ",
            "tags": "pii",
            "description": " the key",
            "source_nullable": "f",
            "origin": "Declared",
            "widened_from": "",
            "derived_from": "",
            "reason": "",
            "clean": "",
        },
        {
            "source_object_id": "customers",
            "column_name": "Amount",
            "ordinal_position": "20",
            "data_type": "Double Precision",
            "is_nullable": "Y",
            "widened_from": "FLOAT4",
            "origin": "drift",
        },
    ],
    "md_datasets": [
        {
            "dataset_id": "41",
            "database": " shop",
            "schema": "BRONZE",
            "table_name": "CUSTOMERS",
            "target_id": "raw_zone",
            "status": "Active",
            "dataset_name": "Customers",
            "external_id": " 41 ",
        }
    ],
    "dataset_registry": [
        {
            "dataset_id": "customers_clean",
            "dataset_name": "Customers-Clean",
            "domain": " shop ",
            "layer": "SILVER",
            "owner": " sales",
            "description": "clean ",
            "active": "ENABLED",
            "external_id": "D-2",
            "parents": "bronze.customers",
            "build_type": "SQL",
            "sql_file": " sql/clean.sql",
            "sql_text": "select customer_id, amount from bronze.customers",
            "load_type": "full",
            "hash_strategy": "NONE",
            "business_keys": "",
            "watermark_column": "",
            "partition_by": "[]",
            "load_settings": '{"skip_unchanged": "No"}',
            "schema_compat_profile": "Strict",
            "target_id": "T1",
            "columns": '[{"type": "varchar(10)", "name": "customer_id"},'
            ' {"name": "amount", "type": "double"}]',
            "details": '{ "team":  "blue" }',
            "leave_out": "[]",
            "profile_every": " 1d",
            "status": "ACTIVE",
        },
        {
            "dataset_id": "9",
            "dataset_name": "gold.Totals",
            "domain": "shop",
            "layer": "Gold",
            "renamed_from": " gold.sums",
            "owner": "sales",
            "parents": '[ "silver.customers_clean" ]',
            "python_file": " python/totals.py",
            "python_function": " build",
            "python_sha256": " " + "a" * 64,
            "columns": '[{"name": "total", "type": "DOUBLE"}]',
        },
    ],
    "quality_rules": [
        {
            "rule_id": "QR-1",
            "dataset_id": "customers_clean",
            "layer": "Silver",
            "rule_type": "RANGE_CHECK",
            "rule_expression": "amount between 0 and 10",
            "severity": "Warning",
            "active": "1",
            "dataset_name": "silver.customers_clean",
            "column_name": "",
            "external_id": "QR-1",
        },
        {
            "rule_id": "7",
            "dataset_id": "silver.customers_clean",
            "layer": "SILVER",
            "rule_type": "not_null",
            "rule_expression": "",
            "severity": "ERROR",
            "active": "TRUE",
            "column_name": "customer_id",
        },
        {
            "dataset_id": "41",
            "rule_type": "MAX_LENGTH",
            "rule_expression": "customer_id, max=20",
            "severity": "Error",
        },
    ],
    "md_jobs": [
        {
            "job_id": "J1",
            "job_name": "Nightly Load",
            "description": " every night",
            "owner": "ops ",
            "job_type": "BUILD",
            "status": "1",
            "dataset_id": "9",
            "dataset_name": " gold.totals",
            "title": " Nightly",
            "external_id": "job-1",
        }
    ],
    "md_jobs_det": [{"job_id": "J1", "detail_name": " bucket", "detail_value": " raw "}],
    "md_jobconfig": [
        {"job_id": "J1", "config_name": "config.team#Owner", "config_value": " Ops "},
        {"job_id": "nightly_load", "config_name": "status#ActiveConfig", "config_value": "Y"},
    ],
}
