from django.db import models

from tidemark_django import purge_on_change


class Album(models.Model):
    title = models.CharField(max_length=100)


class Genre(models.Model):
    name = models.CharField(max_length=100)


class Song(models.Model):
    title = models.CharField(max_length=100)
    album = models.ForeignKey(Album, null=True, on_delete=models.CASCADE)
    genres = models.ManyToManyField(Genre)


class LoudSong(Song):
    class Meta:
        proxy = True


purge_on_change(Song, lambda song: [f"song-{song.pk}", f"album-{song.album_id}", "songs"])
purge_on_change(Genre, lambda genre: [f"genre-{genre.pk}"])
