from django.apps import AppConfig
from django.core.checks import Tags, register


class TidemarkConfig(AppConfig):
    name = "tidemark.django"
    label = "tidemark"
    verbose_name = "Tidemark"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import changes, checks

        changes.connect_deletes()
        register(checks.settings_are_complete, Tags.caches)
        register(checks.saves_are_atomic, Tags.models)
        register(checks.relations_purge, Tags.models)
        register(checks.parents_purge, Tags.models)
        register(checks.sqlite_writers_wait, Tags.caches)
        register(checks.no_cache_keeps_pages, Tags.caches)
