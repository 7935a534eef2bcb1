"""The administration pages: accounts, teams, and the audit log.

Administrators activate accounts, create password reset links, turn off the second step, and delete accounts.
"""

from __future__ import annotations

import json
from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from captious_server.actions.accounts import delete_account, why_not_deleted
from captious_server.models import AuditEvent, Challenge, Membership, Participant, Submission, Team, User
from captious_server.people.access import UserRequest
from captious_server.people.accounts import record
from captious_server.people.sign_in import AdministratorsForm, turn_off

admin.site.site_header = admin.site.site_title = "Administration"
admin.site.index_title = "Accounts, teams, submissions"
admin.site.enable_nav_sidebar = False  # would repeat the lists of the first page
admin.site.unregister(Group)  # roles come from challenges and teams
# Users change these on their own pages.
admin.site.unregister([EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken, UserSession])

#: Scripts that others depend on, in this order.
_JQUERY = ("vendor/jquery/jquery.min", "jquery.init")


def _deferred_scripts(*names: str) -> forms.Media:
    """Scripts of Django's pages, which are drawn before they run."""
    # The stubs know scripts by their paths only.
    return forms.Media(js=[forms.Script(f"admin/js/{name}.js", defer=True) for name in (*_JQUERY, *names)])  # type: ignore[misc]


class _AuditedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs alone
    """Additions, changes and deletions here are also written to the audit log."""

    @property
    def media(self) -> forms.Media:
        """Without the 50 kB of scripts that fill in one field from another, which these pages do not need."""
        return _deferred_scripts("core", "admin/RelatedObjectLookups", "actions")

    def log_addition(self, request: HttpRequest, obj: models.Model, message: Any) -> Any:
        _record("add", obj, request, message)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: models.Model, message: Any) -> Any:
        _record("change", obj, request, message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for obj in queryset:
            _record("delete", obj, request, "")
        return super().log_deletions(request, queryset)


def _record(action: str, obj: models.Model, request: HttpRequest, message: Any) -> None:
    entry = LogEntry(change_message=message if isinstance(message, str) else json.dumps(message))
    record(f"{action} {obj._meta.verbose_name}", str(obj), request=request, detail=entry.get_change_message())


@admin.register(User)
class _Users(_AuditedAdmin, UserAdmin):  # type: ignore[type-arg]  # generic in the stubs alone
    list_display = ("username", "email", "is_active", "is_superuser", "date_joined", "last_login")
    list_filter = ("is_active", "is_superuser")
    readonly_fields = ("last_login", "date_joined")
    # Parts of Django's multi-selects and inline forms have no accessible names.
    filter_horizontal = ()
    change_password_form = AdministratorsForm
    actions = ("activate", "deactivate", "reset_link", "reset_second_step")

    @admin.action(description="Activate the selected accounts", permissions=["change"])
    def activate(self, request: HttpRequest, users: QuerySet[User]) -> None:
        _set_active(request, users, True)

    @admin.action(description="Deactivate the selected accounts", permissions=["change"])
    def deactivate(self, request: UserRequest, users: QuerySet[User]) -> None:
        _set_active(request, users.exclude(pk=request.user.pk), False)

    @admin.action(description="Create password reset links", permissions=["superuser"])
    def reset_link(self, request: HttpRequest, users: QuerySet[User]) -> None:
        for user in users:
            key = [user_pk_to_url_str(user), default_token_generator.make_token(user)]
            address = reverse("account_reset_password_from_key", args=key)
            record("make reset link", user.username, request=request)
            messages.info(request, f"Send this link to {user.username}: {request.build_absolute_uri(address)}")

    @admin.action(description="Turn off the second sign-in step", permissions=["superuser"])
    def reset_second_step(self, request: HttpRequest, users: QuerySet[User]) -> None:
        for user in users.exclude(authenticator=None):
            turn_off(user)
            record("turn off second step", user.username, request=request)

    def has_superuser_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may use actions that allow signing in as others."""
        return bool(request.user.is_superuser)

    def save_model(self, request: HttpRequest, user: User, form: forms.ModelForm[User], change: bool) -> None:
        """Save a user. A former address opens the account no more: its owner may have lost it."""
        super().save_model(request, user, form, change)
        if "email" in form.changed_data:
            EmailAddress.objects.filter(user=user).exclude(email=user.email.lower()).delete()

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Do not log deletions in advance: some objects may be refused."""
        return []

    def get_deleted_objects(self, users: Any, request: HttpRequest) -> tuple[list[str], dict[str, int], set[str], Any]:
        """List what a deletion removes; accounts that cannot be deleted now are not offered."""
        reasons = [reason for user in users if (reason := why_not_deleted(user))]
        return [f"{user.username}, as users delete their own accounts" for user in users], {}, set(), reasons

    def delete_model(self, request: HttpRequest, user: User) -> None:
        record("delete user", delete_account(user).name, request=request)

    def delete_queryset(self, request: HttpRequest, users: QuerySet[User]) -> None:
        for user in users:
            if reason := why_not_deleted(user):  # others were deleted before it
                messages.error(request, reason)
            else:
                self.delete_model(request, user)


def _set_active(request: HttpRequest, users: QuerySet[User], active: bool) -> None:
    for user in users:
        User.objects.filter(pk=user.pk).update(is_active=active)
        record("activate" if active else "deactivate", user.username, request=request)


class _Inline(admin.StackedInline):  # type: ignore[type-arg]  # generic in the stubs alone
    @property
    def media(self) -> forms.Media:
        return _deferred_scripts("inlines")


class _Members(_Inline):
    model = Membership
    extra = 0


@admin.register(Team)
class _Teams(_AuditedAdmin):
    list_display = ("name", "is_personal", "created")
    search_fields = ("name",)
    inlines = (_Members,)


class _Participants(_Inline):
    model = Participant
    extra = 0


class _ReadOnly(_AuditedAdmin):
    """Read-only pages of objects that are changed elsewhere, where all rules are applied."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


@admin.register(Challenge)
class _Challenges(_ReadOnly):
    list_display = ("slug", "title", "access", "version", "loaded")
    inlines = (_Participants,)


@admin.register(Submission)
class _Submissions(_ReadOnly):
    exclude = ("folder_name",)  # hides the path of the file
    list_display = ("id", "method", "team", "phase", "status", "created", "worker", "tries")
    list_filter = ("status", "phase__challenge")
    search_fields = ("method", "team__name")
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}


@admin.register(AuditEvent)
class _Events(_ReadOnly):
    list_display = ("time", "actor", "action", "target", "address", "detail")
    search_fields = ("actor", "target", "action")
