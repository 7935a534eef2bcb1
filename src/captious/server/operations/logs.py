"""Structured logs: one JSON object per line on standard error, with time, logger and message."""

from __future__ import annotations

import json
import logging
import logging.config
from datetime import UTC, datetime

from captious.server.local_times import utc_time

_STANDARD_ATTRIBUTES = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}
#: Attributes that Django attaches to records and that are not logged.
_DJANGO_ATTRIBUTES = {"request", "server_time"}


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": utc_time(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{k: v for k, v in vars(record).items() if k not in _STANDARD_ATTRIBUTES and k not in _DJANGO_ATTRIBUTES},
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def configure(level: str = "INFO") -> None:
    """Log to standard error."""
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"lines": {"()": _JsonFormatter}},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
            "root": {"handlers": ["stderr"], "level": "WARNING"},
            "loggers": {
                "captious": {"level": level},
                "django.security.DisallowedHost": {"level": "CRITICAL"},
                "axes": {"level": "ERROR"},
                "waitress.queue": {"level": "ERROR"},
            },
        }
    )
