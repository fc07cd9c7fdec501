"""The purges of rows whose model extends another, or is the proxy of another: run by test/backends/django.test.ts."""

from django.db import connection, models
from django.test import TransactionTestCase
from django.test.utils import CaptureQueriesContext

from tidemark.django import PurgedQuerySet, changes, purge_on_change

from .models import Album, Concert, Event, Genre, Interview, LoudSong, Single, Song, Tour
from .tests import WithEdge, keep_receivers


class WithRegistered(WithEdge):
    def setUp(self):
        super().setUp()
        keep_receivers(self)
        self.addCleanup(changes._registered.__delitem__, slice(len(changes._registered), None))

    def own(self, change):
        """What the change purges of the tags that the test has registered: they begin with a dash."""
        self.sent()
        change()
        return {tag for each in self.sent() for tag in each["tags"] if tag.startswith("-")}


class Parents(WithRegistered, TransactionTestCase):
    def test_a_row_is_purged_that_extends_a_changed_one(self):
        purge_on_change(Single, lambda one: [f"-{one.title}", f"-in:{one.album_id}", *(f"-{g.name}" for g in one.genres.all())])
        a, b = Album.objects.create(title="a"), Album.objects.create(title="b")
        rock, jazz = Genre.objects.create(name="rock"), Genre.objects.create(name="jazz")
        Song.objects.create(title="no single")
        song = Song.objects.get(pk=Single.objects.create(title="old", album=a).pk)
        in_a, in_b = f"-in:{a.pk}", f"-in:{b.pk}"

        def rename(title):
            song.title = title
            return [song]

        def upsert(songs):
            Song.objects.bulk_create(songs, update_conflicts=True, update_fields=["title"], unique_fields=["pk"])

        changes = {
            "saved": (lambda: rename("saved")[0].save(), {"-old", "-saved", in_a}),
            "updated": (lambda: Song.objects.update(title="updated"), {"-saved", "-updated", in_a}),
            "updated in bulk": (lambda: Song.objects.bulk_update(rename("bulk"), ["title"]), {"-updated", "-bulk", in_a}),
            "made again": (lambda: upsert(rename("again")), {"-bulk", "-again", in_a}),
            "taken": (lambda: b.song_set.add(song), {"-again", in_a, in_b}),
            "joined": (lambda: song.genres.add(rock), {"-again", in_b, "-rock"}),
            "joined from there": (lambda: jazz.song_set.add(song), {"-again", in_b, "-rock", "-jazz"}),
            "parted from there": (lambda: jazz.song_set.clear(), {"-again", in_b, "-rock", "-jazz"}),
            "its genre deleted": (lambda: rock.delete(), {"-again", in_b, "-rock"}),
            "deleted": (lambda: Song.objects.filter(pk=song.pk).delete(), {"-again", in_b}),
            "another": (lambda: Song.objects.create(title="another"), set()),
        }
        for name, (change, expected) in changes.items():
            with self.subTest(name):
                self.assertEqual(self.own(change), expected)

    def test_without_former_the_new_tags_are_purged(self):
        purge_on_change(Single, lambda single: [f"-{single.title}"], former=False)
        song = Song(pk=Single.objects.create(title="old").pk, title="new")
        self.assertEqual(self.own(song.save), {"-new"})

    def test_a_row_of_two_models_is_found_by_the_key_of_each(self):
        purge_on_change(Concert, lambda concert: [f"-{concert.title}", f"-{concert.seats}"])
        Event.objects.create(seats=1)
        concert = Concert.objects.create(title="live", seats=2)
        self.assertNotEqual(concert.pk, concert.event_id)
        event, album = Event.objects.get(pk=concert.event_id), Album.objects.get(pk=concert.pk)
        event.seats, album.title = 3, "late"
        self.assertEqual(self.own(event.save), {"-live", "-2", "-3"})
        self.assertEqual(self.own(album.save), {"-live", "-late", "-3"})
        self.assertEqual(self.own(lambda: PurgedQuerySet(Event).update(seats=4)), {"-late", "-3", "-4"})
        self.assertEqual(self.own(event.delete), {"-late", "-4"})

    def test_a_row_is_purged_whose_parent_outlives_what_it_points_at(self):
        purge_on_change(Interview, lambda interview: [f"-about:{interview.song_id}"])
        song = Song.objects.create(title="a song")
        key = song.pk
        Interview.objects.create(author="b", song=song)
        self.assertEqual(self.own(song.delete), {f"-about:{key}", "-about:None"})

    def test_models_without_registered_children_need_no_more_queries(self):
        tour, genre = Tour.objects.create(seats=1), Genre.objects.create(name="rock")
        song = Song.objects.create(title="a song")
        actions = [tour.save, genre.save, lambda: Genre.objects.create(name="jazz"), lambda: song.genres.add(genre)]

        def counts():
            found = []
            for action in actions:
                with CaptureQueriesContext(connection) as queries:
                    action()
                found.append(len(queries))
            song.genres.clear()
            return found

        before = counts()
        purge_on_change(Interview, lambda interview: [f"-{interview.pk}"])
        purge_on_change(Concert, lambda concert: [f"-{concert.pk}"])
        self.assertEqual(counts(), before)


class Proxies(WithRegistered, TransactionTestCase):
    def test_a_row_of_a_registered_proxy_is_purged_by_whichever_model_it_is_changed(self):
        purge_on_change(LoudSong, lambda song: [f"-{song.loudly()}", *(f"-{genre.name}" for genre in song.genres.all())])
        rock = Genre.objects.create(name="rock")
        song = Song.objects.create(title="old")
        single = Single.objects.create(title="single")

        def rename(title):
            song.title = title
            return song

        song_only = Song.objects.filter(pk=song.pk)
        changes = {
            "saved": (lambda: rename("saved").save(), {"-OLD", "-SAVED"}),
            "saved as the proxy": (lambda: LoudSong.objects.get(title="saved").save(), {"-SAVED"}),
            "saved as a child": (lambda: single.save(), {"-SINGLE"}),
            "updated": (lambda: song_only.update(title="new"), {"-SAVED", "-NEW"}),
            "made in bulk": (lambda: Song.objects.bulk_create([Song(title="bulk")]), {"-BULK"}),
            "made without a key": (
                lambda: Song.objects.bulk_create([Song(title="none")], ignore_conflicts=True),
                {"-NONE"},
            ),
            "joined": (lambda: rename("new").genres.add(rock), {"-NEW", "-rock"}),
            "joined from there": (lambda: rock.song_set.add(single.pk), {"-SINGLE", "-rock"}),
            "its genre deleted": (lambda: rock.delete(), {"-NEW", "-SINGLE", "-rock"}),
            "deleted": (lambda: song.delete(), {"-NEW"}),
        }
        for name, (change, expected) in changes.items():
            with self.subTest(name):
                self.assertEqual(self.own(change), expected)
        self.assertIs(type(single), Single)

    def test_an_abstract_model_is_refused(self):
        class Named(models.Model):
            class Meta:
                abstract = True
                app_label = "songs"

        with self.assertRaisesRegex(ValueError, "Named is abstract"):
            purge_on_change(Named, lambda named: [f"-{named.pk}"])
