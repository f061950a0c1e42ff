import { createHmac } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';
import type { Random } from '../../platform/random.js';
import type { PageView } from './pageView.js';
import { daysBetween, maxListed, type AnalyticsReport, type Day } from './port.js';

/**
 * Daily counts of page views, in one file that several processes may share. Every call may throw
 * SQLite's errors.
 */
export interface Tallies {
  /** Adds views, all or none of them. */
  add(views: readonly (PageView & { readonly day: Day })[]): void;
  report(project: string, from: Day, to: Day): AnalyticsReport;
  /** Deletes a batch of a project's counts and hashes. Returns whether there are more of them. */
  forget(project: string): boolean;
  /**
   * Deletes a part of what has expired: salts of days before `today`, a batch of the hashes made
   * with them, a batch of one site's counts older than two years. Returns whether there is more to
   * do.
   */
  deleteExpired(today: Day): boolean;
  close(): void;
}

const schemaVersion = 1;

/**
 * `tally`: visitors and views per day, for a site as a whole (`kind` day, no name), each page and
 * each source. `seen`: the salted hashes that distinguish the day's visitors.
 */
const schema = `
  CREATE TABLE salt (day TEXT PRIMARY KEY, salt BLOB NOT NULL) STRICT;
  CREATE TABLE tally (
    site TEXT NOT NULL, day TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    visitors INTEGER NOT NULL, pageviews INTEGER NOT NULL, PRIMARY KEY (site, day, kind, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE seen (
    day TEXT NOT NULL, site TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, visitor BLOB NOT NULL,
    PRIMARY KEY (day, site, kind, name, visitor)
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${String(schemaVersion)};
`;

/** Pages, and sources, that a site lists per day; the rest is counted together as `others`. */
const MAX_NAMES = 1_000;
const others = '(other)';
/** Hashes stored per day, of about 100 bytes each; beyond them nobody counts as a new visitor. */
const MAX_VISITOR_HASHES = 2_000_000;
const DELETE_BATCH_SIZE = 1_000;
const RETENTION_DAYS = 731;
const dayMs = 86_400_000;
/** How long a write may block the event loop while another process holds the file's lock. */
const BUSY_TIMEOUT_MS = 5;

