"""The addresses of the site."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path
from django.views.generic import RedirectView

from captious_server import api
from captious_server.api import challenges as api_challenges
from captious_server.api import teams as api_teams
from captious_server.operations.health import healthz
from captious_server.pages import accounts, challenges, drafts, management, submissions, teams

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
    path("sign-up", teams.sign_up, name="sign_up"),
    path("sign-in", accounts.SignIn.as_view(), name="sign_in"),
    path("sign-in/code", accounts.code, name="sign_in_code"),
    path("sign-in/with/<slug:name>", accounts.with_provider, name="sign_in_with"),
    path("sign-in/with/<slug:name>/return", accounts.with_provider_return, name="sign_in_with_return"),
    path("sign-in/connect", accounts.connect, name="sign_in_connect"),
    path("sign-out", auth.LogoutView.as_view(), name="sign_out"),
    path("account/", teams.account, name="account"),
    path("account/tokens/<int:pk>/revoke", teams.token_revoke, name="token_revoke"),
    path("account/second-step", accounts.second_step, name="second_step"),
    path("account/identities/<int:pk>/disconnect", accounts.disconnect, name="disconnect"),
    path("account/data.json", teams.as_json, name="data_json"),
    path("account/data.zip", teams.as_zip, name="data_zip"),
    path("account/delete", teams.delete, name="account_delete"),
    path("account/mail", accounts.mail, name="mail"),
    path("account/email/<str:token>", accounts.confirm, name="email_confirm"),
    path("account/password", teams.ChangePassword.as_view(), name="password_change"),
    path("account/reset", teams.ResetPassword.as_view(), name="password_reset"),
    path(
        "account/reset/sent",
        auth.PasswordResetDoneView.as_view(template_name="captious/password_reset_done.html"),
        name="password_reset_done",
    ),
    path("account/reset/<uidb64>/<token>/", teams.SetPassword.as_view(), name="password_reset_confirm"),
    path(
        "account/reset/complete",
        auth.PasswordResetCompleteView.as_view(template_name="captious/password_reset_complete.html"),
        name="password_reset_complete",
    ),
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
    path("challenges", api_challenges.challenges),
    path("challenges/<slug:slug>", api_challenges.challenge),
    path("challenges/<slug:slug>/leaderboard", api_challenges.leaderboard),
    path("challenges/<slug:slug>/compare", api_challenges.compare),
    path("challenges/<slug:slug>/files", api_challenges.files),
    path("challenges/<slug:slug>/template", api_challenges.template),
    path("challenges/<slug:slug>/terms", api_challenges.terms),
    path("challenges/<slug:slug>/quotas", api_challenges.quotas),
    path("challenges/<slug:slug>/refused", api_challenges.refused),
    path("challenges/<slug:slug>/teams", api_challenges.approvals),
    path("challenges/<slug:slug>/teams/<slug:team>", api_challenges.decide),
    path("challenges/<slug:slug>/webhooks", api_challenges.webhooks),
    path("challenges/<slug:slug>/webhooks/<int:pk>/test", api_challenges.test_webhook),
    path("challenges/<slug:slug>/webhooks/<int:pk>/delete", api_challenges.delete_webhook),
    path("challenges/<slug:slug>/archive", api_challenges.archive),
    path("challenges/<slug:slug>/submissions", api_challenges.submissions),
    path("submissions/<int:pk>", api_challenges.submission),
    path("submissions/<int:pk>/file", api_challenges.file),
    path("submissions/<int:pk>/scores", api_challenges.scores),
    path("submissions/<int:pk>/edit", api_challenges.edit),
    path("submissions/<int:pk>/delete", api_challenges.delete),
    path("submissions/<int:pk>/cancel", api_challenges.cancel),
    path("submissions/<int:pk>/choose", api_challenges.choose),
    path("teams", api_teams.teams),
    path("join", api_teams.join),
    path("teams/<slug:team>", api_teams.team),
    path("teams/<slug:team>/invite", api_teams.invite),
    path("teams/<slug:team>/invitations/<int:pk>/revoke", api_teams.revoke),
    path("teams/<slug:team>/leave", api_teams.leave),
    path("teams/<slug:team>/remove", api_teams.remove),
    path("teams/<slug:team>/captain", api_teams.captain),
    path("metrics", api_challenges.metrics),
]
_site_paths = [
    path("", challenges.home, name="home"),
    path("healthz", healthz, name="healthz"),
    path("challenges/<slug:slug>/", include(_challenge_paths)),
    path("drafts/", drafts.drafts, name="drafts"),
    path("drafts/<slug:slug>/", include(_draft_paths)),
    path("submissions/<int:pk>/", include(_submission_paths)),
    *_people_paths,
]

urlpatterns = [
    path("", include((_site_paths, "captious"))),
    # required by the administration pages
    path("favicon.ico", RedirectView.as_view(url="/static/captious/favicon.svg")),
    path("api/", api.page, name="api"),
    path("api/v1/", include((_api_paths, "api"))),
    # This view ends tokens, is limited, and writes to the audit log.
    path(
        "admin/password_change/",
        admin.site.admin_view(RedirectView.as_view(pattern_name="captious:password_change")),
    ),
    # There is one page to sign in, with a second step. It leads back to ``next``.
    path("admin/login/", RedirectView.as_view(pattern_name="captious:sign_in", query_string=True)),
    path("admin/", admin.site.urls),
]
