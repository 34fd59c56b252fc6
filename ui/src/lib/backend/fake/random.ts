// A small random source with a seed: the same seed makes the same history, so that pictures and tests stay comparable.
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** In 0..n. */
  int(n: number): number {
    return Math.floor(this.next() * n);
  }

  pick<T>(from: readonly T[]): T {
    return from[this.int(from.length)]!;
  }

  weighted<T extends { weight: number }>(from: readonly T[]): T {
    let at = this.next() * from.reduce((sum, one) => sum + one.weight, 0);
    for (const one of from) {
      at -= one.weight;
      if (at < 0) return one;
    }
    return from.at(-1)!;
  }

  /** Around `middle`, never negative, with a long tail. */
  around(middle: number): number {
    return middle * (0.4 + this.next() * 0.9 + (this.next() < 0.04 ? 6 * this.next() : 0));
  }
}
