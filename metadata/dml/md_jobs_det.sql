-- What a job needs to know when it runs.
INSERT INTO $(SchemaName).md_jobs_det (job_id, detail_name, detail_value) VALUES
    (401, 'file_name', 'cell_towers.csv'),
    (401, 'expected_header', 'radio,mcc,net,area,cell,lon,lat,range,samples');
