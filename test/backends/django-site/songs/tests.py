"""What tidemark.django sends, to an edge that only records: run by test/backends/django.test.ts."""

import asyncio
import json
import os
import re
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.checks import run_checks
from django.core.exceptions import DisallowedHost
from django.core.management import CommandError, call_command
from django.db import connection, models, transaction
from django.db.models.functions import Coalesce
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.functional import lazystr
from django.utils.module_loading import import_string
from django.views.decorators.cache import cache_control
from django.test import AsyncClient, Client, SimpleTestCase, TransactionTestCase, override_settings
from django.test.utils import CaptureQueriesContext, isolate_apps

from tidemark.django import PurgedModel, PurgedQuerySet, changes, configuration, middleware, outbox
from tidemark.django import purge, purge_on_change, purging, tag
from tidemark.django.checks import settings_are_complete
from tidemark.django.models import QueuedPurge
from tidemark.django.sender import sender

from .models import Album, Concert, Event, Genre, LoudSong, Review, Single, Song, Tour

SIGNALS = (pre_save, post_save, pre_delete, post_delete, m2m_changed)


def keep_receivers(test):
    """Forgets after the test what it registers."""
    for signal in SIGNALS:
        test.addCleanup(signal.sender_receivers_cache.clear)
        test.addCleanup(setattr, signal, "receivers", list(signal.receivers))


def a_cover():
    """A model of a test's own apps, whose related managers purge nothing."""

    class Cover(PurgedModel):
        album = models.ForeignKey(Album, on_delete=models.CASCADE)
        objects = PurgedQuerySet.as_manager()

        class Meta:
            app_label = "songs"

    return Cover


