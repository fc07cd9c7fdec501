/** News for a worker, until it asks for them. */
export class Mail<News> {
  #news: News[] = [];
  #asked: PromiseWithResolvers<readonly News[]> | null = null;

  /** `isOutdated`: which of those that wait say nothing more, once these are there. Default: none. */
  tell(news: News, isOutdated?: (earlier: News) => boolean): void {
    if (isOutdated) this.#news = this.#news.filter((earlier) => !isOutdated(earlier));
    this.#news.push(news);
    if (this.#asked === null) return;
    this.#asked.resolve(this.#take());
    this.#asked = null;
  }

  next(): Promise<readonly News[]> {
    if (this.#news.length > 0) return Promise.resolve(this.#take());
    this.#asked = Promise.withResolvers();
    return this.#asked.promise;
  }

  #take(): readonly News[] {
    const news = this.#news;
    this.#news = [];
    return news;
  }
}
