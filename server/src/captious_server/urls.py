"""The addresses of the site."""

from __future__ import annotations

from allauth.account import views as allauth
from allauth.socialaccount.views import connections, login_cancelled
from allauth.socialaccount.views import signup as signup_with_site
from allauth.usersessions.views import list_usersessions
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from captious_server import api
from captious_server.operations.health import healthz
from captious_server.pages import challenges, drafts, management, submissions, teams

handler400 = "captious_server.pages.middleware.bad_request"
handler403 = "captious_server.pages.middleware.forbidden"
handler404 = "captious_server.pages.middleware.not_found"
handler500 = "captious_server.pages.middleware.server_error"

_challenge_paths = [
    path("", challenges.challenge, name="challenge"),
    path("leaderboard", challenges.leaderboard, name="leaderboard"),
    path("leaderboard.json", challenges.leaderboard_json, name="leaderboard_json"),
    path("leaderboard.csv", challenges.leaderboard_csv, name="leaderboard_csv"),
    path("compare", challenges.compare, name="compare"),
    path("captions", challenges.captions, name="captions"),
    path("captions/<path:image_id>", challenges.caption, name="caption"),
    path("files/<path:name>", challenges.download, name="download"),
    path("logo", challenges.logo, name="logo"),
    path("terms", challenges.terms, name="terms"),
    path("teams", management.teams, name="teams"),
    path("news.atom", challenges.feed, name="news"),
    path("submit", submissions.submit, name="submit"),
    path("template", challenges.template, name="template"),
    path("submissions", submissions.submissions, name="submissions"),
    path("manage", management.manage, name="manage"),
    path("archive.zip", management.archive, name="archive"),
    path("versions", management.versions, name="versions"),
    path("edit", drafts.begin, name="challenge_edit"),
]
_draft_paths = [
    path("", drafts.edit, name="draft"),
    path("files", drafts.upload_file, name="draft_files"),
    path("files/<path:name>", challenges.draft_download, name="draft_file"),
    path("logo", challenges.draft_logo, name="draft_logo"),
    path("preview", drafts.preview, name="draft_preview"),
    path("publish", drafts.publish, name="draft_publish"),
    path("discard", drafts.discard, name="draft_discard"),
]
_submission_paths = [
    path("", submissions.show, name="submission"),
    path("status.json", submissions.status, name="submission_status"),
    path("edit", submissions.edit, name="submission_edit"),
    path("cancel", submissions.cancel, name="submission_cancel"),
    path("choose", submissions.choose, name="submission_choose"),
    path("delete", submissions.delete, name="submission_delete"),
    path("file", submissions.file, name="submission_file"),
    path("scores/<slug:captions>/<slug:references>.csv", submissions.scores, name="submission_scores"),
]
_people_paths = [
    path("account/", teams.account, name="account"),
    path("account/tokens/<int:pk>/revoke", teams.token_revoke, name="token_revoke"),
    path("account/data.json", teams.as_json, name="data_json"),
    path("account/data.zip", teams.as_zip, name="data_zip"),
    path("account/delete", teams.delete, name="account_delete"),
    path("account/mail", teams.mail, name="mail"),
    path("teams/join/<str:token>", teams.team_join, name="team_join"),
    path("teams/<slug:slug>/", teams.team, name="team"),
    path("teams/<slug:slug>/invite", teams.team_invite, name="team_invite"),
    path("teams/<slug:slug>/invitations/<int:pk>/revoke", teams.invitation_revoke, name="invitation_revoke"),
    path("teams/<slug:slug>/members/<int:pk>/remove", teams.team_remove, name="team_remove"),
    path("teams/<slug:slug>/members/<int:pk>/captain", teams.team_captain, name="team_captain"),
    path("teams/<slug:slug>/leave", teams.team_leave, name="team_leave"),
]
_api_paths = [
    path("openapi.json", api.openapi, name="openapi"),
    *api.paths(),
]
_site_paths: list[URLPattern | URLResolver] = [
    path("", challenges.home, name="home"),
    path("healthz", healthz, name="healthz"),
    path("challenges/<slug:slug>/", include(_challenge_paths)),
    path("drafts/", drafts.drafts, name="drafts"),
    path("drafts/<slug:slug>/", include(_draft_paths)),
    path("submissions/<int:pk>/", include(_submission_paths)),
    *_people_paths,
]
#: Pages of allauth, which knows them by these names.
_sign_in_paths = [
    path("sign-up", allauth.signup, name="account_signup"),
    path("sign-in", allauth.login, name="account_login"),
    path("sign-in/confirm", allauth.email_verification_sent, name="account_email_verification_sent"),
    path("sign-in/inactive", allauth.account_inactive, name="account_inactive"),
    path("sign-in/connect", signup_with_site, name="socialaccount_signup"),
    path("sign-in/cancelled", login_cancelled, name="socialaccount_login_cancelled"),
    path("sign-in/with/github", teams.with_provider, {"provider_id": "github"}, name="github_login"),
    path("sign-in/with/github/return", teams.with_provider_return, {"provider_id": "github"}, name="github_callback"),
    path("sign-in/with/<slug:provider_id>", teams.with_provider, name="openid_connect_login"),
    path("sign-in/with/<slug:provider_id>/return", teams.with_provider_return, name="openid_connect_callback"),
    path("sign-out", allauth.logout, name="account_logout"),
    path("account/again/", allauth.reauthenticate, name="account_reauthenticate"),
    path("account/again/mail", allauth.request_reauthentication_code, name="account_request_reauthentication_code"),
    path("account/again/code", allauth.confirm_reauthentication_code, name="account_confirm_reauthentication_code"),
    path("account/address", allauth.email, name="account_email"),
    path("account/address/<str:key>", teams.ConfirmAddress.as_view(), name="account_confirm_email"),
    path("account/password", allauth.password_change, name="account_change_password"),
    path("account/password/set", allauth.password_set, name="account_set_password"),
    path("account/reset", allauth.password_reset, name="account_reset_password"),
    path("account/reset/sent", allauth.password_reset_done, name="account_reset_password_done"),
    path(
        "account/reset/complete",
        allauth.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^account/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[\w-]+)/$",
        teams.Reset.as_view(),
        name="account_reset_password_from_key",
    ),
    path("account/sites", connections, name="socialaccount_connections"),
    path("account/sessions", list_usersessions, name="usersessions_list"),
    path("account/second-step/webauthn/login/", teams.PasskeySignIn.as_view(), name="mfa_login_webauthn"),
    path("account/second-step/", include("allauth.mfa.urls")),
]

urlpatterns = [
    *_sign_in_paths,
    path("", include((_site_paths, "captious"))),
    # required by the administration pages
    path("favicon.ico", RedirectView.as_view(url="/static/captious/favicon.svg")),
    path("api/", api.page, name="api"),
    path("api/v1/", include((_api_paths, "api"))),
    # This view ends tokens, is limited, and writes to the audit log.
    path(
        "admin/password_change/",
        admin.site.admin_view(RedirectView.as_view(pattern_name="account_change_password")),
    ),
    # There is one page to sign in, with a second step. It leads back to ``next``.
    path("admin/login/", RedirectView.as_view(pattern_name="account_login", query_string=True)),
    path("admin/", admin.site.urls),
]
