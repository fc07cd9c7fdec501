"""What tidemark.django does when something else than the edge fails: run by test/backends/django.test.ts."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import closing, suppress
from datetime import timedelta
from io import StringIO
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import patch

from asgiref.sync import sync_to_async
from django.core.management import CommandError, call_command
from django.core.wsgi import get_wsgi_application
from django.db import connection, connections, models, transaction
from django.db.models.functions import Concat, RowNumber
from django.http import HttpResponse
from django.test import TransactionTestCase, override_settings
from django.utils import timezone

from tidemark import Purger
from tidemark.django import PurgedQuerySet, changes, configuration, middleware, outbox, purge, purging, request_middleware
from tidemark.django.models import QueuedPurge
from tidemark.django.sender import Sender

from .models import Album, Genre, Song
from .tests import Handler, WithEdge


class Ended(BaseException):
    pass


def look(sender, times):
    """Lets the sender look so many times for what is due in each database, as its threads do."""
    for using in outbox.databases():
        with patch.object(sender, "_changed") as changed, suppress(Ended):
            changed.wait_for.side_effect = [True] * times + [Ended]
            sender._run(using)


class Attempts(WithEdge, TransactionTestCase):
    def check_row(self):
        row = QueuedPurge.objects.get()
        self.assertEqual((row.failures, row.last_error), (1, "RuntimeError: a  bug"))
        pause = (row.next_at - row.written_at).total_seconds()
        self.assertTrue(0.5 < pause < 20, pause)
        self.wait_out()
        self.assertEqual(self.sent(), [{"tags": ["a"]}])

    def test_the_thread_notes_what_an_attempt_raises_and_goes_on(self):
        purge(tags=["a"])
        with patch.object(Purger, "purge", side_effect=RuntimeError("a \0 bug")):
            with self.assertLogs("tidemark.django", "WARNING") as logs:
                look(Sender(), 1)
        self.assertRegex(logs.output[0], "sent again in .* s: RuntimeError: a")
        self.check_row()

    def test_the_command_does_the_same(self):
        purge(tags=["a"])
        with patch.object(Purger, "purge", side_effect=RuntimeError("a \0 bug")):
            with self.assertLogs("tidemark.django", "WARNING"), self.assertRaisesRegex(CommandError, "may be stale"):
                call_command("send_purges", stdout=StringIO())
        self.check_row()

    def test_the_thread_survives_what_is_raised_between_attempts(self):
        purge(tags=["a"])
        looks = [RuntimeError("in the settings"), configuration.purger()]
        with patch.object(configuration, "purger", side_effect=looks):
            with self.assertLogs("tidemark.django", "ERROR") as logs:
                look(Sender(), 2)
        self.assertIn("none can be sent: in the settings", logs.output[0])
        self.assertEqual(len(self.edge.purges), 1)

    def test_a_router_that_raises_stops_no_request_and_is_told_once(self):
        sender = Sender()
        with (
            patch("tidemark.django.sender.databases", side_effect=RuntimeError("in a router")),
            self.assertLogs("tidemark.django", "ERROR") as logs,
        ):
            sender.start()
            sender.wake([("default", 1)])
        self.assertRegex("".join(logs.output), r"^ERROR:[^:]*:Purges wait, because none can be sent: in a router$")


class Processes(WithEdge, TransactionTestCase):
    """Two of them, of which the first answers a request that purges."""

    def setUp(self):
        super().setUp()
        with_threads = override_settings(TIDEMARK_SENDER="thread", TIDEMARK_WAIT_SECONDS=0)
        with_threads.enable()
        self.addCleanup(with_threads.disable)
        self.first, self.second = Sender(), Sender()

    def visit(self, *senders, purges=1):
        """The receipt that the request got, where these look as soon as it has committed."""

        def view(request):
            with transaction.atomic():
                for number in range(purges):
                    purge(tags=[f"t{number}"])
            return HttpResponse()

        with (
            patch.object(purging, "sender", self.first),
            patch.object(request_middleware, "sender", self.first),
            patch.object(Sender, "start", side_effect=lambda: [look(each, 1) for each in senders]),
        ):
            cookie = middleware(view)(None).cookies.get("tidemark-after")
        return cookie and cookie.value

    def test_a_purge_is_sent_by_the_process_whose_request_waits_for_it(self):
        self.assertEqual(self.visit(self.second, self.first), "log.1")

    def test_answers_wait_on_after_a_purge_that_a_firewall_has_blocked_but_not_while_the_edge_fails(self):
        for answer, waits in (((403, {}, "<html>"), True), (503, False)):
            self.edge.answers = [answer]
            with patch.object(Sender, "start"), self.assertLogs("tidemark.django", "WARNING"):
                purge(tags=["a"])
                look(self.first, 1)
            self.assertEqual(self.first.receipt([("default", 0)]).done(), not waits)

    def test_a_request_that_purges_nothing_asks_for_no_receipt(self):
        with (
            patch.object(request_middleware, "sender", self.first),
            patch.object(self.first, "start"),
            patch.object(self.first, "receipt", wraps=self.first.receipt) as receipt,
            patch.object(self.first, "forget", wraps=self.first.forget) as forget,
        ):
            middleware(lambda request: HttpResponse())(None)
        self.assertEqual((receipt.mock_calls, forget.mock_calls), ([], []))

    def test_async_requests_wait_without_a_thread_each_and_may_leave_meanwhile(self):
        purged = []

        async def view(request):
            await sync_to_async(purge)(tags=["a"])
            purged.append(request)
            return HttpResponse()

        async def visits():
            respond = middleware(view)
            tasks = [asyncio.create_task(respond(number)) for number in range(40)]
            while len(purged) < len(tasks):
                await asyncio.sleep(0)  # a turn of the loop, in which the visits go on
            await asyncio.to_thread(lambda: None)
            self.assertFalse(any(task.done() for task in tasks))
            leaving, staying = tasks[:20], tasks[20:]
            for task in leaving:
                task.cancel()
            await asyncio.wait(leaving)
            self.assertEqual(len(self.first._awaited), len(staying))
            await sync_to_async(look)(self.first, 1)
            return await asyncio.gather(*staying)

        with (
            override_settings(TIDEMARK_WAIT_SECONDS=60),
            patch.object(purging, "sender", self.first),
            patch.object(request_middleware, "sender", self.first),
            patch.object(Sender, "start"),
        ):
            answers = asyncio.run(visits())
        self.assertEqual({each.cookies["tidemark-after"].value for each in answers}, {"log.1"})
        self.assertEqual((self.first._awaited, self.first._receipts), ({}, {}))

    def test_a_key_that_a_rollback_has_freed_may_be_awaited_twice(self):
        one, two = purging.RequestPurges(), purging.RequestPurges()
        with patch.object(purging, "sender", self.first), patch.object(self.first, "start"):
            for request in (one, one, two):
                held = purging.current.set(request)
                with suppress(KeyError), transaction.atomic():
                    purge(tags=["a"])
                    if request is one:
                        raise KeyError
                purging.current.reset(held)
        self.assertEqual(one.written, two.committed * 2)  # SQLite gives the key again
        self.first.forget(one.written)
        asked = self.first.receipt(two.committed)
        look(self.first, 1)
        self.assertEqual(asked.result(0).token, "log.1")
        self.first.forget(two.written)
        self.assertEqual((self.first._awaited, self.first._receipts), ({}, {}))

    def test_a_process_sends_more_of_its_own_than_one_request_takes(self):
        self.visit(purges=outbox.MAX_ROWS + 1)
        look(self.first, 1)
        self.assertEqual([len(body["tags"]) for _, body in self.edge.purges], [outbox.MAX_ROWS, 1])

    def test_another_one_sends_it_within_seconds_if_that_process_is_killed(self):
        self.assertIsNone(self.visit())
        look(self.second, 1)
        self.assertEqual(self.edge.purges, [])
        with patch("django.utils.timezone.now", return_value=timezone.now() + timedelta(seconds=5)):
            look(self.second, 1)
        self.assertEqual(len(self.edge.purges), 1)
        look(self.first, 1)
        self.assertEqual(len(self.edge.purges), 1)

    def test_the_command_leaves_none_behind(self):
        self.assertIsNone(self.visit())
        call_command("send_purges", stdout=StringIO())
        self.assertEqual(len(self.edge.purges), 1)

    def looks_when_built(self):
        """How often a process that has built the middleware looks for what is due, before its first request."""
        looks = []
        with (
            patch.object(request_middleware, "sender", self.second),
            patch.object(Sender, "start", side_effect=lambda: looks.append(look(self.second, 1))),
        ):
            get_wsgi_application()
        return len(looks)

    def test_a_process_sends_what_others_have_left_behind_before_its_first_request(self):
        self.assertIsNone(self.visit())
        self.wait_out()
        self.assertEqual(self.looks_when_built(), 1)
        self.assertEqual(len(self.edge.purges), 1)

    def test_a_process_that_sends_no_purges_looks_for_none(self):
        for settings in ({"TIDEMARK_SENDER": "command"}, {"TIDEMARK_ENDPOINT": None}):
            with override_settings(**settings):
                self.assertEqual(self.looks_when_built(), 0)

    def test_a_thread_does_nothing_yet_while_the_server_forks_its_workers(self):
        self.assertIsNone(self.visit())
        self.wait_out()
        look(Sender(), 0)
        self.assertEqual(self.edge.purges, [])

    def test_uwsgi_forks_no_process_that_has_a_thread(self):
        for worker, looks in ((0, 0), (1, 1)):
            with patch.dict(sys.modules, uwsgi=SimpleNamespace(worker_id=lambda: worker)):
                self.assertEqual(self.looks_when_built(), looks)

    def test_a_module_of_the_site_may_be_called_uwsgi(self):
        with patch.dict(sys.modules, uwsgi=ModuleType("uwsgi")):
            self.assertEqual(self.looks_when_built(), 1)

    def test_what_no_request_waits_for_is_sent_by_any_process(self):
        with patch.object(Sender, "start"):
            purge(tags=["a"])
        look(self.second, 1)
        self.assertEqual(len(self.edge.purges), 1)


class Scripts(WithEdge, TransactionTestCase):
    """Processes that end as soon as they have committed."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.database = Path(folder.name) / "songs.db"

    def rows_left_by_script(self, seconds, before=""):
        script = (
            f"{before}import django; django.setup(); from django.core.management import call_command; "
            "call_command('migrate', run_syncdb=True, verbosity=0); "
            f"from tidemark.django import sender; sender.EXIT_SECONDS = {seconds}; "
            "from songs.models import Song; Song.objects.create(title='imported')"
        )
        settings = {"TIDEMARK_ENDPOINT": self.edge.url, "DATABASE": str(self.database), "SENDER": "thread"}
        ended = subprocess.run([sys.executable, "-c", script], env=os.environ | settings, capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        with closing(sqlite3.connect(self.database)) as database:
            return database.execute("SELECT failures FROM tidemark_queued_purge").fetchall()

    def test_a_script_sends_what_it_has_committed_before_it_ends(self):
        self.assertEqual(self.rows_left_by_script(seconds=60), [])
        self.assertEqual([body["tags"] for _, body in self.edge.purges], [["song:1", "album:None", "songs"]])

    def test_a_database_that_does_not_answer_holds_up_no_purges_of_another(self):
        hanging = (
            "import sqlite3, settings; "
            f"name = {str(self.database.with_name('legacy.db'))!r}; "
            "lock = sqlite3.connect(name); lock.execute('BEGIN EXCLUSIVE'); "
            "legacy = settings.DATABASES['default'] | {'NAME': name, 'OPTIONS': {'timeout': 600}}; "
            "settings.DATABASES = {'legacy': legacy} | settings.DATABASES; "
        )
        self.assertEqual(self.rows_left_by_script(seconds=20, before=hanging), [])
        self.assertEqual([body["tags"] for _, body in self.edge.purges], [["song:1", "album:None", "songs"]])

    def test_a_script_ends_while_the_edge_does_not_answer_and_leaves_the_purge_to_the_others(self):
        is_over = threading.Event()
        self.addCleanup(is_over.set)
        with patch.object(Handler, "do_POST", lambda _: is_over.wait()):
            self.assertEqual(self.rows_left_by_script(seconds=0.1), [(0,)])


class Databases(WithEdge, TransactionTestCase):
    """Several databases, of which those in between cannot be sent from."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        allowed = patch.object(type(self), "databases", {"default", "bare", "down", "locked", "last"})
        allowed.start()
        self.addCleanup(allowed.stop)
        self.add_database("bare", self.folder / "bare.db")
        self.add_database("down", self.folder / "nowhere" / "down.db")
        for alias in ("locked", "last"):
            self.add_database(alias, self.folder / f"{alias}.db")
            with connections[alias].schema_editor() as editor:
                editor.create_model(QueuedPurge)
            purge(tags=[alias], using=alias)
        self.remove_connection("locked")
        self.add_database("locked", f"file:{self.folder}/locked.db?mode=ro")
        purge(tags=["default"])

    def add_database(self, alias, name):
        if alias not in connections.settings:
            self.addCleanup(connections.settings.pop, alias)
            self.addCleanup(self.remove_connection, alias)
        connections.settings[alias] = connections.settings["default"] | {"NAME": str(name)}

    def remove_connection(self, alias):
        connections[alias].close()
        del connections[alias]

    def check_words(self, words):
        self.assertEqual([sum(f'"{alias}"' in each for each in words) for alias in ("bare", "down", "locked")], [1, 1, 1])
        bare, down, locked = words
        self.assertRegex(bare, r"no such table.*run manage.py migrate --database bare\. .*allow_migrate")
        for trouble, cause in ((down, "unable to open database file"), (locked, "readonly database")):
            self.assertRegex(trouble, rf"{cause}.*once this project can read and write it.*replica.*MIRROR")

    def test_the_thread_sends_from_the_others_and_tells_each_trouble_once(self):
        sender = Sender()
        with self.assertLogs("tidemark.django", "ERROR") as logs:
            look(sender, 3)
        self.check_words(logs.output)
        self.assertEqual([body["tags"] for _, body in self.edge.purges], [["default"], ["last"]])
        with connections["bare"].schema_editor() as editor:
            editor.create_model(QueuedPurge)
        purge(tags=["bare"], using="bare")
        with self.assertNoLogs("tidemark.django", "ERROR"):
            look(sender, 1)
        self.assertEqual(self.sent(), [{"tags": [each]} for each in ("default", "last", "bare")])

    def test_the_command_does_the_same(self):
        out, errors = StringIO(), StringIO()
        with self.assertRaisesRegex(CommandError, "these databases failed: bare, down, locked"):
            call_command("send_purges", stdout=out, stderr=errors)
        self.check_words(errors.getvalue().splitlines())
        self.assertEqual(out.getvalue(), "2 purges sent, 0 wait, 0 given up\n")
        self.assertEqual(self.sent(), [{"tags": ["default"]}, {"tags": ["last"]}])

    def test_a_replica_holds_the_purges_of_another_database(self):
        for alias in ("bare", "down", "locked"):
            test = connections.settings[alias]["TEST"] | {"MIRROR": "default"}
            connections.settings[alias] |= {"TEST": test}
        call_command("send_purges", stdout=StringIO())
        self.assertEqual(self.sent(), [{"tags": ["default"]}, {"tags": ["last"]}])

    def test_the_command_goes_on_watching(self):
        errors = StringIO()
        with patch("time.sleep", side_effect=[None, None, Ended]), self.assertRaises(Ended):
            call_command("send_purges", "--watch", "1", stderr=errors)
        self.check_words(errors.getvalue().splitlines())
        self.assertEqual(len(self.edge.purges), 2)


class Updates(WithEdge, TransactionTestCase):
    def test_more_rows_are_updated_than_one_query_can_name(self):
        songs = Song.objects.bulk_create([Song(title="old") for _ in range(1001)])
        self.sent()
        most = connection.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 999)
        self.addCleanup(connection.connection.setlimit, sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, most)
        self.assertEqual(Song.objects.update(title="new"), 1001)
        tags = {f"song:{each.pk}" for each in songs} | {"album:None", "songs"}
        [purged] = self.sent()
        self.assertEqual(set(purged["tags"]), tags)
        Song.objects.bulk_create(songs, update_conflicts=True, update_fields=["title"], unique_fields=["pk"])
        [purged] = self.sent()
        self.assertEqual(set(purged["tags"]), tags)

    def check_like_django(self, change):
        """It changes of 600 songs what it does with a query set of Django's own, and the songs it changes are purged."""
        outcomes = []
        for query_set in (models.QuerySet, PurgedQuerySet):
            album = Album.objects.create(title="an album")
            songs = Song.objects.bulk_create([Song(title="old", album=album) for _ in range(600)])
            Song.objects.filter(pk=songs[0].pk).update(title="first")
            for genre in (Genre.objects.create(name="rock"), Genre.objects.create(name="jazz")):
                join = Song.genres.through
                join.objects.bulk_create([join(song=song, genre=genre) for song in songs])
            self.sent()
            before = dict(models.QuerySet(Song).values_list("pk", "title"))
            count = change(query_set(Song))
            after = dict(models.QuerySet(Song).values_list("pk", "title"))
            outcomes.append((count, Counter(after.values())))
            changed = {f"song:{key}" for key, title in after.items() if title != before[key]}
            purged = {tag for each in self.sent() for tag in each["tags"]}
            Song.objects.all().delete()
            Genre.objects.all().delete()
        self.assertEqual(*outcomes)
        self.assertTrue(changed)
        self.assertLessEqual(changed, purged)

    def test_a_row_that_matches_twice_is_updated_once(self):
        twice = {"genres__name__in": ["rock", "jazz"]}
        self.check_like_django(lambda songs: songs.filter(**twice).update(title=Concat("title", models.Value("!"))))

    def test_rows_that_match_by_a_row_that_is_updated_with_them_are_updated(self):
        albums = models.QuerySet(Song).filter(title="first").values("album")
        self.check_like_django(lambda songs: songs.filter(album__in=albums).update(title="new"))

    def test_a_row_is_updated_by_its_number_among_the_rows(self):
        def change(songs):
            numbered = songs.annotate(number=models.Window(RowNumber(), order_by="pk"))
            return numbered.filter(number=2, genres__name="rock").update(title="second")

        self.check_like_django(change)

    def test_a_query_that_was_read_is_read_again_after_its_update(self):
        Song.objects.create(title="old")
        songs = Song.objects.all()
        self.assertEqual([each.title for each in songs], ["old"])
        songs.update(title="new")
        self.assertEqual([each.title for each in songs], ["new"])

    def test_a_row_that_was_added_after_the_rows_were_read_is_not_updated(self):
        Song.objects.create(title="old")
        stored = changes.rows_of

        def rows_of(*which):
            with patch.object(changes, "rows_of", stored):
                Song(title="old").save()  # as another transaction does meanwhile
            return stored(*which)

        with patch.object(changes, "rows_of", rows_of):
            changed = Song.objects.filter(title="old").update(title="new")
        self.assertEqual([changed, Song.objects.filter(title="new").count()], [1, 1])
