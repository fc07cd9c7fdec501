import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies: list[tuple[str, str]] = []

    operations = [
        migrations.CreateModel(
            name="QueuedPurge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("items", models.JSONField()),
                ("written_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("next_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("request_id", models.UUIDField(editable=False, null=True)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("last_error", models.TextField(blank=True, default="")),
                ("given_up", models.BooleanField(default=False)),
            ],
            options={
                "db_table": "tidemark_queued_purge",
                "indexes": [
                    models.Index(fields=["given_up", "next_at"], name="tidemark_due"),
                    models.Index(fields=["request_id"], name="tidemark_request"),
                ],
            },
        ),
    ]
