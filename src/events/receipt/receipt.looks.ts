/** When a person saw a revision of a delivery block. */
export type Look = {
  readonly revision: number;
  /** ISO 8601 UTC. */
  readonly firstAt: string;
  readonly lastAt: string;
};

/** What is kept of a person's looks. */
export type Looks = {
  /** The highest revision that the person saw. */
  readonly revision: number;
  /** Of any look. */
  readonly firstAt: string;
  readonly lastAt: string;
  /** One for each revision, the one seen last first. */
  readonly looks: readonly Look[];
};

/** How many revisions are kept for each person: those seen last. */
export const maxLooks = 50;

export const looksAfter = (before: Looks | undefined, revision: number, at: string): Looks => {
  const earlier = before?.looks.find((look) => look.revision === revision);
  const others = before?.looks.filter((look) => look.revision !== revision) ?? [];
  return {
    revision: Math.max(before?.revision ?? 0, revision),
    firstAt: before?.firstAt ?? at,
    lastAt: at,
    looks: [{ revision, firstAt: earlier?.firstAt ?? at, lastAt: at }, ...others].slice(0, maxLooks),
  };
};

/** The last of a person's looks, and the highest revision that they saw. */
export type LastLook = Pick<Looks, 'revision' | 'lastAt'>;

export const lastLook = (earlier: LastLook | undefined, looks: LastLook | undefined): LastLook | undefined =>
  looks === undefined ? earlier : { lastAt: looks.lastAt, revision: Math.max(earlier?.revision ?? 0, looks.revision) };
