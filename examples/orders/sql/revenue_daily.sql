SELECT
  order_date,
  country,
  count(*) AS orders,
  CAST(sum(amount) AS DECIMAL(22, 2)) AS revenue
FROM silver.orders
GROUP BY order_date, country