export const openTallies = (file: string, random: Random): Tallies => {
  const database = open(file);
  const prepare = (sql: string): StatementSyncInstance => database.prepare(sql);
  const statements = {
    saltOf: prepare('SELECT salt FROM salt WHERE day = ?'),
    addSalt: prepare('INSERT INTO salt (day, salt) VALUES (?, ?)'),
    countSeen: prepare('SELECT count(*) AS hashes FROM seen WHERE day = ?'),
    see: prepare('INSERT INTO seen (day, site, kind, name, visitor) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING'),
    add: prepare(
      `INSERT INTO tally (site, day, kind, name, visitors, pageviews) VALUES (?, ?, ?, ?, ?, 1)
       ON CONFLICT DO UPDATE SET visitors = visitors + excluded.visitors, pageviews = pageviews + 1`,
    ),
    isNamed: prepare('SELECT 1 FROM tally WHERE site = ? AND day = ? AND kind = ? AND name = ?'),
    countNames: prepare('SELECT count(*) AS names FROM tally WHERE site = ? AND day = ? AND kind = ?'),
    daysOf: prepare("SELECT day, visitors, pageviews FROM tally WHERE site = ? AND day BETWEEN ? AND ? AND kind = 'day'"),
    listed: prepare(
      `SELECT name, sum(visitors) AS visitors, sum(pageviews) AS pageviews FROM tally
       WHERE site = ? AND day BETWEEN ? AND ? AND kind = ? GROUP BY name ORDER BY 2 DESC, 3 DESC, 1 LIMIT ?`,
    ),
    deleteSalts: prepare('DELETE FROM salt WHERE day < ?'),
    // The index begins with the site: by the day alone, each deletion would read the whole table.
    siteAfter: prepare('SELECT min(site) AS site FROM tally WHERE site > ?'),
    deleteTallies: prepare(
      `DELETE FROM tally WHERE (site, day, kind, name) IN
       (SELECT site, day, kind, name FROM tally WHERE site = ? AND day < ? LIMIT ${String(DELETE_BATCH_SIZE)})`,
    ),
    forgetTallies: prepare(
      `DELETE FROM tally WHERE (site, day, kind, name) IN
       (SELECT site, day, kind, name FROM tally WHERE site = ? LIMIT ${String(DELETE_BATCH_SIZE)})`,
    ),
    // Hashes are of days that have a salt, by which their index begins.
    forgetSeen: prepare(
      `DELETE FROM seen WHERE (day, site, kind, name, visitor) IN
       (SELECT day, site, kind, name, visitor FROM seen WHERE day IN (SELECT day FROM salt) AND site = ?
        LIMIT ${String(DELETE_BATCH_SIZE)})`,
    ),
    deleteSeen: prepare(
      `DELETE FROM seen WHERE (day, site, kind, name, visitor) IN
       (SELECT day, site, kind, name, visitor FROM seen WHERE day < ? LIMIT ${String(DELETE_BATCH_SIZE)})`,
    ),
  };
  /** The last site whose old counts are deleted. */
  let sweptSite = '';
  let today: { readonly day: Day; readonly salt: Uint8Array; seen: number } | null = null;

  const inTransaction = <Result>(work: () => Result): Result => {
    database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      // A salt created in this transaction was rolled back with it.
      today = null;
      throw error;
    }
  };

  /** The day's salt, which all processes share, and the number of its hashes. */
  const loadDay = (day: Day): NonNullable<typeof today> => {
    if (today?.day === day) return today;
    const kept = statements.saltOf.get(day) as { salt: Uint8Array } | undefined;
    const salt = kept?.salt ?? random.bytes(32);
    if (kept === undefined) statements.addSalt.run(day, salt);
    today = { day, salt, seen: (statements.countSeen.get(day) as { hashes: number }).hashes };
    return today;
  };

  const nameWithin = (site: string, day: Day, kind: string, name: string): string => {
    if (statements.isNamed.get(site, day, kind, name) !== undefined) return name;
    return (statements.countNames.get(site, day, kind) as { names: number }).names < MAX_NAMES ? name : others;
  };

  const add = ({ project, page, source, visitor, day }: PageView & { readonly day: Day }): void => {
    const ofDay = loadDay(day);
    const hash = createHmac('sha256', ofDay.salt).update(`${project}\n${visitor}`).digest().subarray(0, 12);
    const addTo = (kind: 'day' | 'page' | 'source', wanted: string): void => {
      const name = nameWithin(project, day, kind, wanted);
      const isNew = ofDay.seen < MAX_VISITOR_HASHES && statements.see.run(day, project, kind, name, hash).changes > 0;
      if (isNew) ofDay.seen += 1;
      statements.add.run(project, day, kind, name, isNew ? 1 : 0);
    };
    addTo('day', '');
    addTo('page', page);
    if (source !== undefined) addTo('source', source);
  };

  return {
    add: (views) => {
      inTransaction(() => {
        for (const view of views) add(view);
      });
    },
    report: (project, from, to) => {
      const days = statements.daysOf.all(project, from, to) as { day: Day; visitors: number; pageviews: number }[];
      const byDay = new Map(days.map((day) => [day.day, day]));
      const series = daysBetween(from, to).map((date) => {
        const { visitors = 0, pageviews = 0 } = byDay.get(date) ?? {};
        return { date, visitors, pageviews };
      });
      const listed = (kind: 'page' | 'source') =>
        statements.listed.all(project, from, to, kind, maxListed) as { name: string; visitors: number; pageviews: number }[];
      return {
        visitors: series.reduce((sum, { visitors }) => sum + visitors, 0),
        pageviews: series.reduce((sum, { pageviews }) => sum + pageviews, 0),
        series,
        topPages: listed('page').map(({ name: page, visitors, pageviews }) => ({ page, visitors, pageviews })),
        sources: listed('source').map(({ name: source, visitors }) => ({ source, visitors })),
      };
    },
    forget: (project) =>
      inTransaction(() => {
        const tallies = statements.forgetTallies.run(project).changes;
        const hashes = statements.forgetSeen.run(project).changes;
        return tallies === DELETE_BATCH_SIZE || hashes === DELETE_BATCH_SIZE;
      }),
    deleteExpired: (before) =>
      inTransaction(() => {
        statements.deleteSalts.run(before);
        if (statements.deleteSeen.run(before).changes === DELETE_BATCH_SIZE) return true;
        const { site } = statements.siteAfter.get(sweptSite) as { site: string | null };
        if (site !== null) {
          const oldest = new Date(Date.parse(before) - RETENTION_DAYS * dayMs).toISOString().slice(0, 10);
          if (statements.deleteTallies.run(site, oldest).changes === DELETE_BATCH_SIZE) return true;
        }
        sweptSite = site ?? '';
        return site !== null;
      }),
    close: () => {
      database.close();
    },
  };
};

const open = (file: string) => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Opening waits for another process; later writes do not, see BUSY_TIMEOUT_MS.
  const database = new DatabaseSync(file, { timeout: 5_000 });
  try {
    // A power cut may lose the last seconds, which is acceptable for page views.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216');
    database.exec('BEGIN IMMEDIATE');
    const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
    if (version > schemaVersion) throw new Error(`${file} was written by a newer version of the service`);
    if (version === 0) database.exec(schema);
    database.exec(`COMMIT; PRAGMA busy_timeout = ${String(BUSY_TIMEOUT_MS)}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
};
