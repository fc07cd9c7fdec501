from django.db import models

from tidemark.django import PurgedModel, PurgedQuerySet, purge_on_change


class Album(models.Model):
    title = models.CharField(max_length=100)


class Genre(PurgedModel):
    name = models.CharField(max_length=100)


class Song(PurgedModel):
    title = models.CharField(max_length=100)
    album = models.ForeignKey(Album, null=True, on_delete=models.CASCADE)
    genres = models.ManyToManyField(Genre)

    objects = PurgedQuerySet.as_manager()


class LoudSong(Song):
    class Meta:
        proxy = True


purge_on_change(Song, lambda song: [f"song:{song.pk}", f"album:{song.album_id}", "songs"])
purge_on_change(Genre, lambda genre: [f"genre:{genre.pk}"])
