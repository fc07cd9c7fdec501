from django.db import models
from django.utils import timezone


class QueuedPurge(models.Model):
    """A purge that was committed with the change that needs it, and that the edge has not accepted yet."""

    items = models.JSONField()
    written_at = models.DateTimeField(default=timezone.now)
    next_at = models.DateTimeField(default=timezone.now)
    """Not to be taken before: while a process holds or sends it, and between attempts."""
    request_id = models.UUIDField(null=True, editable=False)
    """Of the request that it goes in. Those with the same go together, whoever sends them, so that it happens once."""
    failures = models.PositiveIntegerField(default=0)
    last_error = models.TextField(default="", blank=True)
    given_up = models.BooleanField(default=False)

    class Meta:
        app_label = "tidemark"
        db_table = "tidemark_queued_purge"
        indexes = [
            models.Index(fields=["given_up", "next_at"], name="tidemark_due"),
            models.Index(fields=["request_id"], name="tidemark_request"),
        ]

    def __str__(self) -> str:
        return f"{self.pk}: {self.items}"
