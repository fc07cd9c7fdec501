"""A small Django site, which the tests put behind an edge. Everything that differs between runs is in the environment."""

import os

SECRET_KEY = "only-for-tests"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "songs.urls"
INSTALLED_APPS = ["tidemark.django", "songs"]
MIDDLEWARE = [
    "tidemark.django.middleware",
    "django.middleware.http.ConditionalGetMiddleware",
    # Sets Content-Length: without it the edge stores nothing.
    "django.middleware.common.CommonMiddleware",
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("DATABASE", ":memory:"),
        "ATOMIC_REQUESTS": True,
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIDEMARK_SENDER = os.environ.get("SENDER", "thread")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "loggers": {"tidemark.django": {"handlers": ["console"], "level": "WARNING"}},
}
