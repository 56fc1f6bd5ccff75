-- How a source is read. A secret is named, never written: env:NAME, file:PATH or secret://…
INSERT INTO $(SchemaName).md_src_det (source_id, detail_name, detail_value) VALUES
    (101, 'format', 'csv'),
    (101, 'path', 'landing/opencellid'),
    (101, 'delimiter', ','),
    (101, 'token', 'env:OPENCELLID_TOKEN'),
    (101, 'endpoint', 'opencellid.org/ocid/downloads'),
    (102, 'path', 'landing/countries');
