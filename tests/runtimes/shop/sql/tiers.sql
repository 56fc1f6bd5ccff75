SELECT trim(customer) AS customer, ordered_at,
       CASE WHEN amount > 100 THEN 'high' ELSE 'low' END AS tier
FROM bronze.orders;
