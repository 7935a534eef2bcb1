"""The second step of signing in: codes that an app computes from a secret and the time (RFC 6238), and recovery codes.

The secret is not stored: it is computed from a random salt in the database and the key of the server, so that a copy of
the database is not enough to make codes. Of recovery codes, only hashes are kept.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import time
from datetime import timedelta

import pyotp
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import salted_hmac

from captious.server.models import KnownDevice, RecoveryCode, User
from captious.server.people.access import may_create

_STEP_SECONDS = 30  # seconds for which a code is shown
_STEP_TOLERANCE = 1  # accepted time steps before and after now: clocks differ, and people type slowly
_N_RECOVERY_CODES = 10
_MAX_DEVICES = 10  # known devices of a user; the latest are kept
_CODE_PATTERN = re.compile(r"[0-9]{6}|[a-z2-7]{16}")


def new_salt() -> str:
    """A random salt, from which a new secret is derived."""
    return secrets.token_urlsafe(20)


def secret_of(salt: str) -> str:
    """The secret that belongs to a salt, in base 32: 160 bits."""
    return base64.b32encode(salted_hmac("captious.totp", salt, algorithm="sha1").digest()).decode()


def setup_uri(user: User, salt: str) -> str:
    """The URI in the QR code that sets up an app."""
    totp = pyotp.TOTP(secret_of(salt))
    return str(totp.provisioning_uri(name=user.username, issuer_name=settings.CAPTIOUS.site_name))


def is_missing(user: User) -> bool:
    """Return whether the settings require a second step that a user has not set up."""
    audience = settings.CAPTIOUS.second_step_for
    if audience == "nobody" or not user.is_authenticated or user.totp_salt:
        return False
    manages = user.is_staff or user.is_superuser or may_create(user) or user.organized.exists()
    return bool(audience == "everybody" or manages)


@transaction.atomic
def turn_on(user: User, salt: str, code: str) -> list[str]:
    """Turn on the second step; return its recovery codes, which cannot be shown again. Empty if the code is wrong."""
    step = _time_step(salt, code, after=0)
    rows = User.objects.filter(pk=user.pk, totp_salt="")  # another page may have set one up in the meantime
    if step is None or not rows.update(totp_salt=salt, totp_used=step, wrong_codes=0, wrong_code_time=None):
        return []
    KnownDevice.objects.filter(user=user).delete()
    return new_recovery_codes(user)


@transaction.atomic
def turn_off(user: User) -> None:
    """Let a user sign in without a second step. All sessions of the account end."""
    User.objects.filter(pk=user.pk).update(totp_salt="", totp_used=0, wrong_codes=0, wrong_code_time=None)
    RecoveryCode.objects.filter(user=user).delete()
    KnownDevice.objects.filter(user=user).delete()


@transaction.atomic
def new_recovery_codes(user: User) -> list[str]:
    """New recovery codes in place of the old ones: 80 random bits each, for which one round of SHA-256 suffices."""
    codes = [base64.b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(_N_RECOVERY_CODES)]
    RecoveryCode.objects.filter(user=user).delete()
    RecoveryCode.objects.bulk_create([RecoveryCode(user=user, hash=_hash(code)) for code in codes])
    return ["-".join(code[i : i + 4] for i in range(0, 16, 4)) for code in codes]


@transaction.atomic
def refusal(user: User, code: str, device: str = "") -> str:
    """Use a code or a recovery code of a user. Each works once.

    After ``wrong_passwords`` wrong codes, one more is checked every ``lock_minutes``, whatever address they come from:
    the sender knows the password, and may have many addresses. Known devices are counted separately, so
    that the owner can still sign in on them. Recovery codes are too long to be guessed, and always checked.

    Args:
        device: the secret of a browser, see ``know_device``; empty if it has none.

    Returns:
        The reason of a refusal, one or two sentences; empty if the code is right.
    """
    code = _normalized(code)
    row = User.objects.select_for_update().get(pk=user.pk)
    if not row.totp_salt:
        return "This account has no second step."
    known_device = (
        KnownDevice.objects.select_for_update().filter(user=row, hash=_hash(device)).first() if device else None
    )
    counter: User | KnownDevice = known_device or row
    rows = type(counter).objects.filter(pk=counter.pk)
    if RecoveryCode.objects.filter(user=row, hash=_hash(code)).delete()[0]:
        rows.update(wrong_codes=0)
        return ""
    wait, now = timedelta(minutes=settings.CAPTIOUS.lock_minutes), timezone.now()
    if counter.wrong_codes >= settings.CAPTIOUS.wrong_passwords and now < counter.wrong_code_time + wait:
        return f"There were too many wrong codes. Try again in {settings.CAPTIOUS.lock_minutes} minutes."
    step = _time_step(row.totp_salt, code, after=row.totp_used)
    if step is None:
        rows.update(wrong_codes=F("wrong_codes") + 1, wrong_code_time=now)
        return "This code is wrong or has been used. Wait for the next one."
    rows.update(wrong_codes=0)
    User.objects.filter(pk=row.pk).update(totp_used=step)
    return ""


@transaction.atomic
def know_device(user: User, device: str) -> str:
    """Remember a browser in which a user has entered a right code.

    Args:
        device: the secret that it has; empty if it has none.

    Returns:
        The secret that it keeps: another one, unless the user has entered a code there before.
    """
    now = timezone.now()
    devices = KnownDevice.objects.filter(user=user)
    if not device or not devices.filter(hash=_hash(device)).update(used=now):
        device = secrets.token_urlsafe(32)
        KnownDevice.objects.create(user=user, hash=_hash(device), used=now)
    latest = devices.order_by("-used", "-pk").values_list("pk", flat=True)[:_MAX_DEVICES]
    devices.exclude(pk__in=[*latest]).delete()
    return device


def is_code(text: str) -> bool:
    """Return whether a text has the form of a code of an app, or of a recovery code."""
    return _CODE_PATTERN.fullmatch(_normalized(text)) is not None


def _normalized(text: str) -> str:
    """A code as it is compared, without what makes it easier to read."""
    return "".join(text.split()).replace("-", "").lower()


def _time_step(salt: str, code: str, *, after: int) -> int | None:
    """The time step of a code after another time step; None if there is none."""
    totp, now = pyotp.TOTP(secret_of(salt)), int(time.time()) // _STEP_SECONDS
    for step in range(now - _STEP_TOLERANCE, now + _STEP_TOLERANCE + 1):
        if step > after and hmac.compare_digest(totp.generate_otp(step).encode(), code.encode()):
            return step
    return None


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()
