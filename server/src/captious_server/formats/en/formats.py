"""Dates of the administration pages, as pages of the site write them."""

DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i T"
DATETIME_FORMAT = "Y-m-d H:i T"
