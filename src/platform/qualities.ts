/**
 * The entries of a header such as `Accept-Encoding` with their qualities, 0 to 1 (RFC 9110, 12.4.2), in
 * lower case, in their order. An entry whose quality is no number counts as refused.
 */
export const qualitiesOf = (header: string): ReadonlyMap<string, number> =>
  new Map(
    header.split(',').map((offer) => {
      const [name = '', quality = '1'] = offer.toLowerCase().split(/\s*;\s*q=/);
      return [name.trim(), Number(quality) || 0] as const;
    }),
  );
