/** What belongs to a path, with the values of its parameters. */
export interface FoundPath<Entry> {
  readonly entry: Entry;
  readonly params: Record<string, string>;
}

interface Node<Entry> {
  readonly named: Map<string, Node<Entry>>;
  parameter?: Node<Entry>;
  end?: { readonly entry: Entry; readonly parameters: readonly (readonly [name: string, at: number])[] };
}

/**
 * Finds the entry of a path in as many steps as it has segments, however many entries there are. The
 * paths have `:name` for a segment that may be any but an empty one; a segment that is written out
 * goes before one that may be any. Letters' case counts, and one `/` at the end does not.
 * @returns what throws URIError when a parameter's value is not percent-encoded UTF-8
 */
export const createPathTable = <Entry>(
  entries: Iterable<readonly [path: string, entry: Entry]>,
): ((path: string) => FoundPath<Entry> | undefined) => {
  const root: Node<Entry> = { named: new Map() };
  for (const [path, entry] of entries) {
    const segments = segmentsOf(path);
    let node = root;
    for (const segment of segments) node = segment.startsWith(':') ? parameterOf(node) : namedOf(node, segment);
    const parameters = segments.flatMap((segment, at) => (segment.startsWith(':') ? [[segment.slice(1), at] as const] : []));
    node.end ??= { entry, parameters };
  }

  return (path) => {
    const segments = segmentsOf(path);
    const end = endOf(root, segments, 0);
    if (end === undefined) return undefined;
    const params: Record<string, string> = {};
    for (const [name, at] of end.parameters) params[name] = decodeURIComponent(segments[at] ?? '');
    return { entry: end.entry, params };
  };
};

const segmentsOf = (path: string): readonly string[] => path.slice(1, path.endsWith('/') ? -1 : undefined).split('/');

const namedOf = <Entry>({ named }: Node<Entry>, segment: string): Node<Entry> => {
  const known = named.get(segment);
  if (known !== undefined) return known;
  const node: Node<Entry> = { named: new Map() };
  named.set(segment, node);
  return node;
};

const parameterOf = <Entry>(node: Node<Entry>): Node<Entry> => (node.parameter ??= { named: new Map() });

const endOf = <Entry>(node: Node<Entry>, segments: readonly string[], at: number): Node<Entry>['end'] => {
  const segment = segments[at];
  if (segment === undefined) return node.end;
  const named = node.named.get(segment);
  const end = named && endOf(named, segments, at + 1);
  if (end !== undefined || node.parameter === undefined || segment === '') return end;
  return endOf(node.parameter, segments, at + 1);
};
