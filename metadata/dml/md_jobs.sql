-- Workloads, each of at most one dataset.
INSERT INTO $(SchemaName).md_jobs
    (job_id, job_name, description, owner, job_type, status, dataset_id) VALUES
    (401, 'Load OpenCellID', 'Lands the daily export.', 'network-team', 'INGEST', 'ENABLED', 301);
