import { Type, type TString } from 'typebox';
import { visiblePattern } from '../platform/blank.js';

/**
 * Texts of a form that requests share. Each says in words what it asks for (`x-issue`, `issues.ts`),
 * since a caller never gets to see a pattern.
 */
type TextOptions = Readonly<Record<string, unknown>>;

/** ISO 8601 with its offset; answers have UTC with milliseconds. */
export const Timestamp = (options: TextOptions = {}): TString => Type.String({ format: 'date-time', ...options });

export const EmailAddress = (options: TextOptions = {}): TString => Type.String({ format: 'email', maxLength: 254, ...options });

/** A DNS label (RFC 1035, 2.3.1). */
export const Slug = (options: TextOptions = {}): TString =>
  Type.String({
    pattern: '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$',
    'x-issue': 'use 1 to 63 of a–z, 0–9 and hyphens, with no hyphen at either end',
    ...options,
  });

export const HexColour = (options: TextOptions = {}): TString =>
  Type.String({ pattern: '^#[0-9a-fA-F]{6}$', 'x-issue': 'must be #RRGGBB hex', ...options });

/** Text for people, with something in it that they see. */
export const NonBlank = (maxLength: number, options: TextOptions = {}): TString =>
  Type.String({ minLength: 1, maxLength, pattern: visiblePattern, 'x-issue': 'must not be blank', ...options });

/** A name, id or key as another system gives it: printable ASCII without spaces. */
export const Printable = (maxLength: number, options: TextOptions = {}): TString =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[\\x21-\\x7e]+$',
    'x-issue': 'use printable ASCII characters without spaces',
    ...options,
  });

/** `writeOnly`: it is never answered, and of one that is refused nothing is told. */
export const Secret = (maxLength: number, options: TextOptions = {}): TString =>
  Printable(maxLength, { writeOnly: true, ...options });

/** A username on the source host (GitHub's form). */
export const usernamePattern = '^[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?$';
/** Who is invited to a repository at once. */
export const maxCollaborators = 50;

export const SourceHostUsername = (options: TextOptions = {}): TString =>
  Type.String({
    pattern: usernamePattern,
    'x-issue': 'use 1 to 39 letters, digits and hyphens, with no hyphen at either end',
    ...options,
  });

/** ISO 4217, in either case; answers are in lower case. */
export const Currency = (options: TextOptions = {}): TString =>
  Type.String({ pattern: '^[A-Za-z]{3}$', 'x-issue': 'use the three letters of ISO 4217, as in eur', ...options });

/** Ids in queries and paths, where their form matters. */
export const Id = (options: TextOptions = {}): TString =>
  Type.String({ minLength: 1, maxLength: 200, pattern: '^[\\w-]+$', 'x-issue': 'use letters, digits, _ and -', ...options });

/** Unique within a delivery block (specification, "Limits"). */
export const CheckpointId = (options: TextOptions = {}): TString =>
  Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$', 'x-issue': 'use 1 to 64 letters, digits and dashes', ...options });

/** Of a content or marketing document, within its website; also the name of a file. */
export const ContentId = (options: TextOptions = {}): TString =>
  Type.String({
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    'x-issue': 'use 1 to 64 letters, digits, dashes and underscores',
    ...options,
  });

export const ShopDomain = (options: TextOptions = {}): TString =>
  Type.String({
    maxLength: 100,
    pattern: '^[A-Za-z0-9][A-Za-z0-9-]*\\.[Mm][Yy][Ss][Hh][Oo][Pp][Ii][Ff][Yy]\\.[Cc][Oo][Mm]$',
    'x-issue': 'must be the shop’s own domain, as in corner-bakery.myshopify.com',
    ...options,
  });

/**
 * Ids with commas between. Longer ones would not fit into the head of a request, which has another
 * answer (431).
 */
export const Ids = (options: TextOptions = {}): TString =>
  Type.String({
    minLength: 1,
    maxLength: 8_000,
    pattern: '^[\\w.,-]+$',
    'x-issue': 'use ids with commas between',
    ...options,
  });
