"""Django's settings, made from ``ServerSettings`` of the folder that ``CAPTIOUS_SERVER_DATA`` names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import dj_database_url

from captious.drawing import ASSETS, DESIGN_FOLDER, SCRIPTS_FOLDER
from captious.errors import ParameterError
from captious_server.settings import DATA_VARIABLE, LONGEST_SUBJECT, SESSION_COOKIE, SQLITE, SQLITE_WAIT, ServerSettings

if not os.environ.get(DATA_VARIABLE):
    raise ParameterError(f"{DATA_VARIABLE} is not set", hint="set it to the data folder of the server")


def sign_in_settings(own: ServerSettings) -> dict[str, Any]:
    """The settings of allauth: sign-up and sign-in, the second step, other sites, and limits."""
    per_address, per_user = f"{own.requests_per_minute}/m/ip", f"{own.requests_per_minute}/m/user"
    has_mail, forms = bool(own.email_url), "captious_server.people.sign_in"
    sites = [
        {
            "provider_id": name,
            "name": site.title,
            "client_id": site.client_id,
            "secret": site.client_secret,
            "settings": {"server_url": site.issuer, "fetch_userinfo": False}
            | ({"scope": ["openid"]} if name == "orcid" else {}),
        }
        for name, site in own.sign_in.items()
    ]
    return {
        "ACCOUNT_ADAPTER": f"{forms}.AccountAdapter",
        "ACCOUNT_CHANGE_EMAIL": True,
        "ACCOUNT_DEFAULT_HTTP_PROTOCOL": "https" if own.https else "http",
        "ACCOUNT_EMAIL_SUBJECT_PREFIX": f"[{own.site_name}] ",
        "ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS": False,
        "ACCOUNT_EMAIL_VERIFICATION": "mandatory" if has_mail else "none",
        "ACCOUNT_FORMS": {
            "change_password": f"{forms}.ChangeForm",
            "login": f"{forms}.SignInForm",
            "reset_password": f"{forms}.LinkForm",
            "reset_password_from_key": f"{forms}.ResetForm",
            "signup": f"{forms}.SignUpForm",
        },
        "ACCOUNT_RATE_LIMITS": {
            **dict.fromkeys(("login", "signup", "reset_password_from_key"), per_address),
            **dict.fromkeys(("change_password", "manage_email", "reauthenticate"), per_user),
            "reset_password": f"{per_address},1/10m/key",
            "confirm_email": "1/10m/key",
            "login_failed": f"{own.wrong_passwords}/{own.lock_minutes}m/key",
        },
        "ACCOUNT_REAUTHENTICATION_METHODS": ("password", "mfa", "code") if has_mail else ("password", "mfa"),
        "ACCOUNT_SESSION_REMEMBER": True,
        "ACCOUNT_SIGNUP_FIELDS": ["username*", "email*" if has_mail else "email", "password1*", "password2*"],
        "MFA_ADAPTER": f"{forms}.SecondStepAdapter",
        "MFA_ALLOW_UNVERIFIED_EMAIL": True,
        "MFA_PASSKEY_LOGIN_ENABLED": True,
        "MFA_RATE_LIMITS": {"webauthn_login": per_address},
        "MFA_RECOVERY_CODES_SHOW_ONCE": True,
        "MFA_SUPPORTED_TYPES": ["totp", "webauthn", "recovery_codes"],
        "MFA_TOTP_TOLERANCE": 1,
        "MFA_TRUST_ENABLED": True,
        "SOCIALACCOUNT_ADAPTER": f"{forms}.OtherSitesAdapter",
        "SOCIALACCOUNT_AUTO_SIGNUP": False,
        "SOCIALACCOUNT_FORMS": {"signup": f"{forms}.OtherSiteSignUpForm"},
        "SOCIALACCOUNT_OPENID_CONNECT_URL_PREFIX": "",
        "SOCIALACCOUNT_PROVIDERS": {
            "github": {"APPS": [site for site in sites if site["provider_id"] == "github"], "OAUTH_PKCE_ENABLED": True},
            "openid_connect": {
                "APPS": [site for site in sites if site["provider_id"] != "github"],
                "OAUTH_PKCE_ENABLED": True,
            },
        },
        "SOCIALACCOUNT_REAUTHENTICATION_REQUIRED": True,
        "SOCIALACCOUNT_UID_MAX_LENGTH": LONGEST_SUBJECT,
        "ACCOUNT_REAUTHENTICATION_REQUIRED": True,
    }


_SERVER_FOLDER = Path(__file__).parent
#: The server's own settings.
CAPTIOUS = ServerSettings.load(Path(os.environ[DATA_VARIABLE]))

SECRET_KEY = CAPTIOUS.secret_key
ALLOWED_HOSTS = [*CAPTIOUS.hosts, "localhost", "127.0.0.1", "[::1]"]  # health checks from this host
ROOT_URLCONF = "captious_server.urls"
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",  # for templates of allauth
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.github",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "captious_server.apps.ServerConfig",
]
MIDDLEWARE = [
    "captious_server.pages.middleware.Unavailable",
    "django.middleware.security.SecurityMiddleware",
    "captious_server.pages.middleware.Headers",
    "captious_server.pages.middleware.Compression",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "captious_server.pages.middleware.TakingTurns",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "captious_server.pages.middleware.Limits",
    "captious_server.pages.middleware.SecondStep",
    "allauth.account.middleware.AccountMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [_SERVER_FOLDER / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "captious_server.pages.middleware.site",
            ]
        },
    }
]


def _database() -> dict[str, Any]:
    if CAPTIOUS.database_url:
        return dict(dj_database_url.parse(CAPTIOUS.database_url))  # many threads would keep as many connections
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(CAPTIOUS.data / SQLITE),
        "OPTIONS": {
            "timeout": SQLITE_WAIT // 1000,
            "transaction_mode": "IMMEDIATE",  # transactions that write take the lock before they read
            "init_command": f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout={SQLITE_WAIT};",
        },
    }


DATABASES = {"default": _database()}

AUTH_USER_MODEL = "captious.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "captious:home"
LOGOUT_REDIRECT_URL = "captious:home"

globals().update(sign_in_settings(CAPTIOUS))

SESSION_COOKIE_NAME = SESSION_COOKIE
CSRF_COOKIE_NAME = "captious_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = CAPTIOUS.https
CSRF_COOKIE_HTTPONLY = True
SECURE_HSTS_SECONDS = 31_536_000 if CAPTIOUS.https else 0
if CAPTIOUS.behind_proxy:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

TIME_ZONE = CAPTIOUS.time_zone
USE_I18N = False
LANGUAGE_CODE = "en"
FORMAT_MODULE_PATH = "captious_server.formats"

STATIC_URL = "/static/"
STATICFILES_DIRS = [(folder, str(ASSETS / folder)) for folder in (SCRIPTS_FOLDER, DESIGN_FOLDER)]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "captious_server.templatetags.captious_pages.DigestStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

FILE_UPLOAD_HANDLERS = ["captious_server.submissions.storage.ToDataFolder"]
DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 500
DATA_UPLOAD_MAX_NUMBER_FILES = 2

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",  # all processes count attempts together
        "LOCATION": "captious_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}
DEFAULT_FROM_EMAIL = CAPTIOUS.email_from
if CAPTIOUS.email_url:
    _mail = urlsplit(CAPTIOUS.email_url)
    EMAIL_HOST = _mail.hostname or "localhost"
    EMAIL_USE_SSL, EMAIL_USE_TLS = _mail.scheme == "smtps", _mail.scheme == "smtp+starttls"
    EMAIL_PORT = _mail.port or {"smtps": 465, "smtp+starttls": 587}.get(_mail.scheme, 25)
    EMAIL_TIMEOUT = 10
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = unquote(_mail.username or ""), unquote(_mail.password or "")
else:
    EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"

LOGGING_CONFIG = None
