SELECT
  carrier,
  trim(name) AS airline
FROM bronze.airlines
