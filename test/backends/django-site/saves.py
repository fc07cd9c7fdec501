"""Saves one song in autocommit until it is killed, each time with another title, and prints what is committed."""

import time
from datetime import timedelta

import django

django.setup()

from songs.models import Song
from tidemark.django import outbox, purge_on_change

outbox.LEASE = timedelta(seconds=0.2)  # of a process that was killed
purge_on_change(Song, lambda song: [f"title-{song.title}"], former=False)
song, _ = Song.objects.get_or_create(pk=1, defaults={"title": "1"})
while True:
    song.title = str(int(song.title) + 1)
    song.save()
    print(song.title)
    time.sleep(0.005)  # so that purges are on their way, too
