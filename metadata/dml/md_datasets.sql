-- The catalogue: business area, layer and name of each dataset, and the zone it lies in.
INSERT INTO $(SchemaName).md_datasets
    (dataset_id, [database], [schema], table_name, target_id, status) VALUES
    (301, 'telecom', 'BRONZE', 'OpenCellID Cells', 201, 'ACTIVE'),
    (302, 'reference', 'BRONZE', 'Countries', NULL, 'ACTIVE');
