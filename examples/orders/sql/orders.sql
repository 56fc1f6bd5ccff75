SELECT
  order_id,
  CAST(ordered_at AS DATE) AS order_date,
  lower(customer_email) AS customer_email,
  upper(country) AS country,
  amount
FROM bronze.orders
