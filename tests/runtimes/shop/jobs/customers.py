from pyspark.sql import functions as F

from openlaketx import run

LETTERS = 3


def build(spark, inputs):
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    inputs["silver.orders"].createOrReplaceTempView("mine")
    spelled = F.udf(lambda name: "-".join(name[:LETTERS]), "string")
    orders = spark.sql("""
        SELECT customer, sort_array(collect_list(struct(order_id, amount, due))) AS orders,
               max_by(struct(order_id, weight), ordered_at) AS latest,
               string(max(ordered_at)) AS shown
        FROM mine GROUP BY customer""")
    tiers = inputs["silver.tiers"].groupBy(F.upper("customer").alias("customer"))
    held = tiers.agg(
        F.map_from_entries(
            F.sort_array(
                F.collect_list(F.struct(F.concat_ws(" ", "tier", "ordered_at"), "valid_from"))
            )
        ).alias("tiers")
    )
    run.note({"letters": LETTERS})
    reported = F.concat_ws(" ", spelled("customer"), "shown").alias("spelled")
    return orders.join(held, "customer").select("customer", "orders", "tiers", "latest", reported)
