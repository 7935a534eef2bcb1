"""Modules for Hugging Face ``evaluate``: folders that ``evaluate.load`` takes, one for each metric.

captious evaluate-modules DIR
evaluate.load("DIR/captious_cider_d").compute(predictions=[...], references=[[...], ...])
"""

from captious.compat.evaluate_modules.module_files import module_name, write_modules

__all__ = ["module_name", "write_modules"]
