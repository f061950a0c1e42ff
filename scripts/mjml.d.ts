/** The part of mjml 5 that is used; the package has no types of its own. */
declare module 'mjml' {
  interface Options {
    /** `strict`: throws when the markup is not valid. */
    readonly validationLevel: 'strict';
    /** Web fonts to link to, by family. */
    readonly fonts: Readonly<Record<string, string>>;
  }
  const mjml2html: (markup: string, options: Options) => Promise<{ readonly html: string }>;
  export default mjml2html;
}