class FakeEdge(ThreadingHTTPServer):
    """Answers as it is told, in turn, and then with receipts."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.purges, self.tokens, self.answers = [], [], []
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def stop(self):
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.purges.append((self.path, body))
        self.server.tokens.append(self.headers["Authorization"])
        answer = self.server.answers.pop(0) if self.server.answers else 200
        if answer == "hang up":
            return
        receipt = {"seq": len(self.server.purges), "token": f"log.{len(self.server.purges)}", "settlesInMs": 1200}
        status, fields, text = answer if isinstance(answer, tuple) else (answer, {}, None)
        payload = (text or json.dumps(receipt if status == 200 else {"code": "no"})).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(payload)), **fields}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload[:20] if text == "cut" else payload)

    do_GET = do_POST

    def log_message(self, *_):
        pass


class WithEdge:
    def setUp(self):
        self.edge = FakeEdge()
        self.addCleanup(self.edge.stop)
        changed = override_settings(
            TIDEMARK_ENDPOINT=self.edge.url, TIDEMARK_TOKEN="a-token", TIDEMARK_SENDER="command"
        )
        changed.enable()
        self.addCleanup(changed.disable)

    def send_due(self):
        """Sends what is due, as the thread and the command do."""
        attempts = []
        while (attempt := outbox.send_next("default", configuration.purger())) is not None:
            attempts.append(attempt)
            if attempt.failure is not None and not attempt.failure.refused:
                break
        return attempts

    def wait_out(self):
        """As if the pauses and leases had passed."""
        QueuedPurge.objects.update(next_at="2000-01-01T00:00Z")

    def sent(self):
        """The purges that are sent, without their ids, and forgets them."""
        self.send_due()
        purges = [{key: value for key, value in body.items() if key != "id"} for _, body in self.edge.purges]
        self.edge.purges.clear()
        return purges


class Transactions(WithEdge, TransactionTestCase):
    def test_a_purge_is_sent_after_the_outermost_commit(self):
        with transaction.atomic():
            with transaction.atomic():
                purge(tags=["inner"])
            self.assertEqual(self.edge.purges, [])
        self.assertEqual(self.sent(), [{"tags": ["inner"]}])

    def test_a_rollback_purges_nothing_of_the_block_that_was_rolled_back(self):
        with transaction.atomic():
            purge(tags=["outer"])
            try:
                with transaction.atomic():
                    purge(urls=["/inner"])
                    Song.objects.create(title="never")
                    raise RuntimeError
            except RuntimeError:
                purge(urls=["/after"])
        self.assertEqual(self.sent(), [{"urls": ["/after"], "tags": ["outer"]}])
        with self.assertRaises(RuntimeError), transaction.atomic():
            purge(everything=True)
            raise RuntimeError
        self.assertEqual(self.sent(), [])

    def test_what_waits_is_one_purge_with_each_item_once(self):
        for _ in range(3):
            purge(tags=["a", "b"], hosts=["www.example.com"])
        purge(prefixes=["/shop"])
        self.assertEqual(
            self.sent(), [{"tags": ["a", "b"], "prefixes": ["/shop"], "hosts": ["www.example.com"]}]
        )

    def test_a_url_may_be_lazy(self):
        purge(urls=[lazystr("/about")])
        self.assertEqual(self.sent(), [{"urls": ["/about"]}])

    def test_more_than_one_request_takes_is_several(self):
        purge(tags=[f"t{number}" for number in range(10_001)])
        self.assertEqual([len(each["tags"]) for each in self.sent()], [10_000, 1])
        for number in range(outbox.MAX_ROWS + 1):
            purge(tags=[f"t{number}"])
        self.assertEqual([len(each["tags"]) for each in self.sent()], [outbox.MAX_ROWS, 1])

    def test_everything_stands_for_the_rest(self):
        purge(tags=["a"])
        purge(everything=True)
        self.assertEqual(self.sent(), [{"everything": True}])

    def test_items_that_cannot_be_right_are_refused_at_the_call(self):
        wrong_tags, wrong_urls = ("two words", "x" * 257, "größe", None), ("about", "/two words", "/\t")
        for items in (*({"tags": [each]} for each in wrong_tags), *({"urls": [each]} for each in wrong_urls)):
            with self.assertRaises(ValueError):
                purge(**items)
        with self.assertRaises(TypeError):
            purge(tags="song-42")
        purge()
        self.assertEqual(self.sent(), [])


class Models(WithEdge, TransactionTestCase):
    def setUp(self):
        super().setUp()
        self.one, self.two = Album.objects.create(title="one"), Album.objects.create(title="two")
        self.song = Song.objects.create(title="a song", album=self.one)
        self.rock, self.jazz = Genre.objects.create(name="rock"), Genre.objects.create(name="jazz")
        self.sent()

    def tags_sent(self):
        return [set(each["tags"]) for each in self.sent()]

    def test_a_new_row_and_a_deleted_one_purge_their_tags(self):
        row = Song.objects.create(title="new", album=self.two)
        key = row.pk
        expected = {f"song:{key}", f"album:{self.two.pk}", "songs"}
        self.assertEqual(self.tags_sent(), [expected])
        row.delete()
        self.assertEqual(self.tags_sent(), [expected])

    def test_a_row_that_moves_also_purges_the_page_that_it_left(self):
        self.song.album = self.two
        self.song.save()
        self.assertEqual(
            self.tags_sent(), [{f"song:{self.song.pk}", f"album:{self.one.pk}", f"album:{self.two.pk}", "songs"}]
        )
        self.assertEqual(Song.objects.get().album, self.two)

    def test_a_row_saved_through_a_proxy_is_purged(self):
        LoudSong.objects.get().save()
        self.assertEqual(self.tags_sent(), [{f"song:{self.song.pk}", f"album:{self.one.pk}", "songs"}])

    def test_a_row_of_two_models_is_read_by_the_key_of_each(self):
        Event.objects.create(seats=1)
        concert = Concert.objects.create(title="live", seats=2)
        self.assertNotEqual(concert.pk, concert.event_id)
        self.sent()
        concert.seats = models.F("seats") + 1
        concert.save()
        self.assertEqual(self.tags_sent(), [{f"event:{concert.event_id}", "seats:2", "seats:3"}])

    def test_a_row_built_by_its_own_key_has_that_of_the_model_it_extends(self):
        event = Event.objects.create(seats=1)
        Tour.objects.create(pk=event.pk, seats=1)
        album = Album.objects.create(title="live")
        self.sent()
        Tour(pk=event.pk, seats=2).save()
        self.assertEqual(self.tags_sent(), [{f"event:{event.pk}", "seats:1", "seats:2"}])
        Concert(album_ptr_id=album.pk, event_ptr_id=event.pk, seats=3).save()
        self.assertEqual(self.tags_sent(), [{f"event:{event.pk}", "seats:2", "seats:3"}])

    def test_fixtures_are_left_out(self):
        self.song.save_base(raw=True)
        self.assertEqual(self.sent(), [])

    def test_rows_deleted_with_another_purge_their_tags(self):
        key, album = self.song.pk, self.one.pk
        self.one.delete()
        self.assertEqual(self.tags_sent(), [{f"song:{key}", f"album:{album}", "songs"}])

    def test_both_sides_of_a_many_to_many_field_are_purged(self):
        song, rock, jazz = f"song:{self.song.pk}", f"genre:{self.rock.pk}", f"genre:{self.jazz.pk}"
        changes = {
            "added": (lambda: self.song.genres.add(self.rock, self.jazz), {song, rock, jazz}),
            "removed": (lambda: self.song.genres.remove(self.jazz), {song, jazz}),
            "cleared": (lambda: self.song.genres.clear(), {song, rock}),
            "added from there": (lambda: self.rock.song_set.add(self.song), {song, rock}),
            "cleared from there": (lambda: self.rock.song_set.clear(), {song, rock}),
            "set": (lambda: self.song.genres.set([self.jazz]), {song, jazz}),
        }
        for name, (change, expected) in changes.items():
            with self.subTest(name):
                change()
                own = {f"album:{self.one.pk}", "songs"}
                self.assertEqual(self.tags_sent(), [expected | own])

    def test_a_row_that_differs_from_the_instance_is_purged_as_it_is_stored(self):
        song, one, two = f"song:{self.song.pk}", f"album:{self.one.pk}", f"album:{self.two.pk}"
        models.QuerySet(Song).filter(pk=self.song.pk).update(album=self.two)  # as by another process
        self.song.genres.add(self.rock)
        own = {song, one, two, "songs"}
        self.assertEqual(self.tags_sent(), [own | {f"genre:{self.rock.pk}"}])
        self.song.genres.clear()
        self.sent()
        Song(pk=self.song.pk).genres.set([self.jazz.pk])
        self.assertEqual(self.tags_sent(), [{song, "album:None", two, "songs", f"genre:{self.jazz.pk}"}])
        Song(pk=self.song.pk).delete()
        self.assertEqual(self.tags_sent(), [{song, "album:None", two, "songs", f"genre:{self.jazz.pk}"}])

    def test_rows_that_a_query_deletes_are_read_once(self):
        with CaptureQueriesContext(connection) as queries:
            Song.objects.all().delete()
        read = [each["sql"] for each in queries if re.match('SELECT "songs_song"."id", (?!.*JOIN)', each["sql"])]
        self.assertEqual(len(read), 1)

    def test_a_row_that_is_deleted_purges_what_it_was_joined_to(self):
        self.song.genres.add(self.rock, self.jazz)
        self.sent()
        own = {f"song:{self.song.pk}", f"album:{self.one.pk}", "songs"}
        jazz = f"genre:{self.jazz.pk}"
        self.jazz.delete()
        self.assertEqual(self.tags_sent(), [own | {jazz}])
        self.one.delete()  # and its songs with it
        self.assertEqual(self.tags_sent(), [own | {f"genre:{self.rock.pk}"}])

    def test_tags_that_a_row_takes_from_a_relation_are_purged_as_they_were_and_as_they_are(self):
        keep_receivers(self)
        self.addCleanup(changes._registered.pop)
        purge_on_change(Song, lambda song: [f"in:{each.name}" for each in song.genres.all()] or ["in:none"])
        song = self.song
        steps = {
            "added": (lambda: song.genres.add(self.rock, self.jazz), {"in:none", "in:rock", "in:jazz"}),
            "removed": (lambda: song.genres.remove(self.jazz), {"in:rock", "in:jazz"}),
            "set": (lambda: song.genres.set([self.jazz]), {"in:rock", "in:none", "in:jazz"}),  # without any in between
            "cleared from there": (lambda: self.jazz.song_set.clear(), {"in:jazz", "in:none"}),
            "added from there": (lambda: self.rock.song_set.add(song), {"in:none", "in:rock"}),
            "removed from there": (lambda: self.rock.song_set.remove(song), {"in:rock", "in:none"}),
            "set again": (lambda: song.genres.set([self.rock, self.jazz]), {"in:none", "in:rock", "in:jazz"}),
            "its genre deleted": (lambda: self.jazz.delete(), {"in:rock", "in:jazz"}),
            "cleared": (lambda: song.genres.clear(), {"in:rock", "in:none"}),
            "set once more": (lambda: song.genres.set([self.rock]), {"in:none", "in:rock"}),
            "its last genre deleted": (lambda: self.rock.delete(), {"in:rock", "in:none"}),
        }
        for name, (change, expected) in steps.items():
            with self.subTest(name):
                change()
                [tags] = self.tags_sent()
                self.assertEqual({each for each in tags if each.startswith("in:")}, expected)
        song.genres.add(Genre.objects.create(name="pop"))
        self.sent()
        song.delete()
        self.assertIn("in:pop", self.tags_sent()[0])

    def test_rows_that_outlive_what_they_point_at_are_purged_as_they_were_and_as_they_are(self):
        kept = Review.objects.create(author="a", song=self.song, genre=self.jazz)
        Review.objects.create(author="b", genre=self.rock)
        self.sent()
        song, one = self.song.pk, self.one.pk
        self.one.delete()
        own = {f"song:{song}", f"album:{one}", "songs"}
        review, within = f"review:{kept.pk}", f"within:{self.jazz.pk}"
        self.assertEqual(self.tags_sent(), [own | {review, within, f"about:{song}", "about:None"}])
        jazz = self.jazz.pk
        Genre.objects.filter(pk=jazz).delete()
        self.assertEqual(
            self.tags_sent(), [{f"genre:{jazz}", review, "about:None", within, f"within:{self.rock.pk}"}]
        )
        kept.refresh_from_db()
        self.assertEqual((kept.song, kept.genre), (None, self.rock))

    def test_update_purges_the_rows_as_they_were_and_as_they_are(self):
        Song.objects.filter(pk=self.song.pk).update(album=self.two)
        self.assertEqual(
            self.tags_sent(), [{f"song:{self.song.pk}", f"album:{self.one.pk}", f"album:{self.two.pk}", "songs"}]
        )
        self.song.album = self.one
        Song.objects.bulk_update([self.song], ["album"])
        self.assertEqual(
            self.tags_sent(), [{f"song:{self.song.pk}", f"album:{self.one.pk}", f"album:{self.two.pk}", "songs"}]
        )
        Song.objects.filter(title="none of them").update(title="new")
        self.assertEqual(self.sent(), [])

    def test_a_row_whose_value_the_database_makes_is_purged_by_what_it_has_made(self):
        one, two = f"album:{self.one.pk}", f"album:{self.two.pk}"
        last = Album.objects.order_by("-pk").values("pk")[:1]
        for made, former, new in (
            (models.Subquery(last), one, two),
            (models.F("album_id") + (self.one.pk - self.two.pk), two, one),
            (Coalesce(None, self.two.pk), one, two),
        ):
            song = Song.objects.get()
            song.album_id = made
            song.save()
            self.assertEqual(self.tags_sent(), [{f"song:{song.pk}", former, new, "songs"}])
        self.song.album_id = models.F("album_id")
        self.song.save()
        self.song.genres.add(self.rock)
        [tags] = self.tags_sent()
        self.assertLessEqual({f"song:{self.song.pk}", two}, tags)
        self.assertNotIn("album:F(album_id)", tags)
        self.song.delete()
        [tags] = self.tags_sent()
        self.assertLessEqual({f"song:{song.pk}", two}, tags)
        [made] = Song.objects.bulk_create([Song(title="made", album_id=models.Subquery(last))])
        self.assertEqual(self.tags_sent(), [{f"song:{made.pk}", two, "songs"}])

    def test_a_row_that_a_related_manager_takes_is_purged_as_it_was_and_as_it_is(self):
        expected = {f"song:{self.song.pk}", f"album:{self.one.pk}", f"album:{self.two.pk}", "songs"}
        self.two.song_set.add(self.song)
        self.assertEqual(self.tags_sent(), [expected])
        self.one.song_set.set([self.song])
        self.assertEqual(self.tags_sent(), [expected])

    def test_rows_that_no_registered_model_is_related_to_are_deleted_in_one_query(self):
        QueuedPurge.objects.bulk_create([QueuedPurge(items={}), QueuedPurge(items={})])
        with transaction.atomic(), self.assertNumQueries(1):
            QueuedPurge.objects.all().delete()

    def test_bulk_create_purges_what_it_makes(self):
        one, two = Song.objects.bulk_create([Song(title="b"), Song(title="c", album=self.two)])
        self.assertEqual(
            self.tags_sent(), [{f"song:{one.pk}", "album:None", "songs", f"song:{two.pk}", f"album:{self.two.pk}"}]
        )

    def test_bulk_create_purges_what_it_updates_as_it_was_and_as_it_is(self):
        song, one, two = f"song:{self.song.pk}", f"album:{self.one.pk}", f"album:{self.two.pk}"

        def upsert(*songs, fields):
            Song.objects.bulk_create(songs, update_conflicts=True, update_fields=fields, unique_fields=["pk"])

        upsert(Song(pk=self.song.pk, title="new"), fields=["title"])
        self.assertEqual(self.tags_sent(), [{song, one, "songs"}])
        made = Song(pk=self.song.pk + 1, title="made")
        upsert(Song(pk=self.song.pk, title="new", album=self.two), made, fields=["title", "album"])
        self.assertEqual(self.tags_sent(), [{song, one, two, "songs", f"song:{made.pk}", "album:None"}])
        self.assertEqual(Song.objects.get(pk=self.song.pk).album, self.two)

    def test_bulk_create_finds_what_it_updates_by_several_fields(self):
        kept = Review.objects.create(author="a", song=self.song, genre=self.jazz)
        Review.objects.create(author="b", song=None)
        self.sent()
        rows = [Review(author="a", song=self.song, genre=self.rock), Review(author="b")]
        options = {"update_fields": ["genre"], "unique_fields": ["author", "song"]}
        Review.objects.bulk_create(rows, update_conflicts=True, **options)
        self.assertEqual(Review.objects.filter(author="b").count(), 2)  # NULL is like no other
        made = Review.objects.order_by("pk").last()
        rock, jazz = f"within:{self.rock.pk}", f"within:{self.jazz.pk}"
        former = {f"review:{kept.pk}", f"about:{self.song.pk}", jazz, rock}
        self.assertEqual(self.tags_sent(), [former | {f"review:{made.pk}", "about:None", "within:None"}])

    def test_bulk_create_finds_what_it_updates_where_a_database_may_not_be_told_by_which_fields(self):
        kept = Review.objects.create(author="a", song=self.song, genre=self.jazz)
        self.sent()

        def as_mysql(_, rows, *options):
            for row in rows:
                same = models.QuerySet(Review).filter(author=row.author, song=row.song)
                if not same.update(genre=row.genre):
                    Review(author=row.author, song=row.song, genre=row.genre).save_base(raw=True)
            return rows  # without their keys

        rows = [Review(author=author, song=self.song, genre=self.rock) for author in ("a", "b")]
        with patch.object(models.QuerySet, "bulk_create", as_mysql):
            Review.objects.bulk_create(rows, update_conflicts=True, update_fields=["genre"])
        made = Review.objects.get(author="b")
        about, rock, jazz = f"about:{self.song.pk}", f"within:{self.rock.pk}", f"within:{self.jazz.pk}"
        self.assertEqual(self.tags_sent(), [{f"review:{kept.pk}", f"review:{made.pk}", about, rock, jazz}])

    def test_bulk_create_purges_what_it_makes_where_a_database_tells_no_keys(self):
        keep_receivers(self)
        self.addCleanup(changes._registered.pop)
        purge_on_change(Song, lambda song: ["list", *(f"in:{each.pk}" for each in song.genres.all())])
        Song.objects.bulk_create([Song(title="b")], ignore_conflicts=True)
        [tags] = self.tags_sent()
        self.assertLessEqual({"album:None", "songs", "list"}, tags)
        Review.objects.bulk_create([Review(author="a", song=self.song)], ignore_conflicts=True)
        made, about = Review.objects.get(), f"about:{self.song.pk}"
        self.assertEqual(self.tags_sent(), [{f"review:{made.pk}", about, "within:None"}])

    def test_a_row_is_saved_in_one_transaction_with_its_purge(self):
        seen = []
        listener = lambda instance, **_: seen.append(transaction.get_connection().in_atomic_block)
        for signal in (pre_save, post_save):
            signal.connect(listener, sender=Song)
            self.addCleanup(signal.disconnect, listener, sender=Song)
        Song(title="new").save()
        self.assertEqual(seen, [True, True])

    def test_a_purge_that_cannot_be_written_takes_its_change_back(self):
        self.addCleanup(setattr, purging, "divided", purging.divided)
        purging.divided = lambda _: 1 / 0
        self.song.title = "new"
        with self.assertRaises(ZeroDivisionError):
            self.song.save()
        self.assertEqual(Song.objects.get().title, "a song")

    def test_a_save_that_fails_purges_nothing(self):
        self.song.title = None
        with self.assertRaises(Exception):
            self.song.save()
        self.assertEqual(self.sent(), [])


class Sending(WithEdge, TransactionTestCase):
    def ids(self):
        return [body["id"] for _, body in self.edge.purges]

    def test_a_failure_is_tried_again_later_with_the_same_id_and_logged(self):
        answers = [503, "hang up", (429, {"Retry-After": "100"}, None), (200, {}, "cut"), 401, (307, {"Location": "/"}, None)]
        answers.append((400, {}, "<html>"))  # from a proxy
        purge(tags=["a"])
        for answer in answers:
            self.edge.answers = [answer]
            with self.assertLogs("tidemark.django", "WARNING") as logs:
                self.send_due()
            self.assertRegex(logs.output[0], r"WARNING.*sent again in \d+\.\d s")
            purge(tags=["b"])  # another one goes with the next request, and not with this one
            QueuedPurge.objects.filter(request_id=None).delete()
            self.assertEqual(self.send_due(), [])
            self.wait_out()
        self.send_due()
        self.assertEqual(len(self.ids()), 1 + len(answers))
        self.assertEqual(len(set(self.ids())), 1)
        self.assertEqual({path for path, _ in self.edge.purges}, {"/_tidemark/purge"})
        self.assertEqual(set(self.edge.tokens), {"Bearer a-token"})
        self.assertEqual(QueuedPurge.objects.count(), 0)
        purge(tags=["a"])
        self.send_due()
        self.assertEqual(len(set(self.ids())), 2)

    def test_the_pauses_double_up_to_a_minute_and_the_edge_may_ask_for_no_more(self):
        purge(tags=["a"])
        asked = {3: 50, 4: 1800, 10: 86_400}
        for failures in range(1, 12):
            retry_after = asked.get(failures, 0)
            self.edge.answers = [(503, {"Retry-After": str(retry_after)}, None)]
            before = timezone.now()
            with self.assertLogs("tidemark.django", "WARNING"):
                self.send_due()
            row = QueuedPurge.objects.get()
            self.assertEqual(row.failures, failures)
            pause = (row.next_at - before).total_seconds()
            longest = max(min(60, retry_after), min(60, 2 ** (failures - 1)))
            shortest = longest if retry_after else longest / 2
            self.assertTrue(shortest <= pause <= longest + 5, (failures, pause))
            self.wait_out()

    def at(self, now):
        return patch("django.utils.timezone.now", return_value=now)

    def test_a_purge_is_sent_within_a_minute_of_the_end_of_an_outage(self):
        purge(tags=["a"])
        begun = timezone.now()
        for minute in range(30):
            self.edge.answers = [503]
            with self.at(begun + timedelta(minutes=minute)), self.assertLogs("tidemark.django", "WARNING"):
                self.send_due()
        self.edge.purges.clear()
        with self.at(begun + timedelta(minutes=30)):
            self.assertEqual(self.sent(), [{"tags": ["a"]}])

    def test_a_clock_that_was_ahead_by_minutes_holds_no_purge_up(self):
        with self.at(timezone.now() + timedelta(minutes=2)):
            purge(tags=["a"])
            outbox._taken("default")  # by a process that is killed
            purge(tags=["b"])
        self.assertCountEqual(self.sent(), [{"tags": ["a"]}, {"tags": ["b"]}])

    def test_a_minute_that_the_edge_asked_for_is_waited_for_by_a_clock_that_is_slightly_behind(self):
        purge(tags=["a"])
        self.edge.answers = [(503, {"Retry-After": "60"}, None)]
        with self.assertLogs("tidemark.django", "WARNING"):
            self.send_due()
        with self.at(timezone.now() - timedelta(seconds=5)):
            self.assertEqual(self.send_due(), [])

    def test_it_gives_up_after_500_failures_and_says_what_may_be_stale(self):
        purge(tags=["song-42"])
        QueuedPurge.objects.update(failures=499)
        self.edge.answers = [502]
        with self.assertLogs("tidemark.django", "ERROR") as logs:
            self.send_due()
        self.assertRegex(logs.output[0], r"given up, and pages may be stale: .*502.*\(song-42\)")
        self.wait_out()
        self.assertEqual(self.send_due(), [])
        with self.assertRaisesRegex(CommandError, "Pages may be stale"):
            call_command("send_purges", stdout=StringIO())
        out = StringIO()
        call_command("send_purges", "--again", stdout=out)
        self.assertEqual(out.getvalue(), "1 purges sent, 0 wait, 0 given up\n")

    def test_the_command_takes_up_at_once_what_was_just_given_up(self):
        purge(tags=["a"])
        self.edge.answers = [400]
        with self.assertLogs("tidemark.django", "ERROR"), self.assertRaisesRegex(CommandError, "may be stale"):
            call_command("send_purges", stdout=StringIO())
        out = StringIO()
        call_command("send_purges", "--again", stdout=out)
        self.assertEqual(out.getvalue(), "1 purges sent, 0 wait, 0 given up\n")

    def test_the_command_does_not_send_readers_to_the_errors_of_what_another_process_is_sending(self):
        purge(tags=["a"])
        [row] = outbox._taken("default")
        with self.assertRaisesRegex(CommandError, "may be stale: other processes are sending what waits"):
            call_command("send_purges", stdout=StringIO())
        QueuedPurge.objects.filter(pk=row.pk).update(last_error="503")
        with self.assertRaisesRegex(CommandError, "may be stale: the column last_error"):
            call_command("send_purges", stdout=StringIO())

    def test_a_refusal_of_the_purge_itself_is_given_up_at_once(self):
        for status in (400, 409, 413):
            with self.subTest(status), self.assertLogs("tidemark.django", "ERROR") as logs:
                self.edge.answers = [status]
                purge(tags=["a"])
                self.assertEqual(self.sent(), [{"tags": ["a"]}])
                self.assertIn(str(status), logs.output[0])
                self.assertEqual(self.send_due(), [])

    def test_a_refused_purge_takes_no_other_with_it(self):
        self.edge.answers = [400, 200, 400]
        for each in ("good", "refused", "better"):
            purge(tags=[each])
        with self.assertLogs("tidemark.django", "ERROR") as logs:
            sent = self.sent()
        self.assertEqual([each["tags"] for each in sent], [["good", "refused", "better"], ["good"], ["refused"], ["better"]])
        self.assertRegex("".join(logs.output), r"\(refused\)$")
        self.assertEqual([row.items for row in QueuedPurge.objects.all()], [{"tags": ["refused"]}])

    def test_a_purge_that_a_firewall_blocks_takes_no_other_with_it_and_holds_none_up(self):
        blocks = (403, {}, "<html>")
        for each in ("good", "blocked", "better"):
            purge(tags=[each])
        begun = timezone.now()
        for minute, answers in enumerate([[blocks], [200, blocks], [200, blocks]]):
            self.edge.answers = answers
            with (
                self.at(begun + timedelta(minutes=minute)),
                self.assertLogs("tidemark.django", "WARNING"),
                self.assertRaisesRegex(CommandError, "may be stale"),
            ):
                call_command("send_purges", stdout=StringIO())
        sent = [body["tags"] for _, body in self.edge.purges]
        self.assertEqual(sent, [["good", "blocked", "better"], ["good"], ["blocked"], ["better"], ["blocked"]])
        self.assertEqual(len(set(self.ids())), 4)
        [left] = QueuedPurge.objects.all()
        self.assertEqual((left.items, left.failures, left.given_up), ({"tags": ["blocked"]}, 3, False))

    def test_purges_go_on_together_after_a_failure_that_each_would_meet(self):
        purge(tags=["a"])
        purge(tags=["b"])
        for answer in (401, 403, 503, (401, {}, "<html>"), (503, {}, "<html>")):
            self.edge.answers = [answer]
            with self.assertLogs("tidemark.django", "WARNING"):
                self.assertEqual(self.sent(), [{"tags": ["a", "b"]}])
            self.wait_out()

    def test_two_processes_never_send_the_same_at_once(self):
        for number in range(3):
            purge(tags=[f"t{number}"])
        taken = outbox._taken("default")
        self.assertEqual((len(taken), outbox._taken("default")), (3, []))
        purge(tags=["t3"])
        self.assertEqual(self.sent(), [{"tags": ["t3"]}])
        self.wait_out()  # the first process is gone
        with self.assertNoLogs("tidemark.django", "WARNING"):
            self.assertEqual(self.sent(), [{"tags": ["t0", "t1", "t2"]}])

    def test_an_answer_from_elsewhere_is_a_failure(self):
        self.edge.answers = [(200, {}, '{"ok": true}')]
        purge(tags=["a"])
        with self.assertLogs("tidemark.django", "WARNING") as logs:
            self.send_due()
        self.assertIn("did not come from a Tidemark edge", logs.output[0])

    def test_the_command_says_what_it_has_sent_and_what_waits(self):
        purge(tags=["a"])
        out = StringIO()
        call_command("send_purges", stdout=out)
        self.assertEqual(out.getvalue(), "1 purges sent, 0 wait, 0 given up\n")
        self.edge.answers = [503]
        purge(tags=["b"])
        out = StringIO()
        with self.assertLogs("tidemark.django", "WARNING"), self.assertRaises(CommandError):
            call_command("send_purges", stdout=out)
        self.assertEqual(out.getvalue(), "0 purges sent, 1 wait, 0 given up\n")
        with override_settings(TIDEMARK_TOKEN=""), self.assertRaisesRegex(CommandError, "set TIDEMARK_TOKEN"):
            call_command("send_purges")
        with override_settings(TIDEMARK_ENDPOINT=None), self.assertRaisesRegex(CommandError, "sends no purges"):
            call_command("send_purges")

    def test_without_an_endpoint_nothing_is_written(self):
        with override_settings(TIDEMARK_ENDPOINT=None):
            purge(tags=["a"])
        self.assertEqual(QueuedPurge.objects.count(), 0)


class Checks(SimpleTestCase):
    def found(self, **changed):
        with override_settings(**{"TIDEMARK_ENDPOINT": "https://www.example.com", "TIDEMARK_TOKEN": "a-token", **changed}):
            return {each.id: each for each in run_checks()}

    def test_a_project_that_is_right_gets_none(self):
        self.assertEqual(self.found(), {})

    def test_settings_that_cannot_work_are_told_without_their_values(self):
        secret = "the-token-in-the-wrong-place"
        for changed in ({"TIDEMARK_ENDPOINT": secret}, {"TIDEMARK_TOKEN": f"'{secret} '"}, {"TIDEMARK_TOKEN": ""}):
            with self.subTest(changed):
                words = self.found(**changed)["tidemark.W003"].msg
                self.assertIn("TIDEMARK_", words)
                self.assertNotIn(secret, words)
        self.assertEqual(list(self.found(TIDEMARK_SENDER="cron")), ["tidemark.E001"])
        self.assertEqual(self.found(TIDEMARK_ENDPOINT=None), {})

    def test_a_cache_in_front_of_the_views_is_named(self):
        for name in ("UpdateCacheMiddleware", "CacheMiddleware"):
            changed = {"MIDDLEWARE": [*settings.MIDDLEWARE, f"django.middleware.cache.{name}"]}
            self.assertIn(f"{name} keeps pages", self.found(**changed)["tidemark.W005"].msg)

    def test_a_model_whose_changes_purge_no_row_that_extends_it_is_named(self):
        keep_receivers(self)
        self.addCleanup(changes._registered.pop)
        purge_on_change(Single, lambda single: [f"single:{single.pk}"])
        self.assertEqual(self.found(), {})
        self.addCleanup(changes._registered.pop)
        purge_on_change(Tour, lambda tour: [f"tour:{tour.pk}"])
        self.assertIn("of a Event, which Tour extends, can lose the purge of the Tour", self.found()["tidemark.W006"].msg)

    @isolate_apps("songs")
    def test_a_model_whose_related_managers_purge_no_row_that_extends_it_is_named(self):
        class Poster(a_cover()):
            class Meta:
                app_label = "songs"
                base_manager_name = "objects"

        keep_receivers(self)
        self.addCleanup(changes._registered.pop)
        purge_on_change(Poster, lambda poster: [f"poster:{poster.pk}"])
        self.assertEqual(list(self.found()), ["tidemark.W006"])

    def test_a_model_whose_saves_are_not_atomic_is_named(self):
        keep_receivers(self)
        self.addCleanup(changes._registered.pop)
        purge_on_change(Album, lambda album: [f"album:{album.pk}"])
        warning = self.found()["tidemark.W001"]
        self.assertIn("saves a Album outside of a transaction", warning.msg)

    @isolate_apps("songs")
    def test_a_model_whose_related_managers_purge_nothing_is_named(self):
        keep_receivers(self)
        self.addCleanup(changes._registered.pop)
        purge_on_change(a_cover(), lambda cover: [f"cover:{cover.pk}"])
        self.assertIn("a related manager purge no Cover", self.found()["tidemark.W004"].msg)


class Requests(WithEdge, TransactionTestCase):
    def setUp(self):
        super().setUp()
        self.song = Song.objects.create(title="old")
        self.sent()

    def check_page(self, response, tags):
        self.assertEqual((response.status_code, response.headers.get("Cache-Tag")), (200, tags))
        self.assertNotIn("Set-Cookie", str(response.items()))
        self.assertEqual(dict(response.cookies), {})

    def check_edit(self, response):
        """By the command, which tells no receipt to a request."""
        self.assertEqual((response.status_code, dict(response.cookies)), (302, {}))
        self.assertEqual(
            self.sent(), [{"tags": [f"song:{self.song.pk}", "album:None", "songs"]}]
        )

    def test_pages_carry_the_tags_that_their_request_collected(self):
        client = Client()
        self.check_page(client.get(f"/songs/{self.song.pk}"), f"song:{self.song.pk}")
        self.check_page(client.get("/songs/"), "own,songs")
        again = client.get(f"/songs/{self.song.pk}", headers={"if-none-match": "x"})
        self.check_page(again, f"song:{self.song.pk}")
        self.assertEqual(self.sent(), [])

    def test_an_edit_is_one_purge(self):
        self.check_edit(Client().post(f"/songs/{self.song.pk}", {"title": "new"}))

    def test_async_views_do_the_same(self):
        async def visit():
            client = AsyncClient()
            edited = await client.post(f"/async/{self.song.pk}", {"title": "new"})
            pages = await asyncio.gather(
                client.get(f"/async/{self.song.pk}"), client.get("/songs/"), client.get("/songs/999")
            )
            return edited, pages

        edited, (page, listing, missing) = asyncio.run(visit())
        self.check_edit(edited)
        self.check_page(page, f"song:{self.song.pk}")
        self.check_page(listing, "own,songs")
        self.assertEqual((missing.status_code, missing.headers.get("Cache-Tag")), (404, None))

    def test_a_request_that_is_rolled_back_purges_nothing(self):
        client = Client(raise_request_exception=False)
        response = client.post(f"/songs/{self.song.pk}", {"title": "new", "fail": "1"})
        self.assertEqual(response.status_code, 500)
        self.assertEqual((self.sent(), dict(response.cookies)), ([], {}))
        self.assertEqual(Song.objects.get().title, "old")

    def test_only_what_a_request_committed_is_purged(self):
        Client().get("/partly")
        self.assertEqual(self.sent(), [{"tags": ["committed"]}])

    def test_nobody_expects_what_work_purges_that_outlives_its_request(self):
        async def visit():
            is_answered, work = asyncio.Event(), []

            async def purge_later():
                await is_answered.wait()
                await sync_to_async(purge)(tags=["late"])

            async def view(request):
                await sync_to_async(purge)(tags=["early"])
                work.append(asyncio.create_task(purge_later()))
                return FakeResponse()

            await middleware(view)(None)
            is_answered.set()
            await work[0]

        asyncio.run(visit())
        self.assertEqual(self.sent(), [{"tags": ["early", "late"]}])
        self.assertEqual(sender._awaited, {})

    def test_a_tag_after_the_head_is_refused(self):
        response = Client().get("/streamed")
        self.assertEqual(response.headers["Cache-Tag"], "early")
        self.assertRegex(response.getvalue().decode(), "^head. tag: ")


class Tags(SimpleTestCase):
    def test_tags_outside_of_a_request_are_refused(self):
        with self.assertRaisesRegex(RuntimeError, "outside of a request"):
            tag("a")

    def test_what_the_edge_would_not_keep_is_refused_and_none_of_it_written(self):
        outcomes = []

        def view(request):
            tag("a", "b")
            for tags in (["fine", "two words"], ["x" * 257], [42], [f"t{number}" for number in range(999)]):
                with self.assertRaises(ValueError) as caught:
                    tag(*tags)
                outcomes.append(str(caught.exception))
            with self.assertRaises(ValueError):
                tag(*[f"{number}{'x' * 250}" for number in range(300)])
            return FakeResponse()

        response = middleware(view)(None)
        self.assertEqual(response, {"Cache-Tag": "a,b"})
        self.assertRegex(outcomes[0], "'two words' is not a valid tag")
        self.assertRegex(outcomes[3], "1001 tags .* more than 1000 tags,")

    def test_a_thousand_tags_are_allowed(self):
        def view(request):
            tag(*[f"t{number}" for number in range(1000)])
            return FakeResponse()

        self.assertEqual(len(middleware(view)(None)["Cache-Tag"].split(",")), 1000)


def examples_of(page, heading):
    """The examples below a heading of a page, by the file that each begins with."""
    text = (Path(__file__).parents[4] / page).read_text()
    section = text.split(f"\n{heading}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^```python\n# (\w+)\.py\b[^\n]*\n(.*?)^```", section, re.M | re.S))


class Page(WithEdge, TransactionTestCase):
    """The examples of docs/sites.md and docs/purging.md, as they stand there."""

    def setUp(self):
        super().setUp()
        self.examples = examples_of("docs/sites.md", "## Django")
        keep_receivers(self)

    def settings_of_the_page(self):
        names = {"INSTALLED_APPS": ["songs"], "MIDDLEWARE": ["django.middleware.common.CommonMiddleware"]}
        exec(self.examples["settings"], {}, names)
        return names

    def test_the_settings_name_what_there_is_and_need_no_more(self):
        names = self.settings_of_the_page()
        for each in names["MIDDLEWARE"]:
            import_string(each)
        self.assertEqual(names["MIDDLEWARE"][0], "tidemark.django.middleware")
        self.assertEqual(names["INSTALLED_APPS"], ["songs", "tidemark.django"])
        with self.settings(**names):
            del settings.TIDEMARK_TOKEN  # of these tests: the page has none
            with patch.dict(os.environ, {"TIDEMARK_TOKEN": "a-token"}):
                self.assertEqual(settings_are_complete(), [])
            # In a shell, manage.py has no token, and works.
            with patch.dict(os.environ, {"TIDEMARK_TOKEN": ""}):
                self.assertEqual([each.id for each in settings_are_complete() if not each.is_serious()], ["tidemark.W003"])

    def test_the_settings_tell_django_its_public_address(self):
        names = self.settings_of_the_page()
        request = HttpRequest()
        request.META |= {
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "8000",
            "HTTP_HOST": "127.0.0.1:8000",
            "HTTP_X_FORWARDED_HOST": "www.example.com",
            "HTTP_X_FORWARDED_PROTO": "https",
        }
        with self.settings(ALLOWED_HOSTS=["www.example.com"]):
            with self.assertRaises(DisallowedHost):
                request.get_host()
            with self.settings(**names):
                self.assertEqual(request.build_absolute_uri("/"), "https://www.example.com/")

    def test_the_models_and_views_tag_and_purge(self):
        row = Song.objects.create(title="old")
        self.sent()
        for signal in SIGNALS:
            signal.receivers = []
            signal.sender_receivers_cache.clear()
        # The class is that of this site: Django knows one by that name.
        start = self.examples["models"].index("\n\nclass Song")
        end = self.examples["models"].rindex("\n\n\n", 0, self.examples["models"].index("purge_on_change(Song"))
        exec(self.examples["models"][:start] + self.examples["models"][end:], {"Song": Song})
        row.save()
        tags = [f"song:{row.pk}", "album:None", "songs"]
        self.assertEqual(self.sent(), [{"tags": tags}])

        names = {"Song": Song, "cache_control": cache_control, "get_object_or_404": get_object_or_404}
        names |= {"redirect": redirect, "render": lambda request, template, context: HttpResponse(context["song"].title)}
        exec(self.examples["views"], names)
        shown = middleware(lambda request: names["song"](request, row.pk))(HttpRequest())
        self.assertEqual((shown["Cache-Tag"], shown["Cache-Control"]), (f"song:{row.pk}", "public, max-age=0, s-maxage=3600"))
        exec(examples_of("docs/purging.md", "### Django")["views"], names)
        renamed = middleware(names["rename_all"])(HttpRequest())
        self.assertEqual(renamed.status_code, 302)
        self.assertEqual(self.sent(), [{"urls": ["/feed.xml"], "tags": tags}])

        Song.objects.all().delete()  # as the admin deletes in bulk
        self.assertEqual(self.sent(), [{"tags": tags}])


class FakeResponse(dict):
    """The parts of a response that the middleware uses."""
