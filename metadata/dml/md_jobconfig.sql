-- What starts a job, and whether it may start at all.
INSERT INTO $(SchemaName).md_jobconfig (job_id, config_name, config_value) VALUES
    (401, 'status#ActiveConfig', 'true'),
    (401, 'trigger#EventBridge', 'opencellid-daily'),
    (401, 'frequency#Type', 'DAILY');
